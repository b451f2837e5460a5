//! What somebody at a terminal sees: how far a long copy is, and colour; and what a pipe gets instead.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::bench::{Bench, until};
use crate::stopped::{fill, signal};

/// A terminal that nobody sits at: what a program writes to, and what reached it in the end.
fn terminal() -> (File, JoinHandle<String>) {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let name = std::ffi::OsStr::from_bytes(name.as_bytes());
    let line = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let reader = std::thread::spawn(move || {
        let (mut screen, mut seen) = (File::from(screen), Vec::new());
        let mut piece = [0; 4096];
        // Once nobody has the other end any more, reading fails.
        while let Ok(got) = screen.read(&mut piece) {
            seen.extend_from_slice(&piece[..got]);
        }
        String::from_utf8(seen).unwrap()
    });
    (line, reader)
}

#[test]
fn a_long_copy_shows_how_far_it_is_and_clears_the_line() {
    let bench = Bench::new();
    fill(&bench);
    bench.jvs(&["lock", "acquire"]).ok();
    let (line, seen) = terminal();
    let mut command = bench.command(&["snapshot"], &bench.main());
    let mut child = command.process_group(0).stdout(Stdio::null()).stderr(line).spawn().unwrap();
    drop(command);
    let staging = bench.control("staging");
    until("it is at work", || std::fs::read_dir(&staging).unwrap().next().is_some());
    // However fast the disk is: the clock goes on while it stands still.
    signal(&child, "STOP");
    let start = Instant::now();
    until("it has been at work for a while", || start.elapsed() > Duration::from_millis(400));
    signal(&child, "CONT");
    assert!(child.wait().unwrap().success());
    let seen = seen.join().unwrap();
    assert!(seen.contains(" of 1200 files, ") && seen.contains(" of 45 MiB"), "{seen:?}");
    assert!(seen.ends_with("\r\x1b[K"), "{seen:?}");
}

#[test]
fn errors_are_coloured_for_a_terminal_and_for_nothing_else() {
    let bench = Bench::new();
    let refused = |no_color: &str, term: &str| {
        let (line, seen) = terminal();
        let mut command = bench.command(&["lock", "release"], &bench.main());
        let mut child = command
            .env("NO_COLOR", no_color)
            .env("TERM", term)
            .stdout(Stdio::null())
            .stderr(line)
            .spawn()
            .unwrap();
        drop(command);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        seen.join().unwrap()
    };
    assert!(refused("", "xterm").starts_with("\x1b[1;31merror:\x1b[0m "));
    assert!(refused("1", "xterm").starts_with("error: "));
    assert!(refused("", "dumb").starts_with("error: "));
    assert!(bench.jvs(&["lock", "release"]).stderr.starts_with("error: "));
}
