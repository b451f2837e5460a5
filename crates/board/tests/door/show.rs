//! What is seen, and what can be done.

use std::time::Instant;

use crate::bench::Bench;

/// Whether a colour is set, of text or behind it.
fn has_colours(painted: &str) -> bool {
    painted.split("\x1b[").skip(1).any(|piece| {
        let codes = piece.split('m').next().unwrap_or_default();
        codes
            .split(';')
            .any(|code| matches!(code.parse::<u16>(), Ok(30..=49 | 90..=107)) && code != "39" && code != "49")
    })
}

#[test]
fn what_happens_in_a_shell_is_seen_and_keys_act() {
    let bench = Bench::new();
    let (one, two) = (bench.issue("Prune the trees"), bench.issue("Mend the fence"));
    let linked = bench.worktree("linked");
    let terminal = bench.board(140, 24);
    terminal.until("Nobody holds");
    assert!(has_colours(&terminal.painted()));
    bench.run_at("agent:c", &["claim", "acquire", &one, "--ttl", "600"], &linked).ok();
    let seen = terminal.until("agent:c working");
    assert!(seen.contains("Prune the trees") && seen.contains("linked on linked"), "{seen}");
    assert!(seen.contains('█') && seen.contains("just now"), "{seen}");
    // The other one is chosen on the board, claimed, noted on and released.
    terminal.press(&["2", "/"]);
    terminal.types("fence");
    terminal.press(&["Enter"]);
    terminal.until_that("only what is looked for", |seen| {
        seen.contains("Mend the fence") && !seen.contains("Prune")
    });
    terminal.press(&["c"]);
    terminal.until("is yours");
    let status = bench.jit(&["--json", "claim", "status", "--issue", &two]).ok().json();
    assert_eq!(status["leases"][0]["agent_id"], "agent:b");
    terminal.press(&["n"]);
    terminal.until("note on");
    terminal.types("bring q nails");
    terminal.press(&["Enter"]);
    terminal.until("noted on");
    let shown = bench.jit(&["--json", "show", &two]).ok().json();
    assert_eq!(shown["notes"][0]["text"], "bring q nails");
    terminal.press(&["Enter"]);
    let seen = terminal.until("bring q nails");
    assert!(seen.contains("held by agent:b"), "{seen}");
    terminal.press(&["Escape"]);
    terminal.until("in progress");
    terminal.press(&["r"]);
    terminal.until("y/n");
    terminal.press(&["x"]);
    terminal.until_that("no question", |seen| !seen.contains("y/n"));
    terminal.press(&["r"]);
    terminal.until("y/n");
    terminal.press(&["y"]);
    terminal.until("released");
    let status = bench.jit(&["--json", "claim", "status", "--issue", &two]).ok().json();
    assert_eq!(status["leases"].as_array().unwrap().len(), 0);
    // What somebody else holds is not released, and it says why.
    terminal.press(&["Escape"]);
    terminal.until("Prune");
    terminal.press(&["1", "Down", "r"]);
    terminal.until("y/n");
    terminal.press(&["y"]);
    let seen =
        terminal.until_that("why not", |seen| seen.contains("held by agent:c") && !seen.contains("y/n"));
    assert!(!seen.contains(&one), "people know its handle: {seen}");
    let status = bench.jit(&["--json", "claim", "status", "--issue", &one]).ok().json();
    assert_eq!(status["leases"][0]["agent_id"], "agent:c");
}

#[test]
fn every_width_down_to_twenty_columns_fits_and_comes_back() {
    let bench = Bench::new();
    let issue = bench.issue("日本語の長い題名 and a long title that does not fit anywhere");
    bench.jit(&["claim", "acquire", &issue, "--ttl", "600"]).ok();
    bench.jit(&["reserve", "add", "src/very/deep/**", "--issue", &issue]).ok();
    let terminal = bench.board(200, 50);
    terminal.until("agent:a working");
    for (columns, rows) in [(80, 24), (20, 24), (20, 6), (20, 3), (200, 50), (20, 50)] {
        terminal.resize(columns, rows);
        for view in ["2", "1"] {
            terminal.press(&[view]);
            let wanted = if view == "2" { "ready 1" } else { "At work" };
            terminal.until_that("the view and its keys", |seen| {
                rows < 6 || (seen.contains(wanted) && seen.contains("q quit"))
            });
        }
        if columns == 20 && rows >= 24 {
            let seen = terminal.until("█");
            assert!(seen.contains("src/"), "{seen}");
        }
    }
    terminal.press(&["?"]);
    terminal.until("claim it");
    terminal.press(&["q"]);
}

