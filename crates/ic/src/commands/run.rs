//! `ic lock run`: holds a lock while a command runs, and is otherwise not there: the command gets the signals
//! that were meant for it, and its exit code is ours.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::time::Duration;

use holdfast_kernel::Millis;
use holdfast_sys::command::{Failure, Group, How, Leftovers, OnSignal, Supervisor, command};
use serde_json::Value;

use super::{how, take};
use crate::beats;
use crate::cancel::Cancel;
use crate::cli::{Taking, Which};
use crate::context::Context;
use crate::error::{Error, Exit, Result};
use crate::locks::STALE_AFTER;
use crate::names::LockName;
use crate::output::Report;
use crate::owner::{Owner, Said};
use crate::vars;

/// How long a command has to end once it is stopped.
const GRACE: Millis = Millis::from_secs(1);
/// How often others are told that the holder lives: several times before its age counts.
const BEAT: Duration = Duration::from_millis(STALE_AFTER.get() / 4);

pub(super) fn run(context: &Context, which: &Which, taking: &Taking, words: &[OsString]) -> Result<Report> {
    let lock = LockName::new(&which.name, &which.scope)?;
    let said = Said { name: taking.owner.as_deref(), pid: None, within: &context.within };
    let owner = Owner::this_process(&context.sys, said)?;
    let mut command = command(words).ok_or_else(|| Error::Usage("there is no command to run".into()))?;
    let (how, cancel, mut supervisor) = (how(taking)?, Cancel::on_signals()?, Supervisor::listen()?);
    // Signs of life come from a thread of its own.
    let (locks, beating) = (context.locks()?, context.locks()?);
    let held = take(context, &locks, &lock, &owner, how, &cancel).map_err(|error| own(context, error))?;
    // From here on nothing may end this process before the lock is given back.
    let within: Vec<&str> = owner.parties().collect();
    command.env(vars::WITHIN, within.join("\n"));
    if let Some(fence) = held.fence() {
        command.env("IC_LOCK_FENCE", fence.to_string());
    }
    let ended = beats::while_it_lasts(
        BEAT,
        || beating.beat(&held, &owner),
        |error| context.printer.warn(&format!("{lock} may be taken over: {error}")),
        || supervisor.run(&context.sys, command, supervision()),
    );
    let released = locks.release(&lock, &owner.name);
    let exit = Exit::Command(ended.map_err(failed)?.code());
    if let Err(error) = released {
        context.printer.warn(&format!("{lock} could not be released: {error}"));
        let silent = exit.code() == 0;
        return Ok(Report { exit: if silent { Exit::Unexpected } else { exit }, ..silence() });
    }
    Ok(Report { exit, ..silence() })
}

/// A wait that ended in vain because the shell that started this command has the lock itself.
fn own(context: &Context, error: Error) -> Error {
    let Error::Timeout { blocker: Some(blocker), .. } = &error else { return error };
    let above = Owner::above(&context.sys).unwrap_or_default();
    let is_above =
        blocker.process().is_some_and(|holder| above.iter().any(|one| one.process.as_ref() == Some(&holder)));
    if is_above { Error::AlreadyHeld(blocker.clone()) } else { error }
}

fn silence() -> Report {
    Report::done("", Value::Null)
}

/// Whoever sits at a terminal talks to the command: it has to be in the terminal's foreground. Elsewhere a group of its
/// own lets a signal reach all that it has started.
fn supervision() -> How {
    let group = if std::io::stdin().is_terminal() { Group::Caller } else { Group::Own };
    let (on_signal, leftovers) = (OnSignal::PassOn, Leftovers::Wait);
    How { group, on_signal, leftovers, limit: None, grace: GRACE, kept: None }
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::NotStarted { program, why } => Error::Command { program, why },
        Failure::Interrupted(signal) => Error::Interrupted(signal),
        Failure::Sys(error) => Error::Sys(error),
    }
}
