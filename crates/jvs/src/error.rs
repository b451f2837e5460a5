//! Everything that can go wrong, as the person who typed the command reads it: what failed, on what, why, and
//! what to type next. The class is the contract with scripts; it decides the exit code and nothing else does.
//!
//! A text never names a nonce: whoever reads it could act as the holder.

use std::fmt;
use std::path::Path;

use holdfast_kernel::{Lease, Refusal};
use holdfast_store::rfc3339;
use serde_json::{Map, Value, json};

use crate::guards::{Busy, Stopped};
use crate::holder::holder_of;

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;

/// Makes the enum and everything that must name all of it, so that none of them can miss one.
macro_rules! classes {
    ($($(#[$doc:meta])+ $class:ident = $code:literal,)+) => {
        /// What kind of failure it is. `spec/errors.md` has a row for each.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Class {
            $($(#[$doc])+ $class,)+
            /// A command could not be started; with the exit code of shells for that.
            CannotRun(u8),
            /// A signal ended it.
            Interrupted(u8),
        }

        impl Class {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$class,)+ Self::CannotRun(127), Self::Interrupted(0)];

            /// The code that scripts compare with.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$class => $code,)+
                    Self::CannotRun(_) => "E_CANNOT_RUN",
                    Self::Interrupted(_) => "E_INTERRUPTED",
                }
            }
        }
    };
}

classes! {
    /// Somebody else holds the lock, or something else stands in the way of it.
    LockConflict = "E_LOCK_CONFLICT",
    /// The lease is over.
    LockExpired = "E_LOCK_EXPIRED",
    /// The caller is not the holder.
    LockNotHeld = "E_LOCK_NOT_HELD",
    /// The caller's token is not the one in force.
    FencingMismatch = "E_FENCING_MISMATCH",
    /// A lock is stamped further in the future than clocks may be apart.
    ClockSkewExceeded = "E_CLOCK_SKEW_EXCEEDED",
    /// What was asked for cannot be had at this consistency.
    ConsistencyUnavailable = "E_CONSISTENCY_UNAVAILABLE",
    /// A snapshot is not whole, or its parts do not agree.
    PartialSnapshot = "E_PARTIAL_SNAPSHOT",
    /// A name or an id that cannot be one.
    NameInvalid = "E_NAME_INVALID",
    /// A path that leads out of its place.
    PathEscape = "E_PATH_ESCAPE",
    /// A file of the repository does not hold what belongs there.
    DescriptorCorrupt = "E_DESCRIPTOR_CORRUPT",
    /// A payload is not what was published.
    PayloadHashMismatch = "E_PAYLOAD_HASH_MISMATCH",
    /// The audit log is not what was written, or cannot be written.
    AuditChainBroken = "E_AUDIT_CHAIN_BROKEN",
    /// The repository was made by a later version.
    FormatUnsupported = "E_FORMAT_UNSUPPORTED",
    /// The plan is not the one that was shown.
    GcPlanMismatch = "E_GC_PLAN_MISMATCH",
    /// There is no such thing.
    NotFound = "E_NOT_FOUND",
    /// There is such a thing already.
    Exists = "E_EXISTS",
    /// Something would be lost.
    UnsavedChanges = "E_UNSAVED_CHANGES",
    /// Somebody has been inside a guard for too long.
    Busy = "E_BUSY",
    /// The operating system failed.
    Io = "E_IO",
    /// What was typed is no command.
    Usage = "E_USAGE",
    /// Something that cannot happen.
    Internal = "E_INTERNAL",
}

impl Class {
    /// The exit code.
    #[must_use]
    pub const fn exit(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::CannotRun(code) => code,
            Self::Interrupted(signal) => 128_u8.saturating_add(signal),
            _ => 1,
        }
    }
}

