//! Writes down what the clients of a real engine were asked and told, and has the checkers of the simulator judge it. Each
//! client is on a machine of its own: a boot-time clock that no other has, and a wall clock that may be wrong.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use holdfast_kernel::{Answer, Boot, BootId, Claim, Command, Fence, Lease, Millis, Stamp, Table, apply};
use holdfast_remote::Shared;
use holdfast_sim::check::{Property, Violation, check};
use holdfast_sim::history::{Actor, ActorId, Asked, Call, CallId, History, Replayed, Told};
use holdfast_store::{Error, JournaledMedium as _, Medium as _, Result, Trouble, View};
use holdfast_sys::{Clock, Sys};

use crate::support::{policy, wanted};

/// The clocks of a machine: the real ones, from another beginning.
struct Machine {
    number: u64,
    /// How far its wall clock is off.
    wall_ms: i64,
}

impl Clock for Machine {
    fn now(&self) -> holdfast_sys::Result<Stamp> {
        let now = Sys::os().clock.now()?;
        let boot = now.boot().map(|boot| Boot {
            id: BootId::new(u128::from(self.number) + 1),
            ms: boot.ms + self.number * 1_000_000_000,
        });
        Ok(Stamp::new(i64::try_from(now.wall_ms()).unwrap() + self.wall_ms, boot).unwrap())
    }

    fn sleep(&self, span: Millis) {
        Sys::os().clock.sleep(span);
    }
}

/// What everybody was told in one run.
pub(crate) struct Book {
    began: Instant,
    machines: Vec<Arc<Machine>>,
    history: Mutex<History>,
}

impl Book {
    /// A book of a run on machines whose wall clocks are off by so many milliseconds.
    pub(crate) fn new(wall_ms: &[i64]) -> Arc<Self> {
        let machine =
            |(number, wall_ms): (usize, &i64)| Arc::new(Machine { number: number as u64, wall_ms: *wall_ms });
        let mut history = History::default();
        history.is_of_something_far_away();
        let machines = wall_ms.iter().enumerate().map(machine).collect();
        Arc::new(Self { began: Instant::now(), machines, history: Mutex::new(history) })
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn true_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// A client on a machine, of the medium that `open` gives.
    pub(crate) fn client(
        self: &Arc<Self>,
        host: usize,
        who: &str,
        open: impl FnOnce(&Sys) -> Shared,
    ) -> Client {
        let Command::Acquire(asked) = wanted("any", who) else { panic!("a wish is one") };
        let actor = Actor { name: who.to_owned(), host, holder: asked.holder, calm: false };
        let actor = self.history().enter(actor);
        let call = Arc::default();
        let clock =
            NotedClock { book: Arc::clone(self), machine: self.machines.get(host).unwrap().clone(), call };
        let call = Arc::clone(&clock.call);
        let shared = open(&Sys { clock: Arc::new(clock), ..Sys::os() });
        Client { book: Arc::clone(self), actor, who: who.to_owned(), call, shared }
    }

    /// What does not hold of what was told; `end` looks at the medium once more when everybody is gone.
    pub(crate) fn violations(&self, end: &Shared) -> Vec<Violation> {
        let shown = end.view().unwrap();
        let replayed = replayed(end, &shown);
        let mut history = self.history();
        history.replay(Replayed { shown, replayed });
        check(&history, &policy())
    }

    /// Stops the test if something does not hold of what was told.
    pub(crate) fn judge(&self, end: &Shared) {
        self.assert_none(&self.violations(end));
    }

    /// As [`Book::judge`], for a server that may forget what it has confirmed. Then two may have been told yes; but nobody
    /// writes beside somebody else, and whoever was granted what the server does not know of was told to stop.
    pub(crate) fn judge_forgetful(&self, end: &Shared) {
        if !self.history().calls().iter().any(|call| matches!(call.told, Told::Unusable(_))) {
            return self.judge(end);
        }
        let mut violations = self.violations(end);
        violations.retain(|violation| violation.property == Property::Writes);
        self.assert_none(&violations);
        let mut kept = BTreeSet::new();
        let mut keep = |record: &holdfast_store::Record| {
            kept.insert(record.lease.id);
        };
        end.history(&mut keep).unwrap();
        let history = self.history();
        let stopped = |by: ActorId, after: &Call| {
            let is_stop = |call: &Call| call.by == by && matches!(call.told, Told::Unusable(_));
            history.calls().iter().any(|call| is_stop(call) && call.start > after.start)
        };
        let forgotten = |call: &&Call| call.granted().is_some_and(|lease| !kept.contains(&lease.id));
        let forgotten: Vec<&Call> = history.calls().iter().filter(forgotten).collect();
        println!("the server forgot {} grants", forgotten.len());
        for call in forgotten {
            assert!(stopped(call.by, call), "nobody was told to stop after {}", history.describe(call));
        }
    }

    fn assert_none(&self, violations: &[Violation]) {
        let history = self.history();
        if !violations.is_empty() {
            let calls = history.calls().iter().map(|call| history.describe(call));
            println!("{}", calls.collect::<Vec<_>>().join("\n"));
        }
        let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
        let count = |is: fn(&Told) -> bool| history.calls().iter().filter(|call| is(&call.told)).count();
        println!(
            "{} calls were judged: {} yes, {} no, {} unknown",
            history.calls().len(),
            count(|told| matches!(told, Told::Answer(_) | Told::Wrote | Told::View(_))),
            count(|told| matches!(told, Told::Refused(_))),
            count(|told| matches!(told, Told::Failed(_)))
        );
    }
}

/// What the records of a medium lead to.
fn replayed(shared: &Shared, shown: &View) -> View {
    let (mut table, mut last) = (Table::new(), 0);
    let mut step = |record: &holdfast_store::Record| {
        last = record.sequence.get();
        apply(&mut table, &record.event).unwrap();
    };
    shared.history(&mut step).unwrap();
    View { table, counter: shown.counter, next: Fence::new(last + 1).unwrap(), now: shown.now }
}

/// Somebody who asks, and what of it goes into the book.
pub(crate) struct Client {
    book: Arc<Book>,
    actor: ActorId,
    who: String,
    call: Arc<Mutex<Option<CallId>>>,
    pub(crate) shared: Shared,
}

impl Client {
    /// Asks, and writes down what was asked and told.
    fn note(&self, asked: Asked, make: impl FnOnce(CallId) -> Result<Told>) -> Told {
        let book = &self.book;
        let call = book.history().begin(self.actor, asked, book.true_ms());
        *current(&self.call) = Some(call);
        let told = make(call).unwrap_or_else(failed);
        *current(&self.call) = None;
        let clocks = book.machines.iter().map(|machine| machine.now().unwrap()).collect();
        book.history().end(call, told.clone(), clocks, book.true_ms());
        told
    }

