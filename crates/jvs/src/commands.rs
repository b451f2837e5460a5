//! One file a command. Each gets the context and what was typed, and gives a report; none prints.

mod audit;
mod completions;
mod doctor;
mod gc;
mod history;
mod info;
mod init;
mod lock;
mod restore;
mod run;
mod snapshot;
mod verify;
mod worktree;

use crate::cli::Command;
use crate::context::Context;
use crate::error::Result;
use crate::output::Report;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
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
        Command::Restore { id, name, inplace, reason, worktree } => {
            let place = restore::Place::new(name.as_deref(), inplace, reason.as_deref(), worktree.as_deref());
            restore::run(context, &id, &place)
        }
        Command::Verify { snapshot, all } => verify::run(context, snapshot.as_deref(), all),
        Command::Gc(command) => gc::run(context, &command),
        Command::Doctor { strict, repair } => doctor::run(context, strict, repair),
        Command::Audit { command, limit } => audit::run(context, command.as_ref(), limit),
        Command::Completions { shell } => Ok(completions::run(shell)),
    }
}
