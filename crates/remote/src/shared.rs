//! The shared medium: leases in the value of a register that several machines reach.
//!
//! A grant may rest on any head, because the swap is the check; a refusal rests only on one that was read after the
//! command began. A swap whose answer never came is not a failure: it is looked for in the session of this clone, and
//! what cannot be found out is said as such. One operation of a clone is in flight at a time, under its lock, and what
//! it is about to send is durable before it is sent.

mod operate;
mod past;
mod read;
mod transfer;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use holdfast_kernel::{
    Acquire, Answer, Claim, Command, Event, Fence, Lease, LeaseId, Millis, Policy, Refusal, Stamp, Standing,
    check, decide,
};
use holdfast_store::{
    Checked, CounterId, Error, Guarding, Held, JournaledMedium, Medium, Plan, Projected, Record, Recovery,
    Result, Trouble, View,
};
use holdfast_sys::{Guard, LockMode, Sys};

pub use crate::watch::Trust;
pub use transfer::Ended;

use crate::head::{Author, CloneId, Head, Note, OpId, State};
use crate::local::Local;
use crate::register::{Along, Register};
use crate::watch;
use operate::Decided;
use read::Basis;

/// How a register is used.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What this machine believes of other machines' clocks.
    pub trust: Trust,
    /// How old what is known may be for a guarded write.
    pub max_age: Millis,
    /// The counter that the register must have.
    pub counter: Option<CounterId>,
    /// The largest fence of that counter that is known from elsewhere: the register must be past it.
    pub floor: Option<Fence>,
    /// Whether a look asks the register; otherwise what was seen last is enough.
    pub fresh: bool,
    /// How often the register is asked before it counts as out of reach.
    pub tries: u32,
    /// How long to wait before it is asked again, and twice as long the time after.
    pub pause: Millis,
    /// It is not asked again once asking took this long: a network that swallows everything is as good as none.
    pub patience: Millis,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trust: Trust::Watch,
            max_age: Millis::from_secs(60),
            counter: None,
            floor: None,
            fresh: true,
            tries: 5,
            pause: Millis::new(50),
            patience: Millis::from_secs(15),
        }
    }
}