    pub(crate) fn ask(&self, command: Command) -> Told {
        let asked = Asked::Command(command.clone());
        self.note(asked, |_| self.shared.transact(&policy(), &command).map(Told::Answer))
    }

    pub(crate) fn take(&self, resource: &str) -> Option<Lease> {
        match self.ask(wanted(resource, &self.who)) {
            Told::Answer(Answer::Granted(lease) | Answer::AlreadyHeld(lease)) => Some(lease),
            _ => None,
        }
    }

    pub(crate) fn look(&self) -> Told {
        self.note(Asked::View, |_| self.shared.view().map(Told::View))
    }

    /// Writes to what a lease stands for.
    pub(crate) fn write(&self, lease: &Lease) -> Told {
        let claim = Claim {
            resource: lease.resource.clone(),
            lease: lease.id,
            holder: lease.holder.clone(),
            fence: lease.fence,
        };
        self.note(Asked::Write(claim.clone()), |call| {
            let act = || self.book.history().act(call, self.book.true_ms());
            let mut write = |_: &holdfast_store::Held<'_>| {
                act();
                std::thread::yield_now();
                act();
            };
            self.shared.guarded(&claim, &mut write).map(|()| Told::Wrote)
        })
    }

    /// Gives back until somebody knows that it is.
    pub(crate) fn release(&self, lease: &Lease) {
        let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
        while let Told::Failed(_) = self.ask(release.clone()) {}
    }

    /// One turn with something, if nobody else has it.
    pub(crate) fn turn(&self, resource: &str) -> bool {
        let Some(lease) = self.take(resource) else {
            Sys::os().clock.sleep(Millis::new(5));
            return false;
        };
        self.write(&lease);
        self.look();
        self.release(&lease);
        true
    }

    /// Whether somebody may go on: nothing that it was told stops everything.
    pub(crate) fn is_stopped(&self) -> bool {
        let history = self.book.history();
        history.calls().iter().any(|call| call.by == self.actor && matches!(call.told, Told::Unusable(_)))
    }
}

fn failed(error: Error) -> Told {
    match error {
        Error::Refused(refusal) => Told::Refused(refusal),
        Error::Sys(error) => Told::Failed(error.to_string()),
        Error::Shared { trouble: Trouble::Unavailable | Trouble::Unresolved | Trouble::Refused, what } => {
            Told::Failed(what)
        }
        unusable => Told::Unusable(unusable.to_string()),
    }
}

fn current(call: &Mutex<Option<CallId>>) -> MutexGuard<'_, Option<CallId>> {
    call.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock whose readings go into the book.
struct NotedClock {
    book: Arc<Book>,
    machine: Arc<Machine>,
    call: Arc<Mutex<Option<CallId>>>,
}

impl Clock for NotedClock {
    fn now(&self) -> holdfast_sys::Result<Stamp> {
        let stamp = self.machine.now()?;
        if let Some(call) = *current(&self.call) {
            self.book.history().read(call, stamp, self.book.true_ms());
        }
        Ok(stamp)
    }

    fn sleep(&self, span: Millis) {
        self.machine.sleep(span);
    }
}
