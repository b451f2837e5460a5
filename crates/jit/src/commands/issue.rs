//! `jit issue`: as much of it as claims need.

use serde_json::json;

use crate::cli::{CreateIssue, Issue as Command};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues, Priority, State, typed as word};
use crate::output::{Report, table};
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
        Command::Show { id } => show(context, &workspace, id),
        Command::List { state } => list(context, &workspace, state.as_deref()),
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

fn show(context: &Context, workspace: &Workspace, id: &str) -> Result<Report> {
    let issues = Issues::new(context, workspace);
    let issue = issues.read(issues.resolve(id)?)?;
    let mut text = format!(
        "{}  {}\nstate: {}  priority: {}  created: {}\n",
        issue.id, issue.title, issue.state, issue.priority, issue.created_at
    );
    if let Some(description) = &issue.description {
        text.push_str(&format!("\n{description}\n"));
    }
    Ok(Report::new(crate::output::clean(&text), &json!({ "issue": issue })).brief(issue.id))
}

fn list(context: &Context, workspace: &Workspace, state: Option<&str>) -> Result<Report> {
    let state = state.map(|text| word::<State>("--state", text)).transpose()?;
    let listing = Issues::new(context, workspace).all()?;
    for problem in &listing.problems {
        context.printer.warn(problem);
    }
    let issues: Vec<&Issue> =
        listing.issues.values().filter(|issue| state.is_none_or(|state| issue.state == state)).collect();
    let rows: Vec<_> = issues
        .iter()
        .map(|issue| {
            [issue.id.clone(), issue.state.to_string(), issue.priority.to_string(), issue.title.clone()]
        })
        .collect();
    let text = if rows.is_empty() {
        "no issues\n".into()
    } else {
        table(["ISSUE", "STATE", "PRIORITY", "TITLE"], &rows)
    };
    let brief: Vec<_> = issues.iter().map(|issue| issue.id.as_str()).collect();
    let json = json!({ "issues": issues, "count": issues.len() });
    Ok(Report::new(text, &json).brief(brief.join("\n")))
}
