//! Which shell a lock belongs to: the process that called, and whoever it starts may release it.

use crate::site::{IC, Said, Site};

fn script(site: &Site, shell: &str, script: &str) -> Said {
    let prelude = "ic() { \"$INTERCORE_BIN\" \"$@\"; }; export INTERCORE_BIN;";
    site.program(shell).args(["-c", &format!("{prelude} {script}")]).output().unwrap().into()
}

/// Ways to release that are not the shell itself.
const BELOW: [&str; 10] = [
    "(cd .; ic lock release a x)",
    "(cd .; (cd .; ic lock release a x))",
    "sh -c '\"$INTERCORE_BIN\" lock release a x'",
    "sh -c 'cd .; \"$INTERCORE_BIN\" lock release a x; :'",
    "bash -c 'cd .; \"$INTERCORE_BIN\" lock release a x; :'",
    "said=$(cd .; ic lock release a x)",
    "ic lock release a x | cat",
    ": | ic lock release a x",
    "env \"$INTERCORE_BIN\" lock release a x",
    "timeout 60 \"$INTERCORE_BIN\" lock release a x",
];

#[test]
fn whoever_a_shell_starts_may_release_its_lock() {
    for shell in ["sh", "bash"] {
        for release in BELOW {
            let site = Site::new();
            let said = script(&site, shell, &format!("ic lock acquire a x && {release}; ic lock list"));
            assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""), "{shell}: {release}");
        }
    }
}

/// Bash does this with the last command of `bash -c` by itself.
#[test]
fn a_shell_that_becomes_the_program_may_release_its_lock() {
    for shell in ["sh", "bash"] {
        let site = Site::new();
        let said = script(&site, shell, "ic lock acquire a x && exec \"$INTERCORE_BIN\" lock release a x");
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""), "{shell}");
        assert_eq!(site.list(), Vec::<String>::new(), "{shell}");
    }
}

#[test]
fn whoever_it_did_not_start_may_not_and_is_told_why() {
    let site = Site::new();
    let said =
        script(&site, "sh", "sh -c '\"$INTERCORE_BIN\" lock acquire a x --pid '$$; sleep 0; ic lock list");
    assert!(said.out.starts_with("a\tx\t"), "{said:?}");
    // That shell is gone, but its lock is still there; another one asks.
    let said = script(&site, "sh", "cd .; ic lock release a x; echo $?");
    assert_eq!(said.out, "1\n");
    assert!(said.err.contains("released by the process that took it, or one that it started"), "{said:?}");
}

/// Programs that only start another one: a lock of theirs would be gone as soon as it is taken.
#[test]
fn a_lock_that_is_taken_behind_a_passing_program_is_the_shells() {
    for way in ["timeout 60", "timeout 60 timeout 60", "setsid --wait", "env", "nice"] {
        let site = Site::new();
        let taken = format!("{way} \"$INTERCORE_BIN\" lock acquire a x");
        let other = "sh -c '\"$INTERCORE_BIN\" lock acquire a x --timeout 0; :'";
        let said =
            script(&site, "sh", &format!("{taken}; ic lock list --json; {other}; ic lock release a x"));
        assert!(said.out.contains("\"alive\":true"), "{way}: {said:?}");
        assert!(said.err.contains("a/x is held by"), "{way}: {said:?}");
        assert_eq!(site.list(), Vec::<String>::new(), "{way}");
    }
}

#[test]
fn a_shell_that_runs_a_command_under_its_own_lock_is_told_so() {
    let site = Site::new();
    let said = script(&site, "sh", "ic lock acquire a x; ic lock run a x --timeout 0 -- true; echo $?");
    assert_eq!(said.out, "1\n");
    assert!(said.err.contains("already held") && said.err.contains("ic lock release a x"), "{said:?}");
}

/// A subshell is a process of its own: two of them side by side keep each other out.
#[test]
fn subshells_side_by_side_are_owners_of_their_own() {
    let site = Site::new();
    let job = "(ic lock acquire a x --timeout 1m && echo in >> log && sleep 0.2 && echo out >> log; ic lock release a x)";
    let said = script(&site, "sh", &format!("{job} & {job} & wait; cat log"));
    assert_eq!((said.out.as_str(), said.err.as_str()), ("in\nout\nin\nout\n", ""));
}

/// The first process of a pid namespace was started by one that has no number there.
#[test]
fn whoever_calls_from_outside_the_pid_namespace_has_to_be_named() {
    let site = Site::new();
    let apart = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    if !site.program("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: this machine gives nobody a pid namespace");
        return;
    }
    let acquire = |words: &[&str]| {
        let words = [&["--json", "lock", "acquire", "a", "x"], words].concat();
        Said::from(site.program("unshare").args(apart).arg(IC).args(words).output().unwrap())
    };
    let said = acquire(&[]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.out.contains("\"NO_CALLER\"") && said.out.contains("say it with --owner NAME"), "{said:?}");
    assert_eq!(site.list(), Vec::<String>::new());
    assert_eq!(acquire(&["--owner", "me"]).code, 0);
    assert_eq!(site.list(), ["a/x"]);
}
