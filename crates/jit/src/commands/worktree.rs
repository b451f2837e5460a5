//! `jit worktree`: which worktree this is, and which others there are.

use serde_json::json;

use crate::cli::Worktree as Command;
use crate::context::Context;
use crate::error::Result;
use crate::output::{Report, table};
use crate::workspace::Workspace;
use crate::worktree::{self, Entry};

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Info => info(context, &Workspace::open(context)?),
        Command::Init => info(context, &Workspace::find(context)?),
        Command::List => list(context),
    }
}

/// Shows this worktree. Whoever asks for its identity needs one, so it is made or brought up to date.
fn info(context: &Context, workspace: &Workspace) -> Result<Report> {
    let identity = worktree::ensure(context, workspace)?;
    let branch = workspace.branch(context)?;
    let linked = workspace.repository.as_ref().is_some_and(holdfast_git::Repository::is_linked);
    let mut json = json!({ "worktree": identity });
    if let Some(shown) = json.get_mut("worktree").and_then(serde_json::Value::as_object_mut) {
        shown.insert("branch".into(), json!(branch));
        shown.insert("main".into(), json!(!linked));
        shown.insert("control".into(), json!(workspace.control.to_string_lossy()));
        shown.entry("relocated_at").or_insert(serde_json::Value::Null);
    }
    let text = format!(
        "{}  {}\nbranch: {}  {}\ncontrol plane: {}\n",
        identity.worktree_id,
        identity.root,
        branch.as_deref().unwrap_or("none"),
        if linked { "linked worktree" } else { "main worktree" },
        workspace.control.display()
    );
    Ok(Report::new(crate::output::clean(&text), &json).brief(identity.worktree_id))
}

fn list(context: &Context) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    let entries = worktree::all(context, &workspace)?;
    let rows: Vec<_> = entries.iter().map(row).collect();
    let text = table(["WORKTREE", "BRANCH", "PATH", ""], &rows);
    let brief: Vec<_> = entries.iter().filter_map(|entry| entry.worktree_id.clone()).collect();
    let json = json!({ "worktrees": entries, "count": entries.len() });
    Ok(Report::new(text, &json).brief(brief.join("\n")))
}

fn row(entry: &Entry) -> [String; 4] {
    let notes = [(entry.current, "here"), (entry.main, "main"), (entry.gone, "gone")];
    let notes: Vec<_> = notes.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    [
        entry.worktree_id.clone().unwrap_or_else(|| "-".into()),
        entry.branch.clone().unwrap_or_else(|| "-".into()),
        entry.path.clone(),
        notes.join(", "),
    ]
}
