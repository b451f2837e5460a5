//! `jit status`: how things stand, on one screen.

use std::collections::BTreeMap;

use holdfast_door::{Cell, Clean, Colour, grid};
use holdfast_kernel::Lease;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Fresh;
use crate::commands::{hooks, reserve};
use crate::context::Context;
use crate::output::Report;
use crate::output::colours::state_colour;
use crate::output::leases::{all, as_of, place};
use crate::output::rows::Rows;
use holdfast_tracker::claims::lease::{Shown, left_and_keeper};
use holdfast_tracker::config::Engine;
use holdfast_tracker::error::Result;
use holdfast_tracker::gone::is_gone;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Sets, Standing, State, Whose};
use holdfast_tracker::queries::{Board, Claimed, Filter, Keep};
use holdfast_tracker::worktree::Entry;

/// How many issues are shown that can be worked on.
const MOST_SHOWN: usize = 5;

/// How things stand, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct StatusOutput {
    /// How things stand.
    pub status: Status,
}

/// How things stand.
#[derive(Serialize, JsonSchema)]
pub struct Status {
    /// How many issues there are.
    pub issues: usize,
    /// How many of them are in which state.
    pub states: BTreeMap<&'static str, usize>,
    /// How many cannot be read.
    pub unreadable: usize,
    /// The ids of those that can be worked on, the best first.
    pub available: Vec<String>,
    /// How many wait for something.
    pub blocked: usize,
    /// The ids of those that are in progress though nobody holds them.
    pub abandoned: Vec<String>,
    /// The ids of those that are finished, and whose work the target does not have, or only here.
    pub not_landed: Vec<String>,
    /// All claims.
    pub leases: Vec<Shown>,
    /// The paths that are reserved.
    pub reservations: Vec<Shown>,
    /// Who asks, if that is known.
    pub agent_id: Option<String>,
    /// Where claims are kept: `local`, `git` or `etcd`.
    pub engine: &'static str,
    /// How many seconds ago the server was asked for them; none where they are this clone's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims_age_secs: Option<u64>,
    /// What is not set up in this repository: `hooks`, `merge driver`.
    pub not_set_up: Vec<&'static str>,
}

/// Shows how things stand.
pub fn run(context: &Context, claims: Fresh) -> Result<Report> {
    let session = context.session()?;
    claims.ask(&session)?;
    let issues = Issues::new(&session);
    let claimed = Claimed::load(&session)?;
    // Labels are shown of what can be worked on.
    let sets = Sets { labels: Whose::Workable, deps: Whose::Open };
    let board = Board::to_be_done(&issues, claimed, &Filter::default(), Keep::Nothing, sets)?;
    issues.warn(&board.problems);
    let worktrees = session.visible_worktrees();
    let agent_id = session.known_agent().map(|agent| agent.to_string());
    let status =
        Status { not_set_up: hooks::missing(context), ..status(&issues, &board, &worktrees, agent_id) };
    let shared = session.claims().shared.as_ref();
    let status = Status {
        engine: match shared {
            Some(shared) => shared.place()?.keeper.engine().as_str(),
            None => Engine::Local.as_str(),
        },
        claims_age_secs: shared.and_then(|shared| Some(shared.age()?.get() / 1_000)),
        ..status
    };
    let (leases, reservations) = reserve::all(&session)?.into_iter().unzip::<_, _, Vec<Lease>, Vec<Shown>>();
    let status = Status { reservations, ..status };
    let mut text = text(context, &board, &worktrees, &status);
    if !leases.is_empty() {
        text += "\n";
        text += reserve::table(context, &leases, &status.reservations, &board.claimed.now);
    }
    text += as_of(&session);
    if !status.not_set_up.is_empty() {
        text +=
            format!("\nnot set up in this repository: {}; jit hooks install\n", status.not_set_up.join(", "));
    }
    let brief = status.available.first().cloned().unwrap_or_default();
    Ok(Report::new(text, &StatusOutput { status }).brief(brief))
}

fn status(issues: &Issues<'_>, board: &Board, worktrees: &[Entry], agent_id: Option<String>) -> Status {
    let mut states: BTreeMap<&'static str, usize> =
        State::ALL.iter().map(|state| (state.word(), 0)).collect();
    for node in &board.nodes {
        *states.entry(node.state.word()).or_default() += 1;
    }
    let idle = board.nodes.iter().filter(|node| node.state == State::InProgress);
    let idle = idle.filter(|node| board.claimed.lease(node.id).is_none());
    let waiting = board.nodes.iter().filter(|node| is_waiting(&node.standing));
    Status {
        issues: board.ids.len(),
        states,
        unreadable: board.ids.len() - board.nodes.len(),
        available: board.available().iter().map(|node| node.id.to_string()).collect(),
        blocked: board.count_blocked(),
        abandoned: idle.map(|node| node.id.to_string()).collect(),
        not_landed: waiting.map(|node| node.id.to_string()).collect(),
        leases: all(issues, board.claimed.iter().map(|(_, lease)| lease), &board.claimed.now, worktrees),
        reservations: Vec::new(),
        agent_id,
        engine: Engine::Local.as_str(),
        claims_age_secs: None,
        not_set_up: Vec::new(),
    }
}

