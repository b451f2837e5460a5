//! `jit issue`: making, showing, changing, deleting and listing issues.

mod create;
mod delete;
mod update;

use serde_json::{Value, json};

use crate::cli::{Issue as Command, Terms};
use crate::context::Context;
use crate::error::Result;
use crate::issues::{Issue, Issues, State, typed as word};
use crate::output::{Report, table};
use crate::workspace::Workspace;
use crate::writes::Draft;

pub use create::create;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    match command {
        Command::Create { issue, claim } if *claim => super::claim::create(context, issue, &Terms::default()),
        Command::Create { issue, .. } => create::run(context, &workspace, issue),
        Command::Update(typed) => update::run(context, &workspace, typed),
        Command::Delete { id } => delete::run(context, &workspace, id),
        Command::Show { id } => show(context, &workspace, id),
        Command::List { state } => list(context, &workspace, state.as_deref()),
    }
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

/// An issue with its sets, as programs read it.
#[must_use]
pub fn shown(draft: &Draft) -> Value {
    let mut document = json!(draft.issue());
    if let Some(fields) = document.as_object_mut() {
        fields.insert("labels".into(), json!(draft.labels()));
        fields.insert("dependencies".into(), json!(draft.dependencies()));
    }
    document
}
