//! `jvs lock run`: a command that runs while its lock is held. The lock is renewed in the background; if that
//! fails once, the command is stopped, because from then on somebody else may write.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use holdfast_kernel::Millis;
use holdfast_sys::command::{Ended, Failure, Group, How, Leftovers, OnSignal, Supervisor, command};
use serde_json::json;

use crate::context::Context;
use crate::error::{Class, Error, Result};
use crate::lock::Lock;
use crate::lock::keeper::Keeper;
use crate::lock::session::{Session, Shell};
use crate::lock::take::take_within;
use crate::output::Report;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// How long a command has to end by itself once its lock is lost.
const GRACE: Millis = Millis::from_secs(1);

/// Runs a command under the lock.
pub(super) fn run(
    context: &Context,
    name: Option<&str>,
    lease_ms: Option<u64>,
    words: &[OsString],
) -> Result<Report> {
    super::lock::bounded(lease_ms)?;
    let repo = context.repo()?;
    let name = context.name(&repo, name)?;
    let nonce = context.sys.entropy.nonce()?;
    // It begins with the id of its worktree, so that the doctor knows whose it is.
    let path = |worktree: &Worktree| {
        Ok(repo.control("sessions").join(format!("{}.run-{nonce:032x}.json", worktree.worktree_id)))
    };
    // From here on a signal is the command's, even if it comes before the command: one that ended this program
    // would leave the command behind, running without the lock.
    let mut supervisor = Supervisor::listen()?;
    let waiting = context.stop_waiting_at_signals()?;
    let wait = context.wait_for_lock();
    let (session, granted) =
        take_within(&repo, &name, &Shell::own(&context.sys, &context.shell.user)?, &path, lease_ms, wait)
            .map_err(|error| context.explained(&repo, &name, error))?;
    drop(waiting);
    let worktree = Worktree::named(&repo, &name)?;
    let every = repo.config.policy.renew_interval(lease_ms.unwrap_or(repo.config.policy.lease_duration_ms));
    let ended = Lock::of(&repo, &worktree).and_then(|lock| {
        let command = prepared(&repo, &worktree, &session, words)?;
        attend(&mut supervisor, &repo, (lock, &session, every), command)
    });
    let released = repo.on_lock(&worktree.worktree_id, || Lock::of(&repo, &worktree)?.release(&session));
    // Without its session nobody could give back a lock that is still there.
    if !matches!(&released, Err(error) if matches!(error.class(), Class::Busy | Class::Io | Class::AuditChainBroken))
    {
        session.forget(&repo.sys);
    }
    let ended = match ended? {
        Ok(ended) => ended,
        Err(failure) => {
            released?;
            return Err(not_run(failure));
        }
    };
    released?;
    let code = ended.code();
    let json = json!({ "worktree": name, "fencing_token": granted.lease.fence.get(), "exit": code });
    Ok(Report::new("", &json).exit(code))
}

/// Why there was no command, with the exit code that shells have for it.
fn not_run(failure: Failure) -> Error {
    let code = failure.code();
    match failure {
        Failure::NotStarted { program, why } => {
            let error = holdfast_sys::Error::new("start", Path::new(&program), why);
            let said = format!("{error}: {}", error.source);
            let hint = "the lock was given back; nothing ran";
            Error::new(Class::CannotRun(code.unwrap_or(126)), said).hint(hint)
        }
        Failure::Interrupted(signal) => Error::new(Class::Interrupted(signal), "interrupted"),
        Failure::Sys(error) => error.into(),
    }
}

fn prepared(repo: &Repo, worktree: &Worktree, session: &Session, words: &[OsString]) -> Result<Command> {
    let mut command = command(words).ok_or_else(|| Error::usage("no command"))?;
    command.env("JVS_SESSION_FILE", &session.path);
    command.env("JVS_WORKTREE", worktree.name.as_str()).env("JVS_ROOT", &repo.root);
    Ok(command)
}

/// Runs the command, renews until it has ended, and stops it if that fails.
fn attend(
    supervisor: &mut Supervisor,
    repo: &Repo,
    (lock, session, every): (Lock, &Session, u64),
    command: Command,
) -> Result<std::result::Result<Ended, Failure>> {
    let stopper = supervisor.stopper()?;
    let keeper = Keeper::start(lock, session.clone(), every, move |_| stopper.stop());
    // With a terminal a group of its own would cost the command its input. Elsewhere it lets a signal reach all that
    // the command has started.
    let group = if std::io::stdin().is_terminal() { Group::Caller } else { Group::Own };
    let (on_signal, leftovers) = (OnSignal::PassOn, Leftovers::Wait);
    let how = How { group, on_signal, leftovers, limit: None, grace: GRACE, kept: None };
    let ended = supervisor.run(&repo.sys, command, how);
    keeper.stop()?;
    Ok(ended)
}
