//! The record medium: one resource, one lock file. The lock file is the lease; where there is none, nobody
//! holds the resource.
//!
//! It keeps one exclusive lease. Shared ones are refused: a lock file with a list of holders would be a
//! table with its own merge rules, and the log is there for that.
//!
//! Beside the lock file stand a guard, which every operation locks first, and a fence file, which numbers
//! the grants across releases. Neither is ever removed: a waiter on a removed guard and the opener of the
//! next one would both be inside, and a counter that starts again would give a fence out twice.
//!
//! # When a directory cannot be made durable
//!
//! The lock file is replaced by a rename, and the rename is durable only when its directory is. If that
//! fails, or the process dies right before it, the new record is visible but the old one may come back with
//! the power. Nothing was acknowledged, so either is right, as long as nobody builds on the new one before
//! it is durable. Going back to the old one would be another rename with the same doubt. So it stays, and
//! the rule is: **nothing is acknowledged on top of a record that this handle does not know to be durable**.
//! An operation that changes the record ends with making the directory durable, which covers whatever was
//! pending in it; one that only vouches for the record does it first.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_kernel::{
    Answer, Claim, Command, Event, Fence, Lease, Mode, Policy, Resource, Table, apply, check, decide,
};
use holdfast_sys::Sys;

use crate::codec::Stored;
use crate::counter::{Counter, Position};
use crate::gate::Gate;
use crate::{Codec, Error, Held, Json, Medium, Result, Unreadable, View, Witness, check_decision, whole};

/// Where the three files of a record are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paths {
    /// The lock file: there while the resource is held.
    pub lock: PathBuf,
    /// The guard file.
    pub guard: PathBuf,
    /// The fence file.
    pub fence: PathBuf,
}

impl Paths {
    /// `<stem>.lock`, `<stem>.guard` and `<stem>.fence` in `directory`.
    #[must_use]
    pub fn new(directory: &Path, stem: &str) -> Self {
        let file = |kind| directory.join(format!("{stem}.{kind}"));
        Self { lock: file("lock"), guard: file("guard"), fence: file("fence") }
    }
}

/// How a record is kept.
#[derive(Clone)]
pub struct Settings {
    /// The format of the lock file.
    pub codec: Arc<dyn Codec>,
    /// Who must know of a transition before it happens.
    pub witness: Option<Arc<dyn Witness>>,
    /// The largest fence that is known to be in use elsewhere: no grant gets it, or a smaller one.
    pub floor: Option<Fence>,
    /// Permission bits of the files.
    pub mode: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { codec: Arc::new(Json), witness: None, floor: None, mode: 0o600 }
    }
}

/// A handle on a record. Threads that share it take turns.
pub struct Record {
    sys: Sys,
    paths: Paths,
    resource: Resource,
    settings: Settings,
    counter: Counter,
    inner: Mutex<Inner>,
}

/// What only one thread at a time may touch.
struct Inner {
    gate: Gate,
    /// The bytes of the lock file that are known to be durable.
    settled: Option<Vec<u8>>,
}

/// What the files say, read inside the section.
struct State {
    table: Table,
    position: Position,
    bytes: Option<Vec<u8>>,
}

impl Record {
    /// A handle on the record of `resource` at `paths`, whose directories must be there. Nothing is read or
    /// written yet.
    #[must_use]
    pub fn new(sys: Sys, paths: Paths, resource: impl Into<Resource>, settings: Settings) -> Self {
        let counter = Counter::new(paths.fence.clone(), settings.mode, settings.floor);
        let gate = Gate::new(paths.guard.clone(), settings.mode);
        let inner = Mutex::new(Inner { gate, settled: None });
        Self { sys, paths, resource: resource.into(), settings, counter, inner }
    }

