//! What is wrong with a configuration, where, and what would be right. A problem is always shown to
//! somebody: what it quotes from a file is escaped and cut first.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What kind of problem it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ProblemKind {
    /// The file cannot be read, or nothing that can be read is there.
    Unreadable,
    /// The file is not TOML.
    Syntax,
    /// A key is there twice.
    DuplicateKey,
    /// There is no such key.
    UnknownKey,
    /// The value is of another type.
    WrongType,
    /// The number, or the number of entries, is too small or too large.
    OutOfRange,
    /// The value is none of the words that the key knows.
    UnknownWord,
    /// The text cannot be what the key is about.
    BadText,
    /// Two settings exclude each other.
    Conflict,
}

impl ProblemKind {
    /// The kind as programs know it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Syntax => "syntax",
            Self::DuplicateKey => "duplicate_key",
            Self::UnknownKey => "unknown_key",
            Self::WrongType => "wrong_type",
            Self::OutOfRange => "out_of_range",
            Self::UnknownWord => "unknown_word",
            Self::BadText => "bad_text",
            Self::Conflict => "conflict",
        }
    }
}

/// What is wrong with a value, wherever it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: Option<String>,
}

impl Fault {
    pub(super) fn new(kind: ProblemKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), fix: None }
    }

    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// Proposes what somebody may have meant, if anything.
    pub(super) fn did_you_mean(mut self, near: &[&str]) -> Self {
        if !near.is_empty() {
            self.fix = Some(format!("did you mean {}?", near.join(" or ")));
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.fix.iter().try_for_each(|fix| write!(f, "; {fix}"))
    }
}

/// What is wrong in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The file.
    pub path: Arc<Path>,
    /// The line, counted from 1; none where the file as a whole is meant.
    pub line: Option<usize>,
    /// The key, if it is about one.
    pub key: Option<String>,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.line.iter().try_for_each(|line| write!(f, ":{line}"))?;
        self.key.iter().try_for_each(|key| write!(f, ": {key}"))?;
        write!(f, ": {}", self.fault)
    }
}

/// Everything that is wrong with a configuration; never nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [problem] => write!(f, "the configuration is invalid: {problem}"),
            problems => {
                write!(f, "the configuration has {} problems", problems.len())?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

/// A text from outside as it can be shown: one short line that no terminal acts on.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let short = short.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(LONGEST).is_some() { format!("{short}…") } else { short }
}
