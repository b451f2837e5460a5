//! The disk from outside the world: what tests put there and look at. Everything put there is durable at
//! once, names and content alike; what processes have pending stays pending.

use std::path::{Path, PathBuf};

use rustix::io::{Errno, Result};

use super::{Body, Content, Disk, Entries, NodeId, ROOT};

/// Which side of the disk to look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum View {
    /// What everybody sees.
    Visible,
    /// What is left if everything is lost that can be.
    Durable,
}

impl Disk {
    pub(in super::super) fn plant_file(&mut self, path: &Path, bytes: &[u8], now_ms: i64) -> Result<()> {
        self.plant_parent(path, now_ms)?;
        let umask = self.umask;
        let place = self.locate(path)?;
        let Some(name) = place.name.clone() else { return Err(Errno::ISDIR) };
        let id = match self.entry(place.dir, &name)? {
            Some(id) => id,
            None => self.create(place, 0o666 & !umask, now_ms)?,
        };
        let node = self.node_mut(id);
        node.modified_ms = now_ms;
        match &mut node.body {
            Body::File(content) => *content = Content::durable(bytes),
            Body::Directory(_) | Body::Symlink(_) => return Err(Errno::EXIST),
        }
        self.settle_parent(path)
    }

    pub(in super::super) fn plant_dir(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        if let Ok(id) = self.find(path) {
            return self.entries(id).map(drop);
        }
        self.plant_parent(path, now_ms)?;
        self.create_dir(path, 0o777, now_ms)?;
        self.settle_parent(path)
    }

    pub(in super::super) fn plant_symlink(&mut self, target: &Path, path: &Path, now_ms: i64) -> Result<()> {
        self.plant_parent(path, now_ms)?;
        self.symlink(target, path, now_ms)?;
        self.settle_parent(path)
    }

    pub(in super::super) fn uproot(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        self.remove_file(path, now_ms)?;
        self.settle_parent(path)
    }

    fn plant_parent(&mut self, path: &Path, now_ms: i64) -> Result<()> {
        path.parent().map_or(Ok(()), |parent| self.plant_dir(parent, now_ms))
    }

    fn settle_parent(&mut self, path: &Path) -> Result<()> {
        let dir = self.locate(path)?.dir;
        self.sync_dir(dir)
    }

    /// The content of a file, none if there is no such file on that side.
    pub(in super::super) fn peek(&self, path: &Path, view: View) -> Option<Vec<u8>> {
        let mut here = ROOT;
        for part in path.components() {
            if let std::path::Component::Normal(name) = part {
                let entries = self.entries(here).ok()?;
                here = *view.of(entries).get(name)?;
            }
        }
        match (&self.node(here).body, view) {
            (Body::File(content), View::Visible) => Some(content.seen().to_vec()),
            (Body::File(content), View::Durable) => Some(content.on_disk().to_vec()),
            _ => None,
        }
    }

    pub(in super::super) fn paths(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.collect(ROOT, Path::new("/"), &mut found);
        found
    }

    fn collect(&self, dir: NodeId, at: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = self.entries(dir) else { return };
        for (name, id) in &entries.visible {
            let path = at.join(name);
            self.collect(*id, &path, found);
            if self.entries(*id).is_err() {
                found.push(path);
            }
        }
    }
}

impl View {
    const fn of(self, entries: &Entries) -> &std::collections::BTreeMap<std::ffi::OsString, NodeId> {
        match self {
            Self::Visible => &entries.visible,
            Self::Durable => &entries.durable,
        }
    }
}
