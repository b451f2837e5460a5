//! Children that a door has started. Not part of `Processes`: no medium starts any.
//!
//! A number is a process's own until somebody waits for it; afterwards it may be a stranger's. So whoever can still
//! be sent a signal has not been waited for, and [`Child::reap`] takes the child away.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid};

use super::process::number as pid_number;
use super::table;
use crate::{Error, Result};

/// Whose process group a child is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// That of this process: what a terminal sends reaches both.
    Caller,
    /// Its own, with all that it starts.
    Own,
}

/// A child that has not been waited for.
#[derive(Debug)]
pub struct Child {
    child: std::process::Child,
    pid: Pid,
    group: Group,
}

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// When there is none, or it cannot be executed.
    pub fn start(command: &mut Command, group: Group) -> io::Result<Self> {
        if group == Group::Own {
            command.process_group(0);
        }
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        Ok(Self { child, pid, group })
    }

    /// Whether it has ended. What it started may go on.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn has_ended(&self) -> Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = retry_on_intr(|| waitid(WaitId::Pid(self.pid), options));
        ended.map(|status| status.is_some()).map_err(failed)
    }

    /// Sends it a signal, and to all in its group if that is its own. One that has ended needs none.
    pub fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else { return };
        let _ = match self.group {
            Group::Own => kill_process_group(self.pid, signal),
            Group::Caller => kill_process(self.pid, signal),
        };
    }

    /// Waits for its end, and says how that was and who is left.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn reap(mut self) -> Result<(ExitStatus, Rest)> {
        let status = self.child.wait().map_err(failed)?;
        let group = (self.group == Group::Own).then_some(self.pid);
        Ok((status, Rest { group }))
    }
}

/// What a child has left running in its group. Only whoever adopts orphans can tell.
#[derive(Debug)]
pub struct Rest {
    /// None stands for the group of this process.
    group: Option<Pid>,
}

impl Rest {
    /// Whether nobody is left. Until it is so, the number of the group cannot become a stranger's: of those in it
    /// that have ended, only this waits for any.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn is_gone(&self) -> Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        loop {
            match retry_on_intr(|| waitid(WaitId::Pgid(self.group), options)) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(Errno::CHILD) => return Ok(true),
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Sends them a signal.
    pub fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else { return };
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
            return;
        }
        // In the group of this process are others too, itself among them: only those that were adopted are meant.
        let mine = table::group(pid_number(getpid()));
        for pid in children().into_iter().filter(|pid| table::group(pid_number(*pid)) == mine) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Kills everybody in the group that a child leads which was started in a group of its own and has not been waited for.
pub fn kill_group(leader: u32) {
    let pid = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // Whoever has ended needs no signal.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// From here on what a child leaves behind becomes a child of this process, so that it can be waited for. Only Linux
/// can do so.
///
/// # Errors
/// When the system does not allow it.
pub fn adopt_orphans() -> Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid())).map_err(failed)?;
    Ok(())
}

/// The children of this process; none where the system does not list them.
fn children() -> Vec<Pid> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let numbers = lists.flat_map(|list| list.split_whitespace().map(str::parse).collect::<Vec<_>>());
    numbers.filter_map(|number| Pid::from_raw(number.ok()?)).collect()
}

/// Asks a process to end (`SIGTERM`). One that has ended needs no asking.
pub fn ask_to_end(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Has a child stand still (`SIGSTOP`), or go on.
///
/// # Errors
/// When there is no such child.
pub fn pause(child: u32, still: bool) -> Result<()> {
    let signal = if still { Signal::STOP } else { Signal::CONT };
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH);
    let sent = pid.and_then(|child| kill_process(child, signal));
    sent.map_err(|error| Error::new("send a signal to", Path::new(&format!("process {child}")), error))
}

fn failed(error: impl Into<io::Error>) -> Error {
    Error::new("wait for", Path::new("a command"), error.into())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::Signal;

    use super::{Child, Group};

    #[test]
    fn a_group_is_killed_and_its_leader_can_still_be_waited_for() {
        let child = Child::start(Command::new("sleep").arg("1000"), Group::Own).unwrap();
        assert!(!child.has_ended().unwrap());
        child.signal(Signal::KILL.as_raw());
        while !child.has_ended().unwrap() {
            std::thread::yield_now();
        }
        let (status, rest) = child.reap().unwrap();
        assert_eq!(status.code(), None);
        assert!(rest.is_gone().unwrap());
    }
}
