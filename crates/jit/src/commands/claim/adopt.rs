//! `jit claim adopt`: standing for a commit of somebody else that was made without its claims.

use holdfast_tracker::claims::reason;
use holdfast_tracker::error::Result;
use holdfast_tracker::hooks::adopt::{Adopted, adopt};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;

/// A commit that was adopted, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ClaimAdoptOutput {
    /// The commit.
    pub commit: String,
    /// Whether it is adopted now; false if nothing refuses it.
    pub adopted: bool,
    /// The issues that it changes without a claim.
    pub issues: Vec<AdoptedIssue>,
}

/// An issue that an adopted commit changes.
#[derive(Serialize, JsonSchema)]
pub struct AdoptedIssue {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about, if it can be read.
    pub title: Option<String>,
}

/// Adopts a commit.
pub(super) fn run(context: &Context, commit: &str, why: &str) -> Result<Report> {
    let reason = reason("--reason", why)?;
    let session = context.session()?;
    let Adopted { commit, issues } = adopt(&context.caller, commit, &reason)?;
    let known = Issues::new(&session);
    let about = |id: IssueId| AdoptedIssue {
        id: id.to_string(),
        handle: known.handle(id),
        title: known.see(id, Scope::Nearest, |seen| seen.issue.title.to_string()).ok(),
    };
    let issues: Vec<AdoptedIssue> = issues.into_iter().map(about).collect();
    let short: String = commit.chars().take(10).collect();
    let adopted = !issues.is_empty();
    let mut text = match adopted {
        true => format!("adopted commit {short}, which changes\n"),
        false => format!("nothing refuses commit {short}\n"),
    };
    for issue in &issues {
        text.push_str(&format!("  {} {}\n", issue.handle, issue.title.as_deref().unwrap_or_default()));
    }
    let brief = commit.clone();
    Ok(Report::new(text, &ClaimAdoptOutput { commit, adopted, issues }).brief(brief))
}
