//! Watching a process. Linux has a handle on one, which no later process with the same number can be taken for; where
//! there is none, number and start time have to do.

use std::io;
use std::path::Path;

use rustix::process::Pid;

use super::process::OsProcesses;
use crate::{Error, Liveness, ProcessId, Processes, Result, Watched};

/// A process that is known by its number and its start time.
struct ByName<'a> {
    processes: &'a OsProcesses,
    process: ProcessId,
}

impl Watched for ByName<'_> {
    fn is_gone(&self) -> bool {
        self.processes.liveness(&self.process) == Liveness::Dead
    }
}

/// Watches the process with this number, from now on.
pub(super) fn watch(processes: &OsProcesses, pid: u32) -> Result<Box<dyn Watched + '_>> {
    let by_name = || -> Result<Box<dyn Watched + '_>> {
        Ok(Box::new(ByName { processes, process: processes.find(pid)? }))
    };
    let failed = |error: io::Error| Error::new("watch", Path::new(&format!("the process {pid}")), error);
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    match handle::open(number) {
        Some(Ok(handle)) => Ok(Box::new(handle)),
        Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(failed(error)),
        // An old kernel, or one that is told to refuse it.
        Some(Err(_)) | None => by_name(),
    }
}

#[cfg(target_os = "linux")]
mod handle {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, retry_on_intr};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use crate::Watched;

    /// A handle on a process. It can be read once the process has ended, whether or not somebody waited for it.
    pub(super) struct Handle(OwnedFd);

    impl Watched for Handle {
        fn is_gone(&self) -> bool {
            let mut seen = [PollFd::new(&self.0, PollFlags::IN)];
            let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
            // Nobody who cannot be asked is given up.
            retry_on_intr(|| poll(&mut seen, Some(&at_once))).is_ok_and(|ready| ready > 0)
        }
    }

    pub(super) fn open(pid: Pid) -> Option<io::Result<impl Watched>> {
        Some(pidfd_open(pid, PidfdFlags::empty()).map(Handle).map_err(|error| match error {
            Errno::SRCH => io::ErrorKind::NotFound.into(),
            other => other.into(),
        }))
    }
}

#[cfg(not(target_os = "linux"))]
mod handle {
    use std::io;

    use rustix::process::Pid;

    pub(super) fn open(_: Pid) -> Option<io::Result<super::ByName<'static>>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_gone_once_it_has_ended_also_before_anybody_waits_for_it() {
        use std::io::Read as _;
        use std::process::{Command, Stdio};
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let watched = OsProcesses.watch(child.id()).unwrap();
        let named = ByName { processes: &OsProcesses, process: OsProcesses.find(child.id()).unwrap() };
        assert!(!watched.is_gone() && !named.is_gone());
        drop(child.stdin.take());
        // Its output ends with it, and shortly afterwards it is a zombie.
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        while !watched.is_gone() || !named.is_gone() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(watched.is_gone() && named.is_gone());
        let again = OsProcesses.watch(child.id()).map(|_| ());
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_process_that_was_left_alone_is_an_orphan() {
        assert!(!OsProcesses.is_orphan().unwrap(), "whoever runs the tests waits for them");
    }
}
