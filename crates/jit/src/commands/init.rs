//! `jit init`: the directories that issues are kept in. Running it again changes nothing.

use std::path::Path;

use holdfast_sys::Sys;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::durable;
use crate::error::Result;
use crate::output::Report;
use crate::workspace::Workspace;
use crate::worktree::{self, Identity};

/// What belongs to one worktree or one machine and must not be committed.
const IGNORED: &str = "# What belongs to this worktree alone.\n\
    /worktree.json\n/cache/\n/deleted/\n\
    # Claims, where they are kept here instead of in the git directory.\n\
    /claims.*\n/locks/\n/heartbeat/\n/events/control.*\n\
    .*.new-*\n";

/// How git merges what is kept here, wherever that differs from other files.
const ATTRIBUTES: &str = "# Lines that two branches added are both kept.\n\
    *.jsonl merge=union\n\
    # Field by field, by `jit merge-driver`; `jit hooks install` tells git about it.\n\
    /issues/*/issue.json merge=jit-issue\n\
    # Made anew when needed.\n\
    /cache/** binary\n*.db binary\n*.sqlite binary\n";

/// Where issues are tracked, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// Where they are kept.
    pub jit: Home,
    /// This worktree.
    pub worktree: Identity,
}

/// Where issues are kept.
#[derive(Serialize, JsonSchema)]
pub struct Home {
    /// The directory of the issues.
    pub path: String,
    /// The directory of the claims, which all worktrees share.
    pub control: String,
    /// Whether it was made by this command.
    pub created: bool,
}

/// Starts tracking issues here.
///
/// # Errors
/// When the directories cannot be made.
pub fn run(context: &Context) -> Result<Report> {
    let workspace = Workspace::find(context)?;
    let data = workspace.own_data()?;
    let known = durable::is_dir(&context.sys, &data.join("issues"))?;
    lay_out(&context.sys, &data)?;
    let identity = worktree::ensure(context, &workspace)?;
    let verb = if known { "issues are already tracked" } else { "issues are tracked" };
    let text = format!("{verb} in {} (worktree {})\n", data.display(), identity.worktree_id);
    let path = data.to_string_lossy().into_owned();
    let control = workspace.control.to_string_lossy().into_owned();
    let jit = Home { path: path.clone(), control, created: !known };
    Ok(Report::new(text, &Document { jit, worktree: identity }).brief(path))
}

/// Makes the directories of a data plane that are missing.
///
/// # Errors
/// When they cannot be made.
pub fn lay_out(sys: &Sys, data: &Path) -> Result<()> {
    for name in ["issues", "gates/results", "events"] {
        durable::make_dirs(sys, &data.join(name), 0o755)?;
    }
    durable::create(sys, &data.join(".gitignore"), IGNORED.as_bytes(), 0o644)?;
    durable::create(sys, &data.join(".gitattributes"), ATTRIBUTES.as_bytes(), 0o644)?;
    Ok(())
}
