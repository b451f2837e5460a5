//! Where an issue stands and how much it matters: the words that stand in its file. A word that is not one
//! of these is refused, never guessed at.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Where an issue stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Perhaps some day.
    Backlog,
    /// It can be worked on.
    Ready,
    /// Somebody works on it.
    #[serde(alias = "in-progress")]
    InProgress,
    /// The work is done, but a gate is open.
    Gated,
    /// It is done.
    Done,
    /// It will not be done.
    Rejected,
    /// It is over and out of sight.
    Archived,
}

impl State {
    /// All of them, in the order of work.
    pub const ALL: [Self; 7] = [
        Self::Backlog,
        Self::Ready,
        Self::InProgress,
        Self::Gated,
        Self::Done,
        Self::Rejected,
        Self::Archived,
    ];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Backlog => "backlog",
            Self::Ready => "ready",
            Self::InProgress => "in_progress",
            Self::Gated => "gated",
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::Archived => "archived",
        }
    }

    /// Whether nothing is left to do: what depends on it is free of it.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Rejected | Self::Archived)
    }
}

/// How much an issue matters; the first one the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Everything else waits.
    Critical,
    /// Before the rest.
    High,
    /// In its turn.
    #[default]
    Normal,
    /// When nothing else is there.
    Low,
}

impl Priority {
    /// All of them, the first one the most.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }
}

/// A word that is not known: all that are.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected one of {0}")]
pub struct UnknownWord(String);

impl UnknownWord {
    fn among(words: impl IntoIterator<Item = &'static str>) -> Self {
        Self(words.into_iter().collect::<Vec<_>>().join(", "))
    }
}

/// The word that was typed for `what`.
///
/// # Errors
/// When it is not known.
pub fn typed<T: FromStr<Err = UnknownWord>>(what: &'static str, text: &str) -> crate::error::Result<T> {
    text.parse().map_err(|why: UnknownWord| Error::BadValue {
        what,
        given: text.to_owned(),
        why: why.to_string(),
    })
}

impl FromStr for State {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let word = text.replace('-', "_");
        let known = Self::ALL.into_iter().find(|state| state.word() == word);
        known.ok_or_else(|| UnknownWord::among(Self::ALL.map(Self::word)))
    }
}

impl FromStr for Priority {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.into_iter().find(|priority| priority.word() == text);
        known.ok_or_else(|| UnknownWord::among(Self::ALL.map(Self::word)))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::{Priority, State};

    #[test]
    fn every_word_reads_back_typed_and_from_a_file() {
        for state in State::ALL {
            assert_eq!(state.word().parse(), Ok(state));
            assert_eq!(serde_json::from_str::<State>(&format!("{:?}", state.word())).unwrap(), state);
        }
        for priority in Priority::ALL {
            assert_eq!(priority.word().parse(), Ok(priority));
            assert_eq!(serde_json::to_string(&priority).unwrap(), format!("{:?}", priority.word()));
        }
    }

    #[test]
    fn a_hyphen_will_do_and_an_unknown_word_will_not() {
        assert_eq!("in-progress".parse(), Ok(State::InProgress));
        assert_eq!(serde_json::from_str::<State>("\"in-progress\"").unwrap(), State::InProgress);
        let why = "doing".parse::<State>().unwrap_err().to_string();
        assert_eq!(why, "expected one of backlog, ready, in_progress, gated, done, rejected, archived");
    }
}
