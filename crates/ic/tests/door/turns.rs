//! Whoever waits is served in order of arrival, waits for guards no longer than allowed, and is not kept waiting by
//! somebody who stands still.

use std::fs::{self, File};
use std::process::Child;

use holdfast_trial::{has, until};

use crate::site::{IC, Site, end, signal};

/// Somebody who waits for `a/x` and then says so.
fn waiter(site: &Site, name: &str) -> Child {
    let before = site.waiting();
    let script = format!("echo {name} >> served");
    let child = site.start(&["lock", "run", "a", "x", "--timeout", "1h", "--", "sh", "-c", &script]);
    until("the wait", || site.waiting() == before + 1);
    child
}

#[test]
fn whoever_waits_is_served_in_order_of_arrival() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let waiters: Vec<Child> = ["1", "2", "3", "4", "5", "6"].map(|name| waiter(&site, name)).into();
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    waiters.into_iter().for_each(|child| assert_eq!(end(child).code, 0));
    assert_eq!(fs::read_to_string(site.path("served")).unwrap(), "1\n2\n3\n4\n5\n6\n");
}

#[test]
fn whoever_does_not_wait_does_not_come_before_those_who_do() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let stopped = waiter(&site, "stopped");
    signal(&stopped, "STOP");
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    site.lock(1, &["acquire", "a", "x", "--owner", "you", "--timeout", "0"]);
    signal(&stopped, "CONT");
    assert_eq!(end(stopped).code, 0);
}

#[test]
fn somebody_who_stands_still_lets_the_others_go_first() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let (stopped, next) = (waiter(&site, "stopped"), waiter(&site, "next"));
    signal(&stopped, "STOP");
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    assert_eq!(end(next).code, 0);
    signal(&stopped, "CONT");
    assert_eq!(end(stopped).code, 0);
    assert_eq!(fs::read_to_string(site.path("served")).unwrap(), "next\nstopped\n");
}

/// Whether a process listens for SIGTERM by now.
fn listens(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << 14) != 0)
}

#[test]
fn the_time_limit_and_signals_reach_the_wait_for_a_guard() {
    for guard in [".guard", ".order/guard"] {
        let site = Site::new();
        site.lock(0, &["run", "a", "x", "--", "true"]);
        // Two locks, so that there is an order to be looked at.
        site.lock(0, &["acquire", "b", "y", "--owner", "me"]);
        let file = File::open(site.root().join(guard)).unwrap();
        file.lock().unwrap();
        if guard == ".guard" {
            let said = site.lock(1, &["acquire", "a", "x", "--owner", "me", "--timeout", "100ms"]);
            assert!(said.err.contains("are being changed by process"), "{said:?}");
            assert!(said.err.contains(&std::process::id().to_string()), "{said:?}");
            let child = site.start(&["lock", "acquire", "a", "x", "--owner", "me", "--timeout", "1h"]);
            until("it listens", || listens(child.id()));
            signal(&child, "TERM");
            assert_eq!(end(child).code, 143);
        } else {
            // Only the record of order waits for this one, and the lock is held without it.
            let said = site.lock(0, &["acquire", "a", "x", "--owner", "me", "--timeout", "100ms"]);
            assert!(said.err.contains("its order was not recorded"), "{said:?}");
        }
    }
}

/// How many calls were made at most between taking and giving up a guard.
fn longest_section(log: &str) -> usize {
    let (mut longest, mut length, mut inside) = (0, 0, false);
    for line in log.lines() {
        if line.contains("flock(") {
            inside = !line.contains("LOCK_UN");
            length = 0;
        } else if inside {
            length += 1;
            longest = longest.max(length);
        }
    }
    longest
}

#[test]
fn cleaning_up_many_locks_keeps_nobody_waiting() {
    let site = Site::new();
    if !has("strace") {
        return println!("strace is not there");
    }
    for number in 0..2_000 {
        fs::create_dir_all(site.root().join(format!("n{}/s{number}", number % 3))).unwrap();
        fs::create_dir(site.root().join(format!("n{}/.breaking-{number}", number % 3))).unwrap();
    }
    site.lock(0, &["run", "a", "x", "--", "true"]);
    let log = site.path("log");
    let mut strace = site.program("strace");
    strace.args(["-f", "-qq", "-e", "trace=flock,openat,newfstatat,lstat,statx,unlink,unlinkat,rmdir", "-o"]);
    strace.arg(&log).args([IC, "lock", "clean", "--older-than", "1h"]);
    if !strace.status().unwrap().success() {
        return println!("strace may not be used here");
    }
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.lines().count() > 10_000, "it has looked at all of them");
    assert!(longest_section(&text) < 1_500, "{}", longest_section(&text));
    assert!(!site.root().join("n0/.breaking-0").exists());
    assert_eq!(site.list().len(), 2_000);
}

/// How many guards were entered at most without a rest in between, and how many in all.
fn longest_run(log: &str) -> (usize, usize) {
    let (mut longest, mut length, mut all) = (0, 0, 0);
    for line in log.lines() {
        if line.contains("nanosleep(") {
            length = 0;
        } else if line.contains("flock(") && !line.contains("LOCK_UN") {
            (length, all) = (length + 1, all + 1);
            longest = longest.max(length);
        }
    }
    (longest, all)
}

/// Whoever waits looks at the guard every millisecond: between two sections that follow each other at once it gets in by
/// luck only.
#[test]
fn cleaning_up_many_locks_leaves_the_guard_to_others_now_and_then() {
    let site = Site::new();
    if !has("strace") {
        return println!("strace is not there");
    }
    for number in 0..1_500 {
        fs::create_dir_all(site.root().join(format!("n/s{number}"))).unwrap();
    }
    site.lock(0, &["run", "a", "x", "--", "true"]);
    let log = site.path("log");
    let mut strace = site.program("strace");
    strace.args(["-f", "-qq", "-e", "trace=flock,clock_nanosleep,nanosleep", "-o"]);
    strace.arg(&log).args([IC, "lock", "clean", "--older-than", "0"]);
    if !strace.status().unwrap().success() {
        return println!("strace may not be used here");
    }
    assert_eq!(site.list().len(), 0);
    let (longest, all) = longest_run(&fs::read_to_string(&log).unwrap());
    assert!(all > 3_000, "it has looked at all of them, and removed them: {all}");
    assert!(longest < 500, "{longest} of {all} sections followed each other at once");
}