#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    class: Class,
    message: String,
    hint: Option<String>,
    details: Map<String, Value>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// A failure of this class.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { class, message: message.into(), hint: None, details: Map::new() }))
    }

    /// This error, with what to type next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// This error, with something more for scripts.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.0.class
    }

    /// What to type next.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The error for scripts.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = self.0.details.clone();
        document.insert("error".to_owned(), json!(self.0.class.code()));
        document.insert("message".to_owned(), json!(self.0.message));
        document.insert("hint".to_owned(), json!(self.0.hint));
        Value::Object(document)
    }

    /// Something that cannot happen. Whoever says it names no nonce, and so shows no lease.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(Class::Internal, format!("{what}: this is a bug in jvs; please report it"))
    }

    /// What was typed is no command.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Class::Usage, message)
    }

    /// A signal asked to stop.
    #[must_use]
    pub fn interrupted(signal: u8) -> Self {
        Self::new(Class::Interrupted(signal), format!("stopped by signal {signal}; nothing was changed"))
    }

    /// There is no such thing.
    #[must_use]
    pub fn not_found(what: &str, name: &str, hint: &str) -> Self {
        Self::new(Class::NotFound, format!("there is no {what} '{name}'")).hint(hint)
    }

    /// A path is not the directory that it must be.
    #[must_use]
    pub fn path_escape(path: &Path) -> Self {
        let what = "is not a directory of this repository: it is a symbolic link or something else";
        Self::new(Class::PathEscape, format!("{} {what}", path.display()))
            .hint("put the directory back in its place; nothing was read or written through it")
    }

    /// Something cannot be kept.
    #[must_use]
    pub fn unsupported(path: &Path, what: &str) -> Self {
        Self::new(Class::ConsistencyUnavailable, format!("{} cannot hold {what}", path.display()))
    }

    /// A payload was written to while it was read.
    #[must_use]
    pub fn changed(path: &[u8]) -> Self {
        let path = String::from_utf8_lossy(path).into_owned();
        Self::new(Class::ConsistencyUnavailable, format!("'{path}' changed while the payload was copied"))
            .hint("stop whatever writes there, or take the snapshot with --consistency best_effort")
            .detail("path", path)
    }

    /// A file of the repository does not hold what belongs there.
    #[must_use]
    pub fn corrupt(path: &Path, why: impl fmt::Display) -> Self {
        Self::new(Class::DescriptorCorrupt, format!("{} cannot be used: {why}", path.display()))
            .hint("run `jvs doctor --strict` to see what else is wrong")
            .detail("path", path.to_string_lossy().into_owned())
    }
}

/// What a wait ended with, if that is what failed.
fn waited(error: &holdfast_sys::Error) -> Option<Error> {
    let inner = error.source.get_ref()?;
    if let Some(stopped) = inner.downcast_ref::<Stopped>() {
        return Some(Error::interrupted(stopped.signal));
    }
    let busy = inner.downcast_ref::<Busy>()?;
    let inside: Vec<Value> = busy
        .inside
        .iter()
        .map(|one| json!({ "pid": one.pid, "command": one.command, "running_ms": one.running_ms, "stopped": one.is_stopped }))
        .collect();
    let stopped = busy.inside.iter().find(|one| one.is_stopped);
    let hint = stopped.map_or_else(
        || "nothing was changed; try again, or wait longer with --wait".to_owned(),
        |one| format!("nothing was changed; let it go on with `kill -CONT {}`, or end it", one.pid),
    );
    let said = format!("{} is busy: {busy}", busy.path.display());
    let told = Error::new(Class::Busy, said).hint(hint).detail("inside", inside);
    Some(told.detail("waited_ms", busy.waited.get()))
}

impl From<holdfast_sys::Error> for Error {
    fn from(error: holdfast_sys::Error) -> Self {
        if let Some(told) = waited(&error) {
            return told;
        }
        let full = error.kind() == std::io::ErrorKind::StorageFull;
        let told = Self::new(Class::Io, format!("{error}: {}", error.source));
        if full { told.hint("make room on the disk and try again; nothing was published") } else { told }
    }
}

/// Which program is too old for what is on disk.
pub(crate) const TOO_OLD: &str =
    concat!("jvs ", env!("CARGO_PKG_VERSION"), " is too old for it: install the version that wrote it");

