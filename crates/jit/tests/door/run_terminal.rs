//! Runs on a terminal: what is typed there reaches the command, and what it means for the issue.

use std::process::{Child, Command, Stdio};

use holdfast_trial::{Screen, has, terminal, until};

use crate::bench::JIT;
use crate::run::{Ground, MARK};

fn on_terminal(ground: &Ground, script: &str, line: impl Fn() -> Stdio) -> Child {
    let mut command = ground.bench.dressed(Command::new("setsid"));
    // Whoever starts the tests in the background has them ignore Ctrl-C, and all that they start.
    command.args(["--ctty", "--wait", "env", "--default-signal=INT,HUP", JIT]);
    command.args(["--agent-id", "agent:b", "run", "--attempts", "1", "--"]);
    command.args(["sh", "-c", script]).current_dir(&ground.there).env(MARK, ground.mark());
    command.stdin(line()).stdout(line()).stderr(Stdio::null()).spawn().unwrap()
}

/// Whoever types Ctrl-C ends the command; that says nothing about the issue, which is offered again.
#[test]
fn ctrl_c_ends_the_command_and_is_no_failed_attempt() {
    if !has("setsid") {
        return;
    }
    let ground = Ground::new();
    let id = ground.bench.issue("Stopped");
    let begun = ground.bench.root().join("begun");
    let screen = Screen::new(100);
    // A shell that waits for something which ends by itself at that moment goes on with the next: so there is none.
    let script = format!("setsid sleep 1000 & : > {}; exec sleep 1000", begun.display());
    let mut child = on_terminal(&ground, &script, || screen.line());
    until("it works", || begun.exists());
    screen.press(b"\x03");
    assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
    until("everything of it is gone", || ground.alive().is_empty());
    assert!(ground.is_offered(&id) && ground.bench.leases().is_empty());
    let shown = ground.bench.jit(&["show", &id]).ok().stdout;
    assert!(shown.contains("stopped by signal 2") && !shown.contains("needs:attention"), "{shown}");
    ground.assert_nothing_left();
}

/// A command that knows what to do with Ctrl-C does it, once and twice, and goes on.
#[test]
fn a_command_may_make_something_else_of_ctrl_c() {
    if !has("setsid") {
        return;
    }
    let ground = Ground::new();
    ground.bench.issue("Goes on");
    let heard = ground.bench.root().join("heard");
    let screen = Screen::new(100);
    let script = format!(
        "trap 'echo x >> {0}' INT; touch {0}; until [ $(wc -l < {0}) -ge 2 ]; do sleep 0.02; done; echo > file",
        heard.display()
    );
    let mut child = on_terminal(&ground, &script, || screen.line());
    let times = || std::fs::read_to_string(&heard).ok().map(|text| text.lines().count());
    until("it works", || times() == Some(0));
    screen.press(b"\x03");
    until("it has heard it", || times() == Some(1));
    screen.press(b"\x03");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(ground.landed(), ["Goes on"]);
    ground.assert_nothing_left();
}

#[test]
fn a_closed_terminal_ends_the_command_and_gives_the_issue_back() {
    if !has("setsid") {
        return;
    }
    let ground = Ground::new();
    let id = ground.bench.issue("Closed");
    let begun = ground.bench.root().join("begun");
    let (screen, line) = terminal(100);
    let script = format!("trap '' HUP; setsid sleep 1000 & touch {}; sleep 1000", begun.display());
    let mut child = on_terminal(&ground, &script, || line.try_clone().unwrap().into());
    drop(line);
    until("it works", || begun.exists());
    drop(screen);
    child.wait().unwrap();
    until("everything of it is gone", || ground.alive().is_empty());
    assert!(ground.is_offered(&id) && ground.bench.leases().is_empty());
    ground.assert_nothing_left();
}
