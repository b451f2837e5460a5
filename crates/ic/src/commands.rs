//! One file a command: from what was typed to what is said.

mod acquire;
mod clean;
mod completions;
mod list;
mod man;
mod order;
mod release;
mod run;

use crate::cancel::Cancel;
use crate::cli::{Command, Lock, Taking};
use crate::context::Context;
use crate::error::Result;
use crate::locks::Locks;
use crate::names::LockName;
use crate::output::Report;
use crate::owner::Owner;
use crate::shown::Shown;
use crate::times;
use crate::wait::{How, Notice};

/// Does what was typed.
///
/// # Errors
/// What the person who typed it has to know.
pub fn run(context: &Context, command: Command) -> Result<Report> {
    match command {
        Command::Completions { shell } => Ok(completions::run(shell)),
        Command::Man { command } => man::run(&command),
        Command::Lock(Lock::Acquire { which, taking, pid }) => acquire::run(context, &which, &taking, pid),
        Command::Lock(Lock::Release { which, owner }) => release::run(context, &which, owner.as_deref()),
        Command::Lock(Lock::List) => list::all(context),
        Command::Lock(Lock::Stale { older_than }) => list::stale(context, &older_than),
        Command::Lock(Lock::Clean { older_than }) => clean::run(context, &older_than),
        Command::Lock(Lock::Run { which, taking, command }) => run::run(context, &which, &taking, &command),
        Command::Lock(Lock::Order) => order::run(context),
    }
}

/// How the person who typed it wants a lock to be taken.
fn how(taking: &Taking) -> Result<How> {
    let timeout = times::parse("--timeout", &taking.timeout)?;
    Ok(How { timeout, strict_order: taking.strict_order })
}

/// Takes a lock and tells the person who waits what for.
fn take(
    context: &Context,
    locks: &Locks,
    lock: &LockName,
    owner: &Owner,
    how: How,
    cancel: &Cancel,
) -> Result<Shown> {
    locks.acquire(lock, owner, how, cancel, &mut |notice| match notice {
        Notice::Waiting(held) => {
            context.printer.progress(&format!("waiting for {lock}: held by {}", held.told()));
        }
        Notice::TookOver(held) => context.printer.progress(&format!("took {lock} over from {}", held.told())),
        Notice::OutOfOrder(inversion) => context.printer.warn(&inversion.to_string()),
        Notice::Unrecorded(error) => {
            context.printer.warn(&format!("{lock} is held, but its order was not recorded: {error}"));
        }
    })
}
