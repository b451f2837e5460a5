//! `jvs lock run`: a command that runs while its lock is held. The lock is renewed in the background; if that
//! fails once, the command is stopped, because from then on somebody else may write.
#![expect(clippy::disallowed_methods, reason = "this command is there to start a process")]

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::lock::keeper::Keeper;
use crate::lock::session::Session;
use crate::lock::take::take;
use crate::output::Report;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// How long a command has to end by itself once its lock is lost.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs a command under the lock.
pub(super) fn run(
    context: &Context,
    name: Option<&str>,
    lease_ms: Option<u64>,
    command: &[OsString],
) -> Result<Report> {
    super::lock::bounded(lease_ms)?;
    let repo = context.repo()?;
    let name = context.name(&repo, name)?;
    let file = repo.control("sessions").join(format!("run-{:032x}.json", context.sys.entropy.nonce()?));
    let path = |worktree: &Worktree| named(&file, worktree);
    // From here on a signal is the command's, even if it comes before the command: one that ended this program
    // would leave the command behind, running without the lock.
    let signals = listen()?;
    let (session, granted) = take(&repo, &name, &context.shell, &path, lease_ms)?;
    let worktree = Worktree::named(&repo, &name)?;
    let every = repo.config.policy.renew_interval(lease_ms.unwrap_or(repo.config.policy.lease_duration_ms));
    let ended = Lock::of(&repo, &worktree).and_then(|lock| {
        let child = start(&repo, &worktree, &session, command)?;
        attend(lock, &session, child, signals, every)
    });
    let released = repo.together(|| Lock::of(&repo, &worktree)?.release(&session));
    session.forget(&repo.sys);
    let status = ended?;
    released?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    let json = json!({ "worktree": name, "fencing_token": granted.lease.fence.get(), "exit": code });
    Ok(Report::new("", &json).exit(u8::try_from(code).unwrap_or(1)))
}

/// The file of a session begins with the id of its worktree, so that the doctor knows whose it is.
fn named(file: &std::path::Path, worktree: &Worktree) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    file.with_file_name(format!("{}.{name}", worktree.worktree_id))
}

fn start(repo: &Repo, worktree: &Worktree, session: &Session, command: &[OsString]) -> Result<Child> {
    let Some((program, arguments)) = command.split_first() else { return Err(Error::usage("no command")) };
    let mut prepared = Command::new(program);
    prepared.args(arguments).env("JVS_SESSION_FILE", &session.path);
    prepared.env("JVS_WORKTREE", worktree.name.as_str()).env("JVS_ROOT", &repo.root);
    if !std::io::stdin().is_terminal() {
        // Whatever the command starts is stopped with it. With a terminal that would cost it its input.
        prepared.process_group(0);
    }
    let failed = |error| holdfast_sys::Error::new("start", std::path::Path::new(program), error).into();
    prepared.spawn().map_err(failed)
}

/// Renews until the command ends, and stops the command if that fails. Nothing here may fail before it has ended.
fn attend(
    lock: Lock,
    session: &Session,
    mut child: Child,
    signals: Signals,
    every: u64,
) -> Result<ExitStatus> {
    let failed =
        |error| Error::from(holdfast_sys::Error::new("wait for", std::path::Path::new("the command"), error));
    let pid = Pid::from_child(&child);
    let listening = pass_on(signals, pid);
    let (ended, end) = channel::<()>();
    let keeper = Keeper::start(lock, session.clone(), every, move |_| stop(pid, &end));
    // It is not waited for before nobody is left who might signal it: until then its number is its own.
    let over = retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
    drop(ended);
    let kept = keeper.stop();
    listening.close();
    let status = over.map_err(Into::into).and_then(|_| child.wait()).map_err(failed);
    kept?;
    status
}

/// Asks the command to end, and makes it end if it does not.
fn stop(pid: Pid, end: &Receiver<()>) {
    signal(pid, Signal::TERM);
    if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = end.recv_timeout(LAST_WORDS) {
        signal(pid, Signal::KILL);
    }
}

/// Signals the command and what it started, if it has a group of its own.
fn signal(pid: Pid, signal: Signal) {
    let _ = kill_process_group(pid, signal).or_else(|_| kill_process(pid, signal));
}

/// Listens for signals that ask to end.
fn listen() -> Result<Signals> {
    let failed = |error| holdfast_sys::Error::new("listen for", std::path::Path::new("signals"), error);
    Ok(Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?)
}

/// Hands them on to the command: the lock is released when it has ended.
fn pass_on(mut signals: Signals, pid: Pid) -> Listening {
    let handle = signals.handle();
    let thread = std::thread::spawn(move || {
        for number in signals.forever() {
            if let Some(number) = Signal::from_named_raw(number) {
                signal(pid, number);
            }
        }
    });
    Listening { handle, thread }
}

/// Who hands signals on.
struct Listening {
    handle: Handle,
    thread: JoinHandle<()>,
}

impl Listening {
    /// Stops it, and waits until it has stopped.
    fn close(self) {
        self.handle.close();
        // It only panics if the program is broken, and then that was said.
        let _ = self.thread.join();
    }
}
