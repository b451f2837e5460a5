//! `jvs init`: a repository with an empty worktree `main`.

use serde_json::json;

use crate::change;
use crate::context::Context;
use crate::error::Result;
use crate::names::{MAIN, WorktreeName};
use crate::output::Report;

/// Makes a repository.
pub(super) fn run(context: &Context, name: &str) -> Result<Report> {
    let name = WorktreeName::new(name)?;
    let root = context.start.join(name.as_str());
    let config = change::found(&context.sys, &root, &context.actor())?;
    let payload = root.join(MAIN);
    let json = json!({ "repo_id": config.repo_id, "path": root, "payload": payload });
    Ok(Report::new(format!("made {}\nwork in {}\n", root.display(), payload.display()), &json))
}
