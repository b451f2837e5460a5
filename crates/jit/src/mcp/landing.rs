//! Landings that go on while their callers come and go: each is a process of its own, started once for an issue, so that
//! neither a client that gives up nor one that asks again disturbs it.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::Sys;
use holdfast_tracker::times::rfc3339;
use serde_json::{Value, json};

use super::lock::locked;
use super::message::{Request, progress};
use super::outcome;
use super::outlet::Outlet;
use crate::context::Context;

/// How often a client is told how far a landing is.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// More than a landing has to say.
const LONGEST: u64 = 1 << 20;

/// The worktree and the issue of a landing.
pub(super) type Key = (PathBuf, String);

/// What is landing.
pub(super) struct Landings {
    patience: Millis,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    jobs: BTreeMap<Key, Job>,
    waiting: usize,
    closed: bool,
}

/// One landing.
struct Job {
    since: String,
    stage: String,
    ended: Option<Ended>,
}

/// What a landing said in the end.
#[derive(Clone)]
struct Ended {
    is_ok: bool,
    document: Value,
}

/// A call that waits for a landing.
pub(super) struct Landing {
    key: Key,
    state: Arc<(Mutex<State>, Condvar)>,
    patience: Millis,
}

impl Landings {
    /// Nothing; whoever waits is answered within this time.
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            patience: Millis::new(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX)),
            state: Arc::default(),
        }
    }

    /// The landing in a worktree, of an issue if one is meant.
    pub(super) fn find(&self, root: &PathBuf, issue: Option<&str>) -> Option<Key> {
        let state = locked(&self.state.0);
        let mut keys = state.jobs.keys();
        keys.find(|(at, id)| at == root && issue.is_none_or(|issue| id == issue)).cloned()
    }

    /// The issues that land at the moment.
    pub(super) fn under_way(&self) -> Vec<String> {
        let state = locked(&self.state.0);
        state.jobs.iter().filter(|(_, job)| job.ended.is_none()).map(|((_, id), _)| id.clone()).collect()
    }

    /// Waits for a landing that there is.
    pub(super) fn join(&self, key: Key) -> Landing {
        locked(&self.state.0).waiting += 1;
        Landing { key, state: Arc::clone(&self.state), patience: self.patience }
    }

    /// Starts a landing.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub(super) fn start(&self, context: &Context, key: &Key, arguments: &[String]) -> std::io::Result<()> {
        let child = spawn(context, arguments)?;
        let now = context.caller.sys.clock.now().map_err(|error| error.source)?;
        let job = Job { since: rfc3339(&now), stage: "landing".to_owned(), ended: None };
        locked(&self.state.0).jobs.insert(key.clone(), job);
        let (state, key) = (Arc::clone(&self.state), key.clone());
        std::thread::spawn(move || follow(child, &state, &key));
        Ok(())
    }

    /// Has everybody look again.
    pub(super) fn wake(&self) {
        self.state.1.notify_all();
    }

    /// Nobody waits any longer.
    pub(super) fn close(&self) {
        locked(&self.state.0).closed = true;
        self.wake();
    }

    /// Returns when everybody who waited is answered.
    pub(super) fn leave(&self) {
        let state = locked(&self.state.0);
        let _left = self.state.1.wait_while(state, |state| state.waiting > 0);
    }
}

impl Landing {
    /// Waits, tells of progress, and answers.
    pub(super) fn wait(self, sys: &Sys, outlet: &Outlet, request: &Request) {
        let token = request.progress_token();
        let clock = &sys.clock;
        let begun = clock.now().ok();
        let is_over = |begun: &Option<Stamp>| match (begun, clock.now()) {
            (Some(begun), Ok(now)) => now.since(begun).forward() >= self.patience,
            _ => true,
        };
        let mut told = 0;
        let mut state = locked(&self.state.0);
        let result = loop {
            let closed = state.closed;
            let Some(job) = state.jobs.get(&self.key) else { break outcome::lost() };
            if let Some(ended) = job.ended.clone() {
                state.jobs.remove(&self.key);
                break outcome::finished(ended.is_ok, &ended.document);
            }
            if closed || is_over(&begun) || outlet.is_cancelled(request) {
                break outcome::running(&self.key.1, &job.stage, &job.since);
            }
            if let Some(token) = &token {
                told += 1;
                outlet.send(&progress(token, told, &job.stage));
            }
            let wait = TOLD_EVERY.min(Duration::from_millis(self.patience.get()));
            state = match self.state.1.wait_timeout(state, wait) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        };
        drop(state);
        outlet.conclude(request, &request.answer(result));
        locked(&self.state.0).waiting -= 1;
        self.state.1.notify_all();
    }
}

#[expect(clippy::disallowed_methods, reason = "a landing outlives whoever asked for it")]
fn spawn(context: &Context, arguments: &[String]) -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.arg("-C").arg(&context.caller.start);
    if let Some(agent) = &context.caller.agent {
        command.arg("--agent-id").arg(agent);
    }
    if let Some(keeper) = &context.keeper {
        command.env("JIT_KEEPER_PID", keeper);
    }
    command
        .arg("--json")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A signal to the client's foreground job is not meant for it.
        .process_group(0)
        .spawn()
}

/// Hears a landing to its end.
fn follow(mut child: Child, (state, woken): &(Mutex<State>, Condvar), key: &Key) {
    let mut said = String::new();
    std::thread::scope(|scope| {
        if let Some(notes) = child.stderr.take() {
            scope.spawn(move || {
                for line in BufReader::new(notes).lines().map_while(Result::ok) {
                    if let (Some(note), Some(job)) =
                        (line.strip_prefix("note: "), locked(state).jobs.get_mut(key))
                    {
                        note.clone_into(&mut job.stage);
                    }
                }
            });
        }
        if let Some(answer) = child.stdout.take() {
            let _ = answer.take(LONGEST).read_to_string(&mut said);
        }
    });
    let is_ok = child.wait().is_ok_and(|status| status.success());
    let unheard = || json!({ "error": { "code": "INTERNAL", "message": "the landing ended without an answer; call finish again" } });
    let document = serde_json::from_str(&said).unwrap_or_else(|_| unheard());
    if let Some(job) = locked(state).jobs.get_mut(key) {
        job.ended = Some(Ended { is_ok, document });
    }
    woken.notify_all();
}
