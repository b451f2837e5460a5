//! Finds what a crash or a bad disk left behind, and puts it right.

use std::fmt;

use holdfast_store::Finding;
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::queue;
use crate::durable;
use crate::error::Result;
use crate::session::Session;
use crate::writes;

/// What was found and done.
#[derive(Default, Serialize, JsonSchema)]
pub struct Recovery {
    /// Whether anything was put right.
    pub repaired: bool,
    /// What was wrong.
    pub findings: Vec<Found>,
    /// Where a damaged log is kept.
    pub kept: Option<String>,
}

/// Something that was wrong.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Found {
    /// The end of the log, which nobody was told of.
    TornTail {
        /// How long it is.
        bytes: u64,
    },
    /// An index that is missing, behind or of no use.
    Index,
    /// A log that cannot be read to its end.
    Damage {
        /// What is wrong with it.
        what: String,
        /// How many leases can be carried over.
        leases: usize,
    },
    /// A file that an interrupted operation left.
    Leftover {
        /// Where it is.
        path: String,
    },
    /// A place in line that nobody waits in.
    DeadTicket {
        /// Where it is.
        path: String,
    },
    /// Changes of issues that were made and are in no event log.
    MissingEvents {
        /// How many events are missing.
        events: usize,
    },
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornTail { bytes } => {
                write!(f, "{bytes} bytes at the end of the log that nobody was told of")
            }
            Self::Index => f.write_str("an index that is missing, behind or of no use"),
            Self::Damage { what, leases } => write!(f, "damage: {what}; {leases} leases can be carried over"),
            Self::Leftover { path } => write!(f, "a file that an interrupted operation left: {path}"),
            Self::DeadTicket { path } => write!(f, "a place in line that nobody waits in: {path}"),
            Self::MissingEvents { events } => {
                write!(f, "{events} events of issues that are not in the event log")
            }
        }
    }
}

/// Looks for what is wrong, and puts it right if `repair`; none where nothing has been claimed yet.
///
/// # Errors
/// When nothing can be read at all, or something cannot be written.
pub fn recover(session: &Session, repair: bool) -> Result<Option<Recovery>> {
    if !durable::is_dir(session.sys(), &session.control().join("locks"))? {
        return Ok(None);
    }
    if repair {
        session.prepare()?;
        // Whoever repairs is noted beside the lock, if that is known.
        let _ = session.known_agent();
    }
    let claims = session.claims();
    let recovery = claims.medium.recover(&claims.policy, repair)?;
    let mut findings: Vec<Found> = recovery.findings.iter().map(Found::from).collect();
    for ticket in queue::dead(session.sys(), session.control(), repair)? {
        findings.push(Found::DeadTicket { path: ticket.to_string_lossy().into_owned() });
    }
    // Without a worktree there is no event log.
    let events = if session.root().is_some() { writes::pending_events(session, repair)? } else { 0 };
    if events > 0 {
        findings.push(Found::MissingEvents { events });
    }
    let kept = recovery.kept.as_ref().map(|path| path.to_string_lossy().into_owned());
    Ok(Some(Recovery { repaired: repair && !findings.is_empty(), findings, kept }))
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Self {
        match finding {
            Finding::TornTail { bytes } => Self::TornTail { bytes: *bytes },
            Finding::Index => Self::Index,
            Finding::Damage { what, leases } => Self::Damage { what: what.clone(), leases: *leases },
            Finding::Leftover { path } => Self::Leftover { path: path.to_string_lossy().into_owned() },
        }
    }
}
