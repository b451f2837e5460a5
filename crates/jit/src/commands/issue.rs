//! `jit issue`: making, showing and listing issues.

pub mod list;
pub mod show;

use serde_json::json;

use crate::cli::{CreateIssue, Issue as Command};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues, Priority, Scope, typed as word};
use crate::output::Report;
use crate::queries::Filter;
use crate::times::rfc3339;
use crate::workspace::Workspace;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    match command {
        Command::Create(typed) => {
            let issue = create(context, &workspace, typed)?;
            let text = format!("created {}: {}\n", issue.id, issue.title);
            Ok(Report::new(text, &json!({ "issue": issue })).brief(issue.id))
        }
        Command::Show { id } => show::run(context, &workspace, id),
        Command::List(filters) => list::run(context, &workspace, Scope::All, &Filter::new(filters)?),
    }
}

/// Creates an issue. Its id is its own, so this needs no claim.
///
/// # Errors
/// When it cannot be written.
pub fn create(context: &Context, workspace: &Workspace, typed: &CreateIssue) -> Result<Issue> {
    let bad = |what, given: &str, why: String| Error::BadValue { what, given: given.to_owned(), why };
    if typed.title.trim().is_empty() || typed.title.chars().any(char::is_control) {
        return Err(bad("--title", &typed.title, "it is one line that says something".into()));
    }
    let priority: Priority = word("--priority", &typed.priority)?;
    let now = context.sys.clock.now()?;
    let id = IssueId::new(context.sys.entropy.lease_id(&now)?).to_string();
    let issue = Issue {
        priority,
        description: typed.description.clone(),
        ..Issue::new(id, typed.title.trim().to_owned(), rfc3339(&now))
    };
    Issues::new(context, workspace).write(&issue)?;
    Ok(issue)
}
