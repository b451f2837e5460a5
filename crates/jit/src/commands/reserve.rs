//! `jit reserve`: paths that others keep their hands off.

use holdfast_door::{Cell, Clean, Colour, grid};
use holdfast_kernel::{Lease, Millis, Request, Stamp, Table};
use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::{Shown, left, left_and_keeper};
use holdfast_tracker::claims::{reason, seconds, wait};
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;
use holdfast_tracker::issues::{Issues, Scope};
use holdfast_tracker::reserve::{self, Checked, Owner};
use holdfast_tracker::take::Patience;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{AddReservation, Reserve as Command};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::output::Report;

/// Reservations, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ReserveListOutput {
    /// The reservations.
    pub reservations: Vec<Shown>,
    /// How many.
    pub count: usize,
}

/// Paths that were reserved, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ReserveAddOutput {
    /// The reservations, in the order of the patterns.
    pub reservations: Vec<Shown>,
    /// How many.
    pub count: usize,
    /// Whether all of them were held already.
    pub already_held: bool,
}

/// Reservations that were given back, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ReserveReleaseOutput {
    /// What they were.
    pub reservations: Vec<Shown>,
    /// How many.
    pub count: usize,
    /// Always true.
    pub released: bool,
}

/// Whether paths are reserved by others, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ReserveCheckOutput {
    /// The paths.
    pub paths: Vec<CheckedPath>,
    /// How many.
    pub count: usize,
    /// Whether none of them is reserved by somebody else.
    pub free: bool,
}

/// What was found about a path.
#[derive(Serialize, JsonSchema)]
pub struct CheckedPath {
    /// The path, from the root of the repository.
    pub path: String,
    /// Whether nobody else has reserved it.
    pub free: bool,
    /// The reservations of others that have it.
    pub reserved_by: Vec<Shown>,
}

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Add(typed) => add(context, typed),
        Command::List { mine } => list(context, *mine),
        Command::Release { patterns, .. } => release(context, patterns),
        Command::Check { paths } => check(context, paths),
    }
}

fn add(context: &Context, typed: &AddReservation) -> Result<Report> {
    let limit = typed.wait.as_deref().map(wait::limit).transpose()?;
    let session = context.session()?;
    if let Some(pid) = &context.keeper {
        session.name_keeper("JIT_KEEPER_PID", &pid.to_string_lossy())?;
    }
    let why = typed.reason.as_deref().map(|text| reason("--reason", text)).transpose()?;
    let secs = typed.ttl.as_deref().map(|text| seconds("--ttl", text)).transpose()?;
    let request = secs.map(|secs| match secs {
        0 => Request::Indefinite,
        secs => Request::Finite(Millis::from_secs(secs)),
    });
    let mut paths = reserve::paths(&typed.patterns, typed.shared, request, why)?;
    let owner = match (&typed.issue, typed.alone) {
        (Some(issue), _) => Owner::Issue(issue),
        (None, true) => Owner::Alone,
        (None, false) => Owner::Held,
    };
    // What stands alone lasts as long as a claim would.
    if request.is_none() && (typed.alone || holdfast_tracker::held::held_here(&session)?.is_empty()) {
        let agent = session.agent()?;
        paths.request = Some(Request::Finite(session.config().ttl_for(&agent.file, agent.id.kind())));
    }
    let waits;
    let patience = match limit {
        None => None,
        Some(limit) => {
            waits = Interrupt::listen()?;
            Some(Patience { limit, waits: &waits })
        }
    };
    let reserved = reserve::add(&session, &paths, owner, patience.as_ref())?;
    let issues = Issues::new(&session);
    let of = reserved.issue.map(|id| format!(" for {}", issues.handle(id))).unwrap_or_default();
    let mut text = String::new();
    for (lease, already) in &reserved.leases {
        let verb = if *already { "already reserved" } else { "reserved" };
        let time = left(lease, &reserved.now);
        text.push_str(&format!("{verb} {}{of} as {}: {time}\n", lease.resource, lease.holder.agent));
    }
    let table = session.claims().view()?.table;
    let shown: Vec<Shown> =
        reserved.leases.iter().map(|(lease, _)| shown(&issues, &table, lease, &reserved.now)).collect();
    let already_held = reserved.leases.iter().all(|(_, already)| *already);
    let brief = ids(&shown);
    Ok(Report::new(text, &ReserveAddOutput { count: shown.len(), reservations: shown, already_held })
        .brief(brief))
}

