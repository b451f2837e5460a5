//! How things stand, as one document that was looked at in one go: every issue, who works on what, and what needs a
//! person.

use std::collections::BTreeMap;

use holdfast_kernel::{Event, Lease, Stamp, Term};
use holdfast_store::Record;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::approvals;
use super::leases::all;
use crate::claims::lease::Shown;
use crate::claims::queue;
use crate::error::{Error, Result};
use crate::feed::{Happened, Kind};
use crate::ids::IssueId;
use crate::issues::{Glance, Issues, Priority, Standing, State};
use crate::queries::{Board, Claimed, Filter, Keep, Node, Reason, Which};
use crate::run::NEEDS_ATTENTION;
use crate::run::pool;
use crate::session::Session;
use crate::times::rfc3339;
use crate::worktree::Entry;

/// How things stand, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct BoardOutput<C = Box<RawValue>> {
    /// How things stand.
    pub board: View<C>,
}

/// How things stand.
#[derive(Serialize, JsonSchema)]
pub struct View<C> {
    /// When it was looked.
    pub at: String,
    /// Who looks, if that is known.
    pub agent_id: Option<String>,
    /// The worktree that is looked from, if it has an identity.
    pub worktree_id: Option<String>,
    /// The issues, by id.
    pub issues: Vec<C>,
    /// How many there are.
    pub count: usize,
    /// How many cannot be read.
    pub unreadable: usize,
    /// Who works, or waits, and where.
    pub agents: Vec<Lane>,
    /// What needs a person.
    pub attention: Vec<Attention>,
    /// The worktrees.
    pub worktrees: Vec<Entry>,
    /// The pools that run commands for issues.
    pub pools: Vec<pool::State>,
}

/// Who works, or waits, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct AgentsOutput {
    /// The agents.
    pub agents: Vec<Lane>,
    /// How many.
    pub count: usize,
}

/// An issue on the board.
#[derive(Serialize, JsonSchema)]
pub struct Card<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it is called where people read and type.
    pub handle: &'a str,
    /// What it is about.
    pub title: &'a str,
    /// Its place in the hierarchy of types.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// Its labels.
    pub labels: &'a [&'a str],
    /// Who is meant to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<&'a str>,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<&'a str>,
    /// How its work stands, if that is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<&'a Standing>,
    /// The gates that must be passed before it is done.
    pub gates: Vec<&'a str>,
    /// When it was last changed.
    pub updated_at: &'a str,
    /// What it waits for, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Vec<Reason>>,
}

/// Who works, or waits, and where.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Lane {
    /// The agent.
    pub agent_id: String,
    /// Its worktree; none if it only waits.
    pub worktree_id: Option<String>,
    /// Where that is, if it is of this clone.
    pub path: Option<String>,
    /// The branch that is checked out there.
    pub branch: Option<String>,
    /// Whether that worktree is known to be gone.
    pub gone: bool,
    /// What it holds.
    pub leases: Vec<Held>,
    /// The paths that it has reserved.
    pub reservations: Vec<Held>,
    /// What it waits for.
    pub waits_for: Vec<Awaited>,
}

/// A lease on a board.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Held {
    /// The lease.
    #[serde(flatten)]
    pub lease: Shown,
    /// The last sign of life: when it was granted, renewed or beaten last.
    pub last_sign: String,
    /// How often it was renewed, where that is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renewals: Option<u64>,
}

/// What somebody waits for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Awaited {
    /// The issue, or the name of what else it is.
    pub resource: String,
    /// What the issue is called where people read and type.
    pub handle: String,
    /// What it is about, if it can be read.
    pub title: Option<String>,
}

/// Something that needs a person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Attention {
    /// Why.
    pub kind: Needs,
    /// The issue.
    pub issue_id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// The same in words.
    pub text: String,
    /// The claim that is to be ended, where that waits for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_id: Option<String>,
}

/// Why something needs a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Somebody asks to end a claim on it, and that waits for approval.
    Approval,
    /// Commands failed on it too often.
    NeedsAttention,
    /// Its work is finished, and its gates are not passed.
    Gated,
    /// Its work is finished, and the target does not have it.
    NotLanded,
    /// It was finished once, and nothing has it any more.
    Lost,
    /// It is in progress, and nobody holds it.
    Abandoned,
    /// Whoever holds it was silent for too long.
    Stale,
    /// The worktree or the process of whoever holds it is gone.
    HolderGone,
}

/// How many leases renewals are counted for.
const COUNTED: usize = 10_000;

/// How often leases were renewed, by their ids.
#[derive(Clone, Debug, Default)]
pub struct Renewals(BTreeMap<String, u64>);

