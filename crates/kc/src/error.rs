//! Everything that can go wrong, as whoever reads it gets it: what failed, on what, why, and what to do
//! next. Each has one of the codes that callers know. No text and no detail ever carries a token that is in
//! force, or the secret.

use std::path::PathBuf;

use holdfast_kernel::{Lease, Millis, Name, NameError, Refusal, Stamp, Standing};
use serde::Serialize;
use serde_json::{Value, json};

mod code;

pub use code::Code;

/// The version of the form of [`AppError`].
const SCHEMA_VERSION: u32 = 1;

/// The longest name that the schemas allow, in bytes.
const LONGEST_NAME: usize = 256;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody holds the lease.
    #[error("{}", held_text(.0))]
    Held(Box<Blocker>),
    /// The token proves nothing: it is missing, unknown, released, or another document's.
    #[error("the lock token proves no lease on {}: acquire one with `kc_cli lineage lock acquire`", .0.escape_debug())]
    TokenInvalid(String),
    /// The token's lease ran out.
    #[error("the lease of this lock token on {} has ended: acquire a new one with `kc_cli lineage lock acquire`", .0.escape_debug())]
    TokenExpired(String),
    /// An overlay cannot be like this.
    #[error("the overlay's {field} cannot be used: {why}")]
    OverlayInvalid {
        /// Which field.
        field: &'static str,
        /// Why not.
        why: NameError,
    },
    /// A change is dated before the lease that it is made under.
    #[error("{at} is before {granted}, when the lease on {} was granted (ms since 1970): a change is made while its lease lasts", .doc.escape_debug())]
    BeforeLease {
        /// The document.
        doc: String,
        /// The moment of the change.
        at: u64,
        /// When the lease was granted.
        granted: u64,
    },
    /// A document that has overlays cannot be removed.
    #[error("{} has {count} overlay{}: remove them first with `kc_cli lineage overlay remove`", .doc.escape_debug(), if *.count == 1 { "" } else { "s" })]
    HasOverlays {
        /// The document.
        doc: String,
        /// How many.
        count: u64,
    },
    /// There is no such overlay.
    #[error("there is no overlay {}: `kc_cli lineage overlay list` shows those there are", .0.escape_debug())]
    OverlayNotFound(String),
    /// There is such an overlay already.
    #[error("the same overlay is there already, as {0}")]
    OverlayConflict(String),
    /// There is no such document.
    #[error("there is no document {}: add it with `kc_cli doc add`", .0.escape_debug())]
    DocNotFound(String),
    /// A name cannot be used.
    #[error("the {what} cannot be used: {why}")]
    BadName {
        /// What it is a name of.
        what: &'static str,
        /// Why not.
        why: NameError,
    },
    /// A moment cannot be used.
    #[error("{0} cannot be now_ms: it counts milliseconds from 1970, at the most to the end of 9999")]
    BadTime(i64),
    /// The lease would end after the last moment there is.
    #[error("now_ms is too late: a lease of {0} from then on would end after the year 9999")]
    TooLate(Millis),
    /// A request was not understood.
    #[error("the request was not understood: {0}")]
    Request(String),
    /// There is no vault.
    #[error("{} is not a vault: make one with `kc_cli vault init`", .0.display())]
    NoVault(PathBuf),
    /// Something else is where a vault was to be made.
    #[error("{} is there already and is not a vault: choose another name", .0.display())]
    Taken(PathBuf),
    /// A file of the vault cannot be used.
    #[error("{} cannot be used: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The medium failed.
    #[error("{}", store_text(.0))]
    Store(holdfast_store::Error),
    /// The operating system failed.
    #[error("{}", with_causes(.0))]
    Sys(#[from] holdfast_sys::Error),
    /// Something that cannot happen, in words.
    #[error("{0}: this is a bug in kc_cli; please report it")]
    Internal(String),
}

/// Who holds the lease, and how long.
#[derive(Debug)]
pub struct Blocker {
    /// The lease that stands in the way.
    pub lease: Lease,
    /// How long it does, if the clocks agree on it.
    pub retry_after: Option<Millis>,
}

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

