//! The findings C2 to C6, C8 and C9 of the review that this door answers, each a test that is named after it.
//! C1 is in `tests/interleavings` and in `stress.rs`, C7 in `order.rs`, C6 also in `tests/interleavings`.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;

use holdfast_ic::cancel::Cancel;
use holdfast_ic::error::Error;
use holdfast_ic::locks::Locks;
use holdfast_ic::owner::{Owner, Said};
use holdfast_ic::wait::How;
use holdfast_kernel::{Millis, Name};
use holdfast_sys::{Entropy, ProcessId, Sys};
use holdfast_trial::until;

use crate::site::{Dead, Site, end, library, lock, signal};

const HOUR: Millis = Millis::from_secs(3_600);

#[test]
fn c2_a_lock_without_an_owner_is_recovered_by_age_in_acquire() {
    let site = Site::new();
    fs::create_dir_all(site.root().join("a/x")).unwrap();
    let said = site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    assert!(said.err.contains("a script that left no owner"), "{said:?}");
    assert_eq!(site.lock(0, &["stale"]).out, "");
    site.age("a/x", 60);
    assert!(site.lock(0, &["stale"]).out.starts_with("a\tx\t(none)\t"));
    site.lock(0, &["acquire", "a", "x", "--timeout", "0"]);
}

