//! The locks under one root: what is there, taking one without waiting, giving back, cleaning up. Whatever
//! happens to a lock happens in the medium; whom to judge dead or stale is asked here, and stays true until
//! the medium acts on it, because it acts on one grant and no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name, Policy, Refusal,
    Request, Text, TtlRange,
};
use holdfast_store::directory::{self, Directory, Outlasts};
use holdfast_store::{Medium, Patience, View};
use holdfast_sys::Sys;

use crate::cancel::Cancel;
use crate::deadlock::Waits;
use crate::error::{Error, Result};
use crate::names::LockName;
use crate::order::Order;
use crate::owner::{self, Owner};
use crate::patience::{Limit, Pauses};
use crate::shown::{Shown, State};

/// How old a lock must be before its age counts, where nobody can tell whether its holder lives.
pub const STALE_AFTER: Millis = Millis::from_secs(5);
/// How far the file system's clock may be from this machine's.
const SKEW: Millis = Millis::new(250);

/// The locks under one root.
pub struct Locks {
    pub(crate) sys: Sys,
    pub(crate) root: PathBuf,
    pub(crate) order: Order,
    pub(crate) waits: Waits,
    pub(crate) limit: Limit,
    pub(crate) stale_after: Millis,
    medium: Directory,
    policy: Policy,
}

/// What a clean-up did.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The locks that are gone.
    pub removed: Vec<Shown>,
    /// Locks that only a later version of this program can read. They stay.
    pub newer: Vec<Shown>,
}

impl Locks {
    /// The locks under `root`, which must be there and ours.
    #[must_use]
    pub fn new(sys: &Sys, root: &Path) -> Self {
        Self::with_stale_after(sys, root, STALE_AFTER)
    }

    /// As [`Locks::new`], where age counts after `stale_after`.
    #[must_use]
    pub fn with_stale_after(sys: &Sys, root: &Path, stale_after: Millis) -> Self {
        let limit = Limit::default();
        let patience: Arc<dyn Patience> = Arc::new(limit.clone());
        let settings = directory::Settings { patience: Some(patience), ..settings(stale_after) };
        Self {
            medium: Directory::new(sys.clone(), root, settings),
            order: Order::new(sys, root, &limit),
            waits: Waits::new(sys, root, &limit),
            limit,
            stale_after,
            policy: policy(stale_after),
            root: root.to_path_buf(),
            sys: sys.clone(),
        }
    }

