//! The name of an object: a hash, SHA-1 or SHA-256.

use std::fmt;

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId {
    bytes: [u8; 32],
    len: usize,
}

impl ObjectId {
    /// The name of nothing.
    pub const NULL: Self = Self { bytes: [0; 32], len: 20 };

    /// The name that these hexadecimal digits spell: 40 of them, or 64.
    #[must_use]
    pub fn from_hex(digits: &[u8]) -> Option<Self> {
        if digits.len() != 40 && digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self { bytes, len: digits.len() / 2 })
    }

    /// The name with these bytes: 20 of them, or 32.
    #[must_use]
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes.get_mut(..raw.len())?.copy_from_slice(raw);
        Some(Self { bytes, len: raw.len() })
    }

    /// The name that is this SHA-1.
    pub(crate) fn sha1(hash: [u8; 20]) -> Self {
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(hash).for_each(|(byte, of)| *byte = of);
        Self { bytes, len: 20 }
    }

    /// The bytes of the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Whether it is the name of nothing: all zeros, as in what a push creates or deletes.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
