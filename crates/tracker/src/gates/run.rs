//! Running the command of a gate: for a limited time, with all that it starts, and keeping the end of what it
//! writes. However it ends, nothing that it started in its own group is left running.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_sys::command::{Failure, Group, How, Leftovers, OnSignal, Stopped, Supervisor, command};

use crate::error::{Error, Result};

/// How much of what a command writes is kept: the end of it.
const KEPT: usize = 16 << 10;

/// How long a command has to end once its time is up.
const GRACE: Millis = Millis::from_secs(1);

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

impl Run<'_> {
    /// Runs the command to its end, or until its time is up.
    ///
    /// # Errors
    /// When it cannot be started, or a signal asks this program to end.
    pub fn run(&self) -> Result<Outcome> {
        let mut supervisor = Supervisor::listen()?;
        let words: [OsString; 3] = ["sh".into(), "-c".into(), self.command.into()];
        let failed = |why| holdfast_sys::Error::new("start", Path::new(self.command), why);
        let mut command = command(&words).ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        command.current_dir(self.directory).stdin(Stdio::null()).envs(self.variables.iter().copied());
        let how = How {
            group: Group::Own,
            on_signal: OnSignal::End,
            leftovers: Leftovers::Kill,
            limit: Some(self.limit),
            grace: GRACE,
            kept: Some(KEPT),
        };
        let ended = supervisor.run(self.sys, command, how).map_err(|failure| match failure {
            Failure::NotStarted { why, .. } => failed(why).into(),
            Failure::Interrupted(signal) => Error::Interrupted(signal),
            Failure::Sys(error) => error.into(),
        })?;
        let timed_out = match ended.stopped {
            Some(Stopped::Signal(signal)) => return Err(Error::Interrupted(signal)),
            Some(Stopped::TimedOut | Stopped::Asked) => true,
            None => false,
        };
        let code = ended.status.code().filter(|_| !timed_out);
        Ok(Outcome { code, timed_out, output: ended.output })
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::Millis;
    use holdfast_sys::Sys;

    use super::{KEPT, Outcome, Run};

    fn run(command: &str, limit: u64) -> Outcome {
        let (sys, directory) = (Sys::os(), std::env::temp_dir());
        let limit = Millis::new(limit);
        Run { sys: &sys, command, directory: &directory, variables: &[("JIT_GATE", "g")], limit }
            .run()
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
        Sys::os().processes.find(pid.parse().unwrap()).is_err()
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