/// What a clone has to have before it is granted anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Latest<'a> {
    /// The commit that was landed last, on the landing branch.
    Landed(&'a str),
    /// The commit that was pushed last to another branch, and with it all branches as they were then.
    Pushed(&'a str),
}

/// Says whether this clone has something.
pub type Knows = dyn Fn(Latest<'_>) -> bool + Send + Sync;

/// A handle on the leases in a register.
pub struct Shared {
    sys: Sys,
    register: Box<dyn Register>,
    local: Local,
    settings: Settings,
    knows: Option<Box<Knows>>,
    guard: Mutex<Option<Guard>>,
}

/// What is known, and how well.
#[derive(Clone, Debug)]
pub struct Known {
    /// The leases as this machine judges them.
    pub view: View,
    /// The head.
    pub head: Head,
    /// How long ago the register was asked for it.
    pub age: Millis,
    /// Who this clone is.
    pub clone: CloneId,
    /// For each lease of another clone: how long it was watched, of how long it has to be.
    pub watched: Vec<(Lease, Millis, Millis)>,
    /// What was sent and not heard of, for people.
    pub unresolved: Option<String>,
}

impl Shared {
    /// A handle on the leases in `register`, for the clone whose files are `local`.
    #[must_use]
    pub fn new(sys: Sys, register: Box<dyn Register>, local: Local, settings: Settings) -> Self {
        Self { sys, register, local, settings, knows: None, guard: Mutex::new(None) }
    }

    /// This one, which grants only to a clone that `knows` what was landed and pushed last.
    #[must_use]
    pub fn granting_if(mut self, knows: impl Fn(Latest<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.knows = Some(Box::new(knows));
        self
    }

    /// The register.
    #[must_use]
    pub fn register(&self) -> &dyn Register {
        &*self.register
    }

    /// The counter of the register, whichever it is; none if there is no register.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn counter(&self) -> Result<Option<CounterId>> {
        let found = self.register.read().map_err(|error| self.unavailable(&error.0))?;
        found.map(|found| Ok(Head::decode(&found.value, &self.register.place())?.counter)).transpose()
    }

    /// Whether the register would take a change. Changes nothing.
    ///
    /// # Errors
    /// When it would not, or cannot be asked.
    pub fn can_be_written(&self) -> Result<()> {
        let found = self.register.read().map_err(|error| self.unavailable(&error.0))?;
        match self.register.confirms(found.as_ref().map(|found| &found.version)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.refused("it does not let this clone push there")),
            Err(error) => Err(self.unavailable(&error.0)),
        }
    }

    /// Decides commands one after the other and makes all their events one step. Each has an answer of its own; a
    /// failure fails all of them.
    ///
    /// # Errors
    /// When none of them could be decided.
    pub fn transact_all(&self, policy: &Policy, commands: &[Command]) -> Result<Vec<Result<Answer>>> {
        self.commit(policy, commands, &|_| false, &|answers| answers.iter().any(Result::is_err))
    }

    /// Makes a step of notes alone, if `allows` does not object to the leases as they are then.
    ///
    /// # Errors
    /// What `allows` objects, or what failed.
    pub fn note(&self, notes: &[Note], allows: &dyn Fn(&View) -> Result<()>) -> Result<()> {
        let mut decide = |view: &View, _: &Head| {
            allows(view)?;
            Ok(Decided { events: Vec::new(), notes: notes.to_vec(), answers: Vec::new(), needs_fresh: true })
        };
        self.operate("a note", &mut decide).map(drop)
    }

    /// Moves a branch of the register's own server to `commit`, if all of `claims` are in force and it is still at
    /// `expected`: the step that says so and the branch move together. A displaced holder is refused by the server.
    ///
    /// # Errors
    /// The refusal if a claim is not in force; [`Trouble::Behind`] if the branch is elsewhere; otherwise what failed.
    pub fn publish(&self, claims: &[Claim], branch: &Along, lands: bool) -> Result<()> {
        let name = branch.name.strip_prefix("refs/heads/").unwrap_or(&branch.name);
        self.publishing(claims, name, &branch.to, lands, std::slice::from_ref(branch))
    }

    /// Notes that a branch of another server is about to get a commit, if all of `claims` are in force.
    ///
    /// # Errors
    /// As [`Shared::publish`].
    pub fn announce(&self, claims: &[Claim], branch: &str, commit: &str) -> Result<()> {
        self.publishing(claims, branch, commit, false, &[])
    }

    fn publishing(
        &self,
        claims: &[Claim],
        branch: &str,
        to: &str,
        lands: bool,
        along: &[Along],
    ) -> Result<()> {
        let fences = claims.iter().map(|claim| claim.fence.get()).collect();
        let mut notes = vec![Note::Published { branch: branch.to_owned(), commit: to.to_owned(), fences }];
        if lands {
            notes.push(Note::Landed { commit: to.to_owned() });
        } else if !along.is_empty() {
            notes.push(Note::Pushed { commit: to.to_owned() });
        }
        let mut decide = |view: &View, _: &Head| {
            let refused = claims.iter().find_map(|claim| check(&view.table, claim, &view.now).err());
            let (notes, answers) = match refused {
                Some(refusal) => (Vec::new(), vec![Err(Error::Refused(refusal))]),
                None => (notes.clone(), Vec::new()),
            };
            Ok(Decided { events: Vec::new(), needs_fresh: !answers.is_empty(), notes, answers })
        };
        let answers = self.operate_along("what was published", along, &mut decide)?;
        answers.into_iter().next().map_or(Ok(()), |answer| answer.map(drop))
    }

    /// Who this clone is; it gets an id if it has none.
    ///
    /// # Errors
    /// When that cannot be read or written.
    pub fn clone_id(&self) -> Result<CloneId> {
        match self.local.identity(&self.sys)? {
            Some(identity) => Ok(identity.clone),
            None => self.exclusively(|| Ok(self.local.named(&self.sys)?.clone)),
        }
    }

    fn commit(
        &self,
        policy: &Policy,
        commands: &[Command],
        stop: &dyn Fn(&Result<Answer>) -> bool,
        needs_fresh: &dyn Fn(&[Result<Answer>]) -> bool,
    ) -> Result<Vec<Result<Answer>>> {
        let what = commands.first().map_or("nothing", describe);
        let clone = self.local.identity(&self.sys)?.map(|identity| identity.clone);
        self.operate(what, &mut |view, head| {
            let mut table = view.table.clone();
            let mut events: Vec<Event> = Vec::new();
            let mut answers = Vec::new();
            for command in commands {
                let next = view.next.plus(events.len() as u64).ok_or(Refusal::FencesExhausted)?;
                let answer = match decide(&table, policy, &judging(command, head, clone), &view.now, next) {
                    Ok(decision) => {
                        for event in &decision.events {
                            holdfast_kernel::apply(&mut table, event).map_err(|error| self.odd(&error))?;
                        }
                        events.extend(decision.events);
                        Ok(decision.answer)
                    }
                    Err(refusal) => Err(Error::Refused(refusal)),
                };
                let enough = stop(&answer);
                answers.push(answer);
                if enough {
                    break;
                }
            }
            let needs_fresh = needs_fresh(&answers);
            Ok(Decided { events, notes: Vec::new(), answers, needs_fresh })
        })
    }

    /// What is known of the leases. Asks the register if `fresh`, or if nothing was ever seen; writes nothing.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn known(&self, fresh: bool) -> Result<Known> {
        let memory = self.local.memory(&self.sys)?;
        let basis = self.look(&memory, fresh)?;
        let identity = self.local.identity(&self.sys)?;
        let clone = identity.map_or(CloneId(0), |identity| identity.clone);
        let watched = memory.seen.as_ref().map_or(&[][..], |seen| &seen.watched);
        let view = self.view_of(&basis, clone, watched)?;
        let theirs = basis.head.entries.values().filter(|entry| entry.stamped_by != clone);
        let progress = theirs.filter_map(|entry| {
            let (passed, needed) = watch::progress(&entry.lease, watched, &view.now)?;
            Some((entry.lease.clone(), passed, needed))
        });
        let watched = progress.collect();
        let last = memory.last_op();
        let intent = memory.kept.intent.filter(|intent| last != Some(intent.op));
        let unresolved = intent.filter(|intent| intent.expected == basis.version.0).map(|intent| intent.what);
        let age = view.now.since(&basis.asked).forward();
        Ok(Known { age, clone, watched, unresolved, head: basis.head, view })
    }

    /// How long ago the register was asked for what is remembered; none if nothing is. Asks nobody.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn remembered_age(&self) -> Result<Option<Millis>> {
        let Some(seen) = self.local.memory(&self.sys)?.seen else { return Ok(None) };
        let now = self.sys.clock.now()?;
        Ok(seen.asked.stamp().map(|asked| now.since(&asked).forward()))
    }

    /// Asks the register and remembers what it shows, so that looks are fresh and leases are watched.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn refresh(&self) -> Result<()> {
        self.exclusively(|| {
            let mut memory = self.memory()?;
            self.read(&mut memory)?;
            self.settle(&mut memory)?;
            // A head that is no news has still been asked for anew.
            let seen = memory.local.seen.clone();
            seen.map_or(Ok(()), |seen| self.show(&mut memory, seen))
        })
    }

    /// Gives this clone another id and forgets what it has seen: after a machine was copied.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn join(&self) -> Result<CloneId> {
        self.exclusively(|| {
            self.local.forget(&self.sys)?;
            Ok(self.local.rename(&self.sys)?.clone)
        })
    }

    fn view_of(&self, basis: &Basis, clone: CloneId, watched: &[crate::local::Watched]) -> Result<View> {
        let now = self.sys.clock.now()?;
        let table = watch::judged(&basis.head, clone, watched, &now, self.settings.trust);
        let table = table.map_err(|error| self.odd(&error))?;
        // Before the first number was drawn there is nothing to compare.
        let counter = (basis.head.next > Fence::FIRST).then_some(basis.head.counter);
        Ok(View { table, counter, next: basis.head.next, now })
    }

    /// What is wrong if this clone does not have what was landed or pushed last.
    fn behind(&self, head: &Head) -> Option<Error> {
        let knows = self.knows.as_ref()?;
        let (tip, pushed) = (head.tip.as_deref(), head.pushed.as_deref());
        let mut latest = tip.map(Latest::Landed).into_iter().chain(pushed.map(Latest::Pushed));
        Some(Trouble::Behind.because(match latest.find(|latest| !knows(*latest))? {
            Latest::Landed(commit) => format!("this clone does not have {commit}, which was landed last"),
            Latest::Pushed(commit) => {
                format!("this clone has not fetched since {commit} was pushed to a branch")
            }
        }))
    }

    fn author(&self, clone: CloneId, op: OpId) -> Result<Author> {
        Ok(Author { clone, op, at_ms: self.sys.clock.now()?.wall_ms() })
    }

    /// Runs `work` while no other process of this clone has anything in flight.
    fn exclusively<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.locked(LockMode::Exclusive, work)
    }

    fn locked<T>(&self, mode: LockMode, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() {
            *guard = Some(Guard::open(&self.sys, &self.local.guard(), self.local.mode())?);
        }
        let _section = match &mut *guard {
            Some(guard) => guard.enter(&self.sys, mode)?,
            None => return Err(self.odd(&"the lock is not open")),
        };
        work()
    }

    /// Waits a moment before the register is asked again, longer every time.
    fn rest(&self, attempt: u32) {
        let span = self.settings.pause.get().saturating_mul(1 << attempt.min(6));
        self.sys.clock.sleep(Millis::new(span));
    }

    fn unavailable(&self, why: &str) -> Error {
        Trouble::Unavailable.because(format!("{} cannot be reached: {why}", self.register.name()))
    }

    fn unresolved(&self, what: &str) -> Error {
        let name = self.register.name();
        Trouble::Unresolved
            .because(format!("{name} did not say whether it took {what}: the next command finds out"))
    }

    fn refused(&self, words: &str) -> Error {
        Trouble::Refused.because(format!("{} refuses every change: {words}", self.register.name()))
    }

    fn forked(&self, what: &str) -> Error {
        let name = self.register.name();
        Trouble::Forked.because(format!("the history of {name} is not the one that was seen: {what}"))
    }

    fn moved(&self, to: &str) -> Error {
        let name = self.register.name();
        Trouble::Moved.because(format!("the claims have moved from {name} to {to}"))
    }

    fn odd(&self, what: &dyn std::fmt::Display) -> Error {
        let damage = holdfast_store::Damage { place: "the head".into(), what: what.to_string() };
        Error::Damaged { path: self.register.place(), damage }
    }
}

