//! Taking a lock that somebody may have: judging whoever is in the way, and waiting for one's turn. A wait never lasts
//! longer than it was allowed to, ends at once when it is called off, and leaves nothing behind.

use std::io::ErrorKind;
use std::path::Path;

use holdfast_kernel::{Lease, LeaseId, Millis, Refusal, Stamp};
use holdfast_sys::{Liveness, Stat};

use crate::cancel::Cancel;
use crate::deadlock::Waiting;
use crate::error::{Error, Result};
use crate::inversion::Inversion;
use crate::locks::Locks;
use crate::names::LockName;
use crate::owner::Owner;
use crate::shown::{Shown, State};

/// How often the lock's directory is looked at: a hand-over shall not be felt.
const GLANCE: Millis = Millis::new(3);
/// How often the holder's life is looked at.
const LOOK: Millis = Millis::new(100);
/// How long whoever is next has to take a lock that can be had. Somebody who stands still must not keep all others
/// waiting.
const TURN: Millis = Millis::new(200);
/// How long a command waits for the guards that has no limit of its own.
const PATIENCE: Millis = Millis::from_secs(3);

/// How a lock is asked for.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// How long to wait for it.
    pub timeout: Millis,
    /// Whether to refuse what turns an order round.
    pub strict_order: bool,
}