#[test]
fn c2_a_lock_without_an_owner_is_recovered_by_age_in_clean() {
    let site = Site::new();
    fs::create_dir_all(site.root().join("a/x")).unwrap();
    site.lock(0, &["clean"]);
    assert_eq!(site.list(), ["a/x"]);
    site.age("a/x", 60);
    assert!(site.lock(0, &["clean", "-v"]).out.starts_with("a\tx\t"));
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn c2_a_lock_without_an_owner_is_left_alone_until_it_is_old() {
    let site = Site::new();
    let locks = site.locks(HOUR);
    let me = Owner::this_process(&Sys::os(), Said::default()).unwrap();
    let take = || locks.acquire(&lock("a", "x"), &me, now(Millis::ZERO), &Cancel::new(), &mut |_| {});
    fs::create_dir_all(site.root().join("a/x")).unwrap();
    site.age("a/x", 600);
    let refused = take();
    assert!(matches!(refused, Err(Error::Timeout { .. })), "{refused:?}");
    site.age("a/x", 2 * 3_600);
    take().unwrap();
}

/// A lock whose owner was spoiled; nobody can release it, and only `clean` removes it.
fn spoiled(spoil: impl Fn(&std::path::Path)) {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    site.lock(0, &["acquire", "b", "y", "--owner", "me"]);
    let lock = site.root().join("a/x");
    spoil(&lock.join("owner.json"));
    for owner in ["me", "admin:host"] {
        let said = site.lock(2, &["release", "a", "x", "--owner", owner]);
        assert!(said.err.contains("ic lock clean"), "{said:?}");
        assert!(lock.is_dir());
    }
    assert_eq!(site.list(), ["a/x", "b/y"], "one bad lock hides no other");
    site.lock(0, &["clean"]);
    assert!(lock.is_dir(), "it is young");
    site.age("a/x", 60);
    site.lock(0, &["clean"]);
    assert_eq!(site.list(), ["b/y"]);
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
}

#[test]
fn c3_a_corrupt_owner_is_released_by_nobody() {
    spoiled(|owner| fs::write(owner, "{\"pid\":").unwrap());
    spoiled(|owner| fs::write(owner, "").unwrap());
}

#[test]
fn c3_a_missing_owner_is_released_by_nobody() {
    spoiled(|owner| fs::remove_file(owner).unwrap());
}

/// What a power loss, a full disk or an editor may leave of an owner.
const TORN: [&[u8]; 4] =
    [b"", b"{\"pid\":", b"\0\0\0\0\0\0\0\0", b"{\"pid\":1,\"host\":\"h\",\"owner\":\"o\"}"];

#[test]
fn c2_a_torn_owner_is_recovered_by_age_in_acquire() {
    for torn in TORN {
        let site = Site::new();
        site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
        fs::write(site.root().join("a/x/owner.json"), torn).unwrap();
        let said = site.lock(2, &["acquire", "a", "x", "--timeout", "0"]);
        assert!(said.err.contains("ic lock clean"), "it is young: {said:?}");
        site.age("a/x", 60);
        site.lock(0, &["acquire", "a", "x", "--owner", "you", "--timeout", "0"]);
        assert!(site.lock(0, &["list"]).out.starts_with("a\tx\tyou\t"));
    }
}

#[test]
fn c2_a_torn_owner_is_waited_for_until_it_is_old() {
    let site = Site::new();
    let locks = site.locks(Millis::new(300));
    let me = Owner::this_process(&Sys::os(), Said::default()).unwrap();
    let take = |timeout| locks.acquire(&lock("a", "x"), &me, now(timeout), &Cancel::new(), &mut |_| {});
    take(Millis::ZERO).unwrap();
    fs::write(site.root().join("a/x/owner.json"), "").unwrap();
    take(HOUR).unwrap();
}

/// What the design before this one wrote.
fn as_before(site: &Site, owner: &str, host: &str, pid: u32, seconds_ago: u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let created = now - seconds_ago;
    fs::create_dir_all(site.root().join("a/x")).unwrap();
    let text = format!("{{\"pid\":{pid},\"host\":\"{host}\",\"owner\":\"{owner}\",\"created\":{created}}}\n");
    fs::write(site.root().join("a/x/owner.json"), text).unwrap();
}

#[test]
fn an_owner_of_the_design_before_is_understood() {
    let site = Site::new();
    let host = Sys::os().processes.me().unwrap().host;
    as_before(&site, "them", &host, std::process::id(), 3_600);
    let listed = site.lock(0, &["list"]).out;
    assert!(listed.starts_with("a\tx\tthem\t36"), "{listed}");
    assert!(site.lock(0, &["list", "--json"]).out.contains("\"state\":\"foreign\""));
    let said = site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    assert!(said.err.contains("held by them, locked by another program"), "{said:?}");
    site.lock(0, &["clean", "--older-than", "0"]);
    assert_eq!(site.list(), ["a/x"], "its process lives");
    site.lock(1, &["release", "a", "x", "--owner", "others"]);
    site.lock(0, &["release", "a", "x", "--owner", "them"]);
    assert_eq!(site.list(), Vec::<String>::new());
    // Where its process cannot be watched, its age counts.
    as_before(&site, "them", "another-host", 1, 0);
    site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    as_before(&site, "them", "another-host", 1, 60);
    site.lock(0, &["acquire", "a", "x", "--timeout", "0"]);
}

#[test]
fn a_guard_that_is_kept_for_ever_keeps_nobody_for_ever() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let guard = fs::File::open(site.root().join(".guard")).unwrap();
    guard.lock().unwrap();
    let waits: [&[&str]; 3] = [&["list"], &["stale"], &["release", "a", "x", "--owner", "me"]];
    for words in waits {
        let said = site.lock(1, words);
        let me = format!("process {}", std::process::id());
        assert!(said.err.contains("are being changed by") && said.err.contains(&me), "{words:?}: {said:?}");
    }
    drop(guard);
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
}

/// A holder whose process cannot be watched from here.
fn elsewhere(host: &str) -> Owner {
    let me = Sys::os().processes.me().unwrap();
    let process = Some(ProcessId { host: host.to_owned(), ..me });
    Owner { name: Name::new(&format!("1:{host}")).unwrap(), process, within: Vec::new() }
}

fn now(timeout: Millis) -> How {
    How { timeout, strict_order: false }
}

#[test]
fn c4_a_holder_that_cannot_be_watched_is_not_evicted_blindly() {
    for owner in [elsewhere("another-host"), Owner { process: None, ..elsewhere("nowhere") }] {
        let site = Site::new();
        let locks = site.locks(Millis::from_secs(5));
        locks.acquire(&lock("a", "x"), &owner, now(Millis::ZERO), &Cancel::new(), &mut |_| {}).unwrap();
        site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
        site.lock(0, &["clean"]);
        assert_eq!(site.list(), ["a/x"]);
        assert_eq!(site.lock(0, &["stale"]).out, "");
        // Only its age counts, and somebody may say which.
        assert!(site.lock(0, &["stale", "--older-than", "0"]).out.starts_with("a\tx\t1:"));
        site.lock(0, &["clean", "--older-than", "0"]);
        assert_eq!(site.list(), Vec::<String>::new());
    }
}