/// The command with those dead that are this clone's to judge: whether somebody lives on another machine cannot be seen
/// from here.
fn judging<'a>(command: &'a Command, head: &Head, clone: Option<CloneId>) -> Cow<'a, Command> {
    match command {
        Command::Acquire(wanted) if !wanted.dead.is_empty() => {
            let is_own = |lease: &LeaseId| {
                head.entries.get(lease).is_some_and(|entry| Some(entry.stamped_by) == clone)
            };
            let dead = wanted.dead.iter().copied().filter(is_own).collect();
            Cow::Owned(Command::Acquire(Acquire { dead, ..wanted.clone() }))
        }
        command => Cow::Borrowed(command),
    }
}

/// Whether anybody holds something afterwards that it did not hold before.
fn grants(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Granted { .. } | Event::Transferred { .. }))
}

/// A command in few words.
const fn describe(command: &Command) -> &'static str {
    match command {
        Command::Acquire(_) => "a grant",
        Command::Renew { .. } => "a renewal",
        Command::Beat { .. } => "a sign of life",
        Command::Release { .. } => "a release",
        Command::Transfer(_) => "a transfer",
        Command::Evict { .. } => "an eviction",
        Command::Sweep => "a sweep",
        Command::Check(_) => "a check",
    }
}

impl Medium for Shared {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        let mut answers = self.transact_all(policy, std::slice::from_ref(command))?;
        answers.pop().unwrap_or_else(|| Err(self.odd(&"a command without an answer")))
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        self.locked(LockMode::Shared, || {
            let known = self.known(false)?;
            let has_time = check(&known.view.table, claim, &known.view.now)
                .is_ok_and(|lease| has_time(lease, &known.view.now));
            let known = if has_time && known.age <= self.settings.max_age {
                known
            } else {
                match self.known(true) {
                    // Without a connection what one holds stays usable for as long as nobody else may take it over.
                    Err(Error::Shared { trouble: Trouble::Unavailable, .. }) if has_time => known,
                    asked => asked?,
                }
            };
            if let State::Moved(to) = &known.head.state {
                // What became of the lease there cannot be seen from here.
                return Err(self.moved(to));
            }
            let lease = check(&known.view.table, claim, &known.view.now)?;
            act(&Held::vouch(lease, known.head.counter));
            Ok(())
        })
    }

    fn view(&self) -> Result<View> {
        self.known(self.settings.fresh).map(|known| known.view)
    }

    fn guarding(&self) -> Guarding {
        Guarding::Fenced
    }
}