#[test]
fn without_colours_what_is_chosen_still_stands_out() {
    let bench = Bench::new();
    let issue = bench.issue("one to see");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let terminal = bench.terminal(80, 24, "NO_COLOR=1 \"$BOARD\"\n");
    terminal.until("one to see");
    terminal.press(&["2", "Down"]);
    terminal.until_that("a chosen line", |seen| {
        seen.lines().any(|line| line.contains("> ") && line.contains("one to see"))
    });
    let painted = terminal.painted();
    assert!(!has_colours(&painted), "{painted:?}");
}

#[test]
fn the_mouse_chooses_opens_scrolls_and_presses_keys() {
    let bench = Bench::new();
    bench.many(60);
    let issue = bench.issue("Under the mouse");
    let terminal = bench.board(80, 24);
    terminal.until("61 ready");
    let (x, y) = terminal.find("2 Board");
    terminal.mouse(0, x, y);
    terminal.until("backlog");
    let (x, y) = terminal.find("Under the mouse");
    terminal.mouse(0, x, y);
    terminal.until_that("a chosen line", |seen| {
        seen.lines().any(|line| line.contains('>') && line.contains("Under the mouse"))
    });
    // Far down by the wheel.
    let first = terminal.seen();
    for _ in 0..8 {
        terminal.mouse(65, x, y);
    }
    terminal.until_that("other cards", |seen| !seen.contains("Under the mouse") && seen != first);
    for _ in 0..8 {
        terminal.mouse(64, x, y);
    }
    let (x, y) = terminal.find("Under the mouse");
    terminal.mouse(0, x, y);
    terminal.until_that("a detail", |seen| seen.matches("Under the mouse").count() == 2);
    let (x, y) = terminal.find("c claim");
    terminal.mouse(0, x, y);
    terminal.until("is yours");
    let status = bench.jit(&["--json", "claim", "status", "--issue", &issue]).ok().json();
    assert_eq!(status["leases"][0]["agent_id"], "agent:b");
    let (x, y) = terminal.find("q quit");
    // It ends before the button is let go.
    terminal.types(&format!("\x1b[<0;{};{}M", x + 1, y + 1));
    holdfast_trial::until("it has ended", || terminal.is_gone());
}

/// 10,000 with `HOLDFAST_LONG`: first seen, and each key answered, in a time that nobody minds.
#[test]
fn many_issues_are_shown_at_once() {
    let count = if std::env::var_os("HOLDFAST_LONG").is_some() { 10_000 } else { 500 };
    let bench = Bench::new();
    bench.many(count);
    let begun = Instant::now();
    let terminal = bench.board(80, 24);
    terminal.until(&format!("{count} ready"));
    let first = begun.elapsed();
    terminal.press(&["2"]);
    terminal.until(&format!("ready {count}"));
    let begun = Instant::now();
    terminal.press(&["End"]);
    terminal.until_that("the last one", |seen| {
        seen.lines().any(|line| line.contains('>') && line.contains("Tree number"))
    });
    let end = begun.elapsed();
    let begun = Instant::now();
    terminal.press(&["/"]);
    terminal.types(&format!("number {}", count - 7));
    terminal.press(&["Enter"]);
    terminal.until("ready 1 ");
    let found = begun.elapsed();
    eprintln!("{count} issues: first seen after {first:?}, the last one {end:?}, found {found:?}");
    assert!(end.as_secs_f64() < 5.0 && found.as_secs_f64() < 5.0, "{end:?} {found:?}");
}

#[test]
fn a_repository_that_cannot_be_read_is_said_and_comes_back() {
    let bench = Bench::new();
    let issue = bench.issue("stays in sight");
    bench.jit(&["claim", "acquire", &issue]).ok();
    let terminal = bench.board(80, 24);
    terminal.until("stays in sight");
    let moved = bench.root().join("moved");
    std::fs::rename(bench.repo(), &moved).unwrap();
    let seen = terminal.until("cannot be read");
    assert!(seen.contains("stays in sight"), "{seen}");
    std::fs::rename(&moved, bench.repo()).unwrap();
    terminal.until_that("it is well", |seen| !seen.contains("cannot be read"));
    bench.jit(&["claim", "release", &issue]).ok();
    terminal.until("Nobody holds");
}