/// What there is to tell while a lock is being taken.
#[derive(Debug)]
pub enum Notice<'a> {
    /// Somebody is waited for.
    Waiting(&'a Shown),
    /// A lock was taken away from somebody who is gone, or of whom nothing is known.
    TookOver(&'a Shown),
    /// The locks were taken the other way round before.
    OutOfOrder(&'a Inversion),
    /// The order could not be recorded.
    Unrecorded(&'a Error),
}

/// Hears what there is to tell.
pub type Tell<'a> = dyn FnMut(Notice<'_>) + 'a;

/// Somebody who takes a lock.
struct Taker<'a> {
    locks: &'a Locks,
    lock: &'a LockName,
    owner: &'a Owner,
    cancel: &'a Cancel,
    tell: &'a mut Tell<'a>,
    /// Grants whose holders are gone.
    dead: Vec<LeaseId>,
    /// Whom somebody was told about.
    told: Option<LeaseId>,
    /// Since when the lock can be had, while others are next.
    free_since: Option<Stamp>,
    /// What is wrong with the lock, if its owner cannot be read.
    damage: Option<Error>,
}

/// What became of one try.
enum Tried {
    Granted(Box<Lease>),
    /// Something has been moved out of the way: try again at once.
    Cleared,
    /// Wait for whoever it is.
    Blocked(Option<Box<Shown>>),
}

impl Locks {
    /// Takes `lock` for `owner`.
    ///
    /// # Errors
    /// When the time is over, the wait would never end or was called off, or something failed. Nothing is
    /// held then that was not held before.
    pub fn acquire(
        &self,
        lock: &LockName,
        owner: &Owner,
        how: How,
        cancel: &Cancel,
        tell: &mut Tell<'_>,
    ) -> Result<Shown> {
        let limited = self.limit.set(&self.sys, how.timeout, cancel)?;
        let from = self.sys.clock.now()?;
        let taken = self.granted(lock, owner, how, cancel, tell);
        // From here on nothing is called off: whoever gives a lock back waits for it.
        drop(limited);
        match taken {
            Ok((held, lease)) => self.kept(lock, owner, &held, &lease, cancel, tell),
            Err(error) => Err(self.explained(error, cancel, &from)),
        }
    }

    /// Takes the lock, and says what the owner held before.
    fn granted(
        &self,
        lock: &LockName,
        owner: &Owner,
        how: How,
        cancel: &Cancel,
        tell: &mut Tell<'_>,
    ) -> Result<(Vec<String>, Box<Lease>)> {
        let held = self.chain(owner)?;
        let inversion = self.order.inversion(owner.name.as_str(), &held, lock)?;
        if let Some(inversion) = inversion {
            if how.strict_order {
                return Err(Error::OutOfOrder(Box::new(inversion)));
            }
            tell(Notice::OutOfOrder(&inversion));
        }
        let mut forward = |notice: Notice<'_>| tell(notice);
        let mut taker = Taker {
            locks: self,
            lock,
            owner,
            cancel,
            tell: &mut forward,
            dead: Vec::new(),
            told: None,
            free_since: None,
            damage: None,
        };
        let lease = taker.within(how.timeout)?;
        Ok((held, lease))
    }

    /// Notes the order of a lock that was granted, or gives it back if that was called off.
    fn kept(
        &self,
        lock: &LockName,
        owner: &Owner,
        held: &[String],
        lease: &Lease,
        cancel: &Cancel,
        tell: &mut Tell<'_>,
    ) -> Result<Shown> {
        if let Err(called_off) = cancel.check() {
            self.release(lock, &owner.name)?;
            return Err(called_off);
        }
        let noted = self.limit.set(&self.sys, Millis::ZERO, &Cancel::new()).map_err(Error::from).and_then(
            |_limited| self.order.taken(owner.name.as_str(), lock, lease.id, held, lease.granted.wall_ms()),
        );
        if let Err(error) = noted {
            tell(Notice::Unrecorded(&error));
        }
        Ok(Shown::new(&self.sys, lease, &lease.granted))
    }

    /// Does something at the locks that has no limit of its own: somebody who stands still keeps nobody for ever.
    ///
    /// # Errors
    /// When a guard was kept for too long, or what `act` fails with.
    pub fn patiently<T>(&self, act: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let (cancel, from) = (Cancel::new(), self.sys.clock.now()?);
        let _limited = self.limit.set(&self.sys, PATIENCE, &cancel)?;
        act(self).map_err(|error| self.explained(error, &cancel, &from))
    }

    /// What went wrong, if it is that somebody kept a guard for too long.
    fn explained(&self, error: Error, cancel: &Cancel, from: &Stamp) -> Error {
        let Error::Sys(failed) = &error else { return error };
        match (failed.kind(), cancel.check(), self.sys.clock.now()) {
            (ErrorKind::Interrupted, Err(called_off), _) => called_off,
            (ErrorKind::TimedOut, _, Ok(now)) => {
                let waited = now.since(from).forward();
                Error::Busy { root: self.root.clone(), by: self.locker(&failed.path), waited }
            }
            _ => error,
        }
    }

    /// Who keeps a guard, as far as that can be told.
    fn locker(&self, guard: &Path) -> Option<String> {
        let stat = self.sys.files.stat(guard).ok()?;
        let locker = self.sys.processes.lockers(stat.identity).into_iter().next()?;
        let stopped = if locker.is_stopped { ", which is stopped" } else { "" };
        let command =
            if locker.command.is_empty() { String::new() } else { format!(" ({})", locker.command) };
        Some(format!("process {}{command}{stopped}", locker.pid))
    }

    /// What the owner holds, and whoever waits for it, the first one first.
    fn chain(&self, owner: &Owner) -> Result<Vec<String>> {
        let mut chain = Vec::new();
        let mut parties: Vec<&str> = owner.parties().collect();
        parties.reverse();
        for party in parties {
            let entries = self.order.chain(party)?.into_iter();
            chain.extend(
                entries.filter(|entry| self.is_held(&entry.lock, &entry.lease)).map(|entry| entry.lock),
            );
        }
        Ok(chain)
    }
}

impl<'a> Taker<'a> {
    fn within(&mut self, timeout: Millis) -> Result<Box<Lease>> {
        let started = self.locks.sys.clock.now()?;
        let mut note: Option<Waiting<'a>> = None;
        loop {
            self.cancel.check()?;
            let seen = self.glance();
            let tried = if self.is_next(note.as_ref())? { self.attempt()? } else { self.look()? };
            let blocker = match tried {
                Tried::Granted(lease) => return Ok(lease),
                Tried::Cleared => continue,
                Tried::Blocked(blocker) => blocker,
            };
            let waited = self.since(&started)?;
            let left = Millis::new(timeout.get().saturating_sub(waited.get()));
            if left == Millis::ZERO {
                let damage = self.damage.take();
                let timeout = || Error::Timeout { lock: self.lock.to_string(), blocker, waited };
                return Err(damage.unwrap_or_else(timeout));
            }
            if self.is_for_nobody() {
                return Err(Error::CallerGone(self.owner.name.to_string()));
            }
            if note.is_none() {
                note = Some(self.note()?);
            }
            self.announce(blocker.as_deref());
            self.rest(left.min(LOOK), seen)?;
        }
    }

    /// Whether it is this one's turn: nobody came before, or those who did let it go by.
    fn is_next(&mut self, note: Option<&Waiting<'_>>) -> Result<bool> {
        let ahead = self.locks.waits.ahead(self.lock, note)?;
        if ahead == 0 {
            self.free_since = None;
            return Ok(true);
        }
        let held = self.locks.look(self.lock)?;
        if held.as_ref().is_some_and(|held| held.owner == self.owner.name.as_str()) {
            // It will never have it: that is said at once.
            return Ok(true);
        }
        let is_over =
            |held: &Shown| held.alive == Liveness::Dead || held.is_given_up() || self.is_worn_out(held);
        if !held.as_ref().is_none_or(is_over) {
            self.free_since = None;
            return Ok(false);
        }
        let now = self.locks.sys.clock.now()?;
        let since = self.free_since.get_or_insert(now);
        Ok(now.since(since).forward().get() >= TURN.get().saturating_mul(ahead))
    }

    /// Whoever is in the way of somebody who is not next.
    fn look(&self) -> Result<Tried> {
        Ok(Tried::Blocked(self.locks.look(self.lock)?.map(Box::new)))
    }

    /// Whether nobody can read whose it is, and it is too old to be just being written.
    fn is_worn_out(&self, held: &Shown) -> bool {
        held.state == State::Corrupt && !held.newer && held.age >= self.locks.stale_after
    }

    /// An owner that cannot be read counts as none: its lock lasts until it is old.
    fn judge_damage(&mut self, damage: Error) -> Result<Tried> {
        let Some(held) = self.locks.look(self.lock)? else { return Ok(Tried::Cleared) };
        if self.is_worn_out(&held) && self.locks.evict(&held, self.owner, "its owner cannot be read")? {
            (self.tell)(Notice::TookOver(&held));
            return Ok(Tried::Cleared);
        }
        self.damage = Some(damage);
        Ok(Tried::Blocked(Some(Box::new(held))))
    }

    /// Asks for the lock once and judges whoever is in the way.
    fn attempt(&mut self) -> Result<Tried> {
        self.damage = None;
        let refusal = match self.locks.take(self.lock, self.owner, &self.dead) {
            Ok(lease) => return Ok(Tried::Granted(Box::new(lease))),
            Err(Error::Refused(refusal)) => refusal,
            // Scripts took the lock and gave it up all the time.
            Err(Error::Sys(error)) if error.kind() == ErrorKind::ResourceBusy => {
                return Ok(Tried::Blocked(None));
            }
            Err(damage) if is_torn(&damage) => return self.judge_damage(damage),
            Err(error) => return Err(error),
        };
        let (lease, is_own) = if let Some(blocker) = refusal.blocker() {
            (blocker, false)
        } else if let Refusal::AlreadyHeld { lease } = &*refusal {
            (&**lease, true)
        } else {
            return Err(Error::Refused(refusal));
        };
        let blocker = Shown::new(&self.locks.sys, lease, &self.locks.sys.clock.now()?);
        if blocker.alive == Liveness::Dead && !self.dead.contains(&lease.id) {
            // Nobody comes back to life, so this is still true when the medium looks.
            self.dead = vec![lease.id];
            (self.tell)(Notice::TookOver(&blocker));
            return Ok(Tried::Cleared);
        }
        if blocker.is_given_up() && self.locks.evict(&blocker, self.owner, "silent for too long")? {
            (self.tell)(Notice::TookOver(&blocker));
            return Ok(Tried::Cleared);
        }
        if is_own {
            return Err(Error::AlreadyHeld(Box::new(blocker)));
        }
        Ok(Tried::Blocked(Some(Box::new(blocker))))
    }

    /// Whether the process that the lock is for is gone. Whoever started this has been killed then, and a
    /// lock for the dead would only be in others' way.
    fn is_for_nobody(&self) -> bool {
        let is_dead = |process| self.locks.sys.processes.liveness(process) == Liveness::Dead;
        self.owner.process.as_ref().is_some_and(is_dead)
    }

    /// Notes the wait where others look for circles.
    fn note(&self) -> Result<Waiting<'a>> {
        let holder_of = |lock: &holdfast_kernel::Name| {
            Ok(self.locks.look(&LockName::of(lock.clone().into()))?.map(|held| held.owner))
        };
        self.locks.waits.begin(self.owner, self.lock, &holder_of)
    }

    /// Waits for so long at most, or until something has happened to the lock.
    fn rest(&self, most: Millis, seen: Option<Stat>) -> Result<()> {
        let from = self.locks.sys.clock.now()?;
        loop {
            let left = most.get().saturating_sub(self.since(&from)?.get());
            if left == 0 || self.glance() != seen {
                return Ok(());
            }
            self.locks.sys.clock.sleep(Millis::new(left).min(GLANCE));
            self.cancel.check()?;
        }
    }

    fn glance(&self) -> Option<Stat> {
        self.locks.sys.files.stat(&self.lock.directory(&self.locks.root)).ok()
    }

    fn since(&self, earlier: &Stamp) -> Result<Millis> {
        Ok(self.locks.sys.clock.now()?.since(earlier).forward())
    }

    /// Says whom it waits for, once and whenever that changes.
    fn announce(&mut self, blocker: Option<&Shown>) {
        if let Some(blocker) = blocker
            && self.told != Some(blocker.lease())
        {
            self.told = Some(blocker.lease());
            (self.tell)(Notice::Waiting(blocker));
        }
    }
}

/// Whether an owner's file is there and cannot be read, as after a power loss. Anything else in its place is for a person
/// to look at.
fn is_torn(error: &Error) -> bool {
    matches!(error, Error::Store(holdfast_store::Error::Damaged { path, .. }) if path.ends_with("owner.json"))
}
