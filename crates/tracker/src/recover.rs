//! Finds what a crash or a bad disk left behind, and puts it right.

use std::fmt;
use std::io::ErrorKind;

use holdfast_kernel::{Holder, Resource};
use holdfast_store::Finding;
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::{queue, testimony};
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
    /// The end of the log, which was never acknowledged.
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
    /// Records of which nobody tells any more. A claim that only they told of is lost, and nobody can name it.
    MissingRecords {
        /// How many.
        records: u64,
    },
    /// A claim that was in force and could not be saved.
    Lost {
        /// The lease.
        lease_id: String,
        /// The issue that it was on, if anything still says so.
        issue_id: Option<String>,
        /// Who held it, if anything still says so.
        agent_id: Option<String>,
        /// In which worktree.
        worktree_id: Option<String>,
    },
    /// An archived part of the log that does not belong to it.
    Segment {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// Something else in the place of a file.
    Odd {
        /// Where it is.
        path: String,
        /// What is there.
        what: String,
    },
    /// The directory of the locks is missing.
    Locks,
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
                write!(f, "{bytes} bytes at the end of the log that were never acknowledged")
            }
            Self::Index => f.write_str("an index that is missing, behind or of no use"),
            Self::Damage { what, leases } => write!(f, "damage: {what}; {leases} leases can be carried over"),
            Self::MissingRecords { records } => write!(
                f,
                "{records} records are in no file any more: a claim that only they recorded is lost"
            ),
            Self::Lost { lease_id, issue_id: Some(issue), agent_id: Some(agent), .. } => {
                write!(f, "a claim that could not be saved: {issue} of {agent}, lease {lease_id}")
            }
            Self::Lost { lease_id, .. } => write!(f, "a claim that could not be saved: lease {lease_id}"),
            Self::Segment { path, what } => {
                write!(f, "a segment that does not belong to the log: {path}: {what}")
            }
            Self::Odd { path, what } => write!(f, "something else in the place of a file: {path}: {what}"),
            Self::Locks => f.write_str("no directory for the locks"),
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
    let locks = durable::is_dir(session.sys(), &session.control().join("locks"))?;
    if !locks && !is_begun(session)? {
        return Ok(None);
    }
    if !locks && !repair {
        // Nothing can be looked at safely without a lock.
        return Ok(Some(Recovery { findings: vec![Found::Locks], ..Recovery::default() }));
    }
    if repair {
        session.prepare()?;
        // Whoever repairs is noted beside the lock, if that is known.
        let _ = session.known_agent();
    }
    let claims = session.claims();
    let elsewhere = testimony::projected(session.sys(), session.control(), claims.policy.stale_after)?;
    let recovery = claims.medium.recover(&claims.policy, &elsewhere, repair)?;
    let mut findings: Vec<Found> = (!locks).then_some(Found::Locks).into_iter().collect();
    findings.extend(recovery.findings.iter().map(Found::from));
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

/// Whether something was claimed here once.
fn is_begun(session: &Session) -> Result<bool> {
    for name in ["claims.jsonl", "claims.index.json", "events/control.jsonl"] {
        match session.sys().files.stat(&session.control().join(name)) {
            Ok(_) => return Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

impl Recovery {
    /// Whether a claim was lost, so that not everything could be put right.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.findings.iter().any(|found| matches!(found, Found::Lost { .. } | Found::MissingRecords { .. }))
    }
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Self {
        match finding {
            Finding::TornTail { bytes } => Self::TornTail { bytes: *bytes },
            Finding::Index => Self::Index,
            Finding::Damage { what, leases } => Self::Damage { what: what.clone(), leases: *leases },
            Finding::Missing { records } => Self::MissingRecords { records: *records },
            Finding::Lost(lost) => {
                let of = |part: fn(&(Resource, Holder)) -> &str| {
                    lost.resource.as_ref().map(|it| part(it).to_owned())
                };
                Self::Lost {
                    lease_id: lost.lease.to_string(),
                    issue_id: of(|(resource, _)| resource.text()),
                    agent_id: of(|(_, holder)| holder.agent.as_str()),
                    worktree_id: of(|(_, holder)| holder.place.as_str()),
                }
            }
            Finding::Segment { path, what } => {
                Self::Segment { path: path.to_string_lossy().into_owned(), what: what.clone() }
            }
            Finding::Odd { path, what } => {
                Self::Odd { path: path.to_string_lossy().into_owned(), what: what.clone() }
            }
            Finding::Leftover { path } => Self::Leftover { path: path.to_string_lossy().into_owned() },
        }
    }
}
