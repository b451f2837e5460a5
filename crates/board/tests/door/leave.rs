//! However it ends, the terminal is as it was.

use holdfast_board::screen::Screen;
use holdfast_trial::until;

use crate::bench::{Bench, Terminal};

/// What the shell says before and after.
const AROUND: &str = "echo before; stty -a > modes-before; echo $$ > shell; COMMAND; code=$?; \
                      stty -a > modes-after; echo \"after $code\"; exec cat\n";

fn around(bench: &Bench, command: &str) -> Terminal {
    bench.terminal(80, 24, &AROUND.replace("COMMAND", command))
}

/// The screen, the modes and the cursor are those of before, and the shell was told how it ended.
fn is_as_it_was(bench: &Bench, terminal: &Terminal, code: i32) {
    let seen = terminal.until(&format!("after {code}"));
    assert!(seen.trim_start().starts_with("before"), "{seen}");
    assert!(!seen.contains("At work"), "{seen}");
    assert_eq!(terminal.flags(), "0 0 1", "the other screen, the mouse, the cursor");
    let modes = |name: &str| std::fs::read_to_string(bench.repo().join(name)).unwrap();
    assert_eq!(modes("modes-before"), modes("modes-after"));
}

/// The process of the board.
fn board(bench: &Bench) -> u32 {
    let shell = std::fs::read_to_string(bench.repo().join("shell")).unwrap();
    let path = format!("/proc/{0}/task/{0}/children", shell.trim());
    let children = std::fs::read_to_string(path).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

fn signal(pid: u32, name: &str) {
    let done =
        std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn whoever_quits_finds_the_terminal_as_it_was() {
    for key in ["q", "C-c"] {
        let bench = Bench::new();
        let terminal = around(&bench, "\"$BOARD\"");
        terminal.until("At work");
        assert_eq!(terminal.flags(), "1 1 0");
        terminal.press(&[key]);
        is_as_it_was(&bench, &terminal, 0);
    }
}

#[test]
fn a_signal_ends_it_and_leaves_the_terminal_as_it_was() {
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let bench = Bench::new();
        let terminal = around(&bench, "\"$BOARD\"");
        terminal.until("At work");
        signal(board(&bench), name);
        is_as_it_was(&bench, &terminal, 128 + number);
    }
}

/// Set for the process of the test below that panics.
const PANICS: &str = "HOLDFAST_BOARD_PANICS";

#[test]
fn a_panic_leaves_the_terminal_as_it_was_and_is_told() {
    if std::env::var_os(PANICS).is_some() {
        panic_on_the_screen();
    }
    let bench = Bench::new();
    let this = std::env::current_exe().unwrap();
    let name = "leave::a_panic_leaves_the_terminal_as_it_was_and_is_told";
    let terminal = around(&bench, &format!("{PANICS}=1 '{}' --exact {name} --nocapture", this.display()));
    is_as_it_was(&bench, &terminal, 101);
    assert!(terminal.seen().contains("something went wrong"), "{}", terminal.seen());
}

/// Another thread panics than the one that has the screen.
fn panic_on_the_screen() -> ! {
    let mut screen = Screen::take().unwrap();
    screen
        .draw(|buffer| {
            buffer.set_string(0, 0, "At work", ratatui_core::style::Style::new());
            None
        })
        .unwrap();
    let thread = std::thread::spawn(|| panic!("something went wrong"));
    assert!(thread.join().is_err());
    std::process::exit(101);
}

#[test]
fn stopped_and_continued_it_gives_the_terminal_back_and_takes_it_again() {
    let bench = Bench::new();
    bench.issue("one to see");
    let script = "set -m\necho before\necho $$ > shell\n\"$BOARD\"\nstty -a > modes-stopped\necho stopped\nread line\nfg\n\
                  echo \"after $?\"\nexec cat\n";
    for by_key in [true, false] {
        let terminal = bench.terminal(80, 24, &format!("stty -a > modes-before\n{script}"));
        terminal.until("At work");
        if by_key {
            terminal.press(&["C-z"]);
        } else {
            signal(board(&bench), "TSTP");
        }
        let seen = terminal.until("stopped");
        assert!(!seen.contains("At work"), "{seen}");
        assert_eq!(terminal.flags(), "0 0 1");
        let modes = |name: &str| std::fs::read_to_string(bench.repo().join(name)).unwrap();
        assert_eq!(modes("modes-before"), modes("modes-stopped"));
        terminal.press(&["Enter"]);
        terminal.until("At work");
        assert_eq!(terminal.flags(), "1 1 0");
        terminal.press(&["2"]);
        terminal.until("one to see");
        terminal.press(&["q"]);
        terminal.until("after 0");
        drop(terminal);
        until("the terminal has ended", || !bench.root().join("tmux").exists() || !is_listening(&bench));
    }
}

fn is_listening(bench: &Bench) -> bool {
    std::os::unix::net::UnixStream::connect(bench.root().join("tmux")).is_ok()
}
