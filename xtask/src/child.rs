//! Starting other programs: what they print is shown as it comes and kept to be read afterwards. None of
//! them gets an input, so that none waits for one.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::compiler;

/// A program that is about to be started.
pub(crate) struct Child {
    command: Command,
    show: bool,
}

/// A program that has ended.
pub(crate) struct Ended {
    /// Whether it said that all is well.
    pub(crate) ok: bool,
    /// How it ended, in words: its exit status, or the signal that it was killed by.
    pub(crate) how: String,
    /// What it printed on its standard output.
    pub(crate) out: String,
    /// What it printed on its standard error.
    pub(crate) err: String,
}

impl Child {
    /// `program` with `words`, started in `directory`.
    pub(crate) fn new(directory: &Path, program: &str, words: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(words).current_dir(directory).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, show: true }
    }

    /// The cargo that started this program.
    pub(crate) fn cargo(directory: &Path, words: &[&str]) -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let mut child = Self::new(directory, &cargo, words);
        // Set for this process by `cargo run`: to another cargo it would mean a different package, and build scripts that
        // look at it (ring's does) would run again, with everything above them, for whoever started cargo by hand.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_about_a_package) {
                child.command.env_remove(name);
            }
        }
        // Nothing here is compiled twice; what incremental builds keep for the next time is gigabytes.
        child.command.env("CARGO_INCREMENTAL", "0");
        child
    }

    /// The same, for what is built to be tested: clippy compiles it (see [`crate::compiler`]), so that what is checked is not
    /// compiled once more. It optimises a little less, so nothing that is measured or shipped is built in this way.
    pub(crate) fn linting_cargo(directory: &Path, words: &[&str]) -> Self {
        Self::cargo(directory, words).linting()
    }

    /// Has whatever it builds be built in the way that [`Child::linting_cargo`] builds it, so that it need not be again.
    pub(crate) fn linting(self) -> Self {
        // Cargo remembers what clippy was told by the environment, so it has to be in that of cargo itself.
        self.env("RUSTC_WORKSPACE_WRAPPER", compiler::name())
            .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")
    }

    /// With a variable in its environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Without a variable that this program was given.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Without showing what it prints.
    pub(crate) const fn quiet(mut self) -> Self {
        self.show = false;
        self
    }

    /// Runs it to its end on the terminal that this program was given. A program that cannot be started has failed.
    pub(crate) fn hand_over(mut self) -> bool {
        self.command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
        match self.command.status() {
            Ok(status) => status.success(),
            Err(why) => {
                eprintln!("cannot start {}: {why}", self.command.get_program().display());
                false
            }
        }
    }

    /// Runs it to its end. A program that cannot be started has failed, and says why on its error output.
    pub(crate) fn run(mut self) -> Ended {
        let mut child = match self.command.spawn() {
            Ok(child) => child,
            Err(why) => {
                let err = format!("cannot start {}: {why}\n", self.command.get_program().display());
                return Ended { ok: false, how: "was not started".into(), out: String::new(), err };
            }
        };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let live = self.show && !is_kept();
        let (out, err) = std::thread::scope(|scope| {
            let out = scope.spawn(move || out.map(|from| copy(from, live.then(std::io::stdout))));
            let err = scope.spawn(move || err.map(|from| copy(from, live.then(std::io::stderr))));
            (out.join().ok().flatten().unwrap_or_default(), err.join().ok().flatten().unwrap_or_default())
        });
        if self.show {
            keep(&out);
            keep(&err);
        }
        match child.wait() {
            Ok(status) => Ended { ok: status.success(), how: status.to_string(), out, err },
            Err(why) => Ended { ok: false, how: why.to_string(), out, err },
        }
    }
}

/// Whether cargo tells a program of the package that it belongs to by a variable of this name.
fn is_about_a_package(name: &str) -> bool {
    name == "OUT_DIR" || ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
}

thread_local! {
    /// What a thread has to say that runs beside another one, until its step has ended.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From here on this thread keeps what it says until [`show_kept`]: two at once on one terminal help nobody.
pub(crate) fn keep_output() {
    KEPT.set(Some(String::new()));
}

/// Shows what this thread has kept.
pub(crate) fn show_kept() {
    KEPT.with_borrow_mut(|kept| {
        if let Some(text) = kept {
            print!("{text}");
            text.clear();
        }
    });
}

/// Says a line, now or with what is kept.
pub(crate) fn say(line: &str) {
    if is_kept() {
        keep(line);
        keep("\n");
    } else {
        println!("{line}");
    }
}

fn is_kept() -> bool {
    KEPT.with_borrow(Option::is_some)
}

fn keep(text: &str) {
    KEPT.with_borrow_mut(|kept| {
        if let Some(kept) = kept {
            kept.push_str(text);
        }
    });
}

/// Reads to the end, showing each piece as it comes. What is not UTF-8 is kept readable.
fn copy(mut from: impl Read, mut to: Option<impl Write>) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(got) = from.read(&mut piece) {
        let Some(piece) = piece.get(..got).filter(|piece| !piece.is_empty()) else { break };
        kept.extend_from_slice(piece);
        if let Some(to) = &mut to {
            // A closed terminal must not end the run: the result still counts.
            let _ = to.write_all(piece).and_then(|()| to.flush());
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Whether a program can be started.
pub(crate) fn is_there(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_and_the_verdict_are_kept() {
        let ended = Child::new(Path::new("."), "sh", &["-c", "echo out; echo err >&2; exit 3"]).quiet().run();
        assert_eq!((ended.ok, ended.out.as_str(), ended.err.as_str()), (false, "out\n", "err\n"));
        assert_eq!(ended.how, "exit status: 3");
    }

    #[test]
    fn another_cargo_is_told_nothing_of_the_package_of_this_one() {
        let told = ["CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR", "CARGO_MANIFEST_DIR"];
        assert!(
            told.iter().all(|name| std::env::var_os(name).is_some()),
            "cargo tells tests what it tells programs"
        );
        let child = Child::cargo(Path::new("."), &["--version"]);
        for name in told {
            assert!(child.command.get_envs().any(|set| set == (name.as_ref(), None)), "{name}");
        }
        assert!(
            !child.command.get_envs().any(|(name, _)| name == "PATH"),
            "everything else is left as it is"
        );
    }

    #[test]
    fn a_program_that_is_killed_says_by_what() {
        let ended = Child::new(Path::new("."), "sh", &["-c", "kill -9 $$"]).quiet().run();
        assert!(!ended.ok && ended.how.contains("signal: 9"), "{}", ended.how);
    }

    #[test]
    fn a_program_that_is_not_there_fails_and_is_named() {
        let ended = Child::new(Path::new("."), "no-such-program", &[]).quiet().run();
        assert!(!ended.ok && ended.err.contains("no-such-program"), "{}", ended.err);
        assert!(is_there("sh") && !is_there("no-such-program"));
    }
}