    /// The files that crashes left behind. They never block anybody.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>> {
        self.inner().gate.looking(&self.sys, || self.find_leftovers())
    }

    /// Removes the files that crashes left behind, and says which.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn clean(&self) -> Result<Vec<PathBuf>> {
        let inner = &mut *self.inner();
        let _section = inner.gate.alone(&self.sys)?;
        let found = self.find_leftovers()?;
        found.iter().try_for_each(|path| self.sys.files.remove_file(path))?;
        Ok(found)
    }

    /// Sets damaged files aside under a name of their own, so that the resource can be had again, and says
    /// where they are. Whatever lease they held is lost with them: this is for a person who has looked.
    ///
    /// A damaged or missing fence file ends its counter. The next grant starts another one, above the floor.
    ///
    /// # Errors
    /// When they cannot be renamed.
    pub fn set_aside(&self) -> Result<Vec<PathBuf>> {
        let inner = &mut *self.inner();
        let _section = inner.gate.alone(&self.sys)?;
        inner.settled = None;
        let mut aside: Vec<PathBuf> = self.counter.set_aside(&self.sys)?.into_iter().collect();
        if let Err(Error::Damaged { .. }) = self.load() {
            aside.push(whole::set_aside(&self.sys, &self.paths.lock)?);
        }
        Ok(aside)
    }

    fn find_leftovers(&self) -> Result<Vec<PathBuf>> {
        let mut found = whole::leftovers(&*self.sys.files, &self.paths.lock)?;
        found.extend(whole::leftovers(&*self.sys.files, &self.paths.fence)?);
        Ok(found)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Everything is read again inside the section, so a thread that panicked leaves nothing behind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the files say.
    fn load(&self) -> Result<State> {
        let position = self.counter.read(&self.sys)?;
        let bytes = whole::read(&self.sys, &self.paths.lock)?;
        let lease = bytes.as_deref().map(|bytes| self.lease(bytes, &position)).transpose()?;
        let table = Table::restore(lease).map_err(|error| self.damaged(&error))?;
        Ok(State { table, position, bytes })
    }

    /// The lease in the lock file, if it can be this record's.
    fn lease(&self, bytes: &[u8], position: &Position) -> Result<Lease> {
        let stored = self.settings.codec.read(bytes).map_err(|error| match error {
            Unreadable::Damaged(what) => self.damaged(&what),
            Unreadable::Newer(version) => Error::Newer { path: self.paths.lock.clone(), version },
        })?;
        position.admits(&stored).map_err(|what| self.damaged(&what))?;
        let Stored { lease, .. } = stored;
        if lease.resource != self.resource {
            return Err(self.damaged(&format_args!("it is a lease on {}", lease.resource)));
        }
        if lease.mode != Mode::Exclusive {
            return Err(self.damaged(&"it is a shared lease"));
        }
        Ok(lease)
    }

    fn damaged(&self, what: &dyn std::fmt::Display) -> Error {
        Error::damaged(&self.paths.lock, "the record", what)
    }

    fn unsupported(&self, what: &'static str) -> Error {
        Error::Unsupported { path: self.paths.lock.clone(), what }
    }

    /// Whether a lock file has room for what is asked.
    fn supports(&self, command: &Command) -> Result<()> {
        match command {
            Command::Acquire(wanted) if wanted.mode == Mode::Shared => {
                Err(self.unsupported("a shared lease"))
            }
            Command::Acquire(wanted) if wanted.resource != self.resource => {
                Err(self.unsupported("a lease on another resource"))
            }
            _ => Ok(()),
        }
    }

    /// Makes durable what the lock file says, unless it is known to be.
    fn settle(&self, settled: &mut Option<Vec<u8>>, state: &State) -> Result<()> {
        if state.bytes.is_some() && *settled != state.bytes {
            self.sys.files.sync_dir(whole::parent(&self.paths.lock))?;
            settled.clone_from(&state.bytes);
        }
        Ok(())
    }

    /// Makes the events durable: the fence first, then the lock file.
    fn commit(&self, settled: &mut Option<Vec<u8>>, state: &State, events: &[Event]) -> Result<()> {
        let mut table = state.table.clone();
        for event in events {
            apply(&mut table, event).map_err(|error| self.damaged(&error))?;
        }
        let counter = state.position.counter(&self.sys)?;
        let lease = table.iter().next();
        let bytes = lease.map(|lease| self.encode(&Stored { lease: lease.clone(), counter: Some(counter) }));
        let bytes = bytes.transpose()?;
        if let Some(witness) = &self.settings.witness {
            witness.record(&state.table, events).map_err(|error| Error::Unwitnessed(error.into()))?;
        }
        *settled = None;
        if let Some(lease) = lease.filter(|lease| lease.fence >= state.position.next) {
            self.counter.take(&self.sys, counter, lease.fence)?;
        }
        match &bytes {
            Some(bytes) => whole::replace(&self.sys, &self.paths.lock, bytes, self.settings.mode)?,
            None => self.remove()?,
        }
        *settled = bytes;
        Ok(())
    }

    /// The bytes for a lease, if they say all of it.
    fn encode(&self, stored: &Stored) -> Result<Vec<u8>> {
        crate::codec::encode(&*self.settings.codec, stored)
            .ok_or_else(|| self.unsupported("this lease: its format cannot carry all of it"))
    }

    fn remove(&self) -> Result<()> {
        self.sys.files.remove_file(&self.paths.lock)?;
        Ok(self.sys.files.sync_dir(whole::parent(&self.paths.lock))?)
    }
}

impl Medium for Record {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        self.supports(command)?;
        let Inner { gate, settled } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        let state = self.load()?;
        let now = self.sys.clock.now()?;
        let decision = decide(&state.table, policy, command, &now, state.position.next)?;
        check_decision(command, state.position.next, &decision);
        if decision.events.is_empty() {
            self.settle(settled, &state)?;
        } else {
            self.commit(settled, &state, &decision.events)?;
        }
        Ok(decision.answer)
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        let Inner { gate, settled } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        let state = self.load()?;
        self.settle(settled, &state)?;
        let lease = check(&state.table, claim, &self.sys.clock.now()?)?;
        if let Some(counter) = state.position.id {
            act(&Held::vouch(lease, counter));
        }
        Ok(())
    }

    fn view(&self) -> Result<View> {
        self.inner().gate.looking(&self.sys, || {
            let State { table, position, .. } = self.load()?;
            Ok(View { table, counter: position.id, next: position.next, now: self.sys.clock.now()? })
        })
    }
}
