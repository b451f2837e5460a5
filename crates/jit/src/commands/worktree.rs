//! `jit worktree`: which worktree this is, and which others there are.

use holdfast_door::table;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Worktree as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::error::Result;
use holdfast_tracker::worktree::{Entry, Record};

/// This worktree, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct WorktreeOutput {
    /// The worktree.
    pub worktree: Here,
}

/// This worktree.
#[derive(Serialize, JsonSchema)]
pub struct Here {
    /// The version of its identity's form.
    pub schema_version: u32,
    /// Its id.
    pub worktree_id: String,
    /// Where it is.
    pub root: String,
    /// When its identity was made.
    pub created_at: String,
    /// When it was found somewhere else.
    pub relocated_at: Option<String>,
    /// The branch that it is on, `HEAD` where there is none.
    pub branch: Option<String>,
    /// Whether it belongs to the repository itself.
    pub main: bool,
    /// The directory of the claims, which all worktrees share.
    pub control: String,
}

/// All worktrees, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct WorktreeListOutput {
    /// The worktrees.
    pub worktrees: Vec<Entry>,
    /// How many.
    pub count: usize,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Info => info(&context.session()?),
        Command::Init => info(&Session::find(&context.caller)?),
        Command::List => list(context),
    }
}

/// Shows this worktree. Whoever asks for its identity needs one, so it is made or brought up to date.
fn info(session: &Session) -> Result<Report> {
    let identity = session.worktree()?.clone();
    let branch = session.branch()?;
    let linked = session.is_linked();
    let text = format!(
        "{}  {}\nbranch: {}  {}\ncontrol plane: {}\n",
        identity.worktree_id,
        identity.root,
        branch.as_deref().unwrap_or("none"),
        if linked { "linked worktree" } else { "main worktree" },
        session.control().display()
    );
    let brief = identity.worktree_id.clone();
    let Record { schema_version, worktree_id, root, created_at, relocated_at, .. } = identity;
    let control = session.control().to_string_lossy().into_owned();
    let worktree =
        Here { schema_version, worktree_id, root, created_at, relocated_at, branch, main: !linked, control };
    Ok(Report::new(text, &WorktreeOutput { worktree }).brief(brief))
}

fn list(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let entries = session.worktrees()?;
    let rows: Vec<_> = entries.iter().map(row).collect();
    let text = table(["WORKTREE", "BRANCH", "PATH", ""], &rows);
    let brief: Vec<_> = entries.iter().filter_map(|entry| entry.worktree_id.clone()).collect();
    let count = entries.len();
    Ok(Report::new(text, &WorktreeListOutput { worktrees: entries, count }).brief(brief.join("\n")))
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
