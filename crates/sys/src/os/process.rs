//! The machine's processes, told apart by number, start time, boot and namespace.

use std::io;
use std::path::PathBuf;

use rustix::process::{Pid, geteuid, getpid, getppid, test_kill_process};

use super::clock::boot_id;
use crate::{Error, Liveness, ProcessId, Processes, Result};

/// The machine's processes.
pub struct OsProcesses;

/// The number of the user in whose name this process acts.
#[must_use]
pub fn effective_user() -> u32 {
    geteuid().as_raw()
}

impl Processes for OsProcesses {
    fn me(&self) -> Result<ProcessId> {
        self.find(number(getpid()))
    }

    fn find(&self, pid: u32) -> Result<ProcessId> {
        Ok(ProcessId {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot: boot_id(),
            namespace: namespace(),
            pid,
            start: start_time(pid)?.ok_or_else(|| gone_error(pid))?,
        })
    }

    fn parent(&self) -> Result<u32> {
        Ok(getppid().map_or(0, number))
    }

    fn liveness(&self, process: &ProcessId) -> Liveness {
        let Ok(me) = self.me() else { return Liveness::Unknown };
        if me.host != process.host || process.boot.is_none() {
            return Liveness::Unknown;
        }
        if me.boot != process.boot {
            return Liveness::Dead;
        }
        if me.namespace != process.namespace {
            return Liveness::Unknown;
        }
        match start_time(process.pid) {
            Ok(Some(start)) if start == process.start => Liveness::Alive,
            Ok(_) => Liveness::Dead,
            Err(error) if error.kind() == io::ErrorKind::NotFound => without_proc(process.pid),
            Err(_) => Liveness::Unknown,
        }
    }
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}

/// A missing entry in `/proc` may be hidden from this user, so the kernel is asked as well.
fn without_proc(pid: u32) -> Liveness {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Liveness::Dead };
    match test_kill_process(pid) {
        Err(rustix::io::Errno::SRCH) => Liveness::Dead,
        Ok(()) | Err(_) => Liveness::Unknown,
    }
}

/// The pid namespace's number; 0 where there is none to read.
fn namespace() -> u64 {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// When the process started, in clock ticks since boot; none for a zombie, which has ended and writes
/// nothing any more.
fn start_time(pid: u32) -> Result<Option<u64>> {
    let path = stat_path(pid);
    let text = std::fs::read(&path).map_err(|error| Error::new("read", &path, gone(error)))?;
    let garbled = || Error::new("read", &path, io::Error::from(io::ErrorKind::InvalidData));
    parse_stat(&text).ok_or_else(garbled)
}

fn stat_path(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/stat"))
}

fn gone_error(pid: u32) -> Error {
    Error::new("read", &stat_path(pid), io::Error::from(io::ErrorKind::NotFound))
}

/// A process that ends while it is being read is gone, not a failure.
fn gone(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::SRCH.raw_os_error() => io::ErrorKind::NotFound.into(),
        _ => error,
    }
}

/// The start time from the text of `/proc/<pid>/stat`. The command's name may hold anything, spaces and
/// parentheses too, so the fields are counted from the last one.
fn parse_stat(text: &[u8]) -> Option<Option<u64>> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return Some(None);
    }
    fields.nth(18)?.parse().ok().map(Some)
}
