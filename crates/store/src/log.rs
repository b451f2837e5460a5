//! The log medium: an append-only file of JSON lines is the truth, an index beside it is derived.
//!
//! An operation costs one durable write, whatever the length of the log. Lines are numbered and chained by
//! hash; a grant's fence is the number of its line. `spec/log-format.md` describes the bytes, what is
//! assumed of the disk, and why each step is where it is.

mod another;
mod append;
mod buffer;
mod chain;
mod cut;
mod fold;
mod history;
mod index;
mod observer;
mod queue;
mod recover;
mod salvage;
mod scan;
mod segment;
mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use holdfast_kernel::{Answer, Claim, Command, Fence, Policy, Refusal, Table, check};
use holdfast_sys::Sys;

pub use cut::Cut;
pub use observer::{Observer, Recorded};
pub use state::Paths;

pub use crate::json::Words;

use crate::gate::Gate;
use crate::{Checked, Error, Held, JournaledMedium, Medium, Plan, Projected, Record, Recovery, Result, View};
use index::IndexFile;
use queue::Queue;
use state::State;

/// How a log is kept.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The names that it uses.
    pub words: Words,
    /// Permission bits of its files.
    pub mode: u32,
    /// Whether the index is made durable too. It need not be: it is verified when it is read.
    pub fsync_index: bool,
    /// A file, by its path from the log's directory, that is there only if the log has been written to: one that is
    /// missing beside it was lost.
    pub witness: Option<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { words: Words::PLAIN, mode: 0o600, fsync_index: false, witness: None }
    }
}

/// A handle on a log. It can be shared between threads, whose operations then share durable writes.
pub struct Log {
    sys: Sys,
    paths: Paths,
    settings: Settings,
    observer: Option<Box<dyn Observer>>,
    queue: Queue<(Policy, Command), Result<Answer>>,
    inner: Mutex<Inner>,
}

/// What only one thread at a time may touch.
struct Inner {
    gate: Gate,
    state: Option<State>,
    index: IndexFile,
}

impl Log {
    /// A handle on the log at `paths`, whose directories must be there. Nothing is read or written yet.
    #[must_use]
    pub fn new(sys: Sys, paths: Paths, settings: Settings) -> Self {
        let gate = Gate::new(paths.guard.clone(), settings.mode);
        let inner = Mutex::new(Inner { gate, state: None, index: IndexFile::default() });
        Self { sys, paths, settings, observer: None, queue: Queue::default(), inner }
    }

    /// This log, watched by `observer`.
    #[must_use]
    pub fn observed(self, observer: impl Observer + 'static) -> Self {
        Self { observer: Some(Box::new(observer)), ..self }
    }

    /// Decides several commands one after the other and makes all their events durable with one write.
    /// Each has an answer of its own; a failed write fails all of them.
    pub fn transact_all(&self, policy: &Policy, commands: &[Command]) -> Vec<Result<Answer>> {
        let requests: Vec<_> = commands.iter().map(|command| (policy.clone(), command.clone())).collect();
        self.serve(&requests)
    }

