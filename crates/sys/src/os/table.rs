//! The table of processes: which stand above this one, and which has a lock on a file. Only `/proc` tells; where
//! there is none, nobody is named.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{major, minor};
use rustix::param::clock_ticks_per_second;

use super::clock::boot_ms;
use crate::{Ancestor, Identity, Locker, ProcessId};

/// More generations than any tree of processes has; a table that changes meanwhile must not lead in circles.
const MOST_GENERATIONS: usize = 256;

/// How much of a command line is shown.
const LONGEST_COMMAND: usize = 120;

/// What `/proc/<pid>/stat` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Status {
    name: String,
    state: char,
    pub(super) parent: u32,
    /// The group and the session; 0 for one that was made outside of what this process sees, as in a container.
    group: u32,
    session: u32,
    start: u64,
    /// Where the program and its first stack frame were put. A program that is started gets places of its own;
    /// a process that was only copied has those of the one that it is a copy of.
    places: [u64; 3],
}

/// The processes above the one with the number `parent`, that one first. `like` is a process of this machine.
pub(super) fn ancestors(parent: u32, like: &ProcessId) -> Vec<Ancestor> {
    let mut found: Vec<Ancestor> = Vec::new();
    let mut next = parent;
    while next != 0 && found.len() < MOST_GENERATIONS {
        let Some(status) = status(next) else { break };
        let is_copy = status_of_copied(&status).is_some_and(|above| above.places == status.places)
            && command_line(next) == command_line(status.parent);
        let process = ProcessId { pid: next, start: status.start, ..like.clone() };
        next = status.parent;
        found.push(Ancestor { process, name: status.name, is_copy });
    }
    found
}

/// The process above, if it can be compared with this one at all: the places are hidden from strangers.
fn status_of_copied(of: &Status) -> Option<Status> {
    let [.., stack] = of.places;
    (stack != 0 && of.parent != 0).then(|| status(of.parent)).flatten()
}

/// The group of a process.
pub(super) fn group(pid: u32) -> Option<u32> {
    Some(status(pid)?.group)
}

/// The session of a process.
pub(super) fn session(pid: u32) -> Option<u32> {
    Some(status(pid)?.session)
}

/// Who has a lock of the kind that guards are made of on this file.
pub(super) fn lockers(file: Identity) -> Vec<Locker> {
    let Ok(table) = std::fs::read_to_string("/proc/locks") else { return Vec::new() };
    holders(&table, file).into_iter().map(locker).collect()
}

/// Whether somebody has the file at `path` open, as far as this user can tell: a git whose files are hidden from it could be
/// the one. Where nothing can be told, it is.
#[must_use]
pub fn is_open(path: &Path, file: Identity) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else { return true };
    let mut pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.any(|pid| match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(mut opened) => opened.any(|entry| entry.is_ok_and(|entry| is_file(&entry.path(), path, file))),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            status(pid).is_some_and(|status| status.name.starts_with("git"))
        }
        Err(_) => false,
    })
}

/// Whether a descriptor is of that file. By its name first: what has another one may be something that does not answer.
fn is_file(descriptor: &Path, path: &Path, file: Identity) -> bool {
    let is_named = std::fs::read_link(descriptor).is_ok_and(|to| to.file_name() == path.file_name());
    let found = is_named.then(|| std::fs::metadata(descriptor).ok()).flatten();
    found.is_some_and(|found| Identity { device: found.dev(), inode: found.ino() } == file)
}

