//! What is printed, in which form, and with which exit code.

use serde_json::Value;

use crate::site::Site;

fn json(site: &Site, code: i32, words: &[&str]) -> Value {
    let said = site.lock(code, words);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{words:?}: {error} in {said:?}"))
}

#[test]
fn success_is_silent_unless_asked() {
    let site = Site::new();
    assert_eq!(site.lock(0, &["acquire", "a", "x", "--owner", "me"]).out, "");
    assert_eq!(site.lock(0, &["release", "a", "x", "--owner", "me"]).out, "");
    let said = site.lock(0, &["acquire", "a", "x", "--owner", "me", "-v"]);
    assert_eq!(said.out, "a/x is held by me, fence 3\n", "and numbers go on");
    assert_eq!(said.err, "");
    assert_eq!(site.lock(0, &["clean"]).out, "");
}

#[test]
fn every_command_has_a_document() {
    let site = Site::new();
    let held = json(&site, 0, &["acquire", "a", "x", "--owner", "me", "--json"]);
    for (key, value) in [("name", "a"), ("scope", "x"), ("owner", "me"), ("state", "held")] {
        assert_eq!(held["lock"][key], value);
    }
    assert_eq!(held["lock"]["pid"], std::process::id());
    assert_eq!(held["lock"]["alive"], true);
    assert_eq!(json(&site, 0, &["list", "--json"])["locks"][0]["fence"], held["lock"]["fence"]);
    assert_eq!(json(&site, 0, &["list", "--json"])["count"], 1);
    assert_eq!(json(&site, 0, &["stale", "--json"])["count"], 0);
    assert_eq!(json(&site, 0, &["clean", "--json"])["count"], 0);
    assert_eq!(json(&site, 0, &["order", "--json"])["count"], 0);
    assert_eq!(json(&site, 0, &["release", "a", "x", "--owner", "me", "--json"])["released"]["owner"], "me");
}

#[test]
fn every_failure_has_a_code_and_says_what_to_type() {
    let site = Site::new();
    site.lock(0, &["acquire", "a", "x", "--owner", "me"]);
    for (exit, code, words) in [
        (1, "HELD", &["acquire", "a", "x", "--owner", "you", "--timeout", "0", "--json"][..]),
        (1, "ALREADY_HELD", &["acquire", "a", "x", "--owner", "me", "--json"]),
        (1, "NOT_HOLDER", &["release", "a", "x", "--owner", "you", "--json"]),
        (1, "NOT_FOUND", &["release", "b", "x", "--owner", "you", "--json"]),
        (3, "BAD_NAME", &["acquire", "..", "x", "--json"]),
        (3, "BAD_NAME", &["acquire", "a", "x/y", "--json"]),
        (3, "BAD_VALUE", &["acquire", "a", "x", "--timeout", "soon", "--json"]),
        (3, "BAD_VALUE", &["acquire", "a", "x", "--owner", "a\tb", "--json"]),
        (3, "BAD_VALUE", &["acquire", "a", "x", "--pid", "4000000000", "--json"]),
        (3, "BAD_NAME", &["acquire", ".guard", "x", "--json"]),
        (3, "USAGE", &["acquire", "a", "--json"]),
        (3, "USAGE", &["explode", "--json"]),
    ] {
        let said = json(&site, exit, words);
        assert_eq!(said["error"]["code"], code, "{words:?}");
        assert!(said["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    }
    let refused = json(&site, 1, &["release", "a", "x", "--owner", "you", "--json"]);
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("'ic lock release a x --owner NAME' speaks for its owner"), "{hint}");
}

#[test]
fn looking_at_a_root_that_is_not_there_makes_nothing() {
    let site = Site::new();
    for words in [&["list"][..], &["stale"], &["clean"], &["order"]] {
        assert_eq!(site.lock(0, words).out, "");
    }
    site.lock(1, &["release", "a", "x"]);
    assert!(!site.root().exists());
}

#[test]
fn the_longest_names_work_and_the_root_s_own_names_do_not() {
    let site = Site::new();
    let longest = "n".repeat(128);
    site.lock(0, &["acquire", &longest, &longest, "--owner", "me"]);
    assert_eq!(site.list(), [format!("{longest}/{longest}")]);
    site.lock(0, &["release", &longest, &longest, "--owner", "me"]);
    site.lock(3, &["acquire", &format!("{longest}n"), "x"]);
    site.lock(0, &["acquire", "--owner", "me", "--", "-n", "--timeout"]);
    for own in [".guard", ".fence", ".drawn", ".order"] {
        site.lock(3, &["acquire", own, "x"]);
    }
}

#[test]
fn a_name_cannot_upset_a_terminal() {
    let site = Site::new();
    let said = site.lock(3, &["acquire", "a\u{1b}[31m", "x"]);
    assert!(!said.err.contains('\u{1b}'), "{said:?}");
}

#[test]
fn help_has_examples_and_shells_can_complete() {
    let site = Site::new();
    for command in ["acquire", "release", "list", "stale", "clean", "run", "order"] {
        let said = site.lock(0, &[command, "--help"]);
        assert!(
            said.out.contains("Examples:") && said.out.contains(&format!("ic lock {command}")),
            "{command}"
        );
    }
    for shell in ["bash", "zsh", "fish"] {
        let said = site.ic(&["completions", shell]);
        assert!(said.code == 0 && said.out.contains("acquire"), "{shell}");
    }
    assert!(site.ic(&["man", "lock", "acquire"]).out.contains(".TH ic-lock-acquire 1"));
    assert_eq!(site.ic(&["man", "frob"]).code, 3);
}

#[test]
fn the_owner_is_the_calling_shell() {
    let site = Site::new();
    let script = "\"$INTERCORE_BIN\" lock acquire a x && \"$INTERCORE_BIN\" lock list && \
                  \"$INTERCORE_BIN\" lock release a x && echo $$";
    let said = site.program("sh").args(["-c", script]).output().unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    let (listed, pid) = text.split_once('\n').unwrap();
    assert!(listed.starts_with(&format!("a\tx\t{}:", pid.trim())), "{text}");
    assert_eq!(site.list(), Vec::<String>::new());
}
