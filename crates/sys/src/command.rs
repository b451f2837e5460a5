//! Running a command for somebody: one supervisor for whoever does so, so that what can go wrong with signals is dealt
//! with in one place.
//!
//! - **Listening comes before starting** ([`Supervisor::listen`]), or a signal in between would end this program alone
//!   and the command would go on, without the lock that it was started under. One that comes before the command does
//!   is answered by not starting it.
//! - **Nobody is sent a signal after having been waited for**: the number may be a stranger's by then.
//! - **What the terminal sends is heard once.** It goes to all in the foreground, so it is passed on only to a command
//!   in a group of its own, which has not heard it.
//! - **However it ends, the command has ended** when [`Supervisor::run`] returns.

mod tail;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_kernel::{Millis, Stamp};
use tail::Tail;

pub use crate::os::Group;
use crate::os::{self, Child, Signals, Waker, signal};
use crate::{Result as SysResult, Sys};

const PASSED_ON: [i32; 6] =
    [signal::SIGHUP, signal::SIGINT, signal::SIGQUIT, signal::SIGTERM, signal::SIGUSR1, signal::SIGUSR2];

/// The signals that ask a program to end.
const ENDING: [i32; 4] = [signal::SIGHUP, signal::SIGINT, signal::SIGQUIT, signal::SIGTERM];

/// How often what does not end is killed again: it may have started something in the last moment.
const AGAIN: Millis = Millis::new(50);

/// How often what is left is looked at: whoever leaves the group does so without a sign.
const PACE: Millis = Millis::new(100);

/// How a command is run.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whose group it is in.
    pub group: Group,
    /// What a signal to this program does.
    pub on_signal: OnSignal,
    /// What becomes of what the command has left running in its group.
    pub leftovers: Leftovers,
    /// How long it may take.
    pub limit: Option<Millis>,
    /// How long it has to end once it was asked to; then it is killed.
    pub grace: Millis,
    /// How much of the end of what it writes is kept, of both outputs together; none passes them through.
    pub kept: Option<usize>,
}

/// What a signal to this program does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnSignal {
    /// It is passed on to the command, who knows what to do.
    PassOn,
    /// It ends the command.
    End,
}

/// What becomes of what a command has left running in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leftovers {
    /// It is waited for as if it were the command. Whoever leaves the group is on their own. In the caller's group
    /// every child of this process counts, so it must have no other.
    Wait,
    /// It is killed. Only where the group is the command's own.
    Kill,
}

/// Why a command was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It took too long.
    TimedOut,
    /// A signal asked this program to end.
    Signal(u8),
    /// Somebody asked for it: see [`Stopper`].
    Asked,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// What the system says.
    pub status: ExitStatus,
    /// Why it was stopped, if it was.
    pub stopped: Option<Stopped>,
    /// The end of what it wrote, if that was kept.
    pub output: String,
}

impl Ended {
    /// What a shell says of a command that ended like this: its code, or 128 and the number of the signal.
    #[must_use]
    pub fn code(&self) -> u8 {
        let by_signal = || self.status.signal().map(|signal| 128 + signal);
        self.status.code().or_else(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}

/// Why a command was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It could not be started.
    #[error("cannot run {program}: {why}")]
    NotStarted {
        /// The command.
        program: String,
        /// Why not.
        why: io::Error,
    },
    /// A signal came before it was started.
    #[error("interrupted")]
    Interrupted(u8),
    /// The system failed. The command has been killed.
    #[error(transparent)]
    Sys(#[from] crate::Error),
}

impl Failure {
    /// What a shell says: 127 for a command that is not there, 126 for one that cannot be executed, 128 and the number
    /// of the signal. None for what no shell says.
    #[must_use]
    pub fn code(&self) -> Option<u8> {
        match self {
            Self::NotStarted { why, .. } if why.kind() == io::ErrorKind::NotFound => Some(127),
            Self::NotStarted { .. } => Some(126),
            Self::Interrupted(number) => Some(number.saturating_add(128)),
            Self::Sys(_) => None,
        }
    }
}

/// The command in these words; none if there are none.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "commands that somebody wants to be run start here")]
pub fn command(words: &[OsString]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// Runs commands.
pub struct Supervisor {
    signals: Signals,
    asked: Arc<AtomicBool>,
}

/// Stops the command that a supervisor runs, from another thread.
pub struct Stopper {
    asked: Arc<AtomicBool>,
    waker: Waker,
}

impl Stopper {
    /// Asks it to end, and has it killed if it does not.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.waker.wake();
    }
}

/// How far a run is.
struct Watch<'a> {
    sys: &'a Sys,
    how: How,
    started: Stamp,
    stopped: Option<(Stopped, Stamp)>,
}

impl Supervisor {
    /// Listens for signals from here on: none ends this program any more.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn listen() -> SysResult<Self> {
        let numbers: Vec<i32> = PASSED_ON.into_iter().chain([signal::SIGCHLD]).collect();
        Ok(Self { signals: Signals::listen(&numbers)?, asked: Arc::default() })
    }

