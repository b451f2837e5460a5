//! The chain: every line ends with a hash of itself and of the hash before it, so that no line can be
//! changed, dropped or moved without the next one showing it.

use std::fmt::{self, Write as _};

use crate::hex::{self, DIGITS};

/// Ends every line: the field's opening, 32 hex digits, and the closing.
const OPENING: &[u8] = b",\"hash\":\"";
const CLOSING: &[u8] = b"\"}";

/// From this length on a body is copied behind the hash before it: in one piece its parts are hashed at once, which takes
/// half as long.
const LONG: usize = 4_096;

/// The hash that a line ends with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link([u8; DIGITS / 2]);

impl Link {
    /// What the first line of the first segment is chained to.
    pub(super) const START: Self = Self([0; DIGITS / 2]);

    /// The hash of `body` after this one.
    fn then(self, body: &[u8]) -> Self {
        let whole = if body.len() < LONG {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&self.0);
            hasher.update(body);
            hasher.finalize()
        } else {
            blake3::hash(&[&self.0, body].concat())
        };
        let mut hash = [0; DIGITS / 2];
        hash.iter_mut().zip(whole.as_bytes()).for_each(|(ours, theirs)| *ours = *theirs);
        Self(hash)
    }

    /// Reads 32 lower-case hex digits.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        hex::number(text).map(|number| Self(number.to_be_bytes()))
    }

    /// The 32 hex digits.
    fn digits(self) -> [u8; DIGITS] {
        hex::digits(u128::from_be_bytes(self.0))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().iter().try_for_each(|digit| f.write_char(char::from(*digit)))
    }
}

/// Closes the line whose body (an object without its closing brace) begins at `from`: appends the hash
/// and the end of the line.
pub(super) fn seal(out: &mut Vec<u8>, from: usize, before: Link) -> Link {
    let link = before.then(out.get(from..).unwrap_or_default());
    out.extend_from_slice(OPENING);
    out.extend_from_slice(&link.digits());
    out.extend_from_slice(CLOSING);
    out.push(b'\n');
    link
}

/// The body of a line (without its end), and the digits of the hash that it claims to have.
fn sealed(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(CLOSING)?;
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(OPENING)?, digits))
}

/// What a line (without its end) says besides its hash: an object without its closing brace.
pub(super) fn body(line: &[u8]) -> Option<&[u8]> {
    sealed(line).map(|(body, _)| body)
}

/// The hash that the last line of `bytes` ends with; the line's beginning may be missing.
pub(super) fn ending(bytes: &[u8]) -> Option<Link> {
    let digits = bytes.strip_suffix(b"\n")?.strip_suffix(CLOSING)?;
    Link::parse(digits.get(digits.len().checked_sub(DIGITS)?..)?)
}

/// The hash that a line (without its end) claims to have.
pub(super) fn claimed(line: &[u8]) -> Option<Link> {
    Link::parse(sealed(line)?.1)
}

/// How many bytes [`ending`] needs.
pub(super) const ENDING: usize = DIGITS + CLOSING.len() + 1;

/// The hash of a line, if it is what it must be after `before`.
pub(super) fn verify(line: &[u8], before: Link) -> Option<Link> {
    let (body, digits) = sealed(line)?;
    let link = before.then(body);
    (link.digits() == *digits).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::{LONG, Link, seal, sealed, verify};

    #[test]
    fn a_sealed_line_verifies_only_unchanged_and_after_its_own_predecessor() {
        let mut out = br#"{"a":1"#.to_vec();
        let link = seal(&mut out, 0, Link::START);
        let line = out.strip_suffix(b"\n").unwrap().to_vec();
        assert_eq!(verify(&line, Link::START), Some(link));
        assert_eq!(verify(&line, link), None);
        assert_eq!(Link::parse(link.to_string().as_bytes()), Some(link));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(verify(&changed, Link::START), None, "bit {bit} of byte {at}");
            }
        }
        assert_eq!(sealed(b"{}"), None);
    }

    #[test]
    fn what_is_hashed_in_one_piece_has_the_hash_of_its_parts() {
        let before = Link([7; 16]);
        for len in [0, 1, LONG - 1, LONG, LONG + 1, 20 * LONG] {
            let body: Vec<u8> = (0..=250).cycle().take(len).collect();
            let mut parts = blake3::Hasher::new();
            parts.update(&before.0);
            parts.update(&body);
            assert_eq!(before.then(&body).0, parts.finalize().as_bytes()[..16], "{len} bytes");
        }
    }
}