impl From<holdfast_store::Error> for Error {
    fn from(error: holdfast_store::Error) -> Self {
        use holdfast_store::Error as Store;
        match error {
            Store::Refused(refusal) => refusal.into(),
            Store::Sys(error) => Self::Sys(error),
            Store::Damaged { .. } | Store::Newer { .. } => Self::Store(error),
            // No lease here is shared or in a register, and nothing has to be witnessed.
            Store::Unsupported { .. } | Store::Unwitnessed(_) | Store::Shared { .. } => {
                Self::impossible(error.code())
            }
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Held { blocker, retry_after, .. } => Self::held(*blocker, retry_after),
            Refusal::ClockSkew { blocker, .. } => Self::held(*blocker, None),
            Refusal::AlreadyHeld { lease } => Self::held(*lease, None),
            Refusal::DeadlineTooFar { ttl } => Self::TooLate(ttl),
            Refusal::Expired { lease, .. } => Self::TokenExpired(lease.resource.text().to_owned()),
            Refusal::DuplicateId { .. } | Refusal::FencesExhausted | Refusal::CounterBehind { .. } => {
                Self::Store(refusal.into())
            }
            // A token proves a lease that is in the table, or nothing is asked of the kernel; and all leases
            // are exclusive and of one length.
            Refusal::NotFound { .. }
            | Refusal::NotHolder { .. }
            | Refusal::FencedOut { .. }
            | Refusal::HeldShared { .. }
            | Refusal::Stale { .. }
            | Refusal::NotIndefinite { .. }
            | Refusal::NotFinite { .. }
            | Refusal::TtlOutOfRange { .. }
            | Refusal::IndefiniteForbidden
            | Refusal::ReasonRequired
            | Refusal::LimitReached { .. }
            | Refusal::SameHolder { .. } => Self::impossible(refusal.code()),
        }
    }
}

impl Error {
    /// The database refused what it never refuses.
    fn impossible(code: &str) -> Self {
        Self::Internal(format!("the vault refused with {code}"))
    }

    fn held(lease: Lease, retry_after: Option<Millis>) -> Self {
        Self::Held(Box::new(Blocker { lease, retry_after }))
    }

    /// The refusal to touch what this lease is on at this moment.
    pub(crate) fn held_at(lease: &Lease, now: &Stamp) -> Self {
        let left = match lease.standing(now) {
            Standing::Live { left } => Some(left),
            _ => None,
        };
        Self::held(lease.clone(), left)
    }

    /// The code that callers know.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Held(_) => Code::LockHeld,
            Self::TokenInvalid(_) => Code::LockInvalid,
            Self::TokenExpired(_) => Code::LockExpired,
            Self::OverlayInvalid { .. } | Self::BeforeLease { .. } => Code::OverlayInvalid,
            Self::OverlayNotFound(_) => Code::OverlayNotFound,
            Self::OverlayConflict(_) | Self::HasOverlays { .. } => Code::OverlayConflict,
            Self::DocNotFound(_) => Code::DocNotFound,
            Self::BadName { .. }
            | Self::BadTime(_)
            | Self::TooLate(_)
            | Self::Request(_)
            | Self::NoVault(_)
            | Self::Taken(_)
            | Self::Unusable { .. }
            | Self::Store(_)
            | Self::Sys(_)
            | Self::Internal(_) => Code::QueryFailed,
        }
    }

    /// What kind of trouble it is.
    const fn category(&self) -> &'static str {
        match self {
            Self::Held(_) | Self::TokenInvalid(_) | Self::TokenExpired(_) => "lock",
            Self::OverlayConflict(_) | Self::HasOverlays { .. } => "conflict",
            Self::OverlayNotFound(_) | Self::DocNotFound(_) => "not_found",
            Self::OverlayInvalid { .. }
            | Self::BeforeLease { .. }
            | Self::BadName { .. }
            | Self::BadTime(_)
            | Self::TooLate(_)
            | Self::Request(_) => "validation",
            Self::NoVault(_)
            | Self::Taken(_)
            | Self::Unusable { .. }
            | Self::Store(_)
            | Self::Sys(_)
            | Self::Internal(_) => "storage",
        }
    }

    /// Whether the same request can succeed later without anybody changing anything.
    fn retryable(&self) -> bool {
        match self {
            Self::Held(_) => true,
            Self::Sys(error) => {
                matches!(error.kind(), std::io::ErrorKind::TimedOut | std::io::ErrorKind::StorageFull)
            }
            _ => false,
        }
    }

    /// What a program can go on with.
    fn details(&self) -> Value {
        match self {
            Self::Held(blocker) => json!({
                "doc_id": blocker.lease.resource.text(),
                "owner": blocker.lease.holder.agent.as_str(),
                "acquired_at_ms": blocker.lease.granted.wall_ms(),
                "expires_at_ms": blocker.lease.deadline().map(|at| at.wall_ms()),
                "retry_after_ms": blocker.retry_after.map(Millis::get),
            }),
            Self::TokenInvalid(doc) | Self::TokenExpired(doc) | Self::DocNotFound(doc) => {
                json!({ "doc_id": doc })
            }
            Self::OverlayInvalid { field, .. } => json!({ "field": field }),
            Self::BeforeLease { doc, granted, .. } => json!({ "doc_id": doc, "acquired_at_ms": granted }),
            Self::HasOverlays { doc, count } => json!({ "doc_id": doc, "overlays": count }),
            Self::BadName { what, .. } => json!({ "field": what }),
            Self::OverlayNotFound(id) | Self::OverlayConflict(id) => json!({ "overlay_id": id }),
            Self::NoVault(path) | Self::Taken(path) | Self::Unusable { path, .. } => {
                json!({ "path": path.display().to_string() })
            }
            Self::BadTime(_)
            | Self::TooLate(_)
            | Self::Request(_)
            | Self::Store(_)
            | Self::Sys(_)
            | Self::Internal(_) => json!({}),
        }
    }
}

