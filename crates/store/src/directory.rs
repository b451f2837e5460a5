//! The directory medium: many resources `<name>/<scope>`, each a directory under one root. Whoever makes
//! the directory has the lock, so this medium and scripts that lock by plain `mkdir` exclude each other.
//!
//! Judging, breaking and releasing happen under one guard in the root. Scripts do not know the guard, so
//! every step is also safe against them, as long as they do no more than `mkdir` the lock, put `.fallback`
//! into it, remove that file, and `rmdir` the lock (`spec/record-format.md` has the argument):
//!
//! - **A lock appears whole.** Its directory is put together beside its place, owner and all, and renamed
//!   there if nothing has the name. There is no moment at which it is empty, so no late `rmdir` can take it
//!   away and no crash leaves it without an owner.
//! - **A lock disappears whole.** It is renamed away and taken apart where nobody looks. A directory with an
//!   owner in it cannot be replaced by scripts meanwhile, because `rmdir` refuses it; one without an owner
//!   is made so by putting a file into it, and only then is it compared with what was judged.
//! - **A lock that goes on** (renewed, taken over, handed over) only has its owner's file replaced.
//!
//! It keeps exclusive leases only: an owner's file has room for one owner.

mod change;
mod clean;
mod foreign;
mod layout;
mod marker;
mod owner;
mod ownerless;
mod scan;
mod unflushed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_kernel::{
    Answer, Claim, Command, Decision, Fence, LeaseId, Limits, Millis, Mode, Policy, Refusal, Resource, check,
    decide,
};
use holdfast_sys::Sys;

pub use layout::{BESIDE, is_reserved_name, is_reserved_scope};
pub use owner::Owner;

use crate::counter::Counter;
use crate::gate::{Gate, Patience};
use crate::{Codec, Error, Held, Medium, Result, View, Witness, check_decision};
use layout::Spot;
use scan::{Kept, Lock, Locks, Scan};
use unflushed::Unflushed;

/// The tag of a lease that stands for a lock without an owner.
pub const GHOST: &str = "ghost";
/// The tag of a lease that stands for a lock of a later version, beside [`DAMAGED`].
pub const NEWER: &str = "newer";
/// The tag of a lease that stands for a lock that cannot be read. It ends only by
/// [`Command::Evict`]; everything else that is asked of it is answered with what is wrong.
pub const DAMAGED: &str = "damaged";

/// The tag of a lease that stands for a lock whose owner another program wrote down: who holds it, on which host and
/// as which process. Nothing tells that process from a later one with its number.
pub const FOREIGN: &str = "foreign";

/// How often an operation starts again because a script took or gave up the lock in the middle of it.
const ATTEMPTS: u32 = 64;

/// How many fences are made durable together where locks are not.
const BLOCK: u64 = 1_024;

/// What a lock has to outlast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outlasts {
    /// A power loss: whatever is acknowledged is flushed first.
    PowerLoss,
    /// Only the process that took it, because the one that holds it does not outlast the machine either.
    /// Nothing is flushed but the fences, in blocks; those rise across a power loss all the same.
    Process,
}

/// How the locks are kept.
#[derive(Clone)]
pub struct Settings {
    /// The format of `owner.json`.
    pub codec: Arc<dyn Codec>,
    /// Who must know of a transition before it happens.
    pub witness: Option<Arc<dyn Witness>>,
    /// The largest fence that is known to be in use elsewhere: no grant gets it, or a smaller one.
    pub floor: Option<Fence>,
    /// What the locks have to outlast.
    pub outlasts: Outlasts,
    /// How long a lock without an owner lasts, counted from when its directory last changed.
    pub ghost_after: Millis,
    /// How far the clock that judges such a lock may be from the file system's.
    pub ghost_skew: Millis,
    /// How to wait for the guard; none waits as long as it takes.
    pub patience: Option<Arc<dyn Patience>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            codec: Arc::new(Owner),
            witness: None,
            floor: None,
            outlasts: Outlasts::PowerLoss,
            ghost_after: Millis::from_secs(5),
            ghost_skew: Millis::from_secs(1),
            patience: None,
        }
    }
}

/// A handle on the locks under a root. Threads that share it take turns.
pub struct Directory {
    sys: Sys,
    /// The machine on which a flush is one, for what has to outlast it.
    durable: Sys,
    root: PathBuf,
    settings: Settings,
    counter: Counter,
    inner: Mutex<Inner>,
}

