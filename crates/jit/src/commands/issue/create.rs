//! `jit issue create`.

use super::described;
use crate::cli::CreateIssue;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::answers::create::{self, NewIssue};
use holdfast_tracker::error::Result;
use holdfast_tracker::writes::Fresh;

pub(super) fn run(session: &Session, typed: &CreateIssue) -> Result<Report> {
    let document = create::create(session, &new(typed)?)?;
    let issue = &document.issue;
    let handle = issue.handle.as_deref().unwrap_or_default();
    let text = format!("created {handle}: {}\n", issue.issue.title);
    let brief = issue.issue.id.clone();
    Ok(Report::new(text, &document).brief(brief))
}

/// The issue that was typed.
///
/// # Errors
/// When it cannot be like that, or something that it names is not there.
pub fn fresh(session: &Session, typed: &CreateIssue) -> Result<Fresh> {
    new(typed)?.fresh(session)
}

fn new(typed: &CreateIssue) -> Result<NewIssue> {
    Ok(NewIssue {
        title: typed.about.clone().or_else(|| typed.title.clone()).unwrap_or_default(),
        description: described(typed.description.as_deref())?,
        priority: Some(typed.priority.clone()),
        labels: typed.labels.clone(),
        kind: typed.kind.clone(),
        gates: typed.gates.clone(),
        depends_on: typed.depends_on.clone(),
    })
}
