//! Names and ids that the rules compare and carry. A door validates what users type; these types only
//! make sure that nothing deeper can hold an empty, endless or terminal-breaking one.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use ulid::Ulid;

pub(crate) const LONGEST_NAME: usize = 512;
const LONGEST_TEXT: usize = 1_024;
const MOST_TAGS: usize = 16;

pub(crate) fn checked(text: &str, longest: usize) -> Result<Arc<str>, NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > longest {
        return Err(NameError::Long { bytes: text.len(), longest });
    }
    let has_control = if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.chars().any(char::is_control)
    };
    if has_control {
        return Err(NameError::Control);
    }
    Ok(text.into())
}

/// The name of a resource, an agent or a place: 1 to 512 bytes without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Name(Arc<str>);

impl Name {
    /// A name, if it can be one.
    ///
    /// # Errors
    /// When it is empty, longer than 512 bytes, or holds a control character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        checked(text, LONGEST_NAME).map(Self)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a person wrote to explain something: 1 to 1,024 bytes without control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Text(Arc<str>);

impl Text {
    /// A text, if it says something.
    ///
    /// # Errors
    /// When it is blank, longer than 1,024 bytes, or holds a control character.
    pub fn new(text: &str) -> Result<Self, NameError> {
        checked(text.trim(), LONGEST_TEXT).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name or text that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is too long.
    #[error("it is {bytes} bytes long; at most {longest} are allowed")]
    Long {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        longest: usize,
    },
    /// It holds a character that a terminal would act on.
    #[error("it holds a control character")]
    Control,
}

/// Who holds a lease: an agent **and** the place it works in. Two leases have the same holder only if
/// both are the same.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Holder {
    /// The agent, `kind:name` where the policy tells kinds apart; or a secret nonce.
    pub agent: Name,
    /// Where it works: a worktree, a session, a shell.
    pub place: Name,
}

impl Holder {
    /// What stands before the colon of the agent's name: the kind that a policy may have a rule for.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.agent.as_str().split_once(':').map(|(kind, _)| kind)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.agent, self.place)
    }
}

/// The id of one grant. No two grants have the same one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LeaseId(Ulid);

impl LeaseId {
    /// The id with these 128 bits.
    #[must_use]
    pub const fn new(bits: u128) -> Self {
        Self(Ulid(bits))
    }

    /// An id that sorts by the time it was made; `entropy` makes it unique.
    #[must_use]
    pub const fn from_parts(wall_ms: u64, entropy: u128) -> Self {
        Self(Ulid::from_parts(wall_ms, entropy))
    }

    /// The 128 bits.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0.0
    }

    /// The 26 characters that it is written with.
    #[must_use]
    pub fn digits(self) -> [u8; ulid::ULID_LEN] {
        let mut digits = [0; ulid::ULID_LEN];
        let _ = self.0.array_to_str(&mut digits);
        digits
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0; ulid::ULID_LEN];
        f.pad(self.0.array_to_str(&mut buffer))
    }
}

impl FromStr for LeaseId {
    type Err = LeaseIdError;

    fn from_str(text: &str) -> Result<Self, LeaseIdError> {
        let id = Ulid::from_string(text).map_err(|_| LeaseIdError)?;
        let mut buffer = [0; ulid::ULID_LEN];
        // One id has one form: what reads back differently was an overflow or another spelling.
        if id.array_to_str(&mut buffer) == text { Ok(Self(id)) } else { Err(LeaseIdError) }
    }
}

/// A text that is no lease id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is not 26 characters of upper-case Crockford base 32 (a ULID)")]
pub struct LeaseIdError;

/// What a door keeps beside a lease. The rules carry it and never read it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Tags(Option<Arc<[(Name, Text)]>>);

impl Tags {
    /// No tags.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// These tags and one more, in the place of one with the same key.
    ///
    /// # Errors
    /// When that is more than sixteen, or the key is no name.
    pub fn with(self, key: &str, value: Text) -> Result<Self, TagsError> {
        let key = Name::new(key).map_err(TagsError::Key)?;
        let mut tags: Vec<_> = self.0.iter().flat_map(|tags| tags.iter()).cloned().collect();
        match tags.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(at) => drop(tags.splice(at..=at, [(key, value)])),
            Err(at) => tags.insert(at, (key, value)),
        }
        if tags.len() > MOST_TAGS { Err(TagsError::Many) } else { Ok(Self(Some(tags.into()))) }
    }

    /// The value of one tag.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Text> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// All tags in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Text)> {
        self.0.iter().flat_map(|tags| tags.iter()).map(|(key, value)| (key.as_str(), value))
    }
}

/// Tags that cannot be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TagsError {
    /// There are too many.
    #[error("there are more than sixteen tags")]
    Many,
    /// A key is no name.
    #[error("a tag's key cannot be used: {0}")]
    Key(NameError),
}
