//! Children that a door has started in a process group of their own. Not part of `Processes`: no medium
//! starts any.

use std::io;
use std::path::Path;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::{Error, Result};

/// Whether a child has ended. It is not reaped, so its number stays its own until somebody waits for it.
///
/// # Errors
/// When there is no such child.
pub fn has_ended(child: u32) -> Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(number(child)?), options));
    ended.map(|status| status.is_some()).map_err(|error| failed("wait for", child, error.into()))
}

/// Has a child stand still (`SIGSTOP`), or go on.
///
/// # Errors
/// When there is no such child.
pub fn pause(child: u32, still: bool) -> Result<()> {
    let signal = if still { Signal::STOP } else { Signal::CONT };
    let sent = number(child).and_then(|child| kill_process(child, signal));
    sent.map_err(|error| failed("send a signal to", child, error.into()))
}

/// Kills the group that a child leads. Only before the child is reaped: afterwards its number may be
/// somebody else's.
///
/// # Errors
/// When the system refuses; a group that is gone is none.
pub fn kill_group(leader: u32) -> Result<()> {
    let killed = number(leader).and_then(|leader| kill_process_group(leader, Signal::KILL));
    match killed {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        killed => killed.map_err(|error| failed("kill the group of", leader, error.into())),
    }
}

fn number(pid: u32) -> rustix::io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(rustix::io::Errno::SRCH)
}

fn failed(action: &'static str, pid: u32, error: io::Error) -> Error {
    Error::new(action, Path::new(&format!("process {pid}")), error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::{has_ended, kill_group};

    #[test]
    fn a_group_is_killed_and_its_leader_can_still_be_waited_for() {
        let mut child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
        assert!(!has_ended(child.id()).unwrap());
        kill_group(child.id()).unwrap();
        while !has_ended(child.id()).unwrap() {
            std::thread::yield_now();
        }
        assert_eq!(child.wait().unwrap().code(), None);
        assert!(has_ended(child.id()).is_err() && kill_group(0).is_ok());
    }
}
