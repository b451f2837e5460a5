//! Wrong ways to use a register that compares and swaps: each is the shared medium without one of its rules.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use holdfast_kernel::{
    Acquire, Answer, Claim, Command, Decision, Event, Fence, Lease, LeaseId, Policy, Refusal, Stamp, Table,
    check, decide,
};
use holdfast_remote::head::{Author, Head};
use holdfast_remote::local::{Local, Watched};
use holdfast_remote::register::Next;
use holdfast_remote::shared::Trust;
use holdfast_remote::simulated::{Calm, ReadFault, Rough, Simulated, SwapFault, WIPED};
use holdfast_remote::{CloneId, Found, Note, OpId, Register, Settings, Shared, Swap, watch};
use holdfast_store::{CounterId, Held, Medium, Result, Trouble, View, liveness};
use holdfast_sys::{Liveness, ProcessId, Sys};

use crate::scaffold::{ROOT, make};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Twin {
    /// Nothing: what this way of looking for bugs must not find any in.
    None,
    /// A timeout is taken for a no.
    TimeoutIsFailure,
    /// After a timeout the same is asked as another operation, without looking what became of the first.
    RetryAnew,
    /// A no is believed without looking at the session.
    LostBelieved,
    /// A refusal rests on what was read before the command began.
    RefusalFromCache,
    /// Reads are served by whoever has an old copy.
    SerializableRead,
    /// An expired lease is removed in one step, whatever is there by then, and the new one made in another.
    DeletedThenCreated,
    /// Any answer is taken for a yes.
    SucceededAlone,
    /// The server drops a lease at its deadline.
    RecordOnServerLease,
    /// Nothing in a step says whose operation it is.
    NoOperationInBytes,
    /// A register that is not there is made.
    MissingIsMade,
    /// Whether a process lives is judged by its number here, wherever it runs.
    DeadJudgedElsewhere,
    /// Nothing, where nobody believes the clocks of others: their leases are watched from the end of a read on.
    Watching,
    /// The leases of others are watched from the start of the read that showed them.
    WatchedFromTheStart,
}

impl Twin {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::None,
        Self::TimeoutIsFailure,
        Self::RetryAnew,
        Self::LostBelieved,
        Self::RefusalFromCache,
        Self::SerializableRead,
        Self::DeletedThenCreated,
        Self::SucceededAlone,
        Self::RecordOnServerLease,
        Self::NoOperationInBytes,
        Self::MissingIsMade,
        Self::DeadJudgedElsewhere,
        Self::Watching,
        Self::WatchedFromTheStart,
    ];

    /// Whether it watches the leases of others, and does not believe their clocks.
    #[must_use]
    pub const fn watches(self) -> bool {
        matches!(self, Self::Watching | Self::WatchedFromTheStart)
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "register-as-it-should-be",
            Self::TimeoutIsFailure => "timeout-is-failure",
            Self::RetryAnew => "retry-anew",
            Self::LostBelieved => "lost-believed",
            Self::RefusalFromCache => "refusal-from-cache",
            Self::SerializableRead => "serializable-read",
            Self::DeletedThenCreated => "deleted-then-created",
            Self::SucceededAlone => "succeeded-alone",
            Self::RecordOnServerLease => "record-on-server-lease",
            Self::NoOperationInBytes => "no-operation-in-bytes",
            Self::MissingIsMade => "missing-is-made",
            Self::DeadJudgedElsewhere => "dead-judged-elsewhere",
            Self::Watching => "watching-as-it-should-be",
            Self::WatchedFromTheStart => "watched-from-the-start",
        }
    }
}

const COUNTER: CounterId = CounterId::new(LeaseId::new(7));

