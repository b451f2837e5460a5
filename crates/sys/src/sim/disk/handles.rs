//! Open files and the locks on them. A lock belongs to one handle, as `flock` has it: two handles of one
//! process exclude each other as well.

use std::path::Path;

use rustix::io::{Errno, Result};

use super::super::hash::Mix;
use super::super::touch::Thing;
use super::{Ask, Body, Content, Disk, NodeId};
use crate::{LockMode, Open};

/// The longest file; a longer one would only use up the memory of the tests.
const LONGEST: u64 = 1 << 26;

/// Which handle, for good.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in super::super) struct HandleId(pub(super) u64);

/// What a handle is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Access {
    Read,
    Write,
    Append,
}

#[derive(Clone, Debug)]
pub(in super::super) struct OpenFile {
    pub(super) node: NodeId,
    access: Access,
    /// The process that has it.
    owner: usize,
    lock: Option<LockMode>,
}

impl OpenFile {
    pub(super) fn digest(&self, mix: &mut Mix, number: u64) {
        let lock = match self.lock {
            None => 0,
            Some(LockMode::Shared) => 1,
            Some(LockMode::Exclusive) => 2,
        };
        [number, self.owner as u64, self.access as u64, lock].into_iter().for_each(|word| mix.word(word));
    }
}

impl Disk {
    pub(in super::super) fn open(
        &mut self,
        path: &Path,
        how: Open,
        owner: usize,
        now_ms: i64,
    ) -> Result<HandleId> {
        let (access, mode, exclusive) = match how {
            Open::Read => (Access::Read, None, false),
            Open::Write => (Access::Write, None, false),
            Open::Create { mode } => (Access::Write, Some(mode), false),
            Open::New { mode } => (Access::Write, Some(mode), true),
            Open::Append { mode } => (Access::Append, Some(mode), false),
        };
        let place = self.locate(path)?;
        let there = match &place.name {
            None => Some(place.dir),
            Some(name) => self.entry(place.dir, name)?,
        };
        let node = match (there, mode) {
            (Some(_), _) if exclusive => return Err(Errno::EXIST),
            (Some(id), _) => self.may_open(id, access)?,
            (None, Some(mode)) => self.create(place, mode, now_ms)?,
            (None, None) => return Err(Errno::NOENT),
        };
        let there = self.node_mut(node);
        there.opens += 1;
        let born = there.born;
        self.touched.read(|| Thing::existence(born));
        let id = HandleId(self.next_handle);
        self.next_handle += 1;
        self.handles.insert(id, OpenFile { node, access, owner, lock: None });
        Ok(id)
    }

    fn may_open(&self, id: NodeId, access: Access) -> Result<NodeId> {
        match &self.node(id).body {
            Body::Symlink(_) => Err(Errno::LOOP),
            Body::Directory(_) if access != Access::Read => Err(Errno::ISDIR),
            Body::Directory(_) | Body::File(_) => Ok(id),
        }
    }

    fn handle(&self, id: HandleId) -> Result<&OpenFile> {
        self.handles.get(&id).ok_or(Errno::BADF)
    }

    /// What a handle leads to.
    pub(in super::super) fn opened(&self, id: HandleId) -> Result<NodeId> {
        self.handle(id).map(|handle| handle.node)
    }

    pub(in super::super) fn access(&self, id: HandleId) -> Result<Access> {
        self.handle(id).map(|handle| handle.access)
    }

    /// Closes a handle; says what it led to if somebody may wait for its lock.
    pub(in super::super) fn close(&mut self, id: HandleId) -> Option<NodeId> {
        let handle = self.handles.remove(&id)?;
        let node = self.node_mut(handle.node);
        node.opens -= 1;
        let born = node.born;
        self.touched.read(|| Thing::existence(born));
        if handle.lock.is_some() {
            self.touched.changed(|| Thing::lock(born));
        }
        self.free_if_gone(handle.node);
        let unlocked = handle.lock.map(|_| handle.node);
        self.sweep();
        unlocked
    }

    /// Whether others can tell that a handle is closed: it has a lock, or is the last trace of its file.
    pub(in super::super) fn close_is_visible(&self, id: HandleId) -> bool {
        self.handle(id).is_ok_and(|handle| {
            let node = self.node(handle.node);
            self.touched.read(|| Thing::existence(node.born));
            handle.lock.is_some() || (node.links == 0 && node.opens == 1)
        })
    }

    /// The locks that a process has.
    pub(in super::super) fn locks_of(&self, owner: usize) -> Vec<(Thing, LockMode)> {
        let its = self.handles.values().filter(|handle| handle.owner == owner);
        its.filter_map(|handle| Some((Thing::lock(self.node(handle.node).born), handle.lock?))).collect()
    }

    /// The handles that a process has.
    pub(in super::super) fn handles_of(&self, owner: usize) -> Vec<HandleId> {
        self.handles.iter().filter(|(_, handle)| handle.owner == owner).map(|(id, _)| *id).collect()
    }

