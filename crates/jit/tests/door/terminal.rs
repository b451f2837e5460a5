//! What people see: colours, aligned columns and relative times on a terminal, plain text everywhere else.

use std::process::{Command, Stdio};

use holdfast_trial::Screen;
use unicode_width::UnicodeWidthStr as _;

use crate::bench::Bench;

/// What a command writes to a wide terminal of its own.
fn on_a_terminal(command: Command) -> String {
    on_columns(500, command)
}

/// What a command writes to a terminal of its own with so many columns.
fn on_columns(columns: u16, mut command: Command) -> String {
    let screen = Screen::new(columns);
    let mut child = command.stdin(Stdio::null()).stdout(screen.line()).spawn().unwrap();
    drop(command);
    assert!(child.wait().unwrap().success());
    screen.read().replace("\r\n", "\n")
}

const QUESTIONS: [&[&str]; 4] =
    [&["issue", "list"], &["status"], &["query", "available"], &["query", "blocked"]];

fn board() -> Bench {
    let bench = Bench::new();
    let urgent =
        bench.jit(&["-q", "issue", "create", "--title", "Umlaute: größer", "--priority", "critical"]);
    bench.issue("short");
    bench.jit(&["issue", "create", "--title", "waits", "--depends-on", urgent.ok().stdout.trim()]).ok();
    bench.claimed("agent:a");
    bench
}

fn asked(bench: &Bench, question: &[&str], term: &str) -> Command {
    let mut command = bench.command("agent:a", question, &bench.repo());
    command.env("TERM", term);
    command
}

/// The text without colours.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    pieces.for_each(|piece| plain.push_str(piece.split_once('m').unwrap().1));
    plain
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let bench = board();
    for question in QUESTIONS {
        let shown = on_a_terminal(asked(&bench, question, "xterm-256color"));
        assert!(shown.contains("\x1b[1m") && shown.contains("\x1b[0m"), "{question:?}: {shown:?}");
        let mut unwanted = asked(&bench, question, "xterm-256color");
        unwanted.env("NO_COLOR", "1");
        let piped = bench.jit(question).ok().stdout;
        for (why, text) in [
            ("NO_COLOR", on_a_terminal(unwanted)),
            ("TERM=dumb", on_a_terminal(asked(&bench, question, "dumb"))),
            ("a pipe", piped),
        ] {
            assert!(!text.contains('\x1b'), "{why}, {question:?}: {text:?}");
            assert_eq!(columns(&text), columns(&plain(&shown)), "{why}, {question:?}");
        }
        // An empty NO_COLOR says nothing.
        let mut empty = asked(&bench, question, "xterm-256color");
        assert!(
            on_a_terminal({
                empty.env("NO_COLOR", "");
                empty
            })
            .contains("\x1b[1m"),
            "{question:?}"
        );
    }
}

/// Where columns begin, under the headings of each table.
fn columns(text: &str) -> Vec<Vec<usize>> {
    let is_heading =
        |line: &&str| line.split_whitespace().next().is_some_and(|word| word == word.to_uppercase());
    let starts = |line: &str| {
        let chars: Vec<char> = line.chars().collect();
        let begins =
            |at: &usize| *at == 0 || (chars[*at] != ' ' && chars[at.saturating_sub(2)..*at] == [' ', ' ']);
        (0..chars.len()).filter(begins).collect()
    };
    text.lines().filter(is_heading).map(starts).collect()
}

#[test]
fn columns_are_aligned_and_times_are_relative() {
    let bench = board();
    let shown = plain(&on_a_terminal(asked(&bench, &["issue", "list"], "xterm")));
    let heading = columns(&shown).remove(0);
    assert!(heading.len() >= 4, "{shown}");
    for line in shown.lines().skip(1) {
        let chars: Vec<char> = line.chars().collect();
        for at in heading.iter().skip(1).filter(|at| **at < chars.len()) {
            assert_eq!(chars[at - 1], ' ', "a column is out of line in {line:?}:\n{shown}");
        }
    }
    assert!(shown.contains("just now"), "{shown}");
    assert!(shown.contains("agent:a"), "who works on what: {shown}");
    let status = plain(&on_a_terminal(asked(&bench, &["status"], "xterm")));
    assert!(status.contains("left") && status.contains("(you)"), "{status}");
}

/// Lines that are wrapped are no table: what is too long is cut where there is a terminal, and nowhere else.
#[test]
fn a_narrow_terminal_cuts_long_titles_and_a_pipe_does_not() {
    let bench = board();
    let long = "a title that nobody can read to its end on a terminal with eighty columns or less".to_owned();
    bench.issue(&long);
    for question in [&["issue", "list"][..], &["query", "available"]] {
        let narrow = plain(&on_columns(80, asked(&bench, question, "xterm")));
        assert!(narrow.lines().all(|line| line.width() <= 80), "{question:?}:\n{narrow}");
        assert!(narrow.contains('…') && !narrow.contains(&long), "{question:?}:\n{narrow}");
        assert!(plain(&on_a_terminal(asked(&bench, question, "xterm"))).contains(&long), "{question:?}");
        assert!(bench.jit(question).ok().stdout.contains(&long), "{question:?}");
    }
}

/// A document says what is there, and a terminal acts on none of it.
#[test]
fn json_is_harmless_and_exact() {
    let bench = Bench::new();
    let title = "a\u{202e}b";
    let id = bench.issue(title);
    for question in [&["--json", "issue", "show", &id][..], &["--json", "issue", "list"]] {
        let answer = bench.jit(question).ok();
        assert!(!answer.stdout.contains('\u{202e}'), "{question:?}: {answer}");
        let document = answer.json();
        let said = document.pointer("/issue/title").or(document.pointer("/issues/0/title"));
        assert_eq!(said.and_then(|said| said.as_str()), Some(title), "{question:?}: {answer}");
    }
}

/// What is exported is JSON for programs, and a terminal acts on none of it.
#[test]
fn what_is_exported_is_harmless_on_a_terminal() {
    let bench = Bench::new();
    let title = "a\u{202e}b";
    bench.issue(title);
    let answer = bench.jit(&["export"]).ok();
    assert!(!answer.stdout.contains('\u{202e}'), "{answer}");
    assert_eq!(answer.json()["title"], title, "{answer}");
}

/// What was typed wrong is repeated, and a terminal acts on none of it.
#[test]
fn what_was_typed_wrong_is_repeated_harmlessly() {
    let bench = Bench::new();
    for typed in ["\x1b[2Jx", "x\u{202e}y"] {
        let screen = Screen::new(80);
        let mut command = bench.command("agent:a", &[typed], &bench.repo());
        command.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::null()).stderr(screen.line());
        let code = command.spawn().unwrap().wait().unwrap().code();
        drop(command);
        let seen = screen.read();
        assert_eq!(code, Some(2), "{seen}");
        assert!(seen.contains("unrecognized subcommand") && !seen.contains(['\x1b', '\u{202e}']), "{seen:?}");
    }
}
