//! `ic lock run`: the command's exit code, the command's signals, and no lock left behind.

use std::fs;
use std::process::Stdio;

use holdfast_trial::{Screen, has, until};

use crate::site::{IC, Site, end, signal};

/// A command that says that it runs, and then does what it is told.
const READY: &str = "echo ready > ready;";

fn is_ready(site: &Site) -> bool {
    fs::read_to_string(site.path("ready")).is_ok_and(|text| text == "ready\n")
}

#[test]
fn the_exit_code_is_the_command_s() {
    let site = Site::new();
    for (code, script) in
        [(0, "exit 0"), (7, "exit 7"), (255, "exit 255"), (137, "kill -9 $$"), (143, "kill $$")]
    {
        site.lock(code, &["run", "a", "x", "--", "sh", "-c", script]);
        assert_eq!(site.list(), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn the_lock_is_held_meanwhile_and_its_fence_is_told() {
    let site = Site::new();
    let script = "\"$INTERCORE_BIN\" lock list; echo \"$IC_LOCK_FENCE\"";
    let said = site.lock(0, &["run", "a", "x", "--owner", "me", "--", "sh", "-c", script]);
    assert!(said.out.starts_with("a\tx\tme\t") && said.out.ends_with("\n2\n"), "{said:?}");
}

#[test]
fn a_command_that_cannot_be_started_leaves_no_lock() {
    let site = Site::new();
    site.lock(127, &["run", "a", "x", "--", "no-such-command"]);
    fs::write(site.path("no-program"), "").unwrap();
    site.lock(126, &["run", "a", "x", "--", "./no-program"]);
    site.lock(3, &["run", "a", "x", "--"]);
    assert_eq!(site.list(), Vec::<String>::new());
}

fn a_signal_is_passed_on(name: &str) {
    let site = Site::new();
    let script = format!("trap 'echo heard > heard; exit 7' {name}; {READY} while :; do sleep 0.05; done");
    let child = site.start(&["lock", "run", "a", "x", "--", "sh", "-c", &script]);
    until("the command", || is_ready(&site));
    assert_eq!(site.list(), ["a/x"]);
    signal(&child, name);
    let said = end(child);
    assert_eq!(said.code, 7, "{said:?}");
    assert_eq!(fs::read_to_string(site.path("heard")).unwrap(), "heard\n");
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn sigint_is_passed_on_and_leaves_no_lock() {
    a_signal_is_passed_on("INT");
}

#[test]
fn sigterm_is_passed_on_and_leaves_no_lock() {
    a_signal_is_passed_on("TERM");
}

#[test]
fn sighup_is_passed_on_and_leaves_no_lock() {
    a_signal_is_passed_on("HUP");
}

#[test]
fn signals_that_only_the_command_understands_are_passed_on() {
    for name in ["QUIT", "USR1", "USR2"] {
        a_signal_is_passed_on(name);
    }
}

/// Whoever supervises stands still while the terminal sends the signal: the command has heard it, and would hear it
/// again as soon as the other goes on.
#[test]
fn what_the_terminal_sends_is_heard_once() {
    if !has("setsid") {
        return;
    }
    let (site, screen) = (Site::new(), Screen::new(80));
    let script =
        format!("trap 'echo heard >> heard' INT; trap 'exit 7' TERM; {READY} while :; do sleep 0.05; done");
    let mut command = site.program("setsid");
    command.args(["-c", IC, "lock", "run", "a", "x", "--", "sh", "-c", &script]).stdin(screen.line());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command", || is_ready(&site));
    signal(&child, "STOP");
    screen.press(b"\x03");
    let heard = || fs::read_to_string(site.path("heard")).unwrap_or_default();
    until("the command hears it", || heard() == "heard\n");
    signal(&child, "TERM");
    signal(&child, "CONT");
    assert_eq!(end(child).code, 7);
    assert_eq!(heard(), "heard\n");
}

/// What is left in the background works on what the lock is for.
#[test]
fn the_lock_lasts_until_all_that_the_command_started_has_ended() {
    let site = Site::new();
    let script = "{ while [ ! -e over ]; do sleep 0.05; done; } & echo $! > job; exit 7";
    let child = site.start(&["lock", "run", "a", "x", "--", "sh", "-c", script]);
    until("nobody is left but the one in the background", || has_left(&site, child.id()));
    assert_eq!(site.list(), ["a/x"]);
    fs::write(site.path("over"), "").unwrap();
    assert_eq!(end(child).code, 7);
    assert_eq!(site.list(), Vec::<String>::new());
    // Whoever leaves the group is on their own, as a daemon does.
    if has("setsid") {
        let script = "setsid sleep 1000 > /dev/null 2>&1 & echo $!";
        let said = site.lock(0, &["run", "a", "x", "--", "sh", "-c", script]);
        assert!(site.program("kill").arg(said.out.trim()).status().unwrap().success());
    }
}

/// Whether the job that a command has left in the background is the only child of this process.
fn has_left(site: &Site, pid: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let job = fs::read_to_string(site.path("job")).unwrap_or_default();
    job.ends_with('\n') && children.trim() == job.trim()
}

#[test]
fn a_signal_reaches_what_was_left_in_the_background() {
    let site = Site::new();
    let script =
        format!("sh -c 'trap \"exit 0\" TERM; {READY} while :; do sleep 0.05; done' & echo $! > job; exit 7");
    let child = site.start(&["lock", "run", "a", "x", "--", "sh", "-c", &script]);
    until("nobody is left but the one in the background", || is_ready(&site) && has_left(&site, child.id()));
    signal(&child, "TERM");
    assert_eq!(end(child).code, 7);
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn a_command_that_a_signal_ends_leaves_no_lock() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let site = Site::new();
        let child =
            site.start(&["lock", "run", "a", "x", "--", "sh", "-c", &format!("{READY} exec sleep 1000")]);
        until("the command", || is_ready(&site));
        signal(&child, name);
        assert_eq!(end(child).code, code);
        assert_eq!(site.list(), Vec::<String>::new());
    }
}

/// Whoever cannot watch the holder, in another pid namespace, goes by its signs of life.
#[test]
fn a_holder_shows_that_it_lives_while_its_command_runs() {
    let site = Site::new();
    let script = format!("{READY} while [ ! -e over ]; do sleep 0.05; done");
    let child = site.start(&["lock", "run", "a", "x", "--", "sh", "-c", &script]);
    until("the command", || is_ready(&site));
    let owner = || fs::read_to_string(site.root().join("a/x/owner.json")).unwrap();
    let first = owner();
    until("a sign of life", || owner() != first);
    fs::write(site.path("over"), "").unwrap();
    let said = end(child);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(site.list(), Vec::<String>::new());
}

#[test]
fn clean_leaves_a_living_holder_in_another_pid_namespace_alone() {
    let site = Site::new();
    let apart = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    if !site.program("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: this machine gives nobody a pid namespace");
        return;
    }
    let script = format!("{READY} while [ ! -e over ]; do sleep 0.05; done");
    let mut command = site.program("unshare");
    command.args(apart).arg(IC).args(["lock", "run", "a", "x", "--", "sh", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the command", || is_ready(&site));
    until("the lock is older than a silent one may be", || {
        let listed: serde_json::Value =
            serde_json::from_str(&site.ic(&["--json", "lock", "list"]).out).unwrap();
        assert_eq!(listed["locks"][0]["alive"], serde_json::Value::Null, "{listed}");
        listed["locks"][0]["age_ms"].as_u64().unwrap() > 6_000
    });
    assert_eq!(site.lock(0, &["stale"]).out, "");
    site.lock(0, &["clean"]);
    assert_eq!(site.list(), ["a/x"]);
    fs::write(site.path("over"), "").unwrap();
    let said = end(child);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

#[test]
fn a_signal_while_waiting_starts_nothing() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    let child = site.start(&["lock", "run", "a", "x", "--timeout", "1h", "--", "sh", "-c", READY]);
    until("the wait", || site.waiting() == 1);
    signal(&child, "TERM");
    assert_eq!(end(child).code, 143);
    assert!(!is_ready(&site));
    assert_eq!(site.list(), ["a/x"]);
}

#[test]
fn whoever_is_killed_under_a_lock_is_in_nobodys_way() {
    let site = Site::new();
    // The command ends by itself when its supervisor is gone.
    let script = format!("{READY} while kill -0 $PPID; do sleep 0.05; done 2>/dev/null");
    let mut child = site.start(&["lock", "run", "a", "x", "--", "sh", "-c", &script]);
    until("the command", || is_ready(&site));
    child.kill().unwrap();
    child.wait().unwrap();
    site.lock(0, &["acquire", "a", "x", "--timeout", "0"]);
}