/// The directory of the server, with a register in it.
pub(crate) fn server(sys: &Sys) -> Result<PathBuf> {
    make(sys, Path::new(ROOT))?;
    let dir = Path::new(ROOT).join("server");
    let is_there = |name: &str| sys.files.stat(&dir.join(name)).is_ok();
    if !is_there("head.json") && !is_there(WIPED) {
        let calm = Simulated::new(sys, &dir, Arc::new(Calm));
        calm.start().map_err(|error| Trouble::Unavailable.because(error.0))?;
        let maker = Local::new(dir.clone(), 0o600);
        Shared::new(sys.clone(), Box::new(calm), maker, Settings::default()).make(COUNTER, Fence::FIRST)?;
    }
    Ok(dir)
}

/// A medium that uses the register in this way.
///
/// # Errors
/// When the server cannot be started.
pub fn open(sys: &Sys, twin: Twin) -> Result<Box<dyn Medium>> {
    let (swaps, reads) = match twin {
        Twin::SerializableRead => (Vec::new(), vec![ReadFault::Stale]),
        Twin::DeletedThenCreated
        | Twin::RecordOnServerLease
        | Twin::RefusalFromCache
        | Twin::DeadJudgedElsewhere
        | Twin::Watching
        | Twin::WatchedFromTheStart => (Vec::new(), Vec::new()),
        Twin::MissingIsMade => (vec![SwapFault::Wiped], Vec::new()),
        _ => (
            vec![SwapFault::UnknownDone, SwapFault::Later, SwapFault::Doubled, SwapFault::UnknownNot],
            Vec::new(),
        ),
    };
    let register = Simulated::new(sys, &server(sys)?, Arc::new(Rough { percent: 25, swaps, reads }));
    let clone = match twin {
        Twin::NoOperationInBytes => CloneId(1),
        // A holder comes back as the clone that it was.
        _ if twin.watches() => clone_of(&sys.processes.me()?.host),
        _ => CloneId(sys.entropy.nonce()?),
    };
    let (cache, watched) = (Mutex::default(), Mutex::default());
    Ok(Box::new(Naive { sys: sys.clone(), register, twin, clone, cache, watched }))
}

/// The clone of a host.
fn clone_of(host: &str) -> CloneId {
    CloneId(host.bytes().fold(1, |id, byte| id << 8 | u128::from(byte)))
}

struct Naive {
    sys: Sys,
    register: Simulated,
    twin: Twin,
    clone: CloneId,
    cache: Mutex<Option<Found>>,
    /// Since when the leases of others are watched.
    watched: Mutex<Vec<Watched>>,
}

