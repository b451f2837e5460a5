//! The director: sets the stage, has the pool begin, kills one run and puts another to sleep at the worst moment, and has
//! the log and the main branch judged at the end.

use std::path::PathBuf;

use holdfast_door::{Clean, Colour};
use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::{LockMode, Open, Sys, os};
use holdfast_tracker::Session;
use schemars::JsonSchema;
use serde::Serialize;

use super::audit::{Audit, Story};
use super::ground::Ground;
use super::{TTL_SECS, WORKERS};
use crate::commands::dispatch::{Happening, Plan, Pool, Watcher, colour, word};
use crate::commands::run::{Outcome, Ran};
use crate::context::Context;
use crate::output::Report;
use crate::output::lanes::Lanes;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::Result;
use holdfast_tracker::queries::Filter;

/// What a worker does for an issue. It takes a while, so that something can happen meanwhile.
const WORK: &str = "sleep 0.5; printf '%s\\n' \"$JIT_ISSUE_TITLE\" > \"$JIT_ISSUE_HANDLE.txt\"";

/// The claims after which a run is put to sleep, and another one is killed.
const ASLEEP_AT: usize = 3;
const KILLED_AT: usize = 6;

/// How long it takes a process at most to stop; how often it is looked whether it is in the way, and put to sleep anew.
const STOPPED: Millis = Millis::new(10);
const LOOKS: u32 = 50;
const MOST_TRIES: u32 = 100;

/// How the demonstration ended, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DemoOutput {
    /// How it ended.
    pub demo: Verdict,
}

/// How the demonstration ended.
#[derive(Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether nothing was lost and nothing was done twice.
    pub ok: bool,
    /// What happened to each issue.
    pub issues: Vec<Story>,
    /// What landed on the main branch, the newest first.
    pub landed: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
    /// Whether the worker that slept could not land anything any more.
    pub late_write_refused: bool,
    /// Where the repository is, if it is kept.
    pub repository: Option<String>,
}

/// Shows it.
///
/// # Errors
/// When the stage cannot be set, or the pool fails.
pub(super) fn run(context: &Context, keep: bool) -> Result<Report> {
    let ground = Ground::new(context, keep)?;
    let issues = ground.issues()?;
    let say = |text: &str| context.printer.live(text);
    say(&format!("A repository in {} with {} issues.", ground.path("main").display(), issues.len()));
    say("A pool of four workers takes one issue after the other, each in a worktree");
    say("of its own, and lands a small change for each on main. Claims last two");
    say("seconds unless renewed. One worker is put to sleep, one is killed.\n");
    let inside = ground.context()?;
    let session = Session::open(&inside.caller)?;
    let names = (1..=WORKERS).map(|number| format!("demo-{number}")).collect();
    let lanes = Lanes::new(context.printer, context.caller.sys.clock.now()?, names);
    let gate = Gate { sys: session.sys().clone(), lock: session.control().join("locks/claims.lock") };
    let mut play = Play { lanes, gate, claims: 0, asleep: None, killed: false, refused: false, woken: false };
    Pool::new(&session, plan(&ground))?.run(&mut play)?;
    let landed = ground.landed()?;
    let mut audit = Audit::of(&ground, &issues)?;
    audit.compare(&landed);
    let ok = audit.problems.is_empty() && play.refused && play.killed;
    let verdict = if ok { "nothing was lost, nothing was done twice" } else { "this is not as it should be" };
    let path = keep.then(|| ground.path("main"));
    let mut text = Clean::from("\n") + audit.text() + "\ngit log main:\n";
    for line in &landed {
        text += format!("  {line}\n");
    }
    text += format!("\n{verdict}\n");
    if let Some(path) = &path {
        text += format!("the repository is kept: cd {}\n", path.display());
    }
    let demo = Verdict {
        ok,
        issues: audit.stories,
        landed,
        problems: audit.problems,
        late_write_refused: play.refused,
        repository: path.map(|path| path.to_string_lossy().into_owned()),
    };
    let exit = if ok { Exit::Ok } else { Exit::Problems };
    Ok(Report::new(text, &DemoOutput { demo }).brief(verdict).exit(exit))
}

fn plan(ground: &Ground) -> Plan {
    Plan {
        name: "demo".to_owned(),
        workers: WORKERS,
        filter: Filter::default(),
        filters: vec![format!("--ttl={TTL_SECS}").into()],
        attempts: 3,
        span: None,
        drain: true,
        stdin: false,
        words: ["sh", "-c", WORK].map(Into::into).to_vec(),
        variables: ground.variables(),
    }
}

