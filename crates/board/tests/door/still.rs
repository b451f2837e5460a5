//! What is printed once.

use std::process::Command;

use holdfast_trial::Answer;

use crate::bench::{BOARD, Bench};

#[test]
fn a_still_is_plain_text_without_what_a_terminal_acts_on() {
    let bench = Bench::new();
    let issue = bench.issue("evil title");
    // No command writes such a title; whoever can change files can.
    let file = bench.repo().join(".jit/issues").join(&issue).join("issue.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("evil title", r"evil \u001b[31m title \u202e")).unwrap();
    bench.issue("another one");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "600"]).ok();
    bench.jit(&["reserve", "add", "src/**", "--issue", &issue]).ok();
    let still = bench.jit(&["board", "--once"]).ok().stdout;
    assert!(!still.contains('\x1b') && !still.contains('\u{202e}'), "{still:?}");
    for wanted in
        ["agent:a working", "evil \u{fffd}[31m title", "###", "reserves src/**", "another one", "ready 2"]
    {
        assert!(still.contains(wanted), "no {wanted:?} in\n{still}");
    }
    assert!(still.lines().all(|line| line.chars().count() <= 100), "{still}");
}

#[test]
fn programs_are_told_the_document_of_the_server() {
    let bench = Bench::new();
    let issue = bench.issue("one");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let board = bench.jit(&["--json", "board"]).ok().json();
    assert_eq!(board["board"]["issues"][0]["title"], "one");
    assert_eq!(board["board"]["agents"][0]["agent_id"], "agent:a");
}

#[test]
fn without_a_terminal_and_without_a_repository_it_says_so() {
    let bench = Bench::new();
    let refused = bench.jit(&["board"]).fails(2);
    assert!(refused.stderr.contains("--once"), "{}", refused.stderr);
    let mut command = holdfast_trial::dressed(Command::new(BOARD), bench.root());
    let refused =
        Answer::from(command.args(["--once", "--json"]).current_dir(bench.root()).output().unwrap());
    assert_ne!(refused.code, Some(0));
    assert!(refused.json()["error"]["code"].is_string(), "{}", refused.stdout);
}

/// A terminal that only prints is given a still, without colours.
#[test]
fn a_terminal_that_only_prints_is_given_a_still() {
    let bench = Bench::new();
    bench.issue("one to see");
    let terminal = bench.terminal(80, 24, "TERM=dumb \"$BOARD\"; echo ended $?; cat\n");
    let seen = terminal.until("ended 0");
    assert!(seen.contains("one to see"), "{seen}");
    let colours = terminal.painted();
    assert!(!colours.contains("\x1b["), "{colours:?}");
}

#[test]
fn a_repository_of_a_later_format_is_not_shown() {
    let bench = Bench::new();
    std::fs::write(bench.repo().join(".jit/config.toml"), "[repository]\nformat = 2\n").unwrap();
    let refused = bench.jit(&["board", "--once"]).fails(10);
    assert!(
        refused.stderr.contains(concat!("jit ", env!("CARGO_PKG_VERSION"), " is too old for it")),
        "{refused}"
    );
}