    pub(in super::super) fn content(&self, id: HandleId) -> Result<&Content> {
        let node = self.node(self.opened(id)?);
        self.touched.read(|| Thing::inside(node.born));
        match &node.body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::ISDIR),
        }
    }

    /// The content, to be changed, and the size of a sector.
    fn content_mut(&mut self, id: HandleId, now_ms: i64) -> Result<(&mut Content, usize)> {
        let (node, sector) = (self.opened(id)?, self.sector);
        self.touched.changed(|| Thing::inside(self.node(node).born));
        let node = self.node_mut(node);
        node.modified_ms = now_ms;
        match &mut node.body {
            Body::File(content) => Ok((content, sector)),
            _ => Err(Errno::INVAL),
        }
    }

    pub(in super::super) fn read(&self, id: HandleId, buffer: &mut [u8], offset: u64) -> Result<usize> {
        if self.access(id)? == Access::Append {
            return Err(Errno::BADF);
        }
        let content = self.content(id)?;
        if i64::try_from(offset).is_err() {
            return Err(Errno::INVAL);
        }
        Ok(usize::try_from(offset).map_or(0, |offset| content.read(buffer, offset)))
    }

    /// Whether that many bytes may be written there; where they go, as a handle for appending has no say
    /// in it.
    pub(in super::super) fn may_write(&self, id: HandleId, len: usize, offset: u64) -> Result<usize> {
        let offset = match self.access(id)? {
            Access::Read => return Err(Errno::BADF),
            Access::Write => offset,
            Access::Append => self.content(id)?.len() as u64,
        };
        if i64::try_from(offset).is_err() {
            return Err(Errno::INVAL);
        }
        if offset.saturating_add(len as u64) > LONGEST {
            return Err(Errno::FBIG);
        }
        usize::try_from(offset).map_err(|_| Errno::FBIG)
    }

    pub(in super::super) fn write(
        &mut self,
        id: HandleId,
        bytes: &[u8],
        offset: usize,
        now_ms: i64,
    ) -> Result<()> {
        let (content, sector) = self.content_mut(id, now_ms)?;
        content.write(bytes, offset, sector);
        self.through(id)
    }

    pub(in super::super) fn truncate(&mut self, id: HandleId, len: u64, now_ms: i64) -> Result<()> {
        if self.access(id)? == Access::Read || i64::try_from(len).is_err() {
            return Err(Errno::INVAL);
        }
        let len = usize::try_from(len).ok().filter(|len| *len as u64 <= LONGEST).ok_or(Errno::FBIG)?;
        let (content, sector) = self.content_mut(id, now_ms)?;
        content.truncate(len, sector);
        self.through(id)
    }

    /// Makes what was written durable, where everything is at once.
    fn through(&mut self, id: HandleId) -> Result<()> {
        if self.write_through { self.sync(id, None) } else { Ok(()) }
    }

    /// Makes a file's content durable; with `ask` it fails, and only what is kept then is durable.
    pub(in super::super) fn sync(&mut self, id: HandleId, ask: Option<&mut Ask<'_>>) -> Result<()> {
        let (node, sector) = (self.opened(id)?, self.sector);
        match (&mut self.node_mut(node).body, ask) {
            (Body::File(content), None) => content.sync(sector),
            (Body::File(content), Some(ask)) => content.fail_sync(sector, ask),
            (Body::Directory(_), None) => return self.sync_dir(node),
            (Body::Directory(_), Some(_)) | (Body::Symlink(_), _) => {}
        }
        Ok(())
    }

    /// Takes a lock if nobody has one that excludes it; says whether it did. Linux gives up the lock that
    /// the handle had before it tries, whatever comes of it.
    pub(in super::super) fn try_lock(&mut self, id: HandleId, mode: LockMode) -> Result<bool> {
        let handle = self.handle(id)?;
        if handle.lock == Some(mode) {
            return Ok(true);
        }
        let node = handle.node;
        self.touched.changed(|| Thing::lock(self.node(node).born));
        let excludes = |other: LockMode| mode == LockMode::Exclusive || other == LockMode::Exclusive;
        let others = self.handles.iter().filter(|(other, handle)| **other != id && handle.node == node);
        let free = !others.filter_map(|(_, handle)| handle.lock).any(excludes);
        self.set_lock(id, free.then_some(mode));
        Ok(free)
    }

    /// Gives a lock up; says what it was on if there was one.
    pub(in super::super) fn unlock(&mut self, id: HandleId) -> Result<Option<NodeId>> {
        let handle = self.handle(id)?;
        let unlocked = handle.lock.map(|_| handle.node);
        self.touched.changed(|| Thing::lock(self.node(handle.node).born));
        self.set_lock(id, None);
        Ok(unlocked)
    }

    /// Whether a handle has a lock that it would give up to get another one.
    pub(in super::super) fn would_convert(&self, id: HandleId, mode: LockMode) -> Option<NodeId> {
        self.handle(id).ok().filter(|handle| handle.lock.is_some_and(|had| had != mode)).map(|h| h.node)
    }

    fn set_lock(&mut self, id: HandleId, lock: Option<LockMode>) {
        if let Some(handle) = self.handles.get_mut(&id) {
            handle.lock = lock;
        }
    }
}
