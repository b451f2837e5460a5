//! What comes from outside is hostile: every bad input has a named error, and nothing is touched.

use crate::bench::{Bench, Refusal, id};

/// Everything in the control directory, with its content.
fn control(bench: &Bench) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let (mut found, mut ahead) = (Vec::new(), vec![bench.root()]);
    while let Some(directory) = ahead.pop() {
        for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                ahead.push(path);
            } else {
                found.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn bad_names_and_ids_are_named_and_touch_nothing() {
    let bench = Bench::new();
    bench.put("f", "x");
    let first = bench.snapshot();
    bench.jvs(&["lock", "status"]).ok();
    let before = control(&bench);
    let long = "x".repeat(65);
    for name in ["", ".", "..", "a/b", "../out", "/abs", "a\nb", "a b", "\u{1b}[31m", "ä", &long] {
        bench.jvs(&["worktree", "create", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["init", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["lock", "acquire", "--worktree", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["worktree", "rename", "main", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["restore", &first, "--name", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["restore", name]).refused_as("E_NAME_INVALID");
        bench.jvs(&["verify", "--snapshot", name]).refused_as("E_NAME_INVALID");
    }
    for args in [
        &["restore", "1700000000000-00000000", "--name", "w"][..],
        &["verify", "--snapshot", "1700000000000-00000000"],
        &["worktree", "create", "w", "--from", "1700000000000-00000000"],
        &["lock", "acquire", "--worktree", "nobody"],
        &["snapshot", "--worktree", "nobody"],
        &["worktree", "remove", "nobody"],
    ] {
        bench.jvs(args).refused_as("E_NOT_FOUND");
    }
    for args in [
        &["snapshot", "--consistency", "perfect"][..],
        &["restore", &first, "--inplace"],
        &["restore", &first, "--reason", "r"],
        &["lock", "acquire", "--lease-ms", "-1"],
        &["lock", "run"],
        &["gc", "run"],
        &["nonsense"],
        &["snapshot", &"n".repeat(1_025)],
    ] {
        bench.jvs(args).refused_as("E_USAGE");
    }
    bench.run_at(bench.dir(), &["info"]).refused_as("E_NOT_FOUND");
    assert_eq!(control(&bench), before);
}

#[test]
fn a_terminal_is_shown_nothing_that_it_would_act_on() {
    let bench = Bench::new();
    bench.put("f", "x");
    bench.jvs(&["lock", "acquire"]).ok();
    let note = "\u{1b}[2Jnote\nwith\u{202e}tricks";
    let published = id(&bench.jvs(&["snapshot", note]).ok());
    let shown =
        bench.dressed(std::process::Command::new(crate::bench::JVS), &bench.main()).arg("history").output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(
        shown.contains(&published) && !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
    assert_eq!(
        bench.jvs(&["history"]).ok().json()["snapshots"][0]["note"],
        note,
        "scripts get what was written"
    );
}

#[test]
fn a_repository_of_a_later_version_is_left_alone() {
    let bench = Bench::new();
    std::fs::write(bench.control("format_version"), "2\n").unwrap();
    bench.jvs(&["lock", "acquire"]).refused_as("E_FORMAT_UNSUPPORTED");
    std::fs::write(bench.control("format_version"), "one\n").unwrap();
    bench.jvs(&["info"]).refused_as("E_DESCRIPTOR_CORRUPT");
    std::fs::write(bench.control("format_version"), "1\n").unwrap();
    bench.policy(&[("lease_duration_ms", 1)]);
    bench.jvs(&["info"]).refused_as("E_DESCRIPTOR_CORRUPT");
}

#[test]
fn an_unknown_setting_is_refused_and_a_known_one_is_acted_on() {
    let bench = Bench::new();
    bench.policy(&[("lease_duration_ms", 5_000), ("renew_interval_ms", 1_000)]);
    let granted = bench.jvs(&["lock", "acquire"]).ok().json();
    assert_eq!(
        (&granted["lock"]["lease_duration_ms"], &granted["lock"]["renew_interval_ms"]),
        (&5_000.into(), &1_000.into())
    );
    bench.policy(&[("colour", 1)]);
    bench.jvs(&["info"]).refused_as("E_DESCRIPTOR_CORRUPT");
}

#[test]
fn help_has_examples_and_every_shell_gets_its_completions() {
    let bench = Bench::new();
    let run = |args: &[&str]| {
        let output =
            bench.dressed(std::process::Command::new(crate::bench::JVS), &bench.root()).args(args).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert!(run(&["--help"]).contains("Examples:"));
    assert!(run(&["restore", "--help"]).contains("--inplace --reason"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).contains("jvs"), "{shell}");
    }
    assert!(run(&["man", "worktree", "create"]).contains(".TH jvs-worktree-create 1"));
    bench.jvs(&["man", "frob"]).refused_as("E_USAGE");
}