    /// What stops the command.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn stopper(&self) -> SysResult<Stopper> {
        Ok(Stopper { asked: Arc::clone(&self.asked), waker: self.signals.waker()? })
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// When it could not be started, or the system failed. It does not run any more then.
    pub fn run(&mut self, sys: &Sys, mut command: Command, how: How) -> Result<Ended, Failure> {
        let early = self.signals.wait(Some(Millis::ZERO))?;
        if let Some(caught) = early.iter().find(|caught| ENDING.contains(&caught.number)) {
            return Err(Failure::Interrupted(small(caught.number)));
        }
        let not_started = |command: &Command, why| {
            let program = command.get_program().to_string_lossy().into_owned();
            Failure::NotStarted { program, why }
        };
        let tail = how.kept.map(|most| Tail::of(&mut command, most)).transpose();
        let tail = tail.map_err(|why| not_started(&command, why))?;
        if how.leftovers == Leftovers::Wait {
            os::adopt_orphans()?;
        }
        let started = sys.clock.now()?;
        let child = Child::start(&mut command, how.group).map_err(|why| not_started(&command, why))?;
        // It holds this side's ends of a pipe, which would then never close.
        drop(command);
        let mut watch = Watch { sys, how, started, stopped: None };
        let ended = self.attend(&mut watch, None, || child.has_ended(), |number| child.signal(number));
        if ended.is_err() || watch.stopped.is_some() || how.leftovers == Leftovers::Kill {
            child.signal(signal::SIGKILL);
        }
        let (status, rest) = child.reap()?;
        ended?;
        if how.leftovers == Leftovers::Wait {
            self.attend(&mut watch, Some(PACE), || rest.is_gone(), |number| rest.signal(number))?;
        }
        let stopped = watch.stopped.map(|(why, _)| why);
        Ok(Ended { status, stopped, output: tail.map_or_else(String::new, Tail::text) })
    }

    /// Waits until somebody is gone, passes signals on meanwhile, and stops them if there is a reason.
    fn attend(
        &mut self,
        watch: &mut Watch<'_>,
        pace: Option<Millis>,
        is_gone: impl Fn() -> SysResult<bool>,
        signal: impl Fn(i32),
    ) -> SysResult<()> {
        while !is_gone()? {
            if watch.stopped.is_none()
                && let Some(why) = watch.reason(self.asked.load(Ordering::SeqCst))?
            {
                watch.stop(why, &signal)?;
            }
            let most = watch.patience(&signal)?.into_iter().chain(pace).min();
            for caught in self.signals.wait(most)? {
                let heard = watch.how.group == Group::Caller && caught.from_terminal;
                match watch.how.on_signal {
                    OnSignal::PassOn if PASSED_ON.contains(&caught.number) && !heard => signal(caught.number),
                    OnSignal::End if ENDING.contains(&caught.number) && watch.stopped.is_none() => {
                        watch.stop(Stopped::Signal(small(caught.number)), &signal)?;
                    }
                    OnSignal::PassOn | OnSignal::End => {}
                }
            }
        }
        Ok(())
    }
}

impl Watch<'_> {
    /// Why to stop it, if there is a reason.
    fn reason(&self, asked: bool) -> SysResult<Option<Stopped>> {
        if asked {
            return Ok(Some(Stopped::Asked));
        }
        let is_over = match self.how.limit {
            Some(limit) => self.since(&self.started)? >= limit,
            None => false,
        };
        Ok(is_over.then_some(Stopped::TimedOut))
    }

    fn stop(&mut self, why: Stopped, signal: &impl Fn(i32)) -> SysResult<()> {
        self.stopped = Some((why, self.sys.clock.now()?));
        signal(signal::SIGTERM);
        Ok(())
    }

    /// How long to wait for the next thing to happen. Whoever was asked to end and has not is killed.
    fn patience(&self, signal: &impl Fn(i32)) -> SysResult<Option<Millis>> {
        let left =
            |of: Millis, since: &Stamp| Ok(Millis::new(of.get().saturating_sub(self.since(since)?.get())));
        match (&self.stopped, self.how.limit) {
            (Some((_, since)), _) => match left(self.how.grace, since)? {
                Millis::ZERO => {
                    signal(signal::SIGKILL);
                    Ok(Some(AGAIN))
                }
                left => Ok(Some(left)),
            },
            (None, Some(limit)) => left(limit, &self.started).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn since(&self, earlier: &Stamp) -> SysResult<Millis> {
        Ok(self.sys.clock.now()?.since(earlier).forward())
    }
}

fn small(number: i32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests;
