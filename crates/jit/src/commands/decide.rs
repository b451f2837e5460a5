//! `jit reopen` and `jit close`: what is decided about an issue without work on it.

use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::{Issues, State};
use holdfast_tracker::land::{self, Decided, Ending};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli;
use crate::context::Context;
use crate::output::Report;

/// What was decided, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DecideOutput {
    /// The issue.
    pub issue: About,
}

/// An issue after a decision.
#[derive(Serialize, JsonSchema)]
pub struct About {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where it stands now.
    pub state: State,
    /// The commit that takes back what landed for it, if one was made.
    pub commit: Option<String>,
}

/// Opens an issue again.
///
/// # Errors
/// What went wrong.
pub fn reopen(context: &Context, typed: &cli::Reopen) -> Result<Report> {
    let session = context.session()?;
    let id = Issues::new(&session).resolve(&typed.issue)?;
    let decided = land::reopen(&session, id, typed.reason.as_deref(), typed.revert)?;
    Ok(report("reopened", decided))
}

/// Closes an issue.
///
/// # Errors
/// What went wrong.
pub fn close(context: &Context, typed: &cli::Close) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    let id = issues.resolve(&typed.issue)?;
    let words: Vec<&str> = typed.how.iter().map(String::as_str).collect();
    let ending = match words.as_slice() {
        ["rejected"] => Ending::Rejected,
        ["duplicate-of", other] => Ending::DuplicateOf(issues.resolve(other)?),
        _ => {
            return Err(Error::BadValue {
                what: "--as",
                given: typed.how.join(" "),
                why: "must be rejected, or duplicate-of and another issue".to_owned(),
            });
        }
    };
    Ok(report("closed", land::close(&session, id, ending, typed.reason.as_deref())?))
}

fn report(verb: &str, decided: Decided) -> Report {
    let Decided { issue, handle, title, state, commit } = decided;
    let mut text = format!("{verb} {handle}: {title} ({state})\n");
    if let Some(commit) = &commit {
        let short: String = commit.chars().take(10).collect();
        text.push_str(&format!("taken back by commit {short} on this branch\n"));
    }
    let id = issue.to_string();
    Report::new(text, &DecideOutput { issue: About { id: id.clone(), handle, title, state, commit } })
        .brief(id)
}
