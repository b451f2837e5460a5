//! The directories and files that a `.jit/` begins with. Laying them out again changes nothing.

use std::path::Path;

use holdfast_sys::Sys;

use crate::durable;
use crate::error::Result;

/// What belongs to one worktree or one machine and must not be committed.
const IGNORED: &str = "# What belongs to this worktree alone.\n\
    /worktree.json\n/cache/\n/deleted/\n\
    # Claims and events, where they are kept here instead of in the git directory.\n\
    /claims.*\n/locks/\n/heartbeat/\n/events/control.*\n/events/wt-*\n\
    .*.new-*\n";

/// What earlier versions wrote there.
const ONCE_IGNORED: &str = "# What belongs to this worktree alone.\n\
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

/// Makes the directories of a data plane that are missing.
///
/// # Errors
/// When they cannot be made.
pub fn lay_out(sys: &Sys, data: &Path) -> Result<()> {
    for name in ["issues", "gates/results"] {
        durable::make_dirs(sys, &data.join(name), 0o755)?;
    }
    let ignored = data.join(".gitignore");
    // Whatever else is there is somebody's own.
    let known = durable::read(sys, &ignored, 1 << 16).ok().flatten();
    if known.as_deref() == Some(ONCE_IGNORED.as_bytes()) {
        durable::replace(sys, &ignored, IGNORED.as_bytes(), 0o644)?;
    } else {
        durable::create(sys, &ignored, IGNORED.as_bytes(), 0o644)?;
    }
    durable::create(sys, &data.join(".gitattributes"), ATTRIBUTES.as_bytes(), 0o644)?;
    Ok(())
}