/// What only one thread at a time may touch.
struct Inner {
    gate: Gate,
    settled: Settled,
    known: Known,
}

/// Where the leases were that this handle has seen, so that not every lock has to be read to find one.
type Known = BTreeMap<LeaseId, Resource>;

/// The owners' files that this handle knows to be durable, by the lock's directory.
type Settled = BTreeMap<PathBuf, Vec<u8>>;

impl Directory {
    /// A handle on the locks under `root`, which must be there. Nothing is read or written yet.
    #[must_use]
    pub fn new(sys: Sys, root: &Path, settings: Settings) -> Self {
        // The smallest fence belongs to locks that have none of their own.
        let floor = settings.floor.unwrap_or(Fence::FIRST);
        let counter = Counter::new(root.join(layout::FENCE), change::FILE_MODE, Some(floor));
        let gate = Gate::new(root.join(layout::GUARD), change::FILE_MODE).patience(settings.patience.clone());
        let inner = Mutex::new(Inner { gate, settled: Settled::new(), known: Known::new() });
        let (durable, root) = (sys.clone(), root.to_path_buf());
        match settings.outlasts {
            Outlasts::PowerLoss => Self { sys, durable, root, settings, counter, inner },
            Outlasts::Process => {
                let counter = counter.in_blocks(root.join(layout::DRAWN), BLOCK);
                let files = Arc::new(Unflushed(Arc::clone(&sys.files)));
                Self { sys: Sys { files, ..sys }, durable, root, settings, counter, inner }
            }
        }
    }

    /// What is there for one resource. Writes nothing, and reads no other lock.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&self, resource: &Resource) -> Result<View> {
        self.view_of(|scan| scan.one(resource))
    }

    /// The names of the locks that are there, or were a moment ago. Nobody is kept waiting meanwhile.
    ///
    /// # Errors
    /// When the root cannot be read.
    pub fn names(&self) -> Result<Vec<Resource>> {
        let spots = scan::spots(&self.sys, &self.root)?;
        Ok(spots.into_iter().map(|spot| spot.resource).collect())
    }

    fn view_of(&self, look: impl Fn(&Scan<'_>) -> Result<Locks>) -> Result<View> {
        let Inner { gate, known, .. } = &mut *self.inner();
        let view = gate.looking(&self.sys, || {
            let Locks { table, position, .. } = look(&self.scan()?)?;
            Ok(View { table, counter: position.id, next: position.next, now: self.sys.clock.now()? })
        })?;
        known.extend(view.table.iter().map(|lease| (lease.id, lease.resource.clone())));
        Ok(view)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Everything is read again inside the section, so a thread that panicked leaves nothing behind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scan(&self) -> Result<Scan<'_>> {
        let position = self.counter.read(&self.sys)?;
        Ok(Scan { sys: &self.sys, root: &self.root, settings: &self.settings, position })
    }

    /// Whether a directory has room for what is asked.
    fn supports(&self, command: &Command) -> Result<()> {
        let unsupported = |what| Err(Error::Unsupported { path: self.root.clone(), what });
        match command {
            Command::Acquire(wanted) if wanted.mode == Mode::Shared => unsupported("a shared lease"),
            Command::Acquire(wanted) if Spot::new(&self.root, &wanted.resource).is_none() => {
                unsupported("a lock that is not called <name>/<scope> in plain letters")
            }
            _ => Ok(()),
        }
    }

    /// The locks that a command is about: one if that is known and enough to decide it, else all.
    fn concerned(&self, known: &Known, policy: &Policy, command: &Command) -> Result<Locks> {
        let scan = self.scan()?;
        match command {
            // Limits count what is held in all.
            Command::Acquire(wanted) if policy.limits == Limits::NONE => return scan.one(&wanted.resource),
            Command::Check(claim) => return scan.one(&claim.resource),
            Command::Renew { lease, .. }
            | Command::Beat { lease, .. }
            | Command::Release { lease, .. }
            | Command::Evict { lease, .. } => {
                if let Some(resource) = known.get(lease) {
                    let locks = scan.one(resource)?;
                    if locks.get(*lease).is_some() {
                        return Ok(locks);
                    }
                }
            }
            Command::Acquire(_) | Command::Transfer(_) | Command::Sweep => {}
        }
        scan.all()
    }

    /// What the command does to the locks as they are.
    fn judge(&self, known: &Known, policy: &Policy, command: &Command) -> Result<(Locks, Decision)> {
        let locks = self.concerned(known, policy, command)?;
        refuse_ownerless(&locks, command)?;
        let now = self.sys.clock.now()?;
        let decision = decide(&locks.table, policy, command, &now, locks.position.next)?;
        check_decision(command, locks.position.next, &decision);
        Ok((locks, decision))
    }

    /// Decides the command on the locks as they are; none if they changed before it could be done.
    fn attempt(
        &self,
        settled: &mut Settled,
        known: &Known,
        policy: &Policy,
        command: &Command,
    ) -> Result<Option<Answer>> {
        let (locks, Decision { events, answer }) = self.judge(known, policy, command)?;
        if events.is_empty() {
            self.settle(settled, vouched_for(&locks, &answer))?;
            return Ok(Some(answer));
        }
        let lost = self.commit(settled, &locks, &events)?;
        Ok(match answer {
            answer if lost.is_empty() => Some(answer),
            // What has changed meanwhile is not what was over; the others are swept all the same.
            Answer::Swept(mut leases) => {
                leases.retain(|lease| !lost.contains(&lease.resource));
                Some(Answer::Swept(leases))
            }
            _ => None,
        })
    }
}

