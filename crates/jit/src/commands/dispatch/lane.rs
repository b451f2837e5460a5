//! One worker of a pool: its name, its worktree, and the run that it has under way.
#![expect(clippy::disallowed_methods, reason = "this is where a pool starts its runs")]

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::os::Waker;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::run::{self, place};
use holdfast_tracker::worktree::Entry;
use holdfast_tracker::{Session, land, worktrees};
use serde::Deserialize;

use super::pool::Plan;
use crate::commands::run::{Ran, inside};

/// More worktrees than one worker leaves behind with work in them.
const MOST_PLACES: usize = 100;

/// More than a line of ours is long.
const LONGEST_LINE: u64 = 1 << 20;

/// How long a worker rests after its first trouble; twice as long after each further one.
const FIRST_REST: Millis = Millis::new(250);
const LONGEST_REST: Millis = Millis::from_secs(60);

/// A worker that had so many troubles in a row begins nothing any more.
const MOST_TROUBLES: u32 = 6;

/// Nor does one whose command could not be started so often in a row.
const MOST_NOT_STARTED: u32 = 3;

/// What `jit run` ends with that finds nothing to do.
const NOTHING_AVAILABLE: i32 = 3;

/// What a run tells.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    /// An issue was claimed.
    Claimed(Ran),
    /// The run is over.
    Ended(Ran),
}

/// What is heard of a worker.
#[derive(Debug)]
pub(super) enum Heard {
    /// Its run tells something.
    Told(Box<Told>),
    /// Its run is about to end; these were its last words, if it had any.
    Gone(Option<String>),
}

/// One worker.
pub(super) struct Lane {
    pub(super) number: usize,
    pub(super) agent: String,
    pub(super) root: Option<PathBuf>,
    pub(super) child: Option<Child>,
    pub(super) task: Option<Ran>,
    pub(super) since_ms: u64,
    pub(super) last: Option<String>,
    /// Whether the worktree is as a landing left it.
    pub(super) is_fresh: bool,
    /// Whether the run has told what became of its issue.
    pub(super) has_told: bool,
    pub(super) troubles: u32,
    /// What its last trouble was.
    pub(super) trouble: Option<String>,
    /// How often in a row the command could not be started.
    pub(super) not_started: u32,
    rests_until: Option<(Stamp, Millis)>,
}

impl Lane {
    pub(super) fn new(pool: &str, number: usize) -> Self {
        Self {
            number,
            agent: format!("agent:{pool}-{}", number + 1),
            root: None,
            child: None,
            task: None,
            since_ms: 0,
            last: None,
            is_fresh: false,
            has_told: false,
            troubles: 0,
            trouble: None,
            not_started: 0,
            rests_until: None,
        }
    }

    /// The worker that a worktree was made for; none if that is no place of this pool. What somebody has a branch of
    /// their own in is theirs, whatever it is called.
    pub(super) fn of_place(session: &Session, pool: &str, entry: &Entry) -> Option<Self> {
        let is_ours =
            entry.branch.as_deref().is_none_or(|branch| branch == "HEAD" || branch.starts_with("jit/"));
        let name = entry.root.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let place = name.strip_prefix(pool).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
        let number = place.split('.').next().and_then(|number| number.parse::<usize>().ok());
        let number = number.filter(|number| is_ours && *number > 0)?;
        let is_there = worktrees::place(session, name).is_ok_and(|root| root == entry.root);
        is_there.then(|| Self::new(pool, number - 1))
    }

    /// Whether it could begin something now.
    pub(super) fn is_idle(&self, now: &Stamp) -> bool {
        self.child.is_none() && self.rest(now) == Millis::ZERO
    }

    /// How long it rests from now on.
    pub(super) fn rest(&self, now: &Stamp) -> Millis {
        self.rests_until.as_ref().map_or(Millis::ZERO, |(since, span)| {
            Millis::new(span.get().saturating_sub(now.since(since).forward().get()))
        })
    }

    /// Has it rest, longer each time.
    pub(super) fn trouble(&mut self, now: &Stamp) {
        self.rest_after(now, self.troubles);
        self.troubles += 1;
    }

    /// Takes note of a command that could not be started: that will not get better by trying it with every issue.
    pub(super) fn fail_to_start(&mut self, now: &Stamp) {
        self.rest_after(now, self.not_started);
        self.not_started += 1;
    }

    /// Whether a run that ended with this code was in no trouble: it told what became of its issue, or somebody else was
    /// faster, and then it rests for a moment.
    pub(super) fn is_over(&mut self, now: &Stamp, code: Option<i32>) -> bool {
        if !self.has_told && code == Some(NOTHING_AVAILABLE) {
            self.rest_after(now, 0);
            return true;
        }
        self.has_told
    }