/// Whether a lease can be relied on without asking: until its deadline less the skew.
fn has_time(lease: &Lease, now: &Stamp) -> bool {
    match lease.standing(now) {
        Standing::Live { left } => left > lease.skew,
        Standing::Beating => true,
        Standing::Stale { .. } | Standing::Lapsed { .. } | Standing::Open { .. } => false,
    }
}

impl JournaledMedium for Shared {
    fn transact_first(
        &self,
        policy: &Policy,
        commands: &[Command],
        passes: &dyn Fn(&Refusal) -> bool,
    ) -> Result<Option<(usize, Answer)>> {
        let passed = |answer: &Result<Answer>| matches!(answer, Err(Error::Refused(why)) if passes(why));
        // What was passed over on the way to a yes is nobody's refusal.
        let told_no = |answers: &[Result<Answer>]| answers.last().is_none_or(Result::is_err);
        let answers = self.commit(policy, commands, &|answer| !passed(answer), &told_no)?;
        let first = answers.into_iter().enumerate().find(|(_, answer)| !passed(answer));
        first.map(|(at, answer)| answer.map(|answer| (at, answer))).transpose()
    }

    fn transact_together(&self, policy: &Policy, plan: &Plan<'_>) -> Result<Vec<Answer>> {
        let clone = self.local.identity(&self.sys)?.map(|identity| identity.clone);
        let answers = self.operate("what was asked for together", &mut |view, head| {
            let mut table = view.table.clone();
            let mut events: Vec<Event> = Vec::new();
            let mut answers = Vec::new();
            // Asked before the plan looks at what has landed: what is fetched afterwards it has not seen.
            let behind = self.behind(head);
            let refused = |refusal| Decided {
                events: Vec::new(),
                notes: Vec::new(),
                answers: vec![Err(Error::Refused(refusal))],
                needs_fresh: true,
            };
            let commands = match plan(view) {
                // What it refuses by an old look it may not refuse by a fresh one.
                Err(Error::Refused(refusal)) => return Ok(refused(refusal)),
                planned => planned?,
            };
            for command in commands {
                let next = view.next.plus(events.len() as u64).ok_or(Refusal::FencesExhausted)?;
                match decide(&table, policy, &judging(&command, head, clone), &view.now, next) {
                    Ok(decision) => {
                        for event in &decision.events {
                            holdfast_kernel::apply(&mut table, event).map_err(|error| self.odd(&error))?;
                        }
                        events.extend(decision.events);
                        answers.push(Ok(decision.answer));
                    }
                    // All or none.
                    Err(refusal) => return Ok(refused(refusal)),
                }
            }
            match behind.filter(|_| grants(&events)) {
                Some(behind) => Err(behind),
                None => Ok(Decided { events, notes: Vec::new(), answers, needs_fresh: false }),
            }
        })?;
        answers.into_iter().collect()
    }

    fn history(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        self.replay(visit)
    }

    fn recover(&self, _: &Policy, _: &Projected, _: bool) -> Result<Recovery> {
        // The history is checked link by link; a register that is wrong is for a person to decide on.
        self.replay(&mut |_| ())?;
        Ok(Recovery { findings: Vec::new(), repaired: false, kept: None })
    }

    fn as_medium(&self) -> &dyn Medium {
        self
    }
}