fn list(context: &Context, mine: bool) -> Result<Report> {
    let session = context.session()?;
    let (mut leases, view) = reserve::list(&session)?;
    if mine {
        let holder = session.holder()?;
        leases.retain(|lease| lease.holder == *holder);
    }
    let issues = Issues::new(&session);
    let shown: Vec<Shown> =
        leases.iter().map(|lease| shown(&issues, &view.table, lease, &view.now)).collect();
    let text = table(context, &leases, &shown, &view.now);
    let brief = shown.iter().filter_map(|shown| shown.pattern.clone()).collect::<Vec<_>>().join("\n");
    Ok(Report::new(text, &ReserveListOutput { count: shown.len(), reservations: shown }).brief(brief))
}

fn release(context: &Context, patterns: &[String]) -> Result<Report> {
    let session = context.session()?;
    let table = session.claims().view()?.table;
    let leases = reserve::release(&session, patterns)?;
    let issues = Issues::new(&session);
    let now = session.sys().clock.now()?;
    let shown: Vec<Shown> = leases.iter().map(|lease| shown(&issues, &table, lease, &now)).collect();
    let mut text: String = leases.iter().map(|lease| format!("released {}\n", lease.resource)).collect();
    if leases.is_empty() {
        text.push_str("nothing is reserved in this worktree\n");
    }
    let document = ReserveReleaseOutput { count: shown.len(), reservations: shown, released: true };
    Ok(Report::new(text, &document))
}

fn check(context: &Context, paths: &[String]) -> Result<Report> {
    let session = context.session()?;
    let (found, view) = reserve::check(&session, paths)?;
    let issues = Issues::new(&session);
    let mut text = String::new();
    let mut checked = Vec::with_capacity(found.len());
    for Checked { path, by } in found {
        for lease in &by {
            let what = reserve::issue_of(&view.table, lease);
            let what = what.map(|id| format!(" for {}", issues.handle(id))).unwrap_or_default();
            let time = left_and_keeper(session.sys(), lease, &view.now);
            text.push_str(&format!(
                "{path} is reserved by {}{what} ({}; {time})\n",
                lease.holder.agent, lease.resource
            ));
        }
        let reserved_by: Vec<Shown> =
            by.iter().map(|lease| shown(&issues, &view.table, lease, &view.now)).collect();
        checked.push(CheckedPath { path, free: reserved_by.is_empty(), reserved_by });
    }
    let free = checked.iter().all(|path| path.free);
    if free {
        text.push_str("nobody else has reserved it\n");
    }
    let exit = if free { Exit::Ok } else { Exit::Conflict };
    Ok(Report::new(text, &ReserveCheckOutput { count: checked.len(), paths: checked, free }).exit(exit))
}

/// A reservation for programs, with what the issue of its claim is called.
fn shown(issues: &Issues<'_>, table: &Table, lease: &Lease, now: &Stamp) -> Shown {
    let id = reserve::issue_of(table, lease);
    let title = id.and_then(|id| issues.see(id, Scope::Nearest, |seen| seen.issue.title.to_string()).ok());
    let handle = id.map(|id| issues.handle(id));
    Shown { handle, title, ..Shown::new(issues.session().sys(), lease, now) }
}

fn ids(shown: &[Shown]) -> String {
    shown.iter().map(|shown| shown.lease_id.clone()).collect::<Vec<_>>().join("\n")
}

/// Reservations as a table.
pub fn table(context: &Context, leases: &[Lease], shown: &[Shown], now: &Stamp) -> Clean {
    if leases.is_empty() {
        return "nothing is reserved\n".into();
    }
    let row = |(lease, shown): (&Lease, &Shown)| {
        [
            Cell::plain(shown.pattern.as_deref().unwrap_or_default()),
            Cell::new(&shown.agent_id, Colour::Cyan),
            Cell::plain(&shown.worktree_id),
            Cell::plain(shown.handle.as_deref().unwrap_or_default()),
            Cell::plain(if shown.shared { "shared" } else { "" }),
            Cell::plain(&left_and_keeper(&context.caller.sys, lease, now)),
            Cell::plain(shown.reason.as_deref().unwrap_or_default()),
        ]
    };
    let heading = ["PATHS", "AGENT", "WORKTREE", "ISSUE", "MODE", "TIME", "REASON"];
    grid(context.printer.paint(), heading, leases.iter().zip(shown).map(row).collect())
}

/// What is reserved, for those who show it beside claims.
///
/// # Errors
/// When the claims cannot be read.
pub fn all(session: &Session) -> Result<Vec<(Lease, Shown)>> {
    let (leases, view) = reserve::list(session)?;
    let issues = Issues::new(session);
    let one = |lease: Lease| {
        let shown = shown(&issues, &view.table, &lease, &view.now);
        (lease, shown)
    };
    Ok(leases.into_iter().map(one).collect())
}