#[test]
fn c4_a_holder_that_cannot_be_watched_is_taken_over_when_it_is_old() {
    let site = Site::new();
    let locks = site.locks(Millis::new(50));
    let taken = |owner: &Owner, timeout| {
        locks.acquire(&lock("a", "x"), owner, now(timeout), &Cancel::new(), &mut |_| {}).map(drop)
    };
    taken(&elsewhere("another-host"), Millis::ZERO).unwrap();
    taken(&elsewhere("this-one-is-not-here-either"), HOUR).unwrap();
}

#[test]
fn c5_a_fallback_lock_has_a_marker_and_each_side_releases_only_its_own() {
    let site = Site::new();
    let script = format!(
        ". {} && INTERCORE_BIN=none && intercore_lock a x && echo taken && read -r _ && intercore_unlock a x",
        library().display()
    );
    let mut shell = site.program("sh");
    shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let lock = site.root().join("a/x");
    until("the marker", || {
        fs::read_to_string(lock.join(".fallback")).is_ok_and(|text| text.ends_with("}\n"))
    });
    let owner = format!("{}:{}", shell.id(), Sys::os().processes.me().unwrap().host);
    // The binary gives nobody's fallback lock back, not even to whoever bears the same name.
    let said = site.lock(1, &["release", "a", "x", "--owner", &owner]);
    assert!(said.err.contains("is held by"), "{said:?}");
    site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    site.lock(0, &["clean", "--older-than", "0"]);
    assert!(lock.join(".fallback").exists(), "its shell lives");
    // Nor does another script.
    let other = format!(". {} && INTERCORE_BIN=none && intercore_unlock a x", library().display());
    assert!(site.program("sh").args(["-c", &other]).status().unwrap().success());
    assert!(lock.join(".fallback").exists());
    drop(shell.stdin.take());
    assert!(!shell.wait().unwrap().success(), "reading nothing fails");
    // Without its shell it is nobody's.
    site.lock(0, &["acquire", "a", "x", "--owner", "me", "--timeout", "0"]);
    assert!(site.program("sh").args(["-c", &other]).status().unwrap().success());
    assert!(lock.join("owner.json").exists(), "a script leaves the lock of the binary alone");
}

#[test]
fn c6_a_wait_that_is_over_says_who_was_in_the_way() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let said = site.lock(1, &["acquire", "a", "x", "--owner", "you", "--timeout", "50ms"]);
    assert!(said.err.contains("a/x is held by me"), "{said:?}");
    assert_eq!(site.waiting(), 0);
}

#[test]
fn a_refused_acquisition_leaves_nothing_behind() {
    let site = Site::new();
    for words in [&["a", "x", "--timeout", "soon"][..], &["a b", "x"], &["a", "x", "--owner", ""]] {
        site.lock(3, &[&["acquire"], words].concat());
        assert!(!site.root().exists(), "{words:?}");
    }
    // A script has been here, and nobody else.
    fs::create_dir_all(site.root().join("a/x")).unwrap();
    site.lock(1, &["acquire", "a", "x", "--timeout", "0"]);
    site.lock(1, &["run", "a", "x", "--timeout", "0", "--", "true"]);
    site.lock(2, &["release", "a", "x"]);
    assert_eq!(site.everything(), ["a", "a/x"]);
    // Whoever waited has taken its note back. The guard of the notes stays, as guards do.
    site.lock(1, &["acquire", "a", "x", "--timeout", "20ms"]);
    assert_eq!(site.everything(), [".order", ".order/guard", ".order/waiting", "a", "a/x"]);
}

