//! Everything that can go wrong, as the person who typed the command reads it: what failed, why, and what
//! to type next. The kind of the error decides the exit code; nothing else does.

use std::path::PathBuf;

use holdfast_kernel::{Millis, Refusal};
use serde_json::{Value, json};

use crate::cycle::Cycle;
use crate::inversion::Inversion;
use crate::names::BadName;
use crate::shown::Shown;
use crate::times::BadTime;

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It went well.
    Ok,
    /// Not now, not there, or not yours.
    Refused,
    /// Something that should not happen, a lock that cannot be read among it.
    Unexpected,
    /// It was not understood.
    Usage,
    /// A signal ended it.
    Signal(u8),
    /// What the command ended with that ran under the lock.
    Command(u8),
}

impl Exit {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Refused => 1,
            Self::Unexpected => 2,
            Self::Usage => 3,
            Self::Signal(number) => 128_u8.saturating_add(number),
            Self::Command(code) => code,
        }
    }
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed is no command.
    #[error("{0}")]
    Usage(String),
    /// A name that no lock can have.
    #[error(
        "'{given}' cannot be the {what} of a lock: 1 to 128 letters, digits, '.', '_' or '-', not '.' or '..'"
    )]
    BadName {
        /// Which part.
        what: &'static str,
        /// What was given.
        given: String,
    },
    /// A name that no lock can have, because something else is kept under it.
    #[error("'{given}' cannot be the {what} of a lock: it is reserved for what ic keeps beside the locks")]
    Reserved {
        /// Which part.
        what: &'static str,
        /// What was given.
        given: String,
    },
    /// A value that cannot be.
    #[error("{what} cannot be '{given}': {why}")]
    BadValue {
        /// What it is.
        what: &'static str,
        /// What was given.
        given: String,
        /// Why not.
        why: &'static str,
    },
    /// Nobody knows who calls.
    #[error("it cannot be told which process calls this")]
    NoCaller,
    /// The locks cannot be kept there.
    #[error("{} cannot keep locks: {why}", path.display())]
    BadRoot {
        /// The directory, or one above it.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// It was held by somebody else all the time.
    #[error("{}", too_late(blocker.as_deref(), lock, *waited))]
    Timeout {
        /// The lock.
        lock: String,
        /// Who holds it.
        blocker: Option<Box<Shown>>,
        /// How long it was waited for.
        waited: Millis,
    },
    /// Somebody was changing locks all the time, and nobody else could.
    #[error("the locks in {} are being changed by {}; gave up after {waited}", root.display(), by.as_deref().unwrap_or("another process"))]
    Busy {
        /// Where the locks are.
        root: PathBuf,
        /// Who is at it, if that can be told.
        by: Option<String>,
        /// How long it was waited for.
        waited: Millis,
    },
    /// Whoever asks holds it already.
    #[error("{} is already held by {}: waiting for it would never end", .0.lock(), .0.owner)]
    AlreadyHeld(Box<Shown>),
    /// The process that the lock was for has ended meanwhile.
    #[error("{0} has ended, so nobody waits for the lock any more")]
    CallerGone(String),
    /// Waiting would never end.
    #[error("{0}")]
    Deadlock(Box<Cycle>),
    /// Locks were taken the other way round before.
    #[error("{0}")]
    OutOfOrder(Box<Inversion>),
    /// Nobody holds it.
    #[error("{0} is not held")]
    NotHeld(String),
    /// Somebody else holds it.
    #[error("{} is held by {}, not by {asked}", lock.lock(), lock.owner)]
    NotOwner {
        /// The lock.
        lock: Box<Shown>,
        /// Who asked.
        asked: String,
    },
    /// It cannot be told whose it is.
    #[error("{0} has no owner that can be read, so it cannot be released by anybody")]
    Ownerless(String),
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The locks cannot be used.
    #[error(transparent)]
    Store(holdfast_store::Error),
    /// The operating system failed.
    #[error(transparent)]
    Sys(#[from] holdfast_sys::Error),
    /// The command could not be started.
    #[error("cannot run {program}: {why}")]
    Command {
        /// The command.
        program: String,
        /// Why not.
        why: std::io::Error,
    },
    /// A signal ended it.
    #[error("interrupted")]
    Interrupted(u8),
    /// Somebody who uses the library called it off.
    #[error("it was called off")]
    CalledOff,
}

/// The result of whatever a command does.
pub type Result<T> = std::result::Result<T, Error>;

impl From<BadName> for Error {
    fn from(bad: BadName) -> Self {
        let BadName { what, given, is_reserved } = bad;
        if is_reserved { Self::Reserved { what, given } } else { Self::BadName { what, given } }
    }
}

impl From<BadTime> for Error {
    fn from(BadTime { flag, given }: BadTime) -> Self {
        Self::BadValue { what: flag, given, why: "a time is such as 500ms, 2s or 1m" }
    }
}

impl From<holdfast_store::Error> for Error {
    fn from(error: holdfast_store::Error) -> Self {
        match error {
            holdfast_store::Error::Refused(refusal) => Self::Refused(Box::new(refusal)),
            holdfast_store::Error::Sys(error) => Self::Sys(error),
            other => Self::Store(other),
        }
    }
}

impl Error {
    /// How the program ends because of it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_)
            | Self::BadName { .. }
            | Self::Reserved { .. }
            | Self::BadValue { .. }
            | Self::NoCaller => Exit::Usage,
            Self::Timeout { .. }
            | Self::Busy { .. }
            | Self::AlreadyHeld(_)
            | Self::CallerGone(_)
            | Self::Deadlock(_)
            | Self::OutOfOrder(_)
            | Self::NotHeld(_)
            | Self::NotOwner { .. } => Exit::Refused,
            Self::Refused(refusal) => refused(refusal),
            Self::Store(holdfast_store::Error::Unsupported { .. }) => Exit::Usage,
            Self::Ownerless(_) | Self::BadRoot { .. } | Self::Store(_) | Self::Sys(_) | Self::CalledOff => {
                Exit::Unexpected
            }
            // What shells say of a program that is not there, or is no program.
            Self::Command { why, .. } if why.kind() == std::io::ErrorKind::NotFound => Exit::Command(127),
            Self::Command { .. } => Exit::Command(126),
            Self::Interrupted(signal) => Exit::Signal(*signal),
        }
    }

    /// The code that `spec/errors.md` explains.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage(_) => "USAGE",
            Self::BadName { .. } | Self::Reserved { .. } => "BAD_NAME",
            Self::BadValue { .. } => "BAD_VALUE",
            Self::NoCaller => "NO_CALLER",
            Self::CallerGone(_) => "CALLER_GONE",
            Self::BadRoot { .. } => "BAD_ROOT",
            Self::Timeout { .. } | Self::Busy { .. } => "HELD",
            Self::AlreadyHeld(_) => "ALREADY_HELD",
            Self::Deadlock(_) => "DEADLOCK",
            Self::OutOfOrder(_) => "LOCK_ORDER",
            Self::NotHeld(_) => "NOT_FOUND",
            Self::NotOwner { .. } => "NOT_HOLDER",
            Self::Ownerless(_) => "DAMAGED",
            Self::Refused(refusal) => refusal.code(),
            Self::Store(holdfast_store::Error::Newer { .. }) => "NEWER_FORMAT",
            Self::Store(holdfast_store::Error::Unsupported { .. }) => "UNSUPPORTED",
            Self::Store(_) => "DAMAGED",
            Self::Sys(_) => "SYS",
            Self::Command { .. } => "COMMAND",
            Self::Interrupted(_) | Self::CalledOff => "INTERRUPTED",
        }
    }

    /// Why it went wrong, the nearest cause first.
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Usage(_) => "ic --help".into(),
            Self::NoCaller => "say it with --owner NAME".into(),
            Self::BadRoot { .. } => "choose another place with --root DIR or IC_LOCK_ROOT".into(),
            Self::Timeout { .. } => "wait longer with --timeout, or see 'ic lock stale'".into(),
            Self::AlreadyHeld(lock) => format!("ic lock release {}", words(&lock.lock().to_string())),
            Self::Deadlock(_) => "release what you hold, then take the locks in one order everywhere".into(),
            Self::OutOfOrder(_) => "take them in the order that 'ic lock order' shows".into(),
            Self::NotHeld(_) => "ic lock list".into(),
            Self::NotOwner { lock, .. } => format!(
                "a lock is released by the process that took it, or one that it started; \
                 'ic lock release {} --owner NAME' speaks for its owner",
                words(&lock.lock().to_string())
            ),
            Self::Busy { .. } => {
                "a process that stands still keeps everybody out; see 'ps' and 'kill -CONT'".into()
            }
            Self::Ownerless(_) => "ic lock clean".into(),
            Self::Store(holdfast_store::Error::Newer { .. }) => "update this program".into(),
            Self::Store(holdfast_store::Error::Unsupported { .. }) => "ic lock acquire --help".into(),
            Self::Store(_) => "ic lock clean removes it once it is older than 5 s".into(),
            Self::Refused(_) => "ic lock list".into(),
            _ => return None,
        })
    }

    /// The error as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({ "error": {
            "code": self.code(),
            "message": self.to_string(),
            "hint": self.hint(),
            "details": self.details(),
        }})
    }

    /// What a program can go on with.
    fn details(&self) -> Value {
        match self {
            Self::Busy { by, waited, .. } => json!({ "busy_with": by, "waited_ms": waited.get() }),
            Self::Timeout { blocker, waited, .. } => {
                json!({ "held_by": blocker.as_ref().map(|lock| lock.document()), "waited_ms": waited.get() })
            }
            Self::AlreadyHeld(lock) => json!({ "lock": lock.document() }),
            Self::NotOwner { lock, .. } => json!({ "lock": lock.document() }),
            Self::Deadlock(cycle) => cycle.document(),
            Self::OutOfOrder(inversion) => inversion.document(),
            _ => json!({ "causes": self.causes() }),
        }
    }
}

const fn refused(refusal: &Refusal) -> Exit {
    match refusal {
        Refusal::DuplicateId { .. } | Refusal::FencesExhausted | Refusal::CounterBehind { .. } => {
            Exit::Unexpected
        }
        _ => Exit::Refused,
    }
}

/// A lock's name as two words of a command.
fn words(lock: &str) -> String {
    lock.replacen('/', " ", 1)
}

fn too_late(blocker: Option<&Shown>, lock: &str, waited: Millis) -> String {
    match blocker {
        Some(held) => format!("{lock} is held by {}; gave up after {waited}", held.told()),
        None => format!("{lock} was taken by others, who came first; gave up after {waited}"),
    }
}
