//! A repository in a temporary directory, the commands in it, and a terminal that somebody could sit at.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::{Answer, until};

/// The board.
pub(crate) const BOARD: &str = env!("CARGO_BIN_EXE_jit-board");

/// A repository that issues are tracked in.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        bench.git(&["init", "-q", "-b", "main", "repo"], bench.dir.path());
        bench.git(&["commit", "-q", "--allow-empty", "-m", "first"], &bench.repo());
        bench.jit(&["init"]).ok();
        bench
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn dressed(&self, command: Command) -> Command {
        holdfast_trial::dressed(command, self.dir.path())
    }

    pub(crate) fn git(&self, args: &[&str], at: &Path) {
        let done = self.dressed(Command::new("git")).args(args).current_dir(at).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// A command of `jit`, which is built with the board.
    pub(crate) fn run_at(&self, agent: &str, args: &[&str], at: &Path) -> Answer {
        let jit = Path::new(BOARD).with_file_name("jit");
        assert!(jit.is_file(), "cargo build -p holdfast-jit first");
        let mut command = self.dressed(Command::new(jit));
        command.args(args).current_dir(at).env("JIT_AGENT_ID", agent);
        Answer::from(command.output().unwrap())
    }

    pub(crate) fn jit(&self, args: &[&str]) -> Answer {
        self.run_at("agent:a", args, &self.repo())
    }

    pub(crate) fn issue(&self, title: &str) -> String {
        self.jit(&["-q", "issue", "create", "--title", title]).ok().stdout.trim().to_owned()
    }

    pub(crate) fn worktree(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        self.git(&["worktree", "add", "-q", path.to_str().unwrap()], &self.repo());
        path
    }

    /// Files of issues as the tracker has them, written at once: a command for each would take minutes.
    pub(crate) fn many(&self, count: usize) {
        for number in 0..count {
            let id = format!("01J0000000{number:06}0000000000");
            let folder = self.repo().join(".jit/issues").join(&id);
            std::fs::create_dir_all(&folder).unwrap();
            let at = format!("2026-01-01T00:00:00.{:03}Z", number % 1_000);
            let issue = serde_json::json!({
                "id": id, "title": format!("Tree number {number}"), "type": "task", "state": "ready",
                "priority": "normal", "created_at": at, "updated_at": at,
            });
            std::fs::write(folder.join("issue.json"), format!("{issue}\n")).unwrap();
        }
    }

    /// A terminal with a shell in it that runs these lines.
    pub(crate) fn terminal(&self, columns: u16, rows: u16, script: &str) -> Terminal {
        let socket = self.dir.path().join("tmux");
        let file = self.dir.path().join("script.sh");
        std::fs::write(&file, script).unwrap();
        let terminal = Terminal { socket, home: self.dir.path().to_owned() };
        let (x, y) = (columns.to_string(), rows.to_string());
        let shell = format!("exec sh {}", file.display());
        let mut command = terminal.command(&["new-session", "-d", "-x", &x, "-y", &y, "-c"]);
        command.arg(self.repo()).arg(shell).env("JIT_AGENT_ID", "agent:b").env("BOARD", BOARD);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        terminal
    }

    /// A terminal with a board in it.
    pub(crate) fn board(&self, columns: u16, rows: u16) -> Terminal {
        self.terminal(columns, rows, "\"$BOARD\"\n")
    }
}

/// A terminal of tmux, which ends with this.
pub(crate) struct Terminal {
    socket: PathBuf,
    home: PathBuf,
}

impl Terminal {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = holdfast_trial::dressed(Command::new("tmux"), &self.home);
        command.args(["-u", "-f", "/dev/null", "-S"]).arg(&self.socket).args(args);
        command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
        command
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let done = self.command(args).output().unwrap();
        assert!(done.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// What is on the screen.
    pub(crate) fn seen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The same, with its colours.
    pub(crate) fn painted(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    pub(crate) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// What a mouse sends that is clicked there, counted from 0; 64 and 65 are its wheel.
    pub(crate) fn mouse(&self, button: u16, column: usize, row: usize) {
        let (x, y) = (column + 1, row + 1);
        self.types(&format!("\x1b[<{button};{x};{y}M"));
        if button < 64 {
            self.types(&format!("\x1b[<{button};{x};{y}m"));
        }
    }

    /// Waits until something is seen.
    pub(crate) fn until(&self, wanted: &str) -> String {
        self.until_that(wanted, |seen| seen.contains(wanted))
    }

    pub(crate) fn until_that(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let mut seen = String::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || {
                seen = self.seen();
                holds(&seen)
            });
        }));
        assert!(result.is_ok(), "waited in vain for {what:?}; the screen:\n{seen}");
        seen
    }

    /// Where a text is on the screen: column and row.
    pub(crate) fn find(&self, text: &str) -> (usize, usize) {
        let seen = self.until(text);
        let row = seen.lines().position(|line| line.contains(text)).unwrap();
        let line = seen.lines().nth(row).unwrap();
        (line[..line.find(text).unwrap()].chars().count(), row)
    }

    /// What the terminal says about itself.
    pub(crate) fn flags(&self) -> String {
        self.tmux(&["display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"])
            .trim()
            .to_owned()
    }

    /// Whether everything in it has ended.
    pub(crate) fn is_gone(&self) -> bool {
        !self.command(&["has-session"]).output().unwrap().status.success()
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.command(&["kill-server"]).output();
    }
}
