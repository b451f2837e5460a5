//! Names and ids that come from outside. They are checked here, once; nothing deeper ever makes a path of
//! anything else.

use std::fmt;
use std::str::FromStr;

use holdfast_sys::Sys;

use crate::error::{Class, Error, Result};

/// The worktree that every repository has.
pub const MAIN: &str = "main";

const LONGEST: usize = 64;

/// The name of a worktree or of a repository.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WorktreeName(String);

impl WorktreeName {
    /// A name, if it can be one.
    ///
    /// # Errors
    /// When it is empty, too long, a dot or two, or holds anything but letters, digits, `.`, `_` and `-`.
    pub fn new(text: &str) -> Result<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let why = match text {
            "" => "it is empty".to_owned(),
            "." | ".." => "it is a way through directories".to_owned(),
            _ if text.len() > LONGEST => format!("it is longer than {LONGEST} bytes"),
            _ if text.starts_with('-') => "it begins like an option".to_owned(),
            _ if !text.bytes().all(allowed) => "only A-Z a-z 0-9 . _ - are allowed".to_owned(),
            _ => return Ok(Self(text.to_owned())),
        };
        Err(Error::new(Class::NameInvalid, format!("'{}' cannot be a name: {why}", text.escape_debug())))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the worktree that every repository has.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0 == MAIN
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a snapshot, or of another operation that takes a while: the time in milliseconds and eight
/// random hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OpId {
    ms: u64,
    nonce: u32,
}

impl OpId {
    /// A fresh one.
    ///
    /// # Errors
    /// When there is no time or no randomness to be had.
    pub fn fresh(sys: &Sys) -> Result<Self> {
        let ms = sys.clock.now()?.wall_ms().min(9_999_999_999_999);
        let nonce = u32::try_from(sys.entropy.nonce()? & 0xffff_ffff).unwrap_or(0);
        Ok(Self { ms, nonce })
    }

    /// The id that a person typed.
    ///
    /// # Errors
    /// When it cannot be one.
    pub fn typed(text: &str) -> Result<Self> {
        text.parse().map_err(|()| {
            let said = format!("'{}' is not a snapshot id", text.escape_debug());
            Error::new(Class::NameInvalid, said).hint("`jvs history` lists the snapshots with their ids")
        })
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:013}-{:08x}", self.ms, self.nonce)
    }
}

impl FromStr for OpId {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (ms, nonce) = text.split_once('-').ok_or(())?;
        let id =
            Self { ms: ms.parse().map_err(|_| ())?, nonce: u32::from_str_radix(nonce, 16).map_err(|_| ())? };
        // One id has one form.
        if id.to_string() == text { Ok(id) } else { Err(()) }
    }
}

impl serde::Serialize for OpId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for OpId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom("it is not an id"))
    }
}

impl serde::Serialize for WorktreeName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for WorktreeName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{OpId, WorktreeName};
    use crate::error::Class;

    #[test]
    fn names_that_could_lead_anywhere_are_refused() {
        for name in ["", ".", "..", "a/b", "/", "a\nb", "ä", "a b", "-n", "a\0b", "../x", &"x".repeat(65)] {
            assert_eq!(WorktreeName::new(name).unwrap_err().class(), Class::NameInvalid, "{name:?}");
        }
        for name in ["main", "...", "a.b", "X-1_2", &"x".repeat(64)] {
            assert_eq!(WorktreeName::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn an_id_has_one_form() {
        let id = "1700000000000-0000beef";
        assert_eq!(id.parse::<OpId>().unwrap().to_string(), id);
        for wrong in
            ["", "1", "1700000000000-beef", "+700000000000-0000beef", "1700000000000-0000BEEF", "../x"]
        {
            assert!(wrong.parse::<OpId>().is_err(), "{wrong}");
        }
    }
}
