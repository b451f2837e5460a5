//! Operations on names: each is checked as Linux checks it, visible at once, and one entry in the journal.

use std::path::Path;

use rustix::io::{Errno, Result};

use super::super::touch::{Thing, born};
use super::journal::{Edit, Op};
use super::{Body, Content, Disk, Entries, NodeId, Place};

impl Disk {
    /// Makes a file at a place where there is nothing.
    pub(super) fn create(&mut self, place: Place, mode: u32, now_ms: i64) -> Result<NodeId> {
        self.add(place, Body::File(Content::default()), mode, now_ms)
    }

    pub(in super::super) fn create_dir(&mut self, path: &Path, mode: u32, now_ms: i64) -> Result<()> {
        let place = self.vacant(path)?;
        self.add(place, Body::Directory(Entries::default()), mode, now_ms).map(drop)
    }

    pub(in super::super) fn symlink(&mut self, target: &Path, path: &Path, now_ms: i64) -> Result<()> {
        let place = self.vacant(path)?;
        self.add(place, Body::Symlink(target.to_path_buf()), 0o777, now_ms).map(drop)
    }

    fn add(&mut self, place: Place, body: Body, mode: u32, now_ms: i64) -> Result<NodeId> {
        let Some(name) = place.name else { return Err(Errno::EXIST) };
        let mode = if matches!(body, Body::Symlink(_)) { mode } else { mode & 0o7777 & !self.umask };
        let born = born(self.node(place.dir).born, &name);
        let id = self.make(body, born, mode, now_ms);
        self.edit(vec![Edit { dir: place.dir, name, node: Some(id) }], now_ms);
        Ok(id)
    }

    /// Sets permission bits. They are durable at once: they stop nobody here, so nothing can depend on it.
    pub(in super::super) fn set_mode(&mut self, path: &Path, mode: u32) -> Result<()> {
        let id = self.find(path)?;
        let node = self.nodes.get_mut(&id).ok_or(Errno::NOENT)?;
        if matches!(node.body, Body::Symlink(_)) {
            return Err(Errno::LOOP);
        }
        node.mode = mode & 0o7777;
        let born = node.born;
        self.touched.changed(|| Thing::inside(born));
        Ok(())
    }

    /// A place where there is nothing.
    fn vacant(&self, path: &Path) -> Result<Place> {
        let place = self.locate(path)?;
        let Some(name) = &place.name else { return Err(Errno::EXIST) };
        if self.entry(place.dir, name)?.is_some() {
            return Err(Errno::EXIST);
        }
        Ok(place)
    }

    pub(in super::super) fn link(&mut self, from: &Path, to: &Path, now_ms: i64) -> Result<()> {
        let id = self.find(from)?;
        let place = self.vacant(to)?;
        if self.entries(id).is_ok() {
            return Err(Errno::PERM);
        }
        let Some(name) = place.name else { return Err(Errno::EXIST) };
        self.edit(vec![Edit { dir: place.dir, name, node: Some(id) }], now_ms);
        Ok(())
    }

    pub(in super::super) fn rename_new(&mut self, from: &Path, to: &Path, now_ms: i64) -> Result<()> {
        let id = self.find(from)?;
        let target = self.locate(to)?;
        let taken = match &target.name {
            None => true,
            Some(name) => self.entry(target.dir, name)?.is_some(),
        };
        if taken { Err(Errno::EXIST) } else { self.move_to(from, id, target, now_ms) }
    }

    pub(in super::super) fn rename(&mut self, from: &Path, to: &Path, now_ms: i64) -> Result<()> {
        let id = self.find(from)?;
        let target = self.locate(to)?;
        let Some(name) = &target.name else { return Err(Errno::BUSY) };
        if let Some(there) = self.entry(target.dir, name)? {
            if there == id {
                return Ok(());
            }
            self.may_replace(id, there)?;
        }
        self.move_to(from, id, target, now_ms)
    }

