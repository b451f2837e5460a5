//! `jit init`: the directories that issues are kept in. Running it again changes nothing.

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::durable;
use holdfast_tracker::error::Result;
use holdfast_tracker::layout;
use holdfast_tracker::worktree::Record;

/// Where issues are tracked, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct InitOutput {
    /// Where they are kept.
    pub jit: Home,
    /// This worktree.
    pub worktree: Record,
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
    let session = Session::find(&context.caller)?;
    let data = session.own_data()?;
    let known = durable::is_dir(&context.caller.sys, &data.join("issues"))?;
    layout::lay_out(&context.caller.sys, &data)?;
    let identity = session.worktree()?.clone();
    let verb = if known { "issues are already tracked" } else { "issues are tracked" };
    let mut text = format!("{verb} in {} (worktree {})\n", data.display(), identity.worktree_id);
    if !known {
        text.push_str("for coding agents: jit setup claude (or codex, cursor, opencode, agents-md)\n");
    }
    let path = data.to_string_lossy().into_owned();
    let control = session.control().to_string_lossy().into_owned();
    let jit = Home { path: path.clone(), control, created: !known };
    Ok(Report::new(text, &InitOutput { jit, worktree: identity }).brief(path))
}
