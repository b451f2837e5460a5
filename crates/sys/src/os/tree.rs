//! A command with all that it starts, wherever that goes. Whoever starts one adopts the orphans below it, so a process
//! that leaves its group, its session and its parent is still found here, and there is proof that none is left: the
//! system says that this process has no child any more. It must have no others.
//!
//! Where a control group can be had, the command is started in it, and killed by it: nobody escapes by starting another
//! faster than the table of processes is read.
//!
//! What a service outside of this tree starts on behalf of the command (a container, a job of another user) is not
//! found.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus};

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use super::cgroup::ControlGroup;
use super::child::{Group, adopt_orphans};
use super::table;
use crate::{Error, Result};

/// A command with all that it starts.
#[derive(Debug)]
pub struct Tree {
    leader: Pid,
    group: Group,
    control: Option<ControlGroup>,
    status: Option<ExitStatus>,
    is_gone: bool,
}

impl Tree {
    /// Starts a program, in a control group if there is one. From here on this process adopts what its children leave
    /// behind.
    ///
    /// # Errors
    /// When there is none, or it cannot be executed.
    pub fn start(command: &mut Command, group: Group, control: Option<&ControlGroup>) -> io::Result<Self> {
        adopt_orphans().map_err(|error| error.source)?;
        if group == Group::Own {
            command.process_group(0);
        }
        // Nothing can be started in a group but by somebody who is in it.
        let entered = control.filter(|control| control.enter().is_ok());
        let child = command.spawn();
        // Whoever cannot leave must not kill everybody in it.
        let control = entered.filter(|control| control.leave().is_ok()).cloned();
        Ok(Self { leader: Pid::from_child(&child?), group, control, status: None, is_gone: false })
    }

    /// The number of the command itself.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// How the command itself ended, as far as [`Tree::is_gone`] has seen.
    #[must_use]
    pub const fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Whether nobody is left. Takes note of those that have ended.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn is_gone(&mut self) -> Result<bool> {
        while !self.is_gone {
            match retry_on_intr(|| wait(WaitOptions::NOHANG)) {
                Ok(Some((pid, status))) if pid == self.leader => {
                    self.status = Some(ExitStatus::from_raw(status.as_raw()));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(false),
                Err(Errno::CHILD) => self.is_gone = true,
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(true)
    }

    /// Sends a signal to the command and all that it started.
    pub fn signal(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number).filter(|_| !self.is_gone) else { return };
        if signal == Signal::KILL {
            self.control.iter().for_each(ControlGroup::kill);
        }
        // Until somebody waits for the leader, its number stays the group's.
        if self.group == Group::Own && self.status.is_none() {
            let _ = kill_process_group(self.leader, signal);
        }
        for (parent, child) in below(std::process::id()) {
            send(child, signal, |child| table::status(child).is_some_and(|seen| seen.parent == parent));
        }
    }

    /// Sends a signal to the command itself, and to its group if that is its own.
    pub fn tell(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number).filter(|_| self.status.is_none()) else { return };
        let _ = match self.group {
            Group::Own => kill_process_group(self.leader, signal),
            Group::Caller => rustix::process::kill_process(self.leader, signal),
        };
    }
}

/// Has a process and all below it stand still (`SIGSTOP`), or go on.
pub fn pause_all(top: u32, still: bool) {
    let signal = if still { Signal::STOP } else { Signal::CONT };
    send(top, signal, |_| true);
    for (parent, child) in below(top) {
        send(child, signal, |child| table::status(child).is_some_and(|seen| seen.parent == parent));
    }
}

/// Kills a process, and nothing that it started.
pub fn kill(pid: u32) {
    send(pid, Signal::KILL, |_| true);
}

/// All processes below this one, each with its parent.
fn below(top: u32) -> Vec<(u32, u32)> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in numbers() {
        if let Some(status) = table::status(pid) {
            children.entry(status.parent).or_default().push(pid);
        }
    }
    let (mut found, mut seen, mut next) = (Vec::new(), BTreeSet::from([top]), vec![top]);
    while let Some(parent) = next.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            // A table that changes meanwhile must not lead in circles.
            if seen.insert(*child) {
                found.push((parent, *child));
                next.push(*child);
            }
        }
    }
    found
}

/// Ends every process of this user that has this variable in its environment, but for this one, and says how many were
/// found. Those that were just started may have been missed: whoever wants none asks until there is none.
#[must_use]
pub fn kill_marked(name: &str, value: &str) -> usize {
    let mut found = 0;
    for pid in marked(name, value) {
        found += 1;
        send(pid, Signal::KILL, |pid| is_marked(pid, name, value));
    }
    found
}

/// The processes that have this variable in their environment, but for this one. Those of others are not seen.
#[must_use]
pub fn marked(name: &str, value: &str) -> Vec<u32> {
    numbers().into_iter().filter(|pid| *pid != std::process::id() && is_marked(*pid, name, value)).collect()
}

fn is_marked(pid: u32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    let found =
        |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(found)
}

fn numbers() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Sends a signal to a process if it is still the one that was meant: its number may be a stranger's by now.
#[cfg(target_os = "linux")]
fn send(pid: u32, signal: Signal, is_meant: impl Fn(u32) -> bool) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    match pidfd_open(number, PidfdFlags::empty()) {
        Ok(handle) if is_meant(pid) => {
            let _ = pidfd_send_signal(handle, signal);
        }
        // An old kernel, or one that is told to refuse it.
        Err(Errno::NOSYS | Errno::PERM) if is_meant(pid) => {
            let _ = rustix::process::kill_process(number, signal);
        }
        Ok(_) | Err(_) => {}
    }
}

#[cfg(not(target_os = "linux"))]
fn send(pid: u32, signal: Signal, is_meant: impl Fn(u32) -> bool) {
    if let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| is_meant(pid)) {
        let _ = rustix::process::kill_process(number, signal);
    }
}

/// Has this process begin a session of its own, so that no terminal sends it anything. One that leads a group already
/// cannot.
///
/// # Errors
/// When it cannot.
pub fn leave_session() -> Result<()> {
    rustix::process::setsid()
        .map(|_| ())
        .map_err(|error| Error::new("begin", Path::new("a session of its own"), io::Error::from(error)))
}

fn failed(error: impl Into<io::Error>) -> Error {
    Error::new("wait for", Path::new("a command"), error.into())
}
