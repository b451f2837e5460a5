//! Makes, keeps and breaks the directories of locks. Every step is safe against scripts that know no guard
//! and against a crash right after it; what a crash leaves is either a lock, no lock, or a leftover.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use holdfast_kernel::{Event, Fence, Lease, Resource, Table, apply};
use holdfast_sys::{Files, Kind, Open, Stat};

use super::layout::{OWNER, Spot};
use super::marker;
use super::scan::{Kept, Lock, Locks};
use super::{Directory, Settled};
use crate::codec::{self, Stored};
use crate::{CounterId, Error, Result, whole};

pub(super) const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// How deep a leftover is taken apart. What this medium makes is one level deep.
const DEEPEST: u32 = 16;

/// What becomes of one lock.
struct Change<'a> {
    spot: Spot,
    before: Option<&'a Lock>,
    after: Option<(Fence, Vec<u8>)>,
}

impl Directory {
    /// Makes what a lock says durable, unless this handle knows that it is.
    pub(super) fn settle(&self, settled: &mut Settled, lock: Option<&Lock>) -> Result<()> {
        let Some(Lock { spot, kept: Kept::Owned(bytes), .. }) = lock else { return Ok(()) };
        if settled.get(&spot.dir) == Some(bytes) {
            return Ok(());
        }
        self.sys.files.sync_dir(&spot.dir)?;
        self.sync_above(spot)?;
        settled.insert(spot.dir.clone(), bytes.clone());
        Ok(())
    }

    /// Makes it durable that a lock's directory is where it is.
    fn sync_above(&self, spot: &Spot) -> Result<()> {
        self.sys.files.sync_dir(&spot.family)?;
        Ok(self.sys.files.sync_dir(&self.root)?)
    }

    /// Makes the events durable, and says for which locks it could not, because a script was faster.
    pub(super) fn commit(
        &self,
        settled: &mut Settled,
        locks: &Locks,
        events: &[Event],
    ) -> Result<Vec<Resource>> {
        let counter = locks.position.counter(&self.sys)?;
        let changes = self.changes(locks, events, counter)?;
        for change in changes.iter().filter(|change| change.after.is_some()) {
            self.make_family(&change.spot)?;
        }
        if let Some(witness) = &self.settings.witness {
            witness.record(&locks.table, events).map_err(|error| Error::Unwitnessed(error.into()))?;
        }
        let fences = changes.iter().filter_map(|change| change.after.as_ref()).map(|(fence, _)| *fence);
        if let Some(fence) = fences.max().filter(|fence| *fence >= locks.position.next) {
            // This also makes a family durable that was made for the grant.
            self.counter.take(&self.durable, counter, fence)?;
        }
        let mut lost = Vec::new();
        for change in changes {
            let resource = change.spot.resource.clone();
            if !self.change(settled, change)? {
                lost.push(resource);
            }
        }
        Ok(lost)
    }

