//! The loop of a pool: looks what can be begun, has its workers begin it, hears what becomes of it, and ends when it is
//! told to. It sleeps while nothing happens. Whatever it knows can be found out again, so it can be killed at any moment.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, Sender, channel};

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::os::{self, Signals, signal};
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::queries::Filter;
use holdfast_tracker::run::pool::{self as state, State, Task, Worker};
use holdfast_tracker::run::{self, place};
use holdfast_tracker::{Session, land, take};

use super::lane::{Heard, Lane, Told};
use crate::commands::run::{Outcome, Ran};

const ENDING: [i32; 3] = [signal::SIGINT, signal::SIGTERM, signal::SIGHUP];

/// How often it is looked whether something has changed, and how often all is looked at whatever has.
const PACE: Millis = Millis::from_secs(1);
const SELDOM: Millis = Millis::from_secs(30);

/// Whoever could not look so often in a row what can be begun gives up.
const MOST_FAILURES: u32 = 6;

/// What a pool is to do.
pub(in crate::commands) struct Plan {
    /// What it is called.
    pub(in crate::commands) name: String,
    /// How many work at once.
    pub(in crate::commands) workers: usize,
    /// Which issues are wanted.
    pub(in crate::commands) filter: Filter,
    /// The same, and the terms of claims, as `jit run` is told.
    pub(in crate::commands) filters: Vec<OsString>,
    /// How often commands may fail on an issue.
    pub(in crate::commands) attempts: u32,
    /// For how long new work is begun.
    pub(in crate::commands) span: Option<Millis>,
    /// Whether it ends when nothing is left.
    pub(in crate::commands) drain: bool,
    /// Whether commands read the briefing.
    pub(in crate::commands) stdin: bool,
    /// The command.
    pub(in crate::commands) words: Vec<OsString>,
    /// What it finds in its environment besides.
    pub(in crate::commands) variables: Vec<(OsString, OsString)>,
}

