//! One file a command. Each gets the context and what was typed, and gives a report; none prints.

mod audit;
mod completions;
mod diff;
mod doctor;
mod gc;
mod history;
mod info;
mod init;
mod lock;
mod man;
mod pin;
mod restore;
mod run;
mod snapshot;
mod status;
mod verify;
mod worktree;

use crate::cli::Command;
use crate::context::Context;
use crate::error::Result;
use crate::output::Report;

pub fn run(context: &Context, command: Command) -> Result<Report> {
    match command {
        Command::Init { name } => init::run(context, &name),
        Command::Info => info::run(context),
        Command::Worktree(command) => worktree::run(context, &command),
        Command::Lock(command) => lock::run(context, &command),
        Command::Snapshot { note, consistency, worktree } => {
            snapshot::run(context, note.as_deref(), consistency, worktree.as_deref())
        }
        Command::History { limit, worktree } => history::run(context, limit, worktree.as_deref()),
        Command::Restore { id, name, inplace: false, .. } => restore::beside(context, &id, name.as_deref()),
        Command::Restore { id, reason, worktree, force, snapshot_first, .. } => {
            let unsaved = restore::Unsaved::new(force, snapshot_first);
            restore::in_place(context, &id, worktree.as_deref(), reason.as_deref(), unsaved)
        }
        Command::Status { worktree } => status::run(context, worktree.as_deref()),
        Command::Diff { from, to, worktree } => {
            diff::run(context, from.as_deref(), to.as_deref(), worktree.as_deref())
        }
        Command::Pin { id, reason } => pin::add(context, &id, reason.as_deref()),
        Command::Unpin { id } => pin::remove(context, &id),
        Command::Pins => pin::list(context),
        Command::Verify { snapshot, all } => verify::run(context, snapshot.as_deref(), all),
        Command::Gc(command) => gc::run(context, &command),
        Command::Doctor { strict, repair } => doctor::run(context, strict, repair),
        Command::Audit { command, limit } => audit::run(context, command.as_ref(), limit),
        Command::Completions { shell } => Ok(completions::run(shell)),
        Command::Man { command } => man::run(&command),
    }
}