fn text(context: &Context, board: &Board, worktrees: &[Entry], status: &Status) -> Clean {
    if status.issues == 0 {
        return "no issues yet; make one: jit issue create --title '…'\n".into();
    }
    let paint = context.printer.paint();
    let count = |state: &State| {
        let number = status.states.get(state.word()).copied().unwrap_or(0);
        (number > 0).then(|| paint.paint(state_colour(*state), format!("{number} {state}")))
    };
    let counts: Vec<Clean> = State::ALL.iter().filter_map(count).collect();
    let mut text = Clean::from(format!("{} issues: ", status.issues)) + Clean::join(&counts, ", ");
    text += format!("\n{} available, {} waiting\n", status.available.len(), status.blocked);
    if status.unreadable > 0 {
        text += paint.paint(Colour::Red, format!("{} unreadable", status.unreadable)) + "\n";
    }
    claims(context, board, worktrees, status, &mut text);
    let best: Vec<_> = board.available().into_iter().take(MOST_SHOWN).collect();
    if !best.is_empty() {
        let rows = Rows { claimed: &board.claimed, handles: &board.handles, paint };
        text += "\nTo be worked on next (jit claim next takes the first):\n";
        text += rows.table(best.into_iter().map(Into::into));
    }
    if !status.abandoned.is_empty() {
        let short = |id: &String| IssueId::parse(id).map_or_else(|| id.clone(), |id| board.handles.of(id));
        let ids: Vec<String> = status.abandoned.iter().take(MOST_SHOWN).map(short).collect();
        let more = status.abandoned.len().saturating_sub(ids.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += format!("\nin progress, but held by nobody: {}{more}\n", ids.join(", "));
    }
    text += waiting(board);
    text
}

/// Whether work is finished that the target does not have, or only here.
const fn is_waiting(standing: &Standing) -> bool {
    match standing {
        Standing::OnBranch { .. } | Standing::NotCommitted | Standing::NotPushed => true,
        Standing::Open | Standing::Landed | Standing::Lost => false,
    }
}

/// What is finished and has not landed, each with where it is.
fn waiting(board: &Board) -> Clean {
    let all: Vec<_> = board.nodes.iter().filter(|node| is_waiting(&node.standing)).collect();
    if all.is_empty() {
        return Clean::default();
    }
    let mut text = Clean::from(format!("\nFinished, but not landed ({}; jit land --all):\n", all.len()));
    for node in all.iter().take(MOST_SHOWN) {
        let place = node.standing.words().unwrap_or_default();
        text += format!("  {}  {} ({place})\n", board.handles.of(node.id), node.title());
    }
    if all.len() > MOST_SHOWN {
        text += format!("  and {} more: jit list --state done\n", all.len() - MOST_SHOWN);
    }
    text
}

/// Who works on what, whoever asks first.
fn claims(context: &Context, board: &Board, worktrees: &[Entry], status: &Status, text: &mut Clean) {
    let mine = |lease: &Lease| status.agent_id.as_deref() == Some(lease.holder.agent.as_str());
    let mut leases: Vec<(IssueId, &Lease)> = board.claimed.iter().collect();
    if leases.is_empty() {
        *text += "no claims\n";
        return;
    }
    leases.sort_by_key(|(id, lease)| (!mine(lease), lease.holder.agent.clone(), *id));
    let row = |(id, lease): (IssueId, &Lease)| {
        let title = board.find(id).map(|node| node.title()).unwrap_or_default();
        // Nobody is in a worktree that is gone, whoever that was.
        let you = if mine(lease) && !is_gone(lease, worktrees) { " (you)" } else { "" };
        [
            Cell::plain(&board.handles.of(id)),
            Cell::new(&format!("{}{you}", lease.holder.agent), Colour::Cyan),
            Cell::plain(&place(lease, worktrees)),
            Cell::plain(&left_and_keeper(&context.caller.sys, lease, &board.claimed.now)),
            Cell::plain(title),
        ]
    };
    let left_behind = |(_, lease): &&(IssueId, &Lease)| is_gone(lease, worktrees);
    let left_behind: Vec<IssueId> = leases.iter().filter(left_behind).map(|(id, _)| *id).collect();
    let rows = leases.into_iter().map(row).collect();
    *text += "\n";
    *text += grid(context.printer.paint(), ["CLAIMED", "BY", "IN", "TIME", "TITLE"], rows);
    for id in left_behind.iter().take(MOST_SHOWN) {
        let id = board.handles.of(*id);
        *text +=
            format!("to end the claim on {id}: jit claim force-evict {id} --reason 'its worktree is gone'\n");
    }
}
