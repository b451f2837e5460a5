//! `ic lock run`: holds a lock while a command runs, and is otherwise not there: the command gets the signals
//! that were meant for it, and its exit code is ours.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::Cause;

use super::{how, take};
use crate::cancel::Cancel;
use crate::cli::{Taking, Which};
use crate::context::Context;
use crate::error::{Error, Exit, Result};
use crate::names::LockName;
use crate::output::Report;
use crate::owner::{Owner, Said};
use crate::shown::Shown;
use crate::vars;

const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

type Signals = SignalsInfo<WithOrigin>;

pub(super) fn run(context: &Context, which: &Which, taking: &Taking, command: &[OsString]) -> Result<Report> {
    let lock = LockName::new(&which.name, &which.scope)?;
    let said = Said { name: taking.owner.as_deref(), pid: None, within: &context.within };
    let owner = Owner::this_process(&context.sys, said)?;
    let (how, cancel) = (how(taking)?, Cancel::on_signals()?);
    let locks = context.locks()?;
    let held = take(context, &locks, &lock, &owner, how, &cancel)?;
    // From here on nothing may end this process before the lock is given back.
    let ended = supervise(&owner, &held, command, &cancel);
    let released = locks.release(&lock, &owner.name);
    let status = ended?;
    let exit = Exit::Command(code(status));
    if let Err(error) = released {
        context.printer.warn(&format!("{lock} could not be released: {error}"));
        let silent = exit.code() == 0;
        return Ok(Report { exit: if silent { Exit::Unexpected } else { exit }, ..silence() });
    }
    Ok(Report { exit, ..silence() })
}

fn silence() -> Report {
    Report::done("", Value::Null)
}

/// Runs the command and passes signals on to it until it ends.
fn supervise(owner: &Owner, held: &Shown, command: &[OsString], cancel: &Cancel) -> Result<ExitStatus> {
    let failed = |error| holdfast_sys::Error::new("listen for", Path::new("signals"), error);
    let mut signals = Signals::new(PASSED_ON.into_iter().chain([SIGCHLD])).map_err(failed)?;
    // What came before the command was there is not passed on: it ends this.
    cancel.check()?;
    let mut child = start(owner, held, command)?;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| lost(command, error))? {
            return Ok(status);
        }
        for signal in signals.wait() {
            pass_on(&child, &signal);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the user asked for this process")]
fn start(owner: &Owner, held: &Shown, command: &[OsString]) -> Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::Usage("there is no command to run".into()));
    };
    let within: Vec<&str> = owner.parties().collect();
    let fence = held.fence().unwrap_or_default().to_string();
    std::process::Command::new(program)
        .args(arguments)
        .env(vars::WITHIN, within.join("\n"))
        .env("IC_LOCK_FENCE", fence)
        .spawn()
        .map_err(|error| lost(command, error))
}

fn lost(command: &[OsString], why: std::io::Error) -> Error {
    let program = command.first().map(|program| program.to_string_lossy().into_owned());
    Error::Command { program: program.unwrap_or_default(), why }
}

/// Whether the command has yet to hear of a signal. One from the terminal went to everybody, the command among them.
fn is_unheard(signal: i32, cause: Cause) -> bool {
    PASSED_ON.contains(&signal) && !matches!(cause, Cause::Kernel)
}

fn pass_on(child: &Child, signal: &Origin) {
    if !is_unheard(signal.signal, signal.cause) {
        return;
    }
    // The child has not been waited for, so its number is still its own.
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal.signal)) {
        let _ = kill_process(pid, signal);
    }
}

/// What a shell says of a command that ended like this.
fn code(status: ExitStatus) -> u8 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::Millis;
    use holdfast_sys::Sys;
    use signal_hook::consts::{SIGCHLD, SIGINT};
    use signal_hook::low_level::siginfo::{Cause, Sent};

    use super::{is_unheard, supervise};
    use crate::cancel::Cancel;
    use crate::error::Error;
    use crate::locks::Locks;
    use crate::names::LockName;
    use crate::owner::{Owner, Said};
    use crate::wait::How;

    #[test]
    fn what_was_called_off_after_the_grant_starts_nothing() {
        let (scratch, sys, cancel) = (tempfile::tempdir().unwrap(), Sys::os(), Cancel::new());
        let owner = Owner::this_process(&sys, Said::default()).unwrap();
        let how = How { timeout: Millis::ZERO, strict_order: false };
        let locks = Locks::new(&sys, scratch.path());
        let held =
            locks.acquire(&LockName::new("a", "x").unwrap(), &owner, how, &cancel, &mut |_| {}).unwrap();
        cancel.cancel();
        let ended = supervise(&owner, &held, &["true".into()], &cancel);
        assert!(matches!(ended, Err(Error::CalledOff)), "{ended:?}");
    }

    #[test]
    fn what_the_terminal_has_sent_to_everybody_is_not_passed_on_again() {
        assert!(is_unheard(SIGINT, Cause::Sent(Sent::User)));
        assert!(!is_unheard(SIGINT, Cause::Kernel));
        assert!(!is_unheard(SIGCHLD, Cause::Sent(Sent::User)), "that one is about the command");
    }
}
