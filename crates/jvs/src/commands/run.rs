//! `jvs lock run`: a command that runs while its lock is held. The lock is renewed in the background; if that
//! fails once, the command is stopped, because from then on somebody else may write.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_kernel::Millis;
use holdfast_sys::command::{Ended, Failure, Group, How, Leftovers, OnSignal, Supervisor, command};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Class, Error, Result};
use crate::lock::Lock;
use crate::lock::keeper::Keeper;
use crate::lock::session::Session;
use crate::lock::take::take;
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
    let file = repo.control("sessions").join(format!("run-{:032x}.json", context.sys.entropy.nonce()?));
    let path = |worktree: &Worktree| named(&file, worktree);
    // From here on a signal is the command's, even if it comes before the command: one that ended this program
    // would leave the command behind, running without the lock.
    let mut supervisor = Supervisor::listen()?;
    let (session, granted) = take(&repo, &name, &context.shell, &path, lease_ms)?;
    let worktree = Worktree::named(&repo, &name)?;
    let every = repo.config.policy.renew_interval(lease_ms.unwrap_or(repo.config.policy.lease_duration_ms));
    let ended = Lock::of(&repo, &worktree).and_then(|lock| {
        let command = prepared(&repo, &worktree, &session, words)?;
        attend(&mut supervisor, &repo, (lock, &session, every), command)
    });
    let released = repo.together(|| Lock::of(&repo, &worktree)?.release(&session));
    session.forget(&repo.sys);
    let ended = match ended? {
        Ok(ended) => ended,
        Err(failure) => {
            released?;
            return not_run(context, failure);
        }
    };
    released?;
    let code = ended.code();
    let json = json!({ "worktree": name, "fencing_token": granted.lease.fence.get(), "exit": code });
    Ok(Report::new("", &json).exit(code))
}

/// Says why there was no command, and ends as a shell would.
fn not_run(context: &Context, failure: Failure) -> Result<Report> {
    let code = failure.code();
    let error = match failure {
        Failure::NotStarted { program, why } => {
            Error::from(holdfast_sys::Error::new("start", Path::new(&program), why))
        }
        Failure::Interrupted(signal) => return Err(Error::new(Class::Interrupted(signal), "interrupted")),
        Failure::Sys(error) => return Err(error.into()),
    };
    let exit = context.printer.error(&error);
    Ok(Report::new("", &Value::Null).exit(code.unwrap_or(exit)))
}

/// The file of a session begins with the id of its worktree, so that the doctor knows whose it is.
fn named(file: &Path, worktree: &Worktree) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    file.with_file_name(format!("{}.{name}", worktree.worktree_id))
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