/// What happens on the stage.
struct Play {
    lanes: Lanes,
    gate: Gate,
    claims: usize,
    /// The worker that sleeps, its run and the issue that it has.
    asleep: Option<(usize, u32, String)>,
    woken: bool,
    killed: bool,
    refused: bool,
}

impl Watcher for Play {
    fn see(&mut self, now: &Stamp, lane: usize, what: &Happening<'_>) {
        match what {
            Happening::Claimed(ran, pid) => self.claimed(now, lane, ran, *pid),
            Happening::Ended(ran) => self.ended(now, lane, ran),
            Happening::Trouble(why) => {
                self.lanes.draw(now, lane, Colour::Red, "starts anew", &format!(": {why}"))
            }
            Happening::Ending | Happening::Stopping | Happening::Waiting => {}
        }
    }
}

impl Play {
    fn claimed(&mut self, now: &Stamp, lane: usize, ran: &Ran, run: u32) {
        let more = format!(": {}", ran.title);
        let text = format!("claims {} (fence {})", ran.handle, ran.fence);
        self.lanes.draw(now, lane, Colour::Yellow, &text, &more);
        self.claims += 1;
        let is_asleep = self.asleep.as_ref().is_some_and(|(sleeper, ..)| *sleeper == lane);
        if self.asleep.is_none() && self.claims >= ASLEEP_AT {
            self.gate.put_to_sleep(run);
            self.asleep = Some((lane, run, ran.id.clone()));
            self.lanes.draw(now, lane, Colour::Red, "put to sleep (STOP)", "");
        } else if !self.killed && !is_asleep && self.claims >= KILLED_AT {
            os::kill(run);
            self.killed = true;
            self.lanes.draw(now, lane, Colour::Red, "killed (kill -9)", "");
        }
    }

    fn ended(&mut self, now: &Stamp, lane: usize, ran: &Ran) {
        let because = ran.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let text = format!("{} {}", word(ran.outcome), ran.handle);
        self.lanes.draw(now, lane, colour(ran.outcome), &text, &because);
        let Some((sleeper, run, issue)) = &self.asleep else { return };
        if lane == *sleeper {
            self.refused |= ran.outcome == Outcome::Lost && ran.id == *issue;
        } else if ran.id == *issue && !self.woken {
            os::pause_all(*run, false);
            self.woken = true;
            self.lanes.draw(now, *sleeper, Colour::Red, "wakes up (CONT)", "");
        }
    }
}

/// The lock of the claims. Whoever is stopped while it has that one keeps everybody out, and the play is about claims.
struct Gate {
    sys: Sys,
    lock: PathBuf,
}

impl Gate {
    /// Has a run stand still where it is in nobody's way.
    fn put_to_sleep(&self, run: u32) {
        for _ in 0..MOST_TRIES {
            os::pause_all(run, true);
            // Everybody of it has come to a stop by then.
            self.sys.clock.sleep(STOPPED);
            if self.is_open() {
                return;
            }
            os::pause_all(run, false);
            self.sys.clock.sleep(STOPPED);
        }
    }

    /// Whether somebody else can have the lock. The others have it for a moment only.
    fn is_open(&self) -> bool {
        (0..LOOKS).any(|_| {
            let handle = self.sys.files.open(&self.lock, Open::Read);
            let is_free = handle.and_then(|handle| handle.try_lock(LockMode::Exclusive)).unwrap_or(false);
            if !is_free {
                self.sys.clock.sleep(STOPPED);
            }
            is_free
        })
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        if let Some((_, run, _)) = self.asleep.as_ref().filter(|_| !self.woken) {
            // Whoever is still there has nobody to play for.
            os::pause_all(*run, false);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "this test starts a process to put it to sleep")]
mod tests {
    use std::process::Command;

    use super::*;

    /// A process that has the lock half of the time is stopped in the other half.
    #[test]
    fn nobody_is_put_to_sleep_with_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("claims.lock");
        std::fs::write(&lock, "").unwrap();
        let gate = Gate { sys: Sys::os(), lock: lock.clone() };
        let script = "while :; do flock \"$0\" sleep 0.05; sleep 0.05; done";
        let mut child = Command::new("sh").args(["-c", script]).arg(&lock).spawn().unwrap();
        for _ in 0..8 {
            gate.put_to_sleep(child.id());
            let free = gate.is_open();
            os::pause_all(child.id(), false);
            gate.sys.clock.sleep(Millis::new(35));
            assert!(free, "whoever sleeps keeps everybody out");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
