//! Running the command of a gate: for a limited time, with all that it starts, and keeping the end of what it
//! writes. However it ends, nothing that it started in its own group is left running.
#![expect(clippy::disallowed_methods, reason = "a gate's command is a process of the door's")]

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::{Sys, os};

use crate::error::Result;
use crate::wait::Waits;

/// How much of what a command writes is kept: the end of it.
const KEPT: usize = 16 << 10;

/// How often the command is looked at.
const PACE: Millis = Millis::new(10);

/// How long the last words of a command are waited for. A process that left the group may keep the pipe open
/// for ever.
const LAST_WORDS: u32 = 50;

/// A command to be run.
pub struct Run<'a> {
    /// The machine.
    pub sys: &'a Sys,
    /// The command, for `sh`.
    pub command: &'a str,
    /// Where it is run.
    pub directory: &'a Path,
    /// What it finds in its environment besides.
    pub variables: &'a [(&'a str, &'a str)],
    /// How long it may take.
    pub limit: Millis,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Its exit code; none if it was stopped.
    pub code: Option<i32>,
    /// Whether it took too long.
    pub timed_out: bool,
    /// The end of what it wrote, to both outputs.
    pub output: String,
}

impl Outcome {
    /// Whether it said yes.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.code == Some(0)
    }
}

/// The end of what is written.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    dropped: bool,
}

impl Tail {
    fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        if let Some(over) = self.bytes.len().checked_sub(KEPT).filter(|over| *over > 0) {
            self.bytes.drain(..over);
            self.dropped = true;
        }
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.dropped { format!("…{text}") } else { text.into_owned() }
    }
}

impl Run<'_> {
    /// Runs the command to its end, or until its time is up.
    ///
    /// # Errors
    /// When it cannot be started, or a signal asks this program to end.
    pub fn run(&self, patience: &dyn Waits) -> Result<Outcome> {
        let (mut child, tail, reader) = self.start()?;
        let ended = self.watch(child.id(), patience);
        // Also what it left in the background.
        let _ = os::kill_group(child.id());
        let code = child.wait().ok().and_then(|status| status.code());
        for _ in 0..LAST_WORDS {
            if reader.is_finished() {
                break;
            }
            patience.wait(PACE)?;
        }
        let timed_out = ended?;
        let output = tail.lock().unwrap_or_else(PoisonError::into_inner).text();
        Ok(Outcome { code: code.filter(|_| !timed_out), timed_out, output })
    }

    fn start(&self) -> Result<(Child, Arc<Mutex<Tail>>, JoinHandle<()>)> {
        let failed = |error| holdfast_sys::Error::new("start", Path::new(self.command), error);
        let (mut output, end) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new("sh");
        command.args(["-c", self.command]).current_dir(self.directory).stdin(Stdio::null());
        command.stdout(end.try_clone().map_err(failed)?).stderr(end).process_group(0);
        command.envs(self.variables.iter().copied());
        let child = command.spawn().map_err(failed)?;
        // It holds this side's ends of the pipe, which would then never close.
        drop(command);
        let tail = Arc::new(Mutex::new(Tail::default()));
        let written = Arc::clone(&tail);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(got @ 1..) = output.read(&mut buffer) {
                let piece = buffer.get(..got).unwrap_or_default();
                written.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
            }
        });
        Ok((child, tail, reader))
    }

    /// Waits for the end; true if the time was up first.
    fn watch(&self, child: u32, patience: &dyn Waits) -> Result<bool> {
        let start = self.sys.clock.now()?;
        loop {
            // Reaping it here would free its number, and the group that is killed next might be another.
            if os::has_ended(child)? {
                return Ok(false);
            }
            if self.is_over(&start)? {
                return Ok(true);
            }
            patience.wait(PACE)?;
        }
    }

    fn is_over(&self, start: &Stamp) -> Result<bool> {
        Ok(self.sys.clock.now()?.since(start).forward() >= self.limit)
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::Millis;
    use holdfast_sys::Sys;

    use super::{KEPT, Outcome, Run};
    use crate::error::Result;
    use crate::wait::Waits;

    /// Waits without listening to anybody.
    struct Plainly<'a>(&'a Sys);

    impl Waits for Plainly<'_> {
        fn wait(&self, span: Millis) -> Result<()> {
            self.0.clock.sleep(span);
            Ok(())
        }
    }

    fn run(command: &str, limit: u64) -> Outcome {
        let (sys, directory) = (Sys::os(), std::env::temp_dir());
        let limit = Millis::new(limit);
        Run { sys: &sys, command, directory: &directory, variables: &[("JIT_GATE", "g")], limit }
            .run(&Plainly(&sys))
            .unwrap()
    }

    #[test]
    fn the_exit_decides_and_both_outputs_are_kept() {
        let said = run("echo out; echo \"$JIT_GATE\" >&2; exit 3", 60_000);
        assert_eq!(said, Outcome { code: Some(3), timed_out: false, output: "out\ng\n".into() });
        assert!(run("true", 60_000).passed());
    }

    #[test]
    fn of_much_output_the_end_is_kept() {
        let said = run("yes | head -c 1000000; echo the end", 60_000);
        assert!(said.output.len() <= KEPT + 3 && said.output.ends_with("the end\n"));
    }

    /// Whether a process is gone or only waits to be reaped.
    fn is_dead(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(')')
            .next()
            .is_none_or(|rest| matches!(rest.trim().chars().next(), None | Some('Z' | 'X')))
    }

    #[test]
    fn what_takes_too_long_is_stopped_with_all_that_it_started() {
        // A machine under load may not even begin within the time.
        let limits = (0..8).map(|n| 250 << n);
        let said = limits.map(|limit| run("echo $$; sleep 1000 & echo $!; sleep 1000", limit));
        let said = said.into_iter().find(|said| said.output.lines().count() == 2).unwrap();
        assert_eq!((said.code, said.timed_out), (None, true));
        let pids: Vec<_> = said.output.lines().collect();
        for _ in 0..6_000 {
            if pids.iter().all(|pid| is_dead(pid)) {
                return;
            }
            Sys::os().clock.sleep(Millis::new(10));
        }
        panic!("{pids:?} live on");
    }

    #[test]
    fn a_program_left_in_the_background_does_not_keep_it_waiting() {
        let said = run("sleep 1000 & echo done", 60_000);
        assert_eq!((said.code, said.output.as_str()), (Some(0), "done\n"));
    }
}
