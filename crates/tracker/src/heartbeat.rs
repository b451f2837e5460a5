//! Signs of life: a small file an agent in the control plane, and the loop that keeps claims alive while
//! their holder works. The loop ends by itself, because a claim that is kept alive for nobody is held for
//! ever.

mod daemon;

use std::path::Path;

use holdfast_kernel::Holder;
use holdfast_sys::Sys;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use daemon::{Daemon, End, parent};

use crate::claims::heartbeat_file;
use crate::context::Context;
use crate::control::Access;
use crate::durable;
use crate::error::{Error, Result};
use crate::times::rfc3339;
use crate::workspace::Workspace;

/// More than a sign of life can be.
const LONGEST: usize = 1 << 16;

/// A sign of life.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// Who.
    pub agent_id: String,
    /// Where.
    pub worktree_id: String,
    /// On which branch.
    pub branch: Option<String>,
    /// The process that gave it.
    pub pid: u32,
    /// When.
    pub last_beat: String,
    /// When the next one is due.
    pub interval_secs: u64,
}

/// Writes a sign of life.
///
/// # Errors
/// When it cannot be written.
pub fn write(context: &Context, workspace: &Workspace, holder: &Holder, interval_secs: u64) -> Result<()> {
    let sys = &context.sys;
    let beat = Beat {
        agent_id: holder.agent.to_string(),
        worktree_id: holder.place.to_string(),
        branch: workspace.branch(context)?,
        pid: std::process::id(),
        last_beat: rfc3339(&sys.clock.now()?),
        interval_secs,
    };
    let mut text = serde_json::to_vec_pretty(&beat).unwrap_or_default();
    text.push(b'\n');
    let access = Access::of(sys, workspace.config.coordination.shared_group.as_deref())?;
    let path = heartbeat_file(&workspace.control, holder.agent.as_str());
    Ok(durable::replace(sys, &path, &text, access.file())?)
}

/// All signs of life, by agent, and what could not be read.
///
/// # Errors
/// When they cannot be listed.
pub fn all(sys: &Sys, control: &Path) -> Result<(Vec<Beat>, Vec<Error>)> {
    let directory = control.join("heartbeat");
    let names = match sys.files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let (mut beats, mut problems) = (Vec::new(), Vec::new());
    for name in names.iter().filter(|name| is_beat(&name.to_string_lossy())) {
        match read(sys, &directory.join(name)) {
            Ok(beat) => beats.extend(beat),
            Err(error) => problems.push(error),
        }
    }
    Ok((beats, problems))
}

fn is_beat(name: &str) -> bool {
    name.ends_with(".json") && !name.starts_with('.')
}

fn read(sys: &Sys, path: &Path) -> Result<Option<Beat>> {
    let bad = |error: serde_json::Error| Error::BadFile { path: path.to_path_buf(), why: error.to_string() };
    let bytes = durable::read(sys, path, LONGEST)?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(bad)).transpose()
}
