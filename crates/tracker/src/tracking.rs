//! Locks of the refs that say where a remote's branches were last seen. Whoever fetches or pushes writes them, from any
//! worktree; a git that is killed meanwhile leaves a lock, and nobody in the clone can fetch any more, so nothing lands.
//!
//! A lock is taken for one that nobody has if it was made while a command of ours was at work whose gits are gone, and
//! while none was whose gits are not, and if it stays. What a git has left that somebody typed is left to them: git says
//! which file it is.

use std::path::{Path, PathBuf};

use holdfast_git::Repository;
use holdfast_sys::{Identity, Kind, Sys, os};
use serde::Deserialize;

use crate::durable;
use crate::leftovers::{self, NOTE, WORKING};

/// Where git keeps these refs, in its common directory.
const REFS: &str = "refs/remotes";

/// How deep they are looked for: names of branches have slashes.
const DEPTH: usize = 16;

/// More than a note can be.
const LONGEST: usize = 1 << 16;

/// A command of ours that has noted that git is at work for it.
struct Command {
    /// When it began, by the clock of the file system.
    since: i64,
    /// Whether one of its gits is there.
    lives: bool,
}

#[derive(Deserialize)]
struct Note {
    mark: String,
}

/// Takes away the locks that a git has left whose command had noted so at `note`, and is gone. To be called before the note
/// goes.
pub(crate) fn settle(sys: &Sys, repository: &Repository, note: &Path) {
    if let Ok(stat) = sys.files.stat(note) {
        clear(sys, repository, &[Command { since: stat.modified_ms, lives: false }]);
    }
}

/// Takes away the locks that gits have left whose commands are gone, whichever worktree that was in. Says whether there
/// were any.
pub(crate) fn settle_all(sys: &Sys, repository: &Repository) -> bool {
    let common = repository.common_dir();
    let worktrees = common.join("worktrees");
    let linked = sys.files.list(&worktrees).unwrap_or_default();
    let homes = linked.into_iter().map(|name| worktrees.join(name)).chain([common.to_path_buf()]);
    let commands: Vec<Command> = homes.filter_map(|home| noted(sys, &home.join(NOTE))).collect();
    clear(sys, repository, &commands)
}

fn noted(sys: &Sys, path: &Path) -> Option<Command> {
    let since = sys.files.stat(path).ok()?.modified_ms;
    let Note { mark } = serde_json::from_slice(&durable::read(sys, path, LONGEST).ok()??).ok()?;
    Some(Command { since, lives: !os::marked(WORKING, &mark).is_empty() })
}

fn clear(sys: &Sys, repository: &Repository, commands: &[Command]) -> bool {
    let is_left = |made: i64| {
        let mut then = commands.iter().filter(|command| command.since <= made).peekable();
        then.peek().is_some() && then.all(|command| !command.lives)
    };
    let locks = || {
        let mut found = Vec::new();
        locks_below(sys, &repository.common_dir().join(REFS), DEPTH, &is_left, &mut found);
        found
    };
    leftovers::remove_those_that_stay(sys, locks, |_| true)
}

fn locks_below(
    sys: &Sys,
    folder: &Path,
    depth: usize,
    is_left: &dyn Fn(i64) -> bool,
    found: &mut Vec<(PathBuf, Identity)>,
) {
    for name in sys.files.list(folder).unwrap_or_default() {
        let path = folder.join(&name);
        match sys.files.stat(&path) {
            Ok(stat) if stat.kind == Kind::Directory && depth > 0 => {
                locks_below(sys, &path, depth - 1, is_left, found);
            }
            Ok(stat) if stat.kind == Kind::File && path.extension().is_some_and(|end| end == "lock") => {
                found.extend(is_left(stat.modified_ms).then_some((path, stat.identity)));
            }
            Ok(_) | Err(_) => {}
        }
    }
}
