//! The token, and the cookie that stands for it in a browser. A cookie is signed with the token, so it holds for as long as
//! the token does, also after the server was started again, and nothing has to be remembered.

use std::fmt;

/// The shortest token that is taken from a file.
pub(crate) const SHORTEST: usize = 32;
/// The longest.
const LONGEST: usize = 512;
/// For how long a cookie holds, in seconds.
pub(crate) const COOKIE_SECS: u64 = 7 * 24 * 3_600;

/// What cookies are signed for.
const CONTEXT: &str = "holdfast jit-server 2026-11 session cookie";

/// The token.
#[derive(Clone)]
pub(crate) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token from two numbers that nobody can guess.
    pub(crate) fn fresh(first: u128, second: u128) -> Self {
        Self(format!("{first:032x}{second:032x}"))
    }

    /// The token that a file holds.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        match text.len() {
            length if length < SHORTEST => Err(format!("a token has at least {SHORTEST} characters")),
            length if length > LONGEST => Err(format!("a token has at most {LONGEST} characters")),
            _ if !text.chars().all(plain) => Err("a token is letters, digits, and any of - _ . ~".into()),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// For its file, and for whoever started the server.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether somebody knows it. How much of it is right cannot be told from how long this takes.
    pub(crate) fn is(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.0.as_bytes())
    }

    /// A cookie that holds from now on.
    pub(crate) fn cookie(&self, now_secs: u64) -> String {
        let until = now_secs.saturating_add(COOKIE_SECS);
        format!("{until}.{}", self.signature(until).to_hex())
    }

    /// Whether a cookie is one of ours and holds.
    pub(crate) fn signed(&self, cookie: &str, now_secs: u64) -> bool {
        let Some((until, signature)) = cookie.split_once('.') else { return false };
        let (Ok(until), Ok(signature)) = (until.parse::<u64>(), blake3::Hash::from_hex(signature)) else {
            return false;
        };
        // The hashes compare in constant time.
        self.signature(until) == signature && now_secs < until
    }

    fn signature(&self, until: u64) -> blake3::Hash {
        let key = blake3::derive_key(CONTEXT, self.0.as_bytes());
        blake3::keyed_hash(&key, until.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{COOKIE_SECS, Token};

    #[test]
    fn a_cookie_holds_for_its_time_and_its_token() {
        let (token, other) = (Token::fresh(1, 2), Token::fresh(1, 3));
        let cookie = token.cookie(1_000);
        assert!(token.signed(&cookie, 1_000));
        assert!(!token.signed(&cookie, 1_000 + COOKIE_SECS), "it is over");
        assert!(!other.signed(&cookie, 1_000), "another server's");
        let longer = cookie.replacen(&(1_000 + COOKIE_SECS).to_string(), "99999999999", 1);
        assert!(!token.signed(&longer, 1_000), "its time was changed");
        for text in ["", ".", "1.", ".a", "99999999999", "99999999999.00", "x.y", &"9".repeat(70_000)] {
            assert!(!token.signed(text, 0), "{text:.40}");
        }
    }

    #[test]
    fn a_token_of_a_file_is_long_enough_and_plain() {
        assert!(Token::parse(&format!(" {} \n", "a".repeat(32))).is_ok());
        for text in ["", "short", &"a".repeat(31), &"a".repeat(513), &"a b".repeat(20), &"é".repeat(40)] {
            assert!(Token::parse(text).is_err(), "{text:.40}");
        }
    }

    #[test]
    fn only_the_token_is_the_token() {
        let token = Token::fresh(u128::MAX, 0);
        assert!(token.is(token.text()));
        for wrong in ["", "f", &token.text()[..63], &format!("{}0", token.text())] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token", "it gets into no log");
    }
}
