//! The vault's secret, and the tokens that only it can make.
//!
//! A token proves a lease. Everything that goes into it (document, owner, moment, fence) is public, so it is
//! keyed with a secret that is random, readable by its owner only, and never printed: not by an error, not
//! by `Debug`.

use std::fmt;

use holdfast_kernel::{Fence, Name};
use holdfast_sys::{Entropy, Result};

const TOKEN: &str = "holdfast kc 2026 lineage lock token v1";
const IDENTITY: &str = "holdfast kc 2026 vault secret id v1";
const PREFIX: &str = "blake3:";

/// 256 bits that nobody can guess.
#[derive(Clone)]
pub struct Secret {
    bits: [u8; 32],
    /// What tokens are keyed with, derived once.
    key: [u8; 32],
}

impl Secret {
    /// A fresh one.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn random(entropy: &dyn Entropy) -> Result<Self> {
        let mut bytes = [0; 32];
        let (low, high) = bytes.split_at_mut(16);
        low.copy_from_slice(&entropy.nonce()?.to_le_bytes());
        high.copy_from_slice(&entropy.nonce()?.to_le_bytes());
        Ok(Self::new(bytes))
    }

    /// The secret with these bits.
    #[must_use]
    pub fn new(bits: [u8; 32]) -> Self {
        Self { bits, key: blake3::derive_key(TOKEN, &bits) }
    }

    /// The secret that a file holds: 64 lower-case hexadecimal digits and a newline.
    #[must_use]
    pub fn from_file(content: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(content).ok()?.strip_suffix('\n')?;
        let secret = Self::new(*blake3::Hash::from_hex(text).ok()?.as_bytes());
        (secret.to_file() == content).then_some(secret)
    }

    /// What the file of this secret holds. For that file alone.
    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        let mut content = blake3::Hash::from_bytes(self.bits).to_hex().as_bytes().to_vec();
        content.push(b'\n');
        content
    }

    /// What tells this secret from another without giving it away, so that a database notices that it is
    /// opened with a secret that is not its own.
    #[must_use]
    pub fn id(&self) -> String {
        blake3::Hash::from_bytes(blake3::derive_key(IDENTITY, &self.bits)).to_hex().to_string()
    }

    /// The token of a grant: of `doc`, to `owner`, at `at_ms`, with this fence.
    #[must_use]
    pub fn token(&self, doc: &str, owner: &Name, at_ms: u64, fence: Fence) -> Token {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        let (at, fence) = (at_ms.to_le_bytes(), fence.get().to_le_bytes());
        for field in [doc.as_bytes(), owner.as_str().as_bytes(), &at, &fence] {
            part(&mut hasher, field);
        }
        Token(hasher.finalize())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Adds a field with its length before it, so that no two lists of fields look the same.
pub(crate) fn part(hasher: &mut blake3::Hasher, field: &[u8]) {
    hasher.update(&(field.len() as u64).to_le_bytes());
    hasher.update(field);
}

/// What the holder of a lease shows. Two are compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token(blake3::Hash);

impl Token {
    /// The token that a text is, if it can be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let lower = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        lower.then(|| blake3::Hash::from_hex(digits).ok().map(Self)).flatten()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0.to_hex())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use holdfast_kernel::{Fence, Name};

    use super::{Secret, Token};

    fn token(secret: u8, doc: &str, owner: &str, at: u64, fence: u64) -> String {
        let name = |text| Name::new(text).unwrap();
        let fence = Fence::new(fence).unwrap();
        Secret::new([secret; 32]).token(doc, &name(owner), at, fence).to_string()
    }

    #[test]
    fn the_same_inputs_give_the_same_token_and_any_other_gives_another() {
        assert_eq!(token(1, "doc", "ann", 7, 1), token(1, "doc", "ann", 7, 1));
        let all = [
            token(1, "doc", "ann", 7, 1),
            token(2, "doc", "ann", 7, 1),
            token(1, "do", "cann", 7, 1),
            token(1, "doca", "nn", 7, 1),
            token(1, "doc", "ann", 8, 1),
            token(1, "doc", "ann", 7, 2),
            token(1, "ann", "doc", 7, 1),
            token(1, "doc", "ann", 1, 7),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.iter().all(|text| text.len() == 7 + 64 && Token::parse(text).is_some()));
    }

    #[test]
    fn a_text_has_one_form_or_is_no_token() {
        let text = token(1, "doc", "ann", 7, 1);
        assert_eq!(Token::parse(&text).unwrap().to_string(), text);
        let upper = format!("blake3:{}", text.strip_prefix("blake3:").unwrap().to_uppercase());
        for wrong in ["", "blake3:", "blake3:00", &text[7..], &text[..70], &upper, &format!("{text}0")] {
            assert!(Token::parse(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_secret_reads_back_and_never_shows() {
        let secret = Secret::new([0xab; 32]);
        let file = secret.to_file();
        assert_eq!(Secret::from_file(&file).unwrap().to_file(), file);
        assert!(!secret.id().contains("abab") && !format!("{secret:?}").contains("ab"));
        let token = Secret::new([1; 32]).token("d", &Name::new("o").unwrap(), 1, Fence::FIRST);
        assert!(!format!("{token:?}").contains("blake3"));
        let upper = String::from_utf8(file.clone()).unwrap().to_uppercase();
        for wrong in [&b""[..], b"\n", &file[..64], upper.as_bytes(), b"zz", &[0xff; 65]] {
            assert!(Secret::from_file(wrong).is_none(), "{wrong:?}");
        }
    }
}