impl Renewals {
    /// What the log has of them.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn load(session: &Session) -> Result<Self> {
        let mut renewals = Self::default();
        session.claims().medium.history(&mut |record| renewals.record(record))?;
        Ok(renewals)
    }

    /// Counts what the log has.
    pub fn record(&mut self, record: &Record) {
        if matches!(record.event, Event::Renewed { .. }) {
            self.count(record.lease.id.to_string());
        }
    }

    /// Counts what is told as it happens.
    pub fn happened(&mut self, one: &Happened) {
        if one.kind != Kind::Claim {
            return;
        }
        let payload = one.event.get("payload").unwrap_or(&one.event);
        let what = one.event.get("event_type").or_else(|| one.event.get("op")).and_then(Value::as_str);
        let lease = payload.get("lease_id").and_then(Value::as_str);
        if let (Some("claim.renewed" | "renew"), Some(lease)) = (what, lease) {
            self.count(lease.to_owned());
        }
    }

    fn count(&mut self, lease: String) {
        *self.0.entry(lease).or_default() += 1;
        // Ids sort by age.
        while self.0.len() > COUNTED {
            self.0.pop_first();
        }
    }

    fn of(&self, lease: &str) -> u64 {
        self.0.get(lease).copied().unwrap_or(0)
    }
}

/// How things stand.
///
/// # Errors
/// When issues or claims cannot be read.
pub fn look(session: &Session, renewals: Option<&Renewals>) -> Result<BoardOutput> {
    let issues = Issues::new(session);
    let claimed = Claimed::load(session)?;
    let keep = |issue: &Glance<'_>, claimed: &Claimed| {
        serde_json::value::to_raw_value(&card(
            issue,
            (&issue.id.to_string(), &issues.handle(issue.id)),
            claimed,
        ))
    };
    let board = Board::load(&issues, claimed, &Filter::default(), Keep::Glance(Which::All, &keep))?;
    issues.warn(&board.problems);
    let worktrees = session.visible_worktrees();
    let agents = lanes(&issues, &board.claimed, &worktrees, renewals)?;
    let mut cards = Vec::with_capacity(board.nodes.len());
    for node in &board.nodes {
        cards.push(finished(&board, node)?);
    }
    Ok(BoardOutput {
        board: View {
            at: rfc3339(&board.claimed.now),
            agent_id: session.known_agent().map(ToString::to_string),
            worktree_id: session.known_identity()?.map(|known| known.worktree_id),
            issues: cards,
            count: board.ids.len(),
            unreadable: board.ids.len() - board.nodes.len(),
            attention: attention(session, &board, &agents)?,
            agents,
            worktrees,
            pools: pool::State::all(session)?,
        },
    })
}

/// Who works, or waits.
///
/// # Errors
/// When claims cannot be read.
pub fn agents(session: &Session, renewals: Option<&Renewals>) -> Result<AgentsOutput> {
    let claimed = Claimed::load(session)?;
    let issues = Issues::new(session);
    let worktrees = session.visible_worktrees();
    let agents = lanes(&issues, &claimed, &worktrees, renewals)?;
    Ok(AgentsOutput { count: agents.len(), agents })
}

fn card<'a>(issue: &'a Glance<'a>, (id, handle): (&'a str, &'a str), claimed: &'a Claimed) -> Card<'a> {
    Card {
        id,
        handle,
        title: issue.title,
        kind: issue.kind,
        state: issue.state,
        priority: issue.priority,
        labels: &issue.labels,
        assignee: issue.assignee,
        claimed_by: claimed.holder(issue.id),
        standing: Some(&issue.standing).filter(|standing| **standing != Standing::Open),
        gates: issue.gates.clone(),
        updated_at: issue.updated_at,
        blocked_by: None,
    }
}

type Kept = serde_json::Result<Box<RawValue>>;

/// The card of an issue, with what it waits for.
fn finished(board: &Board<Kept>, node: &Node<Kept>) -> Result<Box<RawValue>> {
    let bug = |error: &serde_json::Error| Error::Internal(format!("an issue has no JSON form: {error}"));
    let card = match &node.kept {
        Some(Ok(card)) => card,
        Some(Err(error)) => return Err(bug(error)),
        None => return Err(Error::Internal("an issue was left out of the board".to_owned())),
    };
    let reasons = if node.state.is_over() { Vec::new() } else { board.reasons(node) };
    if reasons.is_empty() {
        return Ok(card.clone());
    }
    let open = card.get().strip_suffix('}').unwrap_or_default();
    let reasons = serde_json::to_string(&reasons).map_err(|error| bug(&error))?;
    RawValue::from_string(format!("{open},\"blocked_by\":{reasons}}}")).map_err(|error| bug(&error))
}

