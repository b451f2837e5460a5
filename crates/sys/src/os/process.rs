//! The machine's processes, told apart by number, start time, boot and namespace.

use std::io;
use std::path::PathBuf;

use rustix::process::{Pid, geteuid, getpid, getppid, test_kill_process};

use super::clock::{kernel_boot_id, time_namespace_shift};
use super::table;
use super::watch;
use crate::process::FIRST;
use crate::{Ancestor, Error, Identity, Liveness, Locker, ProcessId, Processes, Result, Watched};

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
            boot: kernel_boot_id(),
            namespace: namespace(),
            pid,
            start: start_time(pid)?.ok_or_else(|| gone_error(pid))?,
        })
    }

    fn parent(&self) -> Result<u32> {
        Ok(getppid().map_or(0, number))
    }

    fn is_orphan(&self) -> Result<bool> {
        let Some(parent) = getppid().map(number).filter(|parent| *parent > FIRST) else { return Ok(true) };
        let me = number(getpid());
        // A session is inherited, and only its first process has made it. A parent in another session has taken in
        // a child that was left alone. One that is hidden tells nothing.
        let sessions = table::session(me).zip(table::session(parent));
        Ok(sessions.is_some_and(|(mine, theirs)| mine != me && mine != theirs))
    }

    fn watch(&self, pid: u32) -> Result<Box<dyn Watched + '_>> {
        watch::watch(self, pid)
    }

    fn ancestors(&self) -> Result<Vec<Ancestor>> {
        let nearest = self.find(self.parent()?)?;
        let mut found = table::ancestors(nearest.pid, &nearest);
        if found.is_empty() {
            found.push(Ancestor { process: nearest, name: String::new(), is_copy: false });
        }
        Ok(found)
    }

    fn lockers(&self, file: Identity) -> Vec<Locker> {
        table::lockers(file)
    }

    fn liveness(&self, process: &ProcessId) -> Liveness {
        let Ok(me) = self.me() else { return Liveness::Unknown };
        // A `/proc` without the boot id is no sign of another boot.
        if me.host != process.host || me.boot.is_none() || process.boot.is_none() {
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

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}

pub(super) fn number(pid: Pid) -> u32 {
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

/// The pid namespace's number, 0 where there is none to read. Start times are told by the boot-time clock of
/// whoever asks, so they are comparable only within one time namespace: its shift becomes part of the number.
fn namespace() -> u64 {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = link.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0) ^ time_namespace_shift()
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

/// The start time from the text of `/proc/<pid>/stat`; none inside for a process that has ended. The
/// command's name may hold anything, spaces and parentheses too, so the fields are counted from the last one.
fn parse_stat(text: &[u8]) -> Option<Option<u64>> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let threads: u64 = fields.nth(16)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    // A first thread that has ended is a zombie for as long as the others go on.
    let ended = matches!(state, "X" | "x") || (state == "Z" && threads <= 1);
    Some((!ended).then_some(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stat line with this name, state and number of threads; the start time is 4711.
    fn line(name: &str, state: &str, threads: u32) -> Vec<u8> {
        let before = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        format!("42 ({name}) {state} {before} {threads} 0 4711 99 98 97\n").into_bytes()
    }

    #[test]
    fn the_start_time_is_read_behind_any_name() {
        for name in ["sh", "a b", ")", ") Z 1 2 3 (", "((", "", "x) S 1", "\n"] {
            assert_eq!(parse_stat(&line(name, "S", 1)), Some(Some(4711)), "{name:?}");
        }
        let mut hostile = b"42 (\xff\xfe) ".to_vec();
        hostile.extend(line("", "S", 1).split_off(6));
        assert_eq!(parse_stat(&hostile), Some(Some(4711)));
    }

    #[test]
    fn a_zombie_has_ended_unless_other_threads_go_on() {
        assert_eq!(parse_stat(&line("sh", "Z", 1)), Some(None));
        assert_eq!(parse_stat(&line("sh", "Z", 2)), Some(Some(4711)));
        assert_eq!(parse_stat(&line("sh", "X", 1)), Some(None));
        assert_eq!(parse_stat(&line("sh", "x", 1)), Some(None));
    }

    #[test]
    fn a_text_that_is_no_stat_line_is_refused() {
        for text in [&b""[..], b"42", b"42 (sh", b"42 (sh)", b"42 (sh) S", b"42 (sh) S 1 2 3", b"\xff) \xff"]
        {
            assert_eq!(parse_stat(text), None, "{text:?}");
        }
        assert_eq!(parse_stat(b"1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 many 0 4711"), None);
        assert_eq!(parse_stat(b"1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 0 -1"), None);
    }

    #[test]
    fn this_process_reads_as_the_kernel_shows_it() {
        let me = OsProcesses.me().unwrap();
        assert_eq!(me.pid, std::process::id());
        assert_eq!(OsProcesses.liveness(&me), Liveness::Alive);
    }

    #[test]
    fn what_cannot_be_told_from_here_is_unknown_and_never_dead() {
        let me = OsProcesses.me().unwrap();
        let elsewhere = ProcessId { host: format!("not-{}", me.host), ..me.clone() };
        let no_boot = ProcessId { boot: None, ..me.clone() };
        let other_namespace = ProcessId { namespace: me.namespace ^ 1, ..me.clone() };
        for process in [elsewhere, no_boot, other_namespace] {
            assert_eq!(OsProcesses.liveness(&process), Liveness::Unknown, "{process:?}");
        }
    }

    #[test]
    fn another_boot_ended_every_process_of_it() {
        let me = OsProcesses.me().unwrap();
        let boot = me.boot.map(|boot| holdfast_kernel::BootId::new(boot.get() ^ 1));
        let before = ProcessId { boot, namespace: me.namespace ^ 1, ..me };
        assert_eq!(OsProcesses.liveness(&before), Liveness::Dead);
    }
}