impl Naive {
    fn head(&self, cached: bool) -> Result<(Found, Head)> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match &*cache {
            Some(found) if cached => found.clone(),
            _ => match self.read()? {
                None if self.twin == Twin::MissingIsMade => {
                    self.make()?;
                    self.read()?.ok_or_else(|| Trouble::Unavailable.because("it is gone again"))?
                }
                found => found.ok_or_else(|| Trouble::Missing.because("it is gone"))?,
            },
        };
        *cache = Some(found.clone());
        let head = Head::decode(&found.value, &self.register.place())?;
        Ok((found, head))
    }

    /// As [`Naive::head`], for somebody who watches.
    fn watch(&self) -> Result<(Found, Head)> {
        let began = self.sys.clock.now()?;
        let (found, head) = self.head(false)?;
        let since = match self.twin {
            Twin::WatchedFromTheStart => began,
            _ => self.sys.clock.now()?,
        };
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(noted) = watch::noted(&head, self.clone, &watched, &since) {
            *watched = noted;
        }
        drop(watched);
        Ok((found, head))
    }

    /// What is in the register; what was read before is enough if `cached`.
    fn look(&self, cached: bool) -> Result<(Found, Head)> {
        if self.twin.watches() { self.watch() } else { self.head(cached) }
    }

    fn read(&self) -> Result<Option<Found>> {
        self.register.read().map_err(|error| Trouble::Unavailable.because(error.0))
    }

    /// Makes a register, because there is none.
    fn make(&self) -> Result<()> {
        let author = Author { clone: self.clone, op: self.operation()?, at_ms: 0 };
        let first = Head::first(COUNTER, Fence::FIRST).then(&author, &[], &[Note::Made], Vec::new())?;
        let next = Next {
            height: first.head.height,
            chain: &first.head.chain,
            head: &first.value,
            step: &first.bytes,
            title: "",
        };
        self.register.swap(None, &next);
        Ok(())
    }

    fn operation(&self) -> Result<OpId> {
        Ok(match self.twin {
            Twin::NoOperationInBytes => OpId(1),
            _ => OpId(self.sys.entropy.nonce()?),
        })
    }

    /// The command, with those dead whose processes have no counterpart here.
    fn judging(&self, command: &Command, head: &Head) -> Result<Command> {
        let Command::Acquire(wanted) = command else { return Ok(command.clone()) };
        let me = self.sys.processes.me()?;
        let is_dead = |lease: &Lease| {
            let here = liveness::process(lease).map(|process| ProcessId {
                host: me.host.clone(),
                boot: me.boot,
                ..process
            });
            here.is_some_and(|process| self.sys.processes.liveness(&process) == Liveness::Dead)
        };
        let on = head.entries.values().map(|entry| &entry.lease);
        let dead = on.filter(|lease| lease.resource == wanted.resource && is_dead(lease));
        Ok(Command::Acquire(Acquire { dead: dead.map(|lease| lease.id).collect(), ..wanted.clone() }))
    }

    fn table(&self, head: &Head, now: &Stamp) -> Result<Table> {
        if self.twin.watches() {
            let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            return watch::judged(head, self.clone, &watched, now, Trust::Watch)
                .map_err(|what| Trouble::Missing.because(what));
        }
        let table = head.table().map_err(|what| Trouble::Missing.because(what))?;
        if self.twin != Twin::RecordOnServerLease {
            return Ok(table);
        }
        let kept = table.iter().filter(|lease| !lease.standing(now).is_over()).cloned();
        Table::restore(kept).map_err(|error| Trouble::Missing.because(error.to_string()))
    }

    /// Sends what was decided; none if it has to be decided again.
    fn send(&self, found: &Found, head: &Head, op: OpId, events: &[Event], answer: &Answer) -> Result<Sent> {
        let at_ms = self.sys.clock.now()?.wall_ms();
        let author = Author { clone: self.clone, op, at_ms };
        let step = head.then(&author, events, &[], vec![(0, answer.clone())])?;
        let next = Next {
            height: step.head.height,
            chain: &step.head.chain,
            head: &step.value,
            step: &step.bytes,
            title: "",
        };
        let said = self.register.swap(Some(&found.version), &next);
        Ok(match (self.twin, said) {
            (_, Swap::Swapped(_)) | (Twin::SucceededAlone, _) => Sent::Done,
            (Twin::TimeoutIsFailure, Swap::Unknown(_)) => return Err(Refusal::FencesExhausted.into()),
            (Twin::RetryAnew, Swap::Unknown(_)) => Sent::Anew,
            (Twin::LostBelieved, Swap::Lost(_)) => Sent::Anew,
            (_, Swap::Lost(_) | Swap::Unknown(_)) => Sent::Look,
        })
    }

    fn decided(&self, policy: &Policy, command: &Command, head: &Head) -> Result<Decision> {
        let now = self.sys.clock.now()?;
        let table = self.table(head, &now)?;
        let mut decision = decide(&table, policy, command, &now, head.next)?;
        if self.twin == Twin::RecordOnServerLease {
            // What the server dropped has no end on record; the table would not take the grant otherwise.
            let gone = head.entries.keys().filter(|id| table.get(**id).is_none());
            let ends =
                gone.map(|id| Event::Evicted { lease: *id, at: now, cause: holdfast_kernel::Cause::Expired });
            decision.events = renumbered(ends.collect(), decision.events, head.next);
            decision.answer = answered(&decision.events, decision.answer);
        }
        Ok(decision)
    }

    /// Removes what stands in the way and is over, whatever else is there by then.
    fn remove_expired(&self, wanted: &Acquire) -> Result<()> {
        let (_, head) = self.head(false)?;
        let now = self.sys.clock.now()?;
        let table = self.table(&head, &now)?;
        let over = |lease: &&Lease| {
            lease.holder != wanted.holder
                && matches!(lease.standing(&now), holdfast_kernel::Standing::Open { .. })
        };
        if !table.on(&wanted.resource).any(|lease| over(&lease)) {
            return Ok(());
        }
        loop {
            let (found, head) = self.head(false)?;
            let on = head.entries.values().filter(|entry| entry.lease.resource == wanted.resource);
            let cause = || holdfast_kernel::Cause::Expired;
            let ends: Vec<Event> =
                on.map(|entry| Event::Evicted { lease: entry.lease.id, at: now, cause: cause() }).collect();
            let op = OpId(self.sys.entropy.nonce()?);
            if ends.is_empty()
                || matches!(self.send(&found, &head, op, &ends, &Answer::Swept(Vec::new()))?, Sent::Done)
            {
                return Ok(());
            }
        }
    }
}

