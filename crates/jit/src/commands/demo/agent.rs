//! One agent: it asks for what everybody wants, then works through whatever is available until everything
//! is done. It tells what happens to it on stdout, for the director.

use clap::Parser as _;
use holdfast_door::Clean;
use holdfast_kernel::Millis;
use serde_json::Value;

use super::{AgentReport, TTL_SECS, list, text};
use crate::cli::Cli;
use crate::commands;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::{Error, Result};

/// How long an issue takes.
const WORK: Millis = Millis::new(350);

/// How long to wait before looking for work again.
const PAUSE: Millis = Millis::new(60);

/// Plays one agent: first for `wanted`, then for everything else.
///
/// # Errors
/// When something happens that is not part of the story.
pub(super) fn run(context: &Context, wanted: &str) -> Result<Report> {
    let ttl = TTL_SECS.to_string();
    match jit(context, &["claim", "acquire", wanted, "--ttl", &ttl]) {
        Ok(report) => work(context, &report)?,
        Err(error) => {
            let holder = text(&error.document(), "/error/details/held_by/agent_id").to_owned();
            if holder.is_empty() {
                return Err(error);
            }
            tell(context, &AgentReport::Lost { issue: wanted.to_owned(), holder });
        }
    }
    while is_work_left(context)? {
        match jit(context, &["claim", "next", "--ttl", &ttl]) {
            Ok(report) => work(context, &report)?,
            Err(Error::NothingAvailable) => context.caller.sys.clock.sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
    Ok(Report::new(String::new(), &Value::Null))
}

/// Works on what was claimed, and finishes it if it may.
fn work(context: &Context, claimed: &Report) -> Result<()> {
    let claimed = claimed.document();
    let issue = text(&claimed, "/lease/issue_id").to_owned();
    let fence = claimed.pointer("/lease/fence").and_then(Value::as_u64).unwrap_or_default();
    tell(context, &AgentReport::Claimed { issue: issue.clone(), fence });
    context.caller.sys.clock.sleep(WORK);
    if let Err(error) = jit(context, &["issue", "update", &issue, "--state", "done"]) {
        tell(context, &AgentReport::Refused { issue, code: error.code().as_str().to_owned() });
        return Ok(());
    }
    jit(context, &["claim", "release", &issue])?;
    tell(context, &AgentReport::Done { issue });
    Ok(())
}

fn is_work_left(context: &Context) -> Result<bool> {
    let all = jit(context, &["issue", "list"])?;
    let all = all.document();
    Ok(list(&all, "/issues").iter().any(|issue| text(issue, "/state") != "done"))
}

/// What the program would do if this was typed.
fn jit(context: &Context, words: &[&str]) -> Result<Report> {
    let words = ["jit", "--quiet"].iter().chain(words);
    let Cli { command, .. } = Cli::try_parse_from(words)
        .map_err(|error| Error::Internal(format!("the demonstration typed what is no command: {error}")))?;
    commands::run(context, command)
}

fn tell(context: &Context, report: &AgentReport) {
    context.printer.line(Clean::json(report));
}