/// Refuses what only a holder can ask of a lock that has none, and everything but an eviction of a lock
/// that cannot be read.
fn refuse_ownerless(locks: &Locks, command: &Command) -> Result<()> {
    let (lock, as_holder) = match command {
        Command::Acquire(wanted) => (locks.on(&wanted.resource), false),
        Command::Check(claim) => (locks.on(&claim.resource), false),
        Command::Renew { lease, .. } | Command::Beat { lease, .. } | Command::Release { lease, .. } => {
            (locks.get(*lease), true)
        }
        Command::Transfer(transfer) => (locks.get(transfer.lease), true),
        Command::Evict { .. } | Command::Sweep => (None, false),
    };
    match lock {
        Some(Lock { kept: Kept::Damaged(error), .. }) => Err(error.again()),
        Some(Lock { kept: Kept::Ghost { .. } | Kept::Foreign(_), lease, .. }) if as_holder => {
            Err(Refusal::NotHolder { lease: Box::new(lease.clone()) }.into())
        }
        _ => Ok(()),
    }
}

/// The lock that an answer without events vouches for.
fn vouched_for<'a>(locks: &'a Locks, answer: &Answer) -> Option<&'a Lock> {
    match answer {
        Answer::AlreadyHeld(lease) | Answer::Valid(lease) => locks.get(lease.id),
        _ => None,
    }
}

impl Medium for Directory {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        self.supports(command)?;
        let Inner { gate, settled, known } = &mut *self.inner();
        if !gate.is_made(&self.sys)? {
            // What comes to nothing leaves nothing: not even the guard.
            let (locks, decision) = gate.looking(&self.sys, || self.judge(known, policy, command))?;
            // Whoever made the guard meanwhile may have left something that no disk has: only the section flushes that.
            if decision.events.is_empty() && vouched_for(&locks, &decision.answer).is_none() {
                return Ok(decision.answer);
            }
        }
        let _section = gate.alone(&self.sys)?;
        for _ in 0..ATTEMPTS {
            if let Some(answer) = self.attempt(settled, known, policy, command)? {
                if let Answer::Granted(lease) = &answer {
                    known.insert(lease.id, lease.resource.clone());
                }
                return Ok(answer);
            }
        }
        let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, "the lock changes all the time");
        Err(holdfast_sys::Error::new("change a lock in", &self.root, busy).into())
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        let Inner { gate, settled, .. } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        let locks = self.scan()?.one(&claim.resource)?;
        let lock = locks.on(&claim.resource);
        match lock.map(|lock| &lock.kept) {
            Some(Kept::Damaged(error)) => return Err(error.again()),
            // Nobody holds a ghost, whatever they present.
            Some(Kept::Ghost { .. } | Kept::Foreign(_)) => {
                let current = locks.table.iter().cloned().collect();
                let (resource, presented) = (claim.resource.clone(), claim.fence);
                return Err(Refusal::FencedOut { resource, presented, current }.into());
            }
            Some(Kept::Owned(_)) | None => self.settle(settled, lock)?,
        }
        let lease = check(&locks.table, claim, &self.sys.clock.now()?)?;
        if let Some(counter) = locks.position.id {
            act(&Held::vouch(lease, counter));
        }
        Ok(())
    }

    fn view(&self) -> Result<View> {
        self.view_of(|scan| scan.all())
    }
}
