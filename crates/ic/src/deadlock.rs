//! Who waits for whom. A wait that would close a circle never ends, so whoever is about to close it is told
//! at once. Noting a wait and looking for the circle is one step, so of those in a circle exactly the last
//! one hears of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use holdfast_kernel::{BootId, Name};
use holdfast_sys::{Liveness, ProcessId, Sys};
use serde::{Deserialize, Serialize};

use crate::cycle::{Cycle, Link};
use crate::error::{Error, Result};
use crate::names::LockName;
use crate::owner::Owner;
use crate::patience::Limit;
use crate::side_files::{SideFiles, written};

const WAITING: &str = "waiting";

/// A note that somebody waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    owner: String,
    within: Vec<String>,
    wants: String,
    host: String,
    boot: Option<u128>,
    namespace: u64,
    pid: u32,
    start: u64,
    /// Its turn among those who wait for the same lock. Who wrote none takes no turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
}

impl Note {
    fn process(&self) -> ProcessId {
        let (host, boot) = (self.host.clone(), self.boot.map(BootId::new));
        ProcessId { host, boot, namespace: self.namespace, pid: self.pid, start: self.start }
    }

    /// Whether this owner cannot go on while the wait lasts.
    fn holds_up(&self, owner: &str) -> bool {
        self.owner == owner || self.within.iter().any(|outer| outer == owner)
    }
}

/// Tells who holds a lock.
pub type HolderOf<'a> = dyn Fn(&Name) -> Result<Option<String>> + 'a;

/// The notes under one root.
pub struct Waits {
    sys: Sys,
    files: SideFiles,
}

/// A wait that is noted. The note goes with this.
pub struct Waiting<'a> {
    waits: &'a Waits,
    file: String,
    turn: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // What cannot be removed is a note of a process that ends soon, and those count for nothing.
        let _ = self.waits.files.remove(WAITING, &self.file);
    }
}

impl Waits {
    /// The notes under `root`. Nothing is read or written yet.
    #[must_use]
    pub(crate) fn new(sys: &Sys, root: &Path, limit: &Limit) -> Self {
        Self { sys: sys.clone(), files: SideFiles::new(sys, root, limit) }
    }

    /// Notes that `owner` waits for `lock`.
    ///
    /// # Errors
    /// The circle that this would close, or what failed.
    pub fn begin(&self, owner: &Owner, lock: &LockName, holder_of: &HolderOf<'_>) -> Result<Waiting<'_>> {
        let me = self.sys.processes.me()?;
        let mut note = Note {
            owner: owner.name.to_string(),
            within: owner.within.clone(),
            wants: lock.to_string(),
            host: me.host,
            boot: me.boot.map(BootId::get),
            namespace: me.namespace,
            pid: me.pid,
            start: me.start,
            turn: None,
        };
        let file = format!("{:032x}", self.sys.entropy.nonce()?);
        let turn = self.files.alone(|| {
            let notes = self.notes()?;
            if let Some(links) = closing(&notes, owner, lock, holder_of)? {
                let owner = owner.name.to_string();
                return Err(Error::Deadlock(Box::new(Cycle { owner, links })));
            }
            let last =
                notes.iter().filter(|other| other.wants == note.wants).filter_map(|other| other.turn).max();
            let turn = last.map_or(1, |last| last.saturating_add(1));
            note.turn = Some(turn);
            self.files.write(WAITING, &file, &written(&note))?;
            Ok(turn)
        })?;
        Ok(Waiting { waits: self, file, turn })
    }

    /// How many of those who wait for `lock` came before whoever waits here, or wait at all if nobody does. Nothing
    /// is written, and nobody is waited for.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn ahead(&self, lock: &LockName, waiting: Option<&Waiting<'_>>) -> Result<u64> {
        let (mut ahead, wanted) = (0, lock.to_string());
        for file in self.files.list(WAITING)? {
            // Whoever cannot be watched takes no turns: nobody would know that it is gone.
            let is_here = |note: &Note| self.sys.processes.liveness(&note.process()) == Liveness::Alive;
            let note = self.read(&file)?.filter(|note| note.wants == wanted && is_here(note));
            let turn = note.and_then(|note| note.turn);
            let is_earlier = |turn: u64| waiting.is_none_or(|waiting| turn < waiting.turn);
            ahead += u64::from(turn.is_some_and(is_earlier));
        }
        Ok(ahead)
    }

    /// Forgets the notes of processes that are gone.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn prune(&self) -> Result<()> {
        self.files.alone(|| self.notes().map(drop))
    }

    /// The waits of those who live. The notes of others are removed.
    fn notes(&self) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        for file in self.files.list(WAITING)? {
            match self.read(&file)? {
                Some(note) if self.is_living(&note) => notes.push(note),
                _ => self.files.remove(WAITING, &file)?,
            }
        }
        Ok(notes)
    }

    /// A note; none if it is gone, or not one.
    fn read(&self, file: &str) -> Result<Option<Note>> {
        let bytes = self.files.read(&format!("{WAITING}/{file}"))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn is_living(&self, note: &Note) -> bool {
        self.sys.processes.liveness(&note.process()) != Liveness::Dead
    }
}

/// The circle that is closed if `owner` waits for `lock`.
fn closing(
    notes: &[Note],
    owner: &Owner,
    lock: &LockName,
    holder_of: &HolderOf<'_>,
) -> Result<Option<Vec<Link>>> {
    let mut from: BTreeMap<String, (Option<String>, Link)> = BTreeMap::new();
    let mut locks = VecDeque::from([(None::<String>, lock.to_string())]);
    let mut asked = BTreeSet::new();
    while let Some((waiter, lock)) = locks.pop_front() {
        let holder = match Name::new(&lock) {
            Ok(name) if asked.insert(lock.clone()) => holder_of(&name)?,
            _ => None,
        };
        let Some(holder) = holder else { continue };
        let link = Link { lock, holder: holder.clone() };
        if owner.parties().any(|party| party == holder) {
            return Ok(Some(trace(&from, waiter, link)));
        }
        if from.contains_key(&holder) {
            continue;
        }
        let waits = notes.iter().filter(|note| note.holds_up(&holder));
        locks.extend(waits.map(|note| (Some(holder.clone()), note.wants.clone())));
        from.insert(holder, (waiter, link));
    }
    Ok(None)
}

/// The links that led to the last one.
fn trace(from: &BTreeMap<String, (Option<String>, Link)>, waiter: Option<String>, last: Link) -> Vec<Link> {
    let (mut links, mut at) = (vec![last], waiter);
    while let Some((before, link)) = at.and_then(|holder| from.get(&holder)) {
        links.push(link.clone());
        at = before.clone();
    }
    links.reverse();
    links
}