#[test]
fn c8_the_dead_come_from_a_child_that_was_reaped() {
    let site = Site::new();
    let pid = Dead::holds(&site, "a", "x");
    assert!(site.lock(0, &["list"]).out.starts_with(&format!("a\tx\t{pid}:")));
    assert!(site.lock(0, &["list", "--json"]).out.contains("\"alive\":false"));
    // Nobody waits for the dead.
    site.lock(0, &["acquire", "a", "x", "--timeout", "0"]);
    Dead::holds(&site, "b", "y");
    site.lock(0, &["clean", "--older-than", "0"]);
    assert_eq!(site.list(), ["a/x"], "and the living are left alone");
}

fn a_signal_ends_the_wait(name: &str, code: i32) {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let waiter = site.start(&["lock", "acquire", "a", "x", "--owner", "you", "--timeout", "1h"]);
    until("the wait", || site.waiting() == 1);
    signal(&waiter, name);
    let said = end(waiter);
    assert_eq!(said.code, code, "{said:?}");
    assert_eq!(site.waiting(), 0);
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn c9_sigint_ends_a_wait_and_leaves_nothing_behind() {
    a_signal_ends_the_wait("INT", 130);
}

#[test]
fn c9_sigterm_ends_a_wait_and_leaves_nothing_behind() {
    a_signal_ends_the_wait("TERM", 143);
}

#[test]
fn c9_sighup_ends_a_wait_and_leaves_nothing_behind() {
    a_signal_ends_the_wait("HUP", 129);
}

/// Randomness that calls everything off when it is asked for: after the last look at the token, before the grant.
struct CallsOff(Cancel);

impl Entropy for CallsOff {
    fn nonce(&self) -> holdfast_sys::Result<u128> {
        self.0.cancel();
        Sys::os().entropy.nonce()
    }
}

#[test]
fn c9_a_lock_that_is_granted_after_the_wait_was_called_off_is_given_back() {
    let site = Site::new();
    fs::create_dir(site.root()).unwrap();
    let cancel = Cancel::new();
    let sys = Sys { entropy: Arc::new(CallsOff(cancel.clone())), ..Sys::os() };
    let (locks, me) = (Locks::new(&sys, &site.root()), Owner::this_process(&sys, Said::default()).unwrap());
    let ended = locks.acquire(&lock("a", "x"), &me, now(HOUR), &cancel, &mut |_| {});
    assert!(matches!(ended, Err(Error::CalledOff)), "{ended:?}");
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn c9_a_token_ends_a_wait_in_the_library() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let (locks, cancel) = (site.locks(Millis::from_secs(5)), Cancel::new());
    let canceller = cancel.clone();
    let ended = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let owner = Owner::this_process(&Sys::os(), Said::default()).unwrap();
            locks.acquire(&lock("a", "x"), &owner, now(HOUR), &cancel, &mut |_| {})
        });
        until("the wait", || site.waiting() == 1);
        canceller.cancel();
        waiter.join().unwrap()
    });
    assert!(matches!(ended, Err(Error::CalledOff)), "{ended:?}");
    assert_eq!(site.waiting(), 0);
}

#[test]
fn c9_a_wait_for_a_shell_that_was_killed_ends_too() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let mut shell = site.program("sleep").arg("1000").spawn().unwrap();
    let pid = shell.id().to_string();
    let waiter = site.start(&["lock", "acquire", "a", "x", "--pid", &pid, "--timeout", "1h"]);
    until("the wait", || site.waiting() == 1);
    shell.kill().unwrap();
    shell.wait().unwrap();
    let said = end(waiter);
    assert!(said.code == 1 && said.err.contains("has ended"), "{said:?}");
    assert_eq!(site.waiting(), 0);
}

#[test]
fn a_lock_goes_on_to_whoever_waits() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let waiter = site.start(&["lock", "acquire", "a", "x", "--owner", "you", "--timeout", "1h"]);
    until("the wait", || site.waiting() == 1);
    site.lock(0, &["release", "a", "x", "--owner", "me"]);
    assert_eq!(end(waiter).code, 0);
    assert!(site.lock(0, &["list"]).out.starts_with("a\tx\tyou\t"));
}