impl From<holdfast_store::Error> for Error {
    fn from(error: holdfast_store::Error) -> Self {
        use holdfast_store::Error as Store;
        match error {
            Store::Refused(refusal) => refused(&refusal),
            Store::Sys(error) => error.into(),
            Store::Damaged { .. } => Self::new(Class::DescriptorCorrupt, error.to_string())
                .hint("look at the file; `jvs doctor --repair` sets a damaged lock aside"),
            Store::Newer { .. } => Self::new(Class::FormatUnsupported, error.to_string()).hint(TOO_OLD),
            Store::Unsupported { .. } => Self::new(Class::ConsistencyUnavailable, error.to_string()),
            // Nothing here is kept in a register.
            Store::Shared { .. } => Self::internal(error.code()),
            Store::Unwitnessed(ref why) => Self::new(Class::AuditChainBroken, format!("{error}: {why}"))
                .hint("run `jvs audit verify`; without an audit record no lock changes hands"),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        refused(&refusal)
    }
}

fn about(error: Error, lease: &Lease) -> Error {
    let expires = lease.deadline().map(|deadline| rfc3339(&deadline));
    error
        .detail("holder_id", holder_of(lease))
        .detail("lock_id", lease.id.to_string())
        .detail("fencing_token", lease.fence.get())
        .detail("lease_expires_at", expires)
}

const ANEW: &str = "stop writing; run `jvs lock acquire` to take the lock anew";

fn refused(refusal: &Refusal) -> Error {
    let text = |class, text: String| Error::new(class, text);
    match refusal {
        Refusal::Held { blocker, retry_after, .. } => {
            let wait = retry_after.map_or_else(String::new, |span| format!(", free in {span} at the latest"));
            let said =
                text(Class::LockConflict, format!("the worktree is locked by {}{wait}", holder_of(blocker)));
            let hint = match retry_after {
                Some(span) => format!("try again in {span}, or sooner if it is released"),
                None => "wait until it is released".to_owned(),
            };
            about(said, blocker).hint(hint).detail("retry_after_ms", retry_after.map(|span| span.get()))
        }
        Refusal::ClockSkew { blocker, ahead } => about(
            text(
                Class::ClockSkewExceeded,
                format!(
                    "the lock of {} is stamped {ahead} in the future, where clocks may be {} apart",
                    holder_of(blocker),
                    blocker.skew
                ),
            ),
            blocker,
        )
        .hint("set the clock that is wrong, then try again"),
        Refusal::Expired { lease, ago } => {
            let said = format!("the lease ended {ago} ago, even if nobody has taken the lock since");
            about(text(Class::LockExpired, said), lease).hint(ANEW)
        }
        Refusal::NotHolder { lease } => {
            let said = format!("the lock is held by {}, not by this session", holder_of(lease));
            about(text(Class::LockNotHeld, said), lease).hint(ANEW)
        }
        Refusal::NotFound { .. } => {
            let said = "this session does not hold the lock: it was released or taken over";
            text(Class::LockNotHeld, said.to_owned()).hint(ANEW)
        }
        Refusal::FencedOut { presented, current, .. } => fenced_out(presented.get(), current.first()),
        Refusal::TtlOutOfRange { .. } | Refusal::DeadlineTooFar { .. } => {
            text(Class::Usage, refusal.to_string())
        }
        Refusal::FencesExhausted | Refusal::CounterBehind { .. } => {
            text(Class::FencingMismatch, refusal.to_string()).hint("run `jvs doctor --strict`")
        }
        Refusal::HeldShared { .. } | Refusal::DuplicateId { .. } => {
            text(Class::LockConflict, refusal.to_string())
        }
        // A lock is exclusive, has a deadline and is never handed over, and whoever holds it gets it again.
        Refusal::AlreadyHeld { .. }
        | Refusal::Stale { .. }
        | Refusal::NotIndefinite { .. }
        | Refusal::NotFinite { .. }
        | Refusal::IndefiniteForbidden
        | Refusal::ReasonRequired
        | Refusal::LimitReached { .. }
        | Refusal::SameHolder { .. } => {
            Error::internal(format_args!("the lock refused with {}", refusal.code()))
        }
    }
}

fn fenced_out(presented: u64, current: Option<&Lease>) -> Error {
    let by = match current {
        Some(lease) => format!("{} holds the lock with token {}", holder_of(lease), lease.fence),
        None => "nobody holds the lock".to_owned(),
    };
    Error::new(Class::FencingMismatch, format!("token {presented} is not in force: {by}"))
        .hint(ANEW)
        .detail("presented", presented)
        .detail("current", current.map(|lease| lease.fence.get()))
}

#[cfg(test)]
mod tests;