    fn may_replace(&self, id: NodeId, there: NodeId) -> Result<()> {
        self.touched.read(|| Thing::inside(self.node(there).born));
        match (self.entries(id), self.entries(there)) {
            (Ok(_), Ok(entries)) if entries.visible.is_empty() => Ok(()),
            (Ok(_), Ok(_)) => Err(Errno::NOTEMPTY),
            (Ok(_), Err(_)) => Err(Errno::NOTDIR),
            (Err(_), Ok(_)) => Err(Errno::ISDIR),
            (Err(_), Err(_)) => Ok(()),
        }
    }

    fn move_to(&mut self, from: &Path, id: NodeId, target: Place, now_ms: i64) -> Result<()> {
        let source = self.locate(from)?;
        let (Some(old), Some(new)) = (source.name, target.name) else { return Err(Errno::BUSY) };
        if self.lies_under(target.dir, id) {
            return Err(Errno::INVAL);
        }
        let gone = Edit { dir: source.dir, name: old, node: None };
        let here = Edit { dir: target.dir, name: new, node: Some(id) };
        self.edit(vec![gone, here], now_ms);
        Ok(())
    }

    /// Whether a directory is another one or lies somewhere in it.
    fn lies_under(&self, dir: NodeId, above: NodeId) -> bool {
        let Ok(entries) = self.entries(above) else { return false };
        self.touched.read(|| Thing::inside(self.node(above).born));
        dir == above || entries.visible.values().any(|id| self.lies_under(dir, *id))
    }

    pub(in super::super) fn remove_file(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        if self.entries(self.find(path)?).is_ok() {
            return Err(Errno::ISDIR);
        }
        self.remove(path, now_ms)
    }

    pub(in super::super) fn remove_dir(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        let id = self.find(path)?;
        self.touched.read(|| Thing::inside(self.node(id).born));
        if !self.entries(id)?.visible.is_empty() {
            return Err(Errno::NOTEMPTY);
        }
        self.remove(path, now_ms)
    }

    fn remove(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        let place = self.locate(path)?;
        let Some(name) = place.name else { return Err(Errno::BUSY) };
        self.edit(vec![Edit { dir: place.dir, name, node: None }], now_ms);
        Ok(())
    }

    /// Does the edits for everybody to see, as one operation that is not durable yet.
    fn edit(&mut self, edits: Vec<Edit>, now_ms: i64) {
        let mut after = Vec::new();
        for edit in &edits {
            let dir = self.node(edit.dir).born;
            self.touched.changed(|| Thing::name(dir, &edit.name));
            self.touched.changed(|| Thing::inside(dir));
            self.node_mut(edit.dir).modified_ms = now_ms;
            if let Some(id) = edit.node {
                let node = self.node_mut(id);
                node.links += 1;
                after.extend(&node.after);
            }
        }
        let op = self.journal.push(edits.clone(), after);
        for edit in edits {
            let Some(entries) = self.entries_mut(edit.dir) else { continue };
            let was = match edit.node {
                Some(id) => entries.visible.insert(edit.name, id),
                None => entries.visible.remove(&edit.name),
            };
            if let Some(id) = was {
                self.unname(id, op);
            }
        }
        if self.write_through {
            self.settle_names();
        }
    }

    fn unname(&mut self, id: NodeId, op: u64) {
        let node = self.node_mut(id);
        node.links -= 1;
        node.unlinked.push(op);
        let born = node.born;
        self.touched.changed(|| Thing::existence(born));
        self.free_if_gone(id);
    }

    /// Makes an operation durable.
    pub(super) fn commit(&mut self, op: &Op) {
        for edit in &op.edits {
            let Some(entries) = self.entries_mut(edit.dir) else { continue };
            match edit.node {
                Some(id) => drop(entries.durable.insert(edit.name.clone(), id)),
                None => drop(entries.durable.remove(&edit.name)),
            }
        }
    }

    /// Makes everything durable that there is, as an orderly shutdown does.
    pub(in super::super) fn flush(&mut self) {
        let sector = self.sector;
        for node in self.nodes.values_mut() {
            if let Body::File(content) = &mut node.body {
                content.sync(sector);
            }
        }
        self.settle_names();
    }

    /// Makes all names durable.
    fn settle_names(&mut self) {
        for op in self.journal.survivors(&mut |_| 0) {
            self.commit(&op);
        }
        self.sweep();
    }
}
