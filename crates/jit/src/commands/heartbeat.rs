//! `jit heartbeat`: keeping claims alive, and seeing who was heard of.

use holdfast_door::table;
use holdfast_kernel::Millis;
use holdfast_sys::{LockMode, Open};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::{Claimant, Claims};
use crate::cli::Heartbeat as Command;
use crate::context::Context;
use crate::error::{Error, Exit, Result};
use crate::heartbeat::{self, Beat, Daemon, End};
use crate::interrupt::Interrupt;
use crate::output::Report;
use crate::times::span;
use crate::workspace::Workspace;

/// A loop that has ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Ended {
    /// The loop.
    pub heartbeat: Ending,
}

/// How a loop ended.
#[derive(Serialize, JsonSchema)]
pub struct Ending {
    /// Why.
    pub ended: &'static str,
}

/// Signs of life, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Beats {
    /// The last one of each agent.
    pub heartbeats: Vec<Beat>,
    /// How many.
    pub count: usize,
}

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Run { interval, auto_renew, parent } => beat(context, *interval, *auto_renew, *parent),
        Command::Status => status(context),
    }
}

fn beat(context: &Context, interval: Option<u64>, auto_renew: bool, parent: Option<u32>) -> Result<Report> {
    // Asked for before anything else: whoever started this may be gone soon.
    let parent = heartbeat::parent(context, parent)?;
    let workspace = Workspace::open(context)?;
    let identity = context.identity()?;
    let coordination = &workspace.config.coordination;
    let preferred = identity.file.behavior.heartbeat_interval.unwrap_or(coordination.heartbeat_interval_secs);
    let interval = Millis::from_secs(interval.unwrap_or(preferred).max(1));
    let renews = auto_renew || coordination.auto_renew_leases || identity.file.behavior.auto_heartbeat;
    let claims = Claims::to_write(context, &workspace, &identity.agent)?;
    let who = Claimant::here(context, &workspace, &identity.agent)?;
    let lock = workspace
        .control
        .join("locks")
        .join(format!("heartbeat-{}-{}.lock", who.holder.agent, who.holder.place));
    let lock = context.sys.files.open(&lock, Open::Create { mode: 0o600 })?;
    if !lock.try_lock(LockMode::Exclusive)? {
        return Err(Error::HeartbeatRuns(who.holder.to_string()));
    }
    let interrupt = Interrupt::listen()?;
    let agent = &identity.agent;
    let daemon = Daemon {
        context,
        workspace: &workspace,
        agent,
        claims: &claims,
        who: &who,
        interval,
        renews,
        parent,
    };
    let end = daemon.run(&interrupt)?;
    let exit = if end == End::Lapsed { Exit::Lease } else { Exit::Ok };
    let text = format!("heartbeat of {} ended: {}\n", who.holder, end.as_str());
    Ok(Report::new(text, &Ended { heartbeat: Ending { ended: end.as_str() } }).exit(exit))
}

fn status(context: &Context) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    let (beats, problems) = heartbeat::all(&context.sys, &workspace.control)?;
    for problem in problems {
        context.printer.warn(&problem.to_string());
    }
    let now = i64::try_from(context.sys.clock.now()?.wall_ms()).unwrap_or(i64::MAX);
    let age = |at: &str| {
        let at: jiff::Timestamp = at.parse().ok()?;
        u64::try_from(now.saturating_sub(at.as_millisecond())).ok().map(Millis::new)
    };
    let rows: Vec<_> = beats
        .iter()
        .map(|beat| {
            let ago = age(&beat.last_beat)
                .map_or_else(|| beat.last_beat.clone(), |age| format!("{} ago", span(age)));
            [beat.agent_id.clone(), beat.worktree_id.clone(), ago, beat.pid.to_string()]
        })
        .collect();
    let text = if rows.is_empty() {
        "nobody was heard of\n".into()
    } else {
        table(["AGENT", "WORKTREE", "HEARD OF", "PROCESS"], &rows)
    };
    let count = beats.len();
    Ok(Report::new(text, &Beats { heartbeats: beats, count }))
}