/// An error as programs get it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AppError {
    /// The version of this form.
    pub schema_version: u32,
    /// The code.
    pub code: &'static str,
    /// What kind of trouble it is: `lock`, `conflict`, `not_found`, `validation` or `storage`.
    pub category: &'static str,
    /// For people.
    pub message: String,
    /// Whether the same request can succeed later without anybody changing anything.
    pub retryable: bool,
    /// What a program can go on with.
    pub details: Value,
}

impl From<&Error> for AppError {
    fn from(error: &Error) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            code: error.code().as_str(),
            category: error.category(),
            message: error.to_string(),
            retryable: error.retryable(),
            details: error.details(),
        }
    }
}

/// The moment that a caller names.
pub(crate) fn moment(now_ms: i64) -> Result<Stamp> {
    Stamp::new(now_ms, None).map_err(|_| Error::BadTime(now_ms))
}

/// The name, if it can be one.
///
/// # Errors
/// When it cannot.
pub(crate) fn name(what: &'static str, text: &str) -> Result<Name> {
    bounded(text).map_err(|why| Error::BadName { what, why })
}

/// A name of this door, which promises shorter ones in its schemas than the kernel takes.
pub(crate) fn bounded(text: &str) -> std::result::Result<Name, NameError> {
    match text.len() {
        bytes if bytes > LONGEST_NAME => Err(NameError::Long { bytes, longest: LONGEST_NAME }),
        _ => Name::new(text),
    }
}

fn held_text(blocker: &Blocker) -> String {
    let Blocker { lease, retry_after } = blocker;
    let until = lease.deadline().as_ref().map_or(0, Stamp::wall_ms);
    let next = retry_after.map_or_else(
        || "release it, or try again then".into(),
        |wait| format!("try again in {wait}, or sooner if it is released"),
    );
    format!("{} is held by {} until {until} (ms since 1970): {next}", lease.resource, lease.holder.agent)
}

fn store_text(error: &holdfast_store::Error) -> String {
    let next = match error {
        holdfast_store::Error::Damaged { .. } => {
            ": nothing was changed; put a backup of the vault in its place"
        }
        holdfast_store::Error::Newer { .. } => concat!(
            ": nothing was changed; kc_cli ",
            env!("CARGO_PKG_VERSION"),
            " is too old for it: install the version that wrote it"
        ),
        holdfast_store::Error::Refused(_)
        | holdfast_store::Error::Sys(_)
        | holdfast_store::Error::Unsupported { .. }
        | holdfast_store::Error::Unwitnessed(_)
        | holdfast_store::Error::Shared { .. } => "",
    };
    with_causes(error) + next
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(why) = cause {
        text.push_str(": ");
        text.push_str(&why.to_string());
        cause = why.source();
    }
    text
}

#[cfg(test)]
mod tests;