/// The events one after the other, with the fence that a grant has at its place.
fn renumbered(mut ends: Vec<Event>, events: Vec<Event>, next: Fence) -> Vec<Event> {
    let before = ends.len() as u64;
    ends.extend(events.into_iter().enumerate().map(|(at, event)| match event {
        Event::Granted { mut lease } => {
            lease.fence = next.plus(before + at as u64).unwrap_or(lease.fence);
            Event::Granted { lease }
        }
        event => event,
    }));
    ends
}

fn answered(events: &[Event], answer: Answer) -> Answer {
    match (events.last(), answer) {
        (Some(Event::Granted { lease }), Answer::Granted(_)) => Answer::Granted(lease.clone()),
        (_, answer) => answer,
    }
}

enum Sent {
    Done,
    /// To be decided again as if it had never been sent.
    Anew,
    /// To be looked for in the session.
    Look,
}

impl Medium for Naive {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        if let (Twin::DeletedThenCreated, Command::Acquire(wanted)) = (self.twin, command) {
            self.remove_expired(wanted)?;
        }
        let op = self.operation()?;
        let looks = !matches!(self.twin, Twin::RetryAnew | Twin::LostBelieved);
        let (mut cached, mut unheard) = (self.twin == Twin::RefusalFromCache, None);
        loop {
            let (found, head) = self.look(cached)?;
            cached = false;
            let session = head.sessions.get(&self.clone).filter(|session| looks && session.op == op);
            if let Some((_, answer)) = session.and_then(|session| session.answers.first()) {
                return Ok(answer.clone());
            }
            let judged = match self.twin {
                Twin::DeadJudgedElsewhere => self.judging(command, &head)?,
                _ => command.clone(),
            };
            let decision = match self.decided(policy, &judged, &head) {
                // What was sent may still arrive.
                Err(_) if unheard.as_ref() == Some(&found.version) => {
                    return Err(Trouble::Unresolved.because("nobody knows"));
                }
                decision => decision?,
            };
            if decision.events.is_empty() {
                return Ok(decision.answer);
            }
            match self.send(&found, &head, op, &decision.events, &decision.answer)? {
                Sent::Done => return Ok(decision.answer),
                Sent::Anew => {}
                Sent::Look => unheard = Some(found.version),
            }
        }
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        let (_, head) = self.look(false)?;
        let now = self.sys.clock.now()?;
        let table = self.table(&head, &now)?;
        let lease = check(&table, claim, &now)?;
        act(&Held::vouch(lease, COUNTER));
        Ok(())
    }

    fn view(&self) -> Result<View> {
        let (_, head) = self.look(false)?;
        let now = self.sys.clock.now()?;
        Ok(View { table: self.table(&head, &now)?, counter: Some(COUNTER), next: head.next, now })
    }
}