    /// Every lock that is there, by name.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn list(&self) -> Result<Vec<Shown>> {
        let mut locks = self.shown(&self.medium.view()?);
        locks.sort_by_key(Shown::lock);
        Ok(locks)
    }

    /// The lock with this name, if it is held.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&self, lock: &LockName) -> Result<Option<Shown>> {
        Ok(self.shown(&self.medium.look(lock.resource())?).pop())
    }

    /// The record of the order in which locks were taken.
    #[must_use]
    pub const fn order(&self) -> &Order {
        &self.order
    }

    fn shown(&self, view: &View) -> Vec<Shown> {
        view.table.iter().map(|lease| Shown::new(&self.sys, lease, &view.now)).collect()
    }

    /// Takes a lock if nothing is in the way but the leases of the dead.
    pub(crate) fn take(&self, lock: &LockName, owner: &Owner, dead: &[LeaseId]) -> Result<Lease> {
        let wanted = Acquire {
            id: self.sys.entropy.lease_id(&self.sys.clock.now()?)?,
            resource: lock.resource().clone(),
            holder: owner.holder(),
            mode: Mode::Exclusive,
            request: Request::Indefinite,
            reason: Some(text("until its process ends")),
            tags: owner.tags(),
            dead: dead.to_vec(),
        };
        match self.medium.transact(&self.policy, &Command::Acquire(wanted))? {
            Answer::Granted(lease) => Ok(lease),
            other => Err(Error::Internal(format!("taking a lock was answered with {other:?}"))),
        }
    }

    /// Gives a lock back that `owner` holds.
    ///
    /// # Errors
    /// When nobody holds it, somebody else does, or it cannot be told who. Nothing has changed then.
    pub fn release(&self, lock: &LockName, owner: &Name) -> Result<Shown> {
        let Some(held) = self.look(lock)? else { return Err(Error::NotHeld(lock.to_string())) };
        if held.state == State::Ownerless {
            return Err(Error::Ownerless(lock.to_string()));
        }
        let holder = owner::holder(owner);
        let command = if held.state == State::Foreign && held.owner == owner.as_str() {
            // It was not granted here, so it cannot be given back here; but it is theirs.
            Command::Evict { lease: held.lease(), by: holder, reason: text("released by its owner") }
        } else {
            Command::Release { lease: held.lease(), holder }
        };
        match self.medium.transact(&self.policy, &command).map_err(Error::from) {
            Ok(_) => {}
            Err(Error::Refused(refusal)) => return Err(not_yours(refusal, lock, held, owner)),
            Err(error) => return Err(error),
        }
        // The lock is free; a record that could not be brought up to date is noticed when it is used.
        let _ = self.order.given_back(owner.as_str(), lock);
        Ok(held)
    }

    /// Says that the holder of a lock still lives, for those who cannot see that. Whoever is at the locks is not waited
    /// for as long as it takes.
    ///
    /// # Errors
    /// When the lock is no longer held, or that cannot be said.
    pub fn beat(&self, held: &Shown, owner: &Owner) -> Result<()> {
        let _limited = self.limit.set(&self.sys, Millis::ZERO, &Cancel::new())?;
        let command = Command::Beat { lease: held.lease(), holder: owner.holder() };
        self.medium.transact(&self.policy, &command)?;
        Ok(())
    }

    /// Takes a lock away from whoever has it, if it is still the same grant. Says whether it was.
    pub(crate) fn evict(&self, held: &Shown, by: &Owner, reason: &str) -> Result<bool> {
        let (lease, by) = (held.lease(), by.holder());
        let command = Command::Evict { lease, by, reason: text(reason) };
        match self.medium.transact(&self.policy, &command) {
            Ok(_) => Ok(true),
            Err(holdfast_store::Error::Refused(Refusal::NotFound { .. })) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes every lock that is that old and whose holder is not known to live, and what crashes left.
    ///
    /// # Errors
    /// When the locks cannot be read, or one cannot be removed; the others are gone then.
    pub fn clean(&self, older_than: Millis, by: &Owner) -> Result<Cleaned> {
        let (mut cleaned, mut failed) = (Cleaned::default(), None);
        let mut pauses = Pauses::new(&self.sys)?;
        // One by one, so that nobody waits for all of them.
        for name in self.medium.names()? {
            pauses.rest()?;
            let found = self.look(&LockName::of(name))?.filter(|lock| lock.is_stale(older_than));
            let Some(lock) = found else { continue };
            if lock.newer {
                cleaned.newer.push(lock);
                continue;
            }
            match self.evict(&lock, by, "cleaned up: nobody is known to hold it") {
                Ok(true) => cleaned.removed.push(lock),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        self.medium.clean()?;
        self.waits.prune()?;
        self.order.prune(|entry| self.is_held(&entry.lock, &entry.lease), || pauses.rest())?;
        failed.map_or(Ok(cleaned), Err)
    }

    /// Whether a lock is held by this very grant.
    pub(crate) fn is_held(&self, lock: &str, lease: &str) -> bool {
        let Ok(resource) = Name::new(lock) else { return false };
        let held = self.look(&LockName::of(resource.into())).ok().flatten();
        held.is_some_and(|held| held.lease().to_string() == lease)
    }
}

/// How the medium keeps these locks: they end with their processes, so they need not outlast the machine.
#[must_use]
pub fn settings(stale_after: Millis) -> directory::Settings {
    directory::Settings {
        codec: Arc::new(directory::Owner),
        outlasts: Outlasts::Process,
        ghost_after: stale_after,
        ghost_skew: SKEW,
        ..directory::Settings::default()
    }
}

/// What may be granted: a lock lasts until its process ends, and waiting for oneself is refused.
#[must_use]
pub const fn policy(stale_after: Millis) -> Policy {
    let ttl = TtlRange { min: Millis::SHORTEST, max: Millis::LONGEST };
    Policy {
        again: Again::Refuse,
        rule: KindRule { ttl, indefinite: true },
        kinds: BTreeMap::new(),
        skew: SKEW,
        grace: Millis::ZERO,
        stale_after,
        limits: Limits::NONE,
    }
}

fn not_yours(refusal: Box<Refusal>, lock: &LockName, held: Shown, owner: &Name) -> Error {
    if let Refusal::NotHolder { .. } = *refusal {
        return Error::NotOwner { lock: Box::new(held), asked: owner.to_string() };
    }
    if let Refusal::NotFound { .. } = *refusal {
        // Somebody gave it back, or took it away, a moment ago.
        return Error::NotHeld(lock.to_string());
    }
    Error::Refused(refusal)
}

fn text(words: &str) -> Text {
    #[expect(clippy::expect_used, reason = "constants that are texts")]
    Text::new(words).expect("a text")
}
