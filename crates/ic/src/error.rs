//! Everything that can go wrong, as the person who typed the command reads it: what failed, why, and what
//! to type next. Each has a code, which decides how the program ends.

use std::path::PathBuf;

use holdfast_kernel::{Millis, Refusal, RefusalKind};
use serde_json::{Value, json};

use crate::cycle::Cycle;
use crate::inversion::Inversion;
use crate::names::BadName;
use crate::shown::Shown;
use crate::times::BadTime;

mod code;

pub use code::{Code, Exit};

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
        what: &'static str,
        /// What was given.
        given: String,
        /// Why not.
        why: &'static str,
    },
    /// Nobody knows who calls.
    #[error("cannot find out which process called this")]
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
    #[error("{} is already held by {}, for whom it is asked again", .0.lock(), .0.owner)]
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
    /// Its owner is unknown.
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
    /// Something that cannot happen, in words.
    #[error("{0}: this is a bug in ic; please report it")]
    Internal(String),
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
        if let Code::Internal = failed(&error) {
            return Self::Internal(format!("the locks refused with {}", error.code()));
        }
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
            // What shells say of a program that is not there, or is no program.
            Self::Command { why, .. } if why.kind() == std::io::ErrorKind::NotFound => Exit::Command(127),
            Self::Command { .. } => Exit::Command(126),
            Self::Interrupted(signal) => Exit::Signal(*signal),
            Self::CalledOff => Exit::Unexpected,
            other => other.code().exit(),
        }
    }

    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Usage(_) => Code::Usage,
            Self::BadName { .. } | Self::Reserved { .. } => Code::BadName,
            Self::BadValue { .. } => Code::BadValue,
            Self::NoCaller => Code::NoCaller,
            Self::CallerGone(_) => Code::CallerGone,
            Self::BadRoot { .. } => Code::BadRoot,
            Self::Timeout { .. } | Self::Busy { .. } => Code::Held,
            Self::AlreadyHeld(_) => Code::AlreadyHeld,
            Self::Deadlock(_) => Code::Deadlock,
            Self::OutOfOrder(_) => Code::LockOrder,
            Self::NotHeld(_) => Code::NotFound,
            Self::NotOwner { .. } => Code::NotHolder,
            Self::Ownerless(_) => Code::Damaged,
            Self::Refused(refusal) => refused(refusal.kind()),
            Self::Store(error) => failed(error),
            Self::Sys(_) => Code::Sys,
            Self::Command { .. } => Code::Command,
            Self::Interrupted(_) | Self::CalledOff => Code::Interrupted,
            Self::Internal(_) => Code::Internal,
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
            Self::Store(error) => return store_hint(error),
            Self::Refused(_) => "ic lock list".into(),
            Self::BadName { .. }
            | Self::Reserved { .. }
            | Self::BadValue { .. }
            | Self::CallerGone(_)
            | Self::Sys(_)
            | Self::Command { .. }
            | Self::Interrupted(_)
            | Self::CalledOff
            | Self::Internal(_) => return None,
        })
    }

    /// The error as JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        json!({ "error": {
            "code": self.code().as_str(),
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

/// The code of a refusal. Locks are exclusive, have no deadline and no limits, and are never handed over: what
/// is refused for another reason cannot be.
const fn refused(kind: RefusalKind) -> Code {
    match kind {
        RefusalKind::Held => Code::Held,
        RefusalKind::ClockSkew => Code::ClockSkew,
        RefusalKind::AlreadyHeld => Code::AlreadyHeld,
        RefusalKind::NotFound => Code::NotFound,
        RefusalKind::NotHolder => Code::NotHolder,
        RefusalKind::Expired => Code::Expired,
        RefusalKind::FencedOut => Code::FencedOut,
        RefusalKind::DuplicateId => Code::DuplicateId,
        RefusalKind::FencesExhausted => Code::FencesExhausted,
        RefusalKind::CounterBehind => Code::CounterBehind,
        RefusalKind::HeldShared
        | RefusalKind::Stale
        | RefusalKind::NotIndefinite
        | RefusalKind::NotFinite
        | RefusalKind::TtlOutOfRange
        | RefusalKind::DeadlineTooFar
        | RefusalKind::IndefiniteForbidden
        | RefusalKind::ReasonRequired
        | RefusalKind::LimitReached
        | RefusalKind::SameHolder => Code::Internal,
    }
}

/// The code of what a medium said. Nothing has to be witnessed here, and nothing is kept in a register.
const fn failed(error: &holdfast_store::Error) -> Code {
    match error {
        holdfast_store::Error::Refused(refusal) => refused(refusal.kind()),
        holdfast_store::Error::Sys(_) => Code::Sys,
        holdfast_store::Error::Damaged { .. } => Code::Damaged,
        holdfast_store::Error::Newer { .. } => Code::NewerFormat,
        holdfast_store::Error::Unsupported { .. } => Code::Unsupported,
        holdfast_store::Error::Unwitnessed(_) | holdfast_store::Error::Shared { .. } => Code::Internal,
    }
}

fn store_hint(error: &holdfast_store::Error) -> Option<String> {
    use holdfast_store::Error as Store;
    match error {
        Store::Damaged { .. } => Some("ic lock clean removes it once it is older than 5 s".into()),
        Store::Newer { .. } => Some(format!(
            "ic {} is too old for it: install the version that wrote it",
            env!("CARGO_PKG_VERSION")
        )),
        Store::Unsupported { .. } => Some("ic lock acquire --help".into()),
        Store::Refused(_) | Store::Sys(_) | Store::Unwitnessed(_) | Store::Shared { .. } => None,
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

#[cfg(test)]
mod tests;