fn lanes(
    issues: &Issues<'_>,
    claimed: &Claimed,
    worktrees: &[Entry],
    renewals: Option<&Renewals>,
) -> Result<Vec<Lane>> {
    let session = issues.session();
    let mut lanes: BTreeMap<(String, Option<String>), Lane> = BTreeMap::new();
    let leases: Vec<&Lease> = claimed.iter().map(|(_, lease)| lease).chain(claimed.reserved()).collect();
    for (lease, shown) in leases.iter().zip(all(issues, leases.iter().copied(), &claimed.now, worktrees)) {
        let key = (shown.agent_id.clone(), Some(shown.worktree_id.clone()));
        let lane = lanes.entry(key).or_insert_with(|| {
            let place = worktrees.iter().find(|entry| entry.is_place(&shown.worktree_id));
            Lane {
                worktree_id: Some(shown.worktree_id.clone()),
                path: place.map(|entry| entry.path.clone()),
                branch: place.and_then(|entry| entry.branch.clone()).or_else(|| shown.branch.clone()),
                gone: shown.worktree_gone,
                ..Lane::of(&shown.agent_id)
            }
        });
        let renewals = renewals.map(|known| known.of(&shown.lease_id));
        let list = if shown.pattern.is_some() { &mut lane.reservations } else { &mut lane.leases };
        list.push(Held { last_sign: rfc3339(last_sign(lease)), renewals, lease: shown });
    }
    for queue::Waiting { line, who, .. } in queue::waiting(session.sys(), session.control())? {
        let id = IssueId::parse(&line);
        let title = id.and_then(|id| issues.read(id).ok()).map(|issue| issue.title);
        let handle = id.map_or_else(|| line.clone(), |id| issues.handle(id));
        let awaited = Awaited { resource: line, handle, title };
        // Who waits says as whom, and not where.
        let own = lanes.range_mut((who.clone(), None)..).next().filter(|((agent, _), _)| *agent == who);
        match own {
            Some((_, lane)) => lane.waits_for.push(awaited),
            None => {
                let lane = Lane { waits_for: vec![awaited], ..Lane::of(&who) };
                lanes.insert((who, None), lane);
            }
        }
    }
    Ok(lanes.into_values().collect())
}

impl Lane {
    fn of(agent: &str) -> Self {
        Self {
            agent_id: agent.to_owned(),
            worktree_id: None,
            path: None,
            branch: None,
            gone: false,
            leases: Vec::new(),
            reservations: Vec::new(),
            waits_for: Vec::new(),
        }
    }
}

const fn last_sign(lease: &Lease) -> &Stamp {
    match &lease.term {
        Term::Finite { from, .. } => from,
        Term::Indefinite { beat, .. } => beat,
    }
}

/// What needs a person, what is worst first.
fn attention<K: Send>(session: &Session, board: &Board<K>, agents: &[Lane]) -> Result<Vec<Attention>> {
    let mut found: Vec<(u8, Attention)> =
        asked(session, board)?.into_iter().map(|asked| (0, asked)).collect();
    let leases: BTreeMap<&str, &Shown> = agents
        .iter()
        .flat_map(|lane| &lane.leases)
        .filter_map(|held| Some((held.lease.issue_id.as_deref()?, &held.lease)))
        .collect();
    for node in &board.nodes {
        let id = node.id.to_string();
        for (rank, kind, text) in needs(node, leases.get(id.as_str()).copied()) {
            let handle = board.handles.of(node.id);
            let title = node.title().to_owned();
            let issue_id = id.clone();
            found.push((rank, Attention { kind, issue_id, handle, title, text, lease_id: None }));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    Ok(found.into_iter().map(|(_, attention)| attention).collect())
}

/// The evictions that wait for approval, of claims on issues.
fn asked<K: Send>(session: &Session, board: &Board<K>) -> Result<Vec<Attention>> {
    let mut found = Vec::new();
    for asked in approvals::requests(session)?.requests {
        let Some(id) = asked.lease.issue_id.as_deref().and_then(IssueId::parse) else { continue };
        let why = asked.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let more = if asked.missing == 1 { "approval" } else { "approvals" };
        let text = format!(
            "{} asks to evict {}{why} ({} {more} missing)",
            asked.asked_by, asked.lease.agent_id, asked.missing
        );
        found.push(Attention {
            kind: Needs::Approval,
            issue_id: id.to_string(),
            handle: board.handles.of(id),
            title: board.find(id).map(|node| node.title().to_owned()).unwrap_or_default(),
            text,
            lease_id: Some(asked.lease.lease_id),
        });
    }
    Ok(found)
}

fn needs<K>(node: &Node<K>, lease: Option<&Shown>) -> Vec<(u8, Needs, String)> {
    let mut needs = Vec::new();
    if node.labels().split(' ').any(|label| label == NEEDS_ATTENTION) && !node.state.is_over() {
        needs.push((0, Needs::NeedsAttention, "commands failed on it too often".to_owned()));
    }
    if let Some(lease) = lease {
        let dead = lease.keeper.as_ref().is_some_and(|keeper| keeper.gone);
        if lease.worktree_gone || dead {
            let what = if dead { "the process" } else { "the worktree" };
            needs.push((1, Needs::HolderGone, format!("{what} of {} is gone", lease.agent_id)));
        } else if lease.stale {
            needs.push((2, Needs::Stale, format!("{} was silent for too long", lease.agent_id)));
        }
    }
    match &node.standing {
        Standing::Lost => needs.push((1, Needs::Lost, "finished once, and lost".to_owned())),
        Standing::Open | Standing::Landed => {}
        other => needs.extend(other.words().map(|words| (4, Needs::NotLanded, words))),
    }
    if node.state == State::Gated && !node.gates.is_empty() {
        needs.push((3, Needs::Gated, format!("open gates: {}", node.gates.join(", "))));
    }
    if node.state == State::InProgress && lease.is_none() && node.standing == Standing::Open {
        needs.push((5, Needs::Abandoned, "in progress, but held by nobody".to_owned()));
    }
    needs
}
