//! *All locks*: claims of this repository, worktree locks of `jvs`, named locks of `ic`, and turns of `kc` vaults, in one
//! table and one audit. Only read: what is told of other doors is what their programs say, and one that cannot be asked is
//! named with the reason.

mod doors;

use std::path::PathBuf;

use holdfast_tracker::answers::claims::{self, Wanted};
use holdfast_tracker::answers::session;
use holdfast_tracker::claims::lease::{Kind, Shown};
use holdfast_tracker::times::rfc3339;
use holdfast_tracker::{Caller, Session};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::problem::Problem;

/// How many entries of each audit are told, the last ones.
const LAST: usize = 100;

/// All locks, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LocksOutput {
    /// When it was looked.
    at: String,
    /// What is held.
    locks: Vec<Lock>,
    /// How many.
    count: usize,
    /// What happened to them, the last first.
    audit: Vec<Entry>,
    /// Where locks were looked for, and what could not be asked.
    sources: Vec<Source>,
}

/// What keeps a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Door {
    /// A claim, a reservation of paths, or a branch that work lands on.
    Jit,
    /// The writer of a worktree.
    Jvs,
    /// A named lock of scripts.
    Ic,
    /// A turn on a document.
    Kc,
}

/// What is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// An issue.
    Claim,
    /// Paths.
    Reservation,
    /// A branch that work lands on.
    Branch,
    /// Something else that the tracker leases.
    Other,
    /// A worktree of `jvs`.
    Worktree,
    /// A named lock of scripts.
    NamedLock,
    /// A turn on a document.
    Turn,
}

/// Something that is held.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lock {
    /// What keeps it.
    door: Door,
    /// What is held.
    kind: What,
    /// Where that is.
    place: String,
    /// What it is called.
    name: String,
    /// What that is about, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The issue that is claimed, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_id: Option<String>,
    /// Who holds it, if that can be told.
    holder: Option<String>,
    /// Since when, if that can be told.
    since: Option<String>,
    /// When it ends by itself; none if it does not.
    until: Option<String>,
    /// The number of the grant, if it has one.
    fence: Option<u64>,
    /// How it stands, in a word: `held`, `stale`, `expired`, …
    state: String,
}

/// Something that happened to a lock.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// When.
    at: String,
    /// What keeps the lock.
    door: Door,
    /// Where that is.
    place: String,
    /// What happened.
    event: String,
    /// Who did it.
    by: Option<String>,
    /// To what.
    name: Option<String>,
}

/// A place where locks were looked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Source {
    /// What keeps locks there.
    door: Option<Door>,
    /// Where.
    place: String,
    /// Why it could not be asked, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Why there is no audit of it, if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_audit: Option<&'static str>,
}

/// What was found at a place.
#[derive(Default)]
struct Found {
    locks: Vec<Lock>,
    audit: Vec<Entry>,
    sources: Vec<Source>,
}

/// All locks: of this repository, of `ic` where it keeps them by itself, and of the places that were named.
///
/// # Errors
/// When claims cannot be read.
pub(crate) fn all(caller: &Caller, also: &[PathBuf]) -> Result<LocksOutput, Problem> {
    let session = session(caller)?;
    let mut found = own(&session)?;
    let programs = doors::Programs::beside();
    let repository = session.repository().map(|repository| repository.common_dir().to_path_buf());
    let main = repository.as_deref().and_then(std::path::Path::parent);
    if let Some(main) = main.filter(|main| doors::is_jvs(caller, main)) {
        doors::jvs(&programs, main, &mut found);
    }
    doors::ic(&programs, None, &mut found);
    for place in also {
        doors::at(caller, &programs, place, &mut found);
    }
    found.audit.sort_by(|one, other| other.at.cmp(&one.at));
    let Found { locks, audit, sources } = found;
    Ok(LocksOutput { at: rfc3339(&caller.sys.clock.now()?), count: locks.len(), locks, audit, sources })
}

/// What this repository keeps.
fn own(session: &Session) -> Result<Found, Problem> {
    let looked = claims::status(session, &Wanted { kind: Kind::All, ..Wanted::default() })?;
    let place = session.control().display().to_string();
    // Requests, approvals and escalations are on record, and nobody holds them.
    let locks = looked.document.leases.into_iter().filter_map(|lease| claim(lease, &place)).collect();
    let history = claims::history(session, None)?;
    let from = history.events.len().saturating_sub(LAST);
    let audit = history.events.iter().skip(from).filter_map(|event| entry(event, &place)).collect();
    let source = Source { door: Some(Door::Jit), place, problem: None, no_audit: None };
    Ok(Found { locks, audit, sources: vec![source] })
}

fn claim(lease: Shown, place: &str) -> Option<Lock> {
    let kind = match lease.kind() {
        Kind::Issue => What::Claim,
        Kind::Paths => What::Reservation,
        Kind::Branch => What::Branch,
        Kind::Approval | Kind::Escalation => return None,
        Kind::All => What::Other,
    };
    let state = if lease.stale {
        "stale"
    } else if lease.worktree_gone || lease.keeper.as_ref().is_some_and(|keeper| keeper.gone) {
        "holder gone"
    } else if lease.expires_at.is_some() && lease.remaining_secs.is_none() {
        "expired"
    } else {
        "held"
    };
    let name = lease.pattern.or_else(|| lease.handle.clone()).or(lease.resource).unwrap_or_default();
    Some(Lock {
        door: Door::Jit,
        kind,
        place: place.to_owned(),
        name,
        title: lease.title,
        issue_id: lease.issue_id,
        holder: Some(lease.agent_id),
        since: Some(lease.acquired_at),
        until: lease.expires_at,
        fence: Some(lease.fence),
        state: state.to_owned(),
    })
}

fn entry(event: &claims::Told, place: &str) -> Option<Entry> {
    let value = serde_json::to_value(event).ok()?;
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).map(ToOwned::to_owned);
    Some(Entry {
        at: text("/timestamp")?,
        door: Door::Jit,
        place: place.to_owned(),
        event: text("/event_type")?,
        by: text("/actor/agent_id"),
        name: text("/handle").or_else(|| text("/payload/pattern")).or_else(|| text("/payload/resource")),
    })
}