    fn serve(&self, requests: &[(Policy, Command)]) -> Vec<Result<Answer>> {
        match self.exclusively(|writer| writer.commit(requests, &|_| false)) {
            Ok(answers) => answers,
            Err(error) => requests.iter().map(|_| Err(error.again())).collect(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in the exclusive section. If it fails, nothing that was known of the log is believed
    /// any longer: the next operation reads it again.
    fn exclusively<T>(&self, work: impl FnOnce(&mut append::Writer<'_>) -> Result<T>) -> Result<T> {
        let Inner { gate, state, index } = &mut *self.inner();
        let observer = self.observer.as_deref();
        let mut waits = || observer.into_iter().for_each(Observer::waits);
        let section = gate.alone_or_note(&self.sys, &mut waits)?;
        observer.into_iter().for_each(Observer::entered);
        let known = state.take();
        let mut writer = append::Writer { log: self, state: known, index };
        let done = work(&mut writer)?;
        *state = writer.state;
        drop(section);
        // Others go on meanwhile.
        state.iter_mut().for_each(State::forget);
        Ok(done)
    }

    /// Shows the log as it is to `look`, which only reads.
    fn looking<T>(&self, mut look: impl FnMut(Option<&State>) -> Result<T>) -> Result<T> {
        let Inner { gate, state, index } = &mut *self.inner();
        gate.looking(&self.sys, || {
            *state = self.current(state.take(), index)?;
            look(state.as_ref())
        })
    }

    /// The log as it is on disk, starting from what is known of it.
    fn current(&self, known: Option<State>, index: &IndexFile) -> Result<Option<State>> {
        if let Some(mut state) = known
            && state.catch_up(&self.sys, &self.paths, &self.settings.words, index)?
        {
            return Ok(Some(state));
        }
        State::load(&self.sys, &self.paths, &self.settings)
    }

    /// Checks the claim and acts on it, keeping everybody from changing the log meanwhile; false if that
    /// has to wait until the last append is known to be durable, because a fence that guards a write must
    /// never be granted a second time.
    fn act(&self, claim: &Claim, others: &[Claim], act: &mut dyn FnMut(&Held<'_>)) -> Result<bool> {
        let Inner { gate, state, index } = &mut *self.inner();
        let _section = gate.together(&self.sys)?;
        *state = self.current(state.take(), index)?;
        let Some(State { cursor, .. }) = state else { return Err(nobody_holds(claim)) };
        let now = self.sys.clock.now()?;
        for other in others {
            check(&cursor.table, other, &now)?;
        }
        let lease = check(&cursor.table, claim, &now)?;
        if cursor.doubtful.is_none() {
            act(&Held::vouch(lease, cursor.log));
        }
        Ok(cursor.doubtful.is_none())
    }
}

fn nobody_holds(claim: &Claim) -> Error {
    let (resource, presented) = (claim.resource.clone(), claim.fence);
    Refusal::FencedOut { resource, presented, current: Vec::new() }.into()
}

impl Medium for Log {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        let request = (policy.clone(), command.clone());
        let served = self.queue.submit(request, &|requests| self.serve(requests));
        served.unwrap_or_else(|| Err(Error::abandoned(&self.paths.log)))
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        self.guarded_too(claim, &[], act)
    }

    fn guarded_too(&self, claim: &Claim, others: &[Claim], act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        if self.looking(|state| Ok(state.is_none()))? {
            return Err(nobody_holds(claim));
        }
        while !self.act(claim, others, act)? {
            self.exclusively(|writer| writer.settle())?;
        }
        Ok(())
    }

    fn view(&self) -> Result<View> {
        self.looking(|state| {
            let now = self.sys.clock.now()?;
            let Some(State { cursor, .. }) = state else {
                return Ok(View { table: Table::new(), counter: None, next: Fence::FIRST, now });
            };
            let next = append::next(cursor)?;
            Ok(View { table: cursor.table.clone(), counter: Some(cursor.log), next, now })
        })
    }
}

impl JournaledMedium for Log {
    fn transact_first(
        &self,
        policy: &Policy,
        commands: &[Command],
        passes: &dyn Fn(&Refusal) -> bool,
    ) -> Result<Option<(usize, Answer)>> {
        let requests: Vec<_> = commands.iter().map(|command| (policy.clone(), command.clone())).collect();
        let passed = |answer: &Result<Answer>| matches!(answer, Err(Error::Refused(why)) if passes(why));
        let answers = self.exclusively(|writer| writer.commit(&requests, &|answer| !passed(answer)))?;
        let first = answers.into_iter().enumerate().find(|(_, answer)| !passed(answer));
        first.map(|(at, answer)| answer.map(|answer| (at, answer))).transpose()
    }

    fn transact_together(&self, policy: &Policy, plan: &Plan<'_>) -> Result<Vec<Answer>> {
        self.exclusively(|writer| writer.commit_together(policy, plan))
    }

    fn history(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        Self::history(self, visit)
    }

    fn recover(&self, policy: &Policy, elsewhere: &Projected, repair: bool) -> Result<Recovery> {
        self.recover_with(policy, elsewhere, repair)
    }

    fn as_medium(&self) -> &dyn Medium {
        self
    }
}