/// The numbers of those who hold a lock on the file. Some file systems show another device here than in what is
/// known of a file, so the number of the file alone has to do if nothing better is there.
fn holders(table: &str, file: Identity) -> Vec<u32> {
    let rows: Vec<(u32, bool)> = table.lines().filter_map(|line| row(line, file)).collect();
    let exact = rows.iter().any(|(_, same_device)| *same_device);
    let mut pids: Vec<u32> =
        rows.into_iter().filter(|(_, same_device)| *same_device == exact).map(|(pid, _)| pid).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// The holder that a line of `/proc/locks` names, if it is about this file, and whether the device is the same.
/// Whoever only waits has an arrow in its line.
fn row(line: &str, file: Identity) -> Option<(u32, bool)> {
    let mut fields = line.split_whitespace().skip(1);
    (fields.next()? == "FLOCK").then_some(())?;
    let pid = fields.nth(2)?.parse().ok().filter(|pid| *pid != 0)?;
    let mut place = fields.next()?.split(':');
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let device = (hex(place.next()?)?, hex(place.next()?)?);
    let inode: u64 = place.next()?.parse().ok()?;
    (inode == file.inode).then_some((pid, device == (major(file.device), minor(file.device))))
}

fn locker(pid: u32) -> Locker {
    let status = status(pid);
    let command = command_line(pid).map(|line| shown(&line)).filter(|line| !line.is_empty());
    let name = status.as_ref().map(|status| status.name.clone());
    Locker {
        pid,
        command: command.or(name).unwrap_or_default(),
        running_ms: status.as_ref().and_then(|status| running_ms(status.start)),
        is_stopped: status.is_some_and(|status| matches!(status.state, 'T' | 't')),
    }
}

fn running_ms(start: u64) -> Option<u64> {
    boot_ms()?.checked_sub(start.checked_mul(1_000)?.checked_div(clock_ticks_per_second())?)
}

fn command_line(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/cmdline")).ok()
}

/// A command line as people write it. The program is shown without its directories.
fn shown(line: &[u8]) -> String {
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    let program = Path::new(program.as_ref()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let words: Vec<String> = std::iter::once(program).chain(words.map(Into::into)).collect();
    words.join(" ").trim_end().chars().take(LONGEST_COMMAND).collect()
}

pub(super) fn status(pid: u32) -> Option<Status> {
    parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The name may hold anything, so the fields are counted from the last parenthesis.
fn parse(text: &[u8]) -> Option<Status> {
    let (begin, end) =
        (text.iter().position(|byte| *byte == b'(')?, text.iter().rposition(|byte| *byte == b')')?);
    let name = String::from_utf8_lossy(text.get(begin + 1..end)?).into_owned();
    let fields: Vec<&str> = std::str::from_utf8(text.get(end + 1..)?).ok()?.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let pid = |at: usize| u32::try_from(number(at)?).ok();
    Some(Status {
        name,
        state: fields.first()?.chars().next()?,
        parent: pid(1)?,
        group: pid(2).unwrap_or(0),
        session: pid(3).unwrap_or(0),
        start: number(19)?,
        places: [number(23)?, number(24)?, number(25)?],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_behind_any_name() {
        let rest = "T 41 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 1 0 4711 20 21 22 100 200 300 26 27\n";
        for name in ["sh", "a b", ") Z 1 (", ""] {
            let read = parse(format!("42 ({name}) {rest}").as_bytes()).unwrap();
            assert_eq!((read.name.as_str(), read.state, read.start), (name, 'T', 4711));
            assert_eq!((read.parent, read.group, read.session), (41, 3, 4));
            assert_eq!(read.places, [100, 200, 300]);
        }
        for wrong in [&b""[..], b"1", b"1 (a", b"1 (a) S", b"1 (a) S 1 2 3 4 5", b")("] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn holders_of_a_file_are_found_and_those_who_wait_are_not() {
        let table = "1: FLOCK  ADVISORY  WRITE 10 08:01:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 11 08:01:77 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 12 08:01:77 0 EOF\n3: FLOCK  ADVISORY  READ 13 08:02:77 0 EOF\n\
                     4: FLOCK  ADVISORY  READ 14 08:01:78 0 EOF\nrubbish\n";
        let file = |device, inode| Identity { device, inode };
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(holders(table, file(device, 77)), [10]);
        assert_eq!(holders(table, file(rustix::fs::makedev(9, 9), 77)), [10, 13], "another device is shown");
        assert_eq!(holders(table, file(device, 79)), [0; 0]);
    }

    #[test]
    fn this_process_is_found_as_the_holder_of_its_lock() {
        let dir = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(dir.path().join("guard")).unwrap();
        let stat = file.metadata().unwrap();
        let identity = Identity { device: stat.dev(), inode: stat.ino() };
        file.lock().unwrap();
        let found = lockers(identity);
        assert!(found.iter().any(|one| one.pid == std::process::id() && !one.is_stopped), "{found:?}");
        assert!(found.iter().all(|one| one.running_ms.is_some_and(|ms| ms < 3_600_000)), "{found:?}");
    }

    #[test]
    fn a_file_is_open_while_somebody_has_it_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tables.list.lock");
        let file = std::fs::File::create(&path).unwrap();
        let stat = file.metadata().unwrap();
        let identity = Identity { device: stat.dev(), inode: stat.ino() };
        assert!(is_open(&path, identity));
        // Another file of that name is not it.
        assert!(!is_open(&path, Identity { inode: identity.inode + 1, ..identity }));
        let mut reader = std::process::Command::new("sleep").arg("1000").stdin(file).spawn().unwrap();
        assert!(is_open(&path, identity));
        reader.kill().unwrap();
        reader.wait().unwrap();
        assert!(!is_open(&path, identity));
    }

    fn child_of(parent: u32) -> u32 {
        let pids = std::fs::read_dir("/proc").unwrap();
        let mut pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        pids.find(|pid| status(*pid).is_some_and(|status| status.parent == parent)).unwrap()
    }

    #[test]
    fn a_copy_of_a_shell_is_told_from_a_program_that_it_starts() {
        use std::io::{Read, Write};
        use std::process::{Command, Stdio};
        for (script, copied) in [("(cat; :); :", true), ("sh -c 'cat; :'; :", false)] {
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut shell = shell.spawn().unwrap();
            // Once cat has answered, all of them are there.
            shell.stdin.as_mut().unwrap().write_all(b"x").unwrap();
            shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let inner = child_of(shell.id());
            let like = ProcessId { host: String::new(), boot: None, namespace: 0, pid: 0, start: 0 };
            let seen = ancestors(inner, &like);
            assert_eq!((seen[0].process.pid, seen[0].is_copy), (inner, copied), "{script}: {seen:?}");
            assert_eq!((seen[1].process.pid, seen[1].is_copy), (shell.id(), false), "{script}: {seen:?}");
            drop(shell.stdin.take());
            assert!(shell.wait().unwrap().success());
        }
    }
}
