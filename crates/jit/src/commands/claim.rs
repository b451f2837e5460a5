//! `jit claim`: taking, keeping, handing over and giving up claims.

mod adopt;
mod approve;
mod change;
mod look;
mod take;

use crate::cli::Claim as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::claims::Wanted;
use holdfast_tracker::error::Result;

pub use adopt::ClaimAdoptOutput;
pub use take::{AcquireOutput, ClaimCreateOutput, create, terms};

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Acquire { issues, terms, when_ready, wait } => {
            take::acquire(context, issues, terms, *when_ready, wait.as_deref())
        }
        Command::Next { terms, filters, resume, wait } => {
            take::next(context, terms, filters, *resume, wait.as_deref())
        }
        Command::Create { issue, terms } => create(context, issue, terms),
        Command::Renew { lease, ttl } => change::renew(context, lease, ttl.as_deref()),
        Command::Heartbeat { lease } => change::beat(context, lease),
        Command::Release { lease } => change::release(context, lease),
        Command::Transfer { lease, to_agent, to_worktree, reason } => {
            change::transfer(context, lease, to_agent, to_worktree, reason)
        }
        Command::ForceEvict { lease, reason } => change::evict(context, lease, reason),
        Command::Approve { lease, reason } => approve::approve(context, lease, reason.as_deref()),
        Command::Requests(claims) => approve::requests(context, *claims),
        Command::Adopt { commit, reason } => adopt::run(context, commit, reason),
        Command::Status { issue, agent, kind, claims } => {
            let (issue, agent) = (issue.as_deref(), agent.as_deref());
            look::status(context, *claims, &Wanted { issue, agent, kind: (*kind).into() })
        }
        Command::List { kind, claims } => {
            look::status(context, *claims, &Wanted { kind: (*kind).into(), ..Wanted::default() })
        }
        Command::History { issue } => look::history(context, issue.as_deref()),
    }
}
