//! What somebody at a terminal sees: how far a long copy is, and colour; and what a pipe gets instead.

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use holdfast_trial::{Screen, until};

use crate::bench::Bench;
use crate::stopped::{fill, signal};

/// What somebody sees while a snapshot is made, which takes a while.
fn seen_while_it_copies(bench: &Bench, term: &str) -> String {
    let screen = Screen::new(80);
    let mut command = bench.command(&["snapshot"], &bench.main());
    command.env("TERM", term);
    let mut child = command.process_group(0).stdout(Stdio::null()).stderr(screen.line()).spawn().unwrap();
    drop(command);
    let staging = bench.control("staging");
    until("it is at work", || std::fs::read_dir(&staging).unwrap().next().is_some());
    // However fast the disk is: the clock goes on while it stands still.
    signal(&child, "STOP");
    let start = Instant::now();
    until("it has been at work for a while", || start.elapsed() > Duration::from_millis(400));
    signal(&child, "CONT");
    assert!(child.wait().unwrap().success());
    screen.read()
}

#[test]
fn a_long_copy_shows_how_far_it_is_and_clears_the_line() {
    let bench = Bench::new();
    fill(&bench);
    bench.jvs(&["lock", "acquire"]).ok();
    let seen = seen_while_it_copies(&bench, "xterm");
    assert!(seen.contains(" of 1200 files, ") && seen.contains(" of 45 MiB"), "{seen:?}");
    assert!(seen.ends_with("\r\x1b[K"), "{seen:?}");
    assert_eq!(
        seen_while_it_copies(&bench, "dumb"),
        "",
        "a line that cannot be written again is not written"
    );
}

#[test]
fn errors_are_coloured_for_a_terminal_and_for_nothing_else() {
    let bench = Bench::new();
    let refused = |no_color: &str, term: &str| {
        let screen = Screen::new(80);
        let mut command = bench.command(&["lock", "release"], &bench.main());
        let mut child = command
            .env("NO_COLOR", no_color)
            .env("TERM", term)
            .stdout(Stdio::null())
            .stderr(screen.line())
            .spawn()
            .unwrap();
        drop(command);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        screen.read()
    };
    assert!(refused("", "xterm").starts_with("\x1b[1;31merror:\x1b[0m "));
    assert!(refused("1", "xterm").starts_with("error: "));
    assert!(refused("", "dumb").starts_with("error: "));
    assert!(bench.jvs(&["lock", "release"]).stderr.starts_with("error: "));
}