    /// What the events do to each lock that they touch.
    fn changes<'a>(&self, locks: &'a Locks, events: &[Event], counter: CounterId) -> Result<Vec<Change<'a>>> {
        let mut after = locks.table.clone();
        let mut touched = BTreeSet::new();
        for event in events {
            let before = resource(&after, event).cloned();
            apply(&mut after, event).map_err(|error| Error::damaged(&self.root, "the locks in it", error))?;
            touched.extend(before.or_else(|| resource(&after, event).cloned()));
        }
        let mut changes = Vec::new();
        for resource in touched {
            let Some(spot) = Spot::new(&self.root, &resource) else { continue };
            let lease = after.on(&resource).next();
            let bytes = lease.map(|lease| self.encode(lease, counter)).transpose()?;
            changes.push(Change { spot, before: locks.on(&resource), after: bytes });
        }
        Ok(changes)
    }

    /// The bytes for a lease, if they say all of it.
    fn encode(&self, lease: &Lease, counter: CounterId) -> Result<(Fence, Vec<u8>)> {
        let stored = Stored { lease: lease.clone(), counter: Some(counter) };
        let what = "this lease: its format cannot carry all of it";
        let unsupported = || Error::Unsupported { path: self.root.clone(), what };
        let bytes = codec::encode(&*self.settings.codec, &stored).ok_or_else(unsupported)?;
        Ok((lease.fence, bytes))
    }

    fn change(&self, settled: &mut Settled, change: Change<'_>) -> Result<bool> {
        let Change { spot, before, after } = change;
        let known = settled.remove(&spot.dir);
        let done = match (before, &after) {
            (None, None) => true,
            (None, Some((_, bytes))) => self.make(&spot, bytes)?,
            (Some(lock), None) => self.break_up(lock)?,
            (Some(lock), Some((_, bytes))) => match &lock.kept {
                Kept::Owned(old) => self.replace(&spot, bytes, known.as_ref() == Some(old))?,
                Kept::Ghost { .. } | Kept::Foreign(_) | Kept::Damaged(_) => {
                    self.break_up(lock)? && self.make(&spot, bytes)?
                }
            },
        };
        if let (true, Some((_, bytes))) = (done, after) {
            settled.insert(spot.dir, bytes);
        }
        Ok(done)
    }

    /// Makes sure that there is a directory for a lock to be in.
    fn make_family(&self, spot: &Spot) -> Result<()> {
        match self.sys.files.create_dir(&spot.family, DIRECTORY_MODE) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let kind = self.sys.files.stat(&spot.family)?.kind;
        if kind != Kind::Directory {
            let what = format_args!("it is {}, not a directory", whole::called(kind));
            return Err(Error::damaged(&spot.family, "its kind", what));
        }
        Ok(())
    }

    /// Makes a lock appear, owner and all; false if somebody has its name.
    fn make(&self, spot: &Spot, bytes: &[u8]) -> Result<bool> {
        let making = spot.making(self.sys.entropy.nonce()?);
        let made =
            self.put_together(&making, bytes).and_then(|()| self.sys.files.rename_new(&making, &spot.dir));
        if let Err(error) = made {
            // What cannot be removed either is a leftover, and those never block.
            let _ = remove_tree(&*self.sys.files, &making, 0);
            let taken = error.kind() == ErrorKind::AlreadyExists;
            return if taken { Ok(false) } else { Err(error.into()) };
        }
        self.sys.files.sync_dir(&spot.family)?;
        Ok(true)
    }

    fn put_together(&self, making: &Path, bytes: &[u8]) -> holdfast_sys::Result<()> {
        self.sys.files.create_dir(making, DIRECTORY_MODE)?;
        whole::create(&self.sys, &making.join(OWNER), bytes, FILE_MODE)?;
        self.sys.files.sync_dir(making)
    }

    /// Gives a lock that has an owner another one, or the same one for longer.
    fn replace(&self, spot: &Spot, bytes: &[u8], is_settled: bool) -> Result<bool> {
        whole::replace(&self.sys, &spot.owner(), bytes, FILE_MODE)?;
        if !is_settled {
            self.sync_above(spot)?;
        }
        Ok(true)
    }

    /// Makes a lock disappear; false if it is no longer the one that was looked at.
    fn break_up(&self, lock: &Lock) -> Result<bool> {
        let Lock { spot, kept, .. } = lock;
        if let Kept::Ghost { stat, marker } = kept
            && !self.pin(spot, stat, marker.as_deref())?
        {
            return Ok(false);
        }
        // Whoever wrote it knows no guard either.
        if let Kept::Foreign(bytes) = kept
            && whole::read(&self.sys, &spot.owner())?.as_ref() != Some(bytes)
        {
            return Ok(false);
        }
        let breaking = spot.breaking(self.sys.entropy.nonce()?);
        self.sys.files.rename(&spot.dir, &breaking)?;
        // Only then: an owner that is removed from a lock whose renaming is lost would leave a ghost.
        self.sys.files.sync_dir(&spot.family)?;
        // The lock is gone. What is left of it blocks nobody.
        let _ = remove_tree(&*self.sys.files, &breaking, 0);
        Ok(true)
    }

    /// Keeps a lock without an owner from being given up and taken anew by scripts, and says whether it is
    /// still the one that was judged.
    ///
    /// A file inside makes `rmdir` fail. It may have been put into another directory than the judged one;
    /// but the judged one was open until then, so no directory made meanwhile can have its number, and
    /// comparing numbers tells.
    ///
    /// A slow script may put its marker into the judged one meanwhile. Either it does so before the look at
    /// the marker here, which then tells; or after the pin, and then the script finds the pin when it looks
    /// whether the directory is still its own. So never do both go on.
    fn pin(&self, spot: &Spot, judged: &Stat, marker: Option<&[u8]>) -> Result<bool> {
        let open = match self.sys.files.open(&spot.dir, Open::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            open => open?,
        };
        let opened = open.stat()?;
        if (opened.identity, opened.modified_ms) != (judged.identity, judged.modified_ms) {
            return Ok(false);
        }
        let pin = whole::beside(&spot.owner(), self.sys.entropy.nonce()?);
        match self.sys.files.open(&pin, Open::New { mode: FILE_MODE }) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            pinned => drop(pinned?),
        }
        drop(open);
        let same = self.sys.files.stat(&spot.dir)?.identity == opened.identity;
        if same && marker::read(&self.sys, &spot.dir).map(|marker| marker.bytes).as_deref() == marker {
            return Ok(true);
        }
        self.sys.files.remove_file(&pin)?;
        Ok(false)
    }
}

/// What an event is about, on a table that knows the lease.
fn resource<'a>(table: &'a Table, event: &'a Event) -> Option<&'a Resource> {
    match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => Some(&lease.resource),
        Event::Renewed { lease, .. }
        | Event::Beaten { lease, .. }
        | Event::Released { lease, .. }
        | Event::Evicted { lease, .. } => table.get(*lease).map(|lease| &lease.resource),
    }
}

/// Removes what is at `path` and in it, following no symbolic link.
pub(super) fn remove_tree(files: &dyn Files, path: &Path, depth: u32) -> holdfast_sys::Result<()> {
    if files.stat(path)?.kind != Kind::Directory {
        return files.remove_file(path);
    }
    if depth < DEEPEST {
        for name in files.list(path)? {
            remove_tree(files, &path.join(name), depth + 1)?;
        }
    }
    files.remove_dir(path)
}