    fn rest_after(&mut self, now: &Stamp, times: u32) {
        let span = FIRST_REST.get() << times.min(10);
        self.rests_until = Some((*now, Millis::new(span).min(LONGEST_REST)));
    }

    /// Whether it begins nothing any more.
    pub(super) const fn is_spent(&self) -> bool {
        self.troubles >= MOST_TROUBLES || self.not_started >= MOST_NOT_STARTED
    }

    /// Everything is well again.
    pub(super) const fn recover(&mut self) {
        self.troubles = 0;
        self.rests_until = None;
    }

    /// A worktree that this worker can begin in. One with work that is in no commit is left as it is, and another one is
    /// made; one with a claim of this worker is gone on with.
    pub(super) fn ground(&mut self, session: &Session, pool: &str) -> Result<PathBuf> {
        if let Some(root) = self.root.clone().filter(|_| self.is_fresh) {
            self.is_fresh = false;
            if place::is_there(session, &root)? {
                return Ok(root);
            }
        }
        for time in 1..=MOST_PLACES {
            let first = format!("{pool}-{}", self.number + 1);
            let name = if time == 1 { first } else { format!("{first}.{time}") };
            let root = worktrees::place(session, &name)?;
            if !place::is_there(session, &root)? {
                if session.sys().files.stat(&root).is_ok() {
                    continue;
                }
                let wanted = worktrees::Wanted { name, ..worktrees::Wanted::default() };
                self.root = Some(worktrees::add_detached(session, &wanted)?.root);
                return Ok(root);
            }
            let there = self.asking(session, &root)?;
            run::busy(&there)?;
            let is_held = !land::held_here(&there)?.is_empty();
            if is_held || place::clear(session, &root)? {
                self.root = Some(root.clone());
                return Ok(root);
            }
        }
        Err(Error::Usage(format!("{} has left too many worktrees with work in them", self.agent)))
    }

    /// This worker as somebody who asks, in a worktree.
    pub(super) fn asking(&self, session: &Session, root: &Path) -> Result<Session> {
        let mut caller = session.caller.clone();
        caller.typed_agent = Some(self.agent.clone().into());
        inside(&caller, root)
    }

    /// Begins a run.
    pub(super) fn start(
        &mut self,
        root: &Path,
        plan: &Plan,
        tell: Sender<(usize, Heard)>,
        waker: Waker,
    ) -> Result<()> {
        let failed = |why| Error::from(holdfast_sys::Error::new("start", Path::new("a run"), why));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.arg("-C").arg(root).args(["--agent-id", &self.agent, "--quiet", "run", "--pooled", "--log"]);
        command.args(["--attempts", &plan.attempts.to_string()]).args(&plan.filters);
        if plan.stdin {
            command.arg("--stdin");
        }
        command.arg("--").args(&plan.words);
        command.envs(plan.variables.iter().map(|(name, value)| (name, value)));
        // What the terminal sends is for the pool, which decides what it means for its runs.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let number = self.number;
        std::thread::spawn(move || {
            let last = std::thread::spawn(move || errors.and_then(last_words));
            for line in output.into_iter().flat_map(lines) {
                if let Ok(told) = serde_json::from_str(&line) {
                    let _ = tell.send((number, Heard::Told(Box::new(told))));
                    waker.wake();
                }
            }
            let last = last.join().ok().flatten();
            let _ = tell.send((number, Heard::Gone(last)));
            waker.wake();
        });
        (self.child, self.has_told) = (Some(child), false);
        Ok(())
    }
}

fn lines(pipe: impl Read) -> impl Iterator<Item = String> {
    let mut pipe = BufReader::new(pipe);
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        match pipe.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(1..) => Some(String::from_utf8_lossy(&line).trim_end().to_owned()),
            Ok(_) | Err(_) => None,
        }
    })
}

/// The first error that somebody told of, else the last line.
fn last_words(pipe: impl Read) -> Option<String> {
    let (mut error, mut last) = (None, None);
    for line in lines(pipe).filter(|line| !line.is_empty()) {
        if error.is_none() && line.starts_with("error") {
            error = Some(line.clone());
        }
        last = Some(line);
    }
    error.or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_slower_rests_and_goes_on_for_ever() {
        let now = holdfast_sys::Sys::os().clock.now().unwrap();
        let mut lane = Lane::new("pool", 0);
        for _ in 0..10 * MOST_TROUBLES {
            assert!(lane.is_over(&now, Some(NOTHING_AVAILABLE)));
            assert!(!lane.is_spent() && !lane.is_idle(&now));
        }
        for _ in 0..MOST_TROUBLES {
            assert!(!lane.is_spent() && !lane.is_over(&now, Some(1)));
            lane.trouble(&now);
        }
        assert!(lane.is_spent(), "trouble of its own ends it");
    }
}