/// What happens in a pool.
pub(in crate::commands) enum Happening<'a> {
    /// A worker has begun an issue; this is the number of its run.
    Claimed(&'a Ran, u32),
    /// A worker is through with one.
    Ended(&'a Ran),
    /// A worker had a trouble that is none of the issue's.
    Trouble(&'a str),
    /// The pool begins nothing new, and waits for what is running.
    Ending,
    /// The running commands are being stopped.
    Stopping,
    /// Nothing runs, and there is nothing that could be begun.
    Waiting,
}

/// Whoever looks on.
pub(in crate::commands) trait Watcher {
    /// Something happened, to the worker with this number.
    fn see(&mut self, now: &Stamp, lane: usize, what: &Happening<'_>);

    /// How long to wait at most for the next thing to happen; then [`Watcher::tick`] is called.
    fn pace(&self) -> Option<Millis> {
        None
    }

    /// Some time has passed.
    fn tick(&mut self, now: &Stamp) {
        let _ = now;
    }
}

/// How a pool ended.
#[derive(Debug, Default)]
pub(in crate::commands) struct Summary {
    /// How many issues landed, or were finished otherwise.
    pub(in crate::commands) finished: u64,
    /// How many attempts failed.
    pub(in crate::commands) failed: u64,
    /// Issues that commands failed on too often.
    pub(in crate::commands) needs_attention: Vec<Ran>,
    /// Worktrees that stay, because something in them is in no commit.
    pub(in crate::commands) kept: Vec<String>,
    /// The signal that stopped the running commands, if one did.
    pub(in crate::commands) stopped: Option<u8>,
    /// Whether no worker could begin anything any more.
    pub(in crate::commands) stuck: Option<String>,
}

/// A pool.
pub(in crate::commands) struct Pool<'a> {
    session: &'a Session,
    plan: Plan,
    lanes: Vec<Lane>,
    signals: Signals,
    tell: Sender<(usize, Heard)>,
    heard: Receiver<(usize, Heard)>,
    started: Stamp,
    process_start: u64,
    ending: bool,
    /// Whether it was said that there is nothing to do.
    waits: bool,
    looked: Option<Stamp>,
    seen: Vec<(u64, i64)>,
    available: usize,
    again: Option<Millis>,
    /// When it could not be looked what can be begun, and how often in a row.
    failures: Option<(Stamp, u32)>,
    /// The branches that issues were begun on. Those with nothing on them that has not landed are needed by nobody.
    branches: Vec<String>,
    summary: Summary,
}

impl<'a> Pool<'a> {
    /// A pool that has begun nothing yet. From here on no signal ends this process.
    pub(in crate::commands) fn new(session: &'a Session, plan: Plan) -> Result<Self> {
        let signals = Signals::listen(&ENDING)?;
        let (tell, heard) = channel();
        let lanes = (0..plan.workers).map(|number| Lane::new(&plan.name, number)).collect();
        let started = session.sys().clock.now()?;
        let process_start = session.sys().processes.me()?.start;
        Ok(Self {
            session,
            plan,
            lanes,
            signals,
            tell,
            heard,
            started,
            process_start,
            ending: false,
            waits: false,
            looked: None,
            seen: Vec::new(),
            available: 0,
            again: None,
            failures: None,
            branches: Vec::new(),
            summary: Summary::default(),
        })
    }

    /// Works until it is told to end, or nothing is left.
    pub(in crate::commands) fn run(mut self, watcher: &mut dyn Watcher) -> Result<Summary> {
        let _alone = state::alone(self.session, &self.plan.name)?;
        run::sweep(self.session)?;
        self.keep_state();
        loop {
            let now = self.session.sys().clock.now()?;
            self.listen(&now, watcher);
            watcher.tick(&now);
            if self.plan.span.is_some_and(|span| now.since(&self.started).forward() >= span) {
                self.end(&now, watcher);
            }
            self.look_again(&now, watcher)?;
            self.begin(&now, watcher)?;
            if self.is_over() {
                break;
            }
            self.rest_if_idle(&now, watcher);
            let patience = self.patience(&now, &*watcher);
            for caught in self.signals.wait(Some(patience))? {
                if ENDING.contains(&caught.number) {
                    self.interrupt(&now, caught.number, watcher);
                }
            }
        }
        self.tidy()?;
        self.state().remove(self.session);
        Ok(self.summary)
    }

    /// The first signal lets the running ones finish, the second stops them.
    fn interrupt(&mut self, now: &Stamp, number: i32, watcher: &mut dyn Watcher) {
        if !self.ending {
            return self.end(now, watcher);
        }
        self.summary.stopped = Some(u8::try_from(number).unwrap_or(u8::MAX));
        watcher.see(now, 0, &Happening::Stopping);
        for child in self.lanes.iter().filter_map(|lane| lane.child.as_ref()) {
            os::ask_to_end(child.id());
        }
    }

    fn end(&mut self, now: &Stamp, watcher: &mut dyn Watcher) {
        if !self.ending {
            self.ending = true;
            if self.lanes.iter().any(|lane| lane.child.is_some()) {
                watcher.see(now, 0, &Happening::Ending);
            }
            self.keep_state();
        }
    }

    /// Hears what has become of what was begun.
    fn listen(&mut self, now: &Stamp, watcher: &mut dyn Watcher) {
        let mut changed = false;
        while let Ok((number, heard)) = self.heard.try_recv() {
            changed = true;
            match heard {
                Heard::Told(told) => match *told {
                    Told::Claimed(ran) => self.claimed(now, number, ran, watcher),
                    Told::Ended(ran) => self.ended(now, number, ran, watcher),
                },
                Heard::Gone(words) => self.gone(now, number, words, watcher),
            }
        }
        if changed {
            self.looked = None;
            self.keep_state();
        }
    }

    fn claimed(&mut self, now: &Stamp, number: usize, ran: Ran, watcher: &mut dyn Watcher) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        lane.since_ms = now.wall_ms();
        lane.recover();
        let pid = lane.child.as_ref().map_or(0, std::process::Child::id);
        watcher.see(now, number, &Happening::Claimed(&ran, pid));
        lane.task = Some(ran);
    }

    fn ended(&mut self, now: &Stamp, number: usize, ran: Ran, watcher: &mut dyn Watcher) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        watcher.see(now, number, &Happening::Ended(&ran));
        lane.has_told = true;
        match ran.outcome {
            Outcome::NotStarted => {
                lane.fail_to_start(now);
                lane.trouble.clone_from(&ran.reason);
            }
            _ => lane.not_started = 0,
        }
        lane.last = Some(format!("{} {}", ran.handle, super::word(ran.outcome)));
        lane.is_fresh = ran.outcome == Outcome::Landed;
        let begun = lane.task.take().and_then(|task| task.branch);
        self.branches.extend(begun.filter(|branch| branch.starts_with("jit/")));
        match ran.outcome {
            Outcome::Landed | Outcome::Done | Outcome::Gated | Outcome::Waiting => self.summary.finished += 1,
            Outcome::Dropped if ran.failed_attempts > 0 => self.summary.failed += 1,
            Outcome::Dropped | Outcome::NotStarted | Outcome::Released | Outcome::Lost | Outcome::CutOff => {}
        }
        if ran.needs_attention {
            self.summary.needs_attention.push(ran);
        }
    }

    /// A run has ended. One that never claimed anything had nothing to do, or was in trouble.
    fn gone(&mut self, now: &Stamp, number: usize, words: Option<String>, watcher: &mut dyn Watcher) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let status = lane.child.take().and_then(|mut child| child.wait().ok());
        let code = status.and_then(|status| status.code());
        lane.task = None;
        if lane.is_over(now, code) || self.ending {
            return;
        }
        let words = words.unwrap_or_else(|| "the run was killed".to_owned());
        watcher.see(now, number, &Happening::Trouble(&words));
        lane.trouble(now);
        lane.trouble = Some(words);
    }

    /// Looks what can be begun. A disk that is full for a while is no reason to leave.
    fn look_again(&mut self, now: &Stamp, watcher: &mut dyn Watcher) -> Result<()> {
        if self.rest(now) > Millis::ZERO {
            return Ok(());
        }
        match self.look(now) {
            Ok(()) => {
                self.failures = None;
                Ok(())
            }
            Err(error) => {
                let failed = self.failures.map_or(1, |(_, failed)| failed + 1);
                if failed > MOST_FAILURES {
                    return Err(error);
                }
                watcher.see(now, 0, &Happening::Trouble(&error.to_string()));
                (self.failures, self.available, self.looked) = (Some((*now, failed)), 0, None);
                Ok(())
            }
        }
    }

    /// How long it is waited until it is looked again, if that failed.
    fn rest(&self, now: &Stamp) -> Millis {
        let Some((since, failed)) = self.failures else { return Millis::ZERO };
        let span = PACE.get() << failed.saturating_sub(1);
        Millis::new(span.saturating_sub(now.since(&since).forward().get()))
    }

    /// Looks what can be begun, if something has changed.
    fn look(&mut self, now: &Stamp) -> Result<()> {
        if self.ending || !self.lanes.iter().any(|lane| lane.is_idle(now)) {
            return Ok(());
        }
        let seen = self.signature();
        let often = self.again.map_or(SELDOM, |again| again.min(SELDOM));
        let is_old = self.looked.is_none_or(|last| now.since(&last).forward() >= often);
        if is_old || seen != self.seen {
            self.available = take::available(self.session, &self.plan.filter)?.len();
            self.again = take::next_end(self.session)?;
            (self.looked, self.seen) = (Some(*now), seen);
        }
        Ok(())
    }

    /// What changes when somebody creates, finishes or fetches something. It costs a few looks at files.
    fn signature(&self) -> Vec<(u64, i64)> {
        let files = &self.session.sys().files;
        let control = self.session.control();
        let events = control.join("events");
        let mut paths: Vec<_> =
            files.list(&events).unwrap_or_default().into_iter().map(|name| events.join(name)).collect();
        paths.extend(
            ["claims.jsonl", "../refs/heads", "../packed-refs", "../FETCH_HEAD"]
                .map(|name| control.join(name)),
        );
        let stat = |path: &std::path::PathBuf| files.stat(path).map(|stat| (stat.len, stat.modified_ms));
        paths.iter().map(|path| stat(path).unwrap_or_default()).collect()
    }

    /// Has idle workers begin what can be begun. Those come first that have a claim already.
    fn begin(&mut self, now: &Stamp, watcher: &mut dyn Watcher) -> Result<()> {
        if self.ending {
            return Ok(());
        }
        let begun = self.lanes.iter().filter(|lane| lane.child.is_some() && lane.task.is_none()).count();
        let mut wanted = self.available.saturating_sub(begun);
        for lane in &mut self.lanes {
            if wanted == 0 {
                break;
            }
            if !lane.is_idle(now) || lane.is_spent() {
                continue;
            }
            wanted -= 1;
            self.available -= 1;
            if lane.troubles > 0 {
                // What was killed with its guardian may have left its worktree locked.
                run::sweep(self.session)?;
            }
            let waker = self.signals.waker()?;
            let tell = self.tell.clone();
            let started = lane
                .ground(self.session, &self.plan.name)
                .and_then(|root| lane.start(&root, &self.plan, tell, waker));
            if let Err(error) = started {
                // A run of before that is still under way is waited for.
                if !matches!(error, Error::RunUnderWay(_)) {
                    watcher.see(now, lane.number, &Happening::Trouble(&error.to_string()));
                    lane.trouble = Some(error.to_string());
                }
                lane.trouble(now);
                if matches!(error, Error::RunUnderWay(_)) {
                    lane.troubles = lane.troubles.min(2);
                }
                self.looked = None;
            }
        }
        Ok(())
    }

    /// Says once that there is nothing to do: whoever looks on would take it for stuck.
    fn rest_if_idle(&mut self, now: &Stamp, watcher: &mut dyn Watcher) {
        let is_quiet = self.lanes.iter().all(|lane| lane.child.is_none());
        let waits = is_quiet && !self.ending && self.available == 0 && self.looked.is_some();
        if waits && !self.waits {
            watcher.see(now, 0, &Happening::Waiting);
        }
        self.waits = waits;
    }

    fn is_over(&mut self) -> bool {
        let is_quiet = self.lanes.iter().all(|lane| lane.child.is_none());
        if is_quiet && self.lanes.iter().all(Lane::is_spent) {
            let why = self.lanes.iter().find_map(|lane| lane.trouble.as_deref());
            let because = why.map(|why| format!(": {why}")).unwrap_or_default();
            self.summary.stuck = Some(format!("no worker can begin anything{because}"));
            return true;
        }
        is_quiet && (self.ending || (self.plan.drain && self.available == 0 && self.looked.is_some()))
    }

    fn patience(&self, now: &Stamp, watcher: &dyn Watcher) -> Millis {
        let rests = self.lanes.iter().map(|lane| lane.rest(now)).filter(|rest| *rest > Millis::ZERO);
        let busy = self.lanes.iter().all(|lane| lane.child.is_some());
        let pace = if busy { Millis::from_secs(5) } else { PACE };
        let left =
            |span: Millis| Millis::new(span.get().saturating_sub(now.since(&self.started).forward().get()));
        let end = self.plan.span.filter(|_| !self.ending).map(left);
        let again = self.again.filter(|_| !busy).and_then(|again| Some((again, self.looked?)));
        let again = again.map(|(again, looked)| {
            Millis::new((again.get() + 1).saturating_sub(now.since(&looked).forward().get()))
        });
        rests
            .chain(Some(self.rest(now)).filter(|rest| *rest > Millis::ZERO))
            .chain(end)
            .chain(again)
            .chain(watcher.pace())
            .chain([pace])
            .min()
            .unwrap_or(pace)
            .max(Millis::new(1))
    }

    /// Takes the worktrees away that nobody needs, also those of a pool of this name that was killed.
    fn tidy(&mut self) -> Result<()> {
        for entry in &self.session.worktrees()? {
            let Some(lane) = Lane::of_place(self.session, &self.plan.name, entry) else { continue };
            if entry.gone {
                place::forget_gone(self.session, &entry.root);
                continue;
            }
            let there = lane.asking(self.session, &entry.root);
            let is_held = there.is_ok_and(|there| is_held(&there).unwrap_or(true));
            if is_held || !place::take_away(self.session, &entry.root)? {
                self.summary.kept.push(entry.root.to_string_lossy().into_owned());
            }
        }
        // Those that commands have removed leave an empty directory.
        self.lanes
            .iter()
            .filter_map(|lane| lane.root.as_ref())
            .for_each(|root| place::leave(self.session, root));
        place::forget(self.session, &self.branches)?;
        Ok(())
    }

    /// Says what the pool does. What cannot be written now is with the next thing that happens.
    fn keep_state(&self) {
        let _ = self.state().write(self.session);
    }

    fn state(&self) -> State {
        let worker = |lane: &Lane| Worker {
            agent_id: lane.agent.clone(),
            last: lane.last.clone(),
            task: lane.task.as_ref().map(|ran| Task {
                id: ran.id.clone(),
                handle: ran.handle.clone(),
                title: ran.title.clone(),
                worktree: ran.worktree.clone(),
                log: ran.log.clone(),
                since_ms: lane.since_ms,
            }),
        };
        State {
            schema_version: 1,
            name: self.plan.name.clone(),
            running: true,
            pid: std::process::id(),
            process_start: self.process_start,
            ending: self.ending,
            finished: self.summary.finished,
            failed: self.summary.failed,
            workers: self.lanes.iter().map(worker).collect(),
        }
    }
}

/// Whether somebody is at work in a worktree, or has a claim there. One on an issue that is over is given back: whoever
/// finished it was killed before it could, and nothing may be left to begin that would come across it.
fn is_held(there: &Session) -> Result<bool> {
    run::busy(there)?;
    for (id, lease) in land::held_here(there)? {
        land::close_over(there, id, &lease)?;
    }
    Ok(!land::held_here(there)?.is_empty())
}
