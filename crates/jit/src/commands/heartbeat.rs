//! `jit heartbeat`: keeping claims alive, and seeing who was heard of.

use holdfast_door::table;
use holdfast_kernel::Millis;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Heartbeat as Command;
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::output::Report;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;
use holdfast_tracker::heartbeat::{self, Beat, End, Parent};
use holdfast_tracker::times::span;

/// A loop that has ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct HeartbeatRunOutput {
    /// The loop.
    pub heartbeat: Ending,
}

/// How a loop ended.
#[derive(Serialize, JsonSchema)]
pub struct Ending {
    /// The reason that it ended.
    pub ended: &'static str,
}

/// Signs of life, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct HeartbeatStatusOutput {
    /// The last one of each agent.
    pub heartbeats: Vec<Beat>,
    /// How many.
    pub count: usize,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Run { interval, auto_renew, parent } => beat(context, *interval, *auto_renew, *parent),
        Command::Status => status(context),
    }
}

fn beat(context: &Context, interval: Option<u64>, auto_renew: bool, parent: Option<u32>) -> Result<Report> {
    // Asked for before anything else: whoever started this may be gone soon.
    let parent = Parent::watch(&context.caller, parent)?;
    let session = context.session()?;
    session.agent()?;
    let end = heartbeat::run(&session, &parent, interval, auto_renew, &Interrupt::listen()?)?;
    let exit = if end == End::Lapsed { Exit::Lease } else { Exit::Ok };
    let text = format!("heartbeat of {} ended: {}\n", session.holder()?, end.as_str());
    Ok(Report::new(text, &HeartbeatRunOutput { heartbeat: Ending { ended: end.as_str() } }).exit(exit))
}

fn status(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let (beats, problems) = heartbeat::all(&context.caller.sys, session.control())?;
    for problem in problems {
        context.printer.warn(&problem.to_string());
    }
    let now = i64::try_from(context.caller.sys.clock.now()?.wall_ms()).unwrap_or(i64::MAX);
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
        "no heartbeats\n".into()
    } else {
        table(["AGENT", "WORKTREE", "HEARD OF", "PROCESS"], &rows)
    };
    let count = beats.len();
    Ok(Report::new(text, &HeartbeatStatusOutput { heartbeats: beats, count }))
}
