//! The file system that all hosts of a world share: what everybody sees, what is durable, and what lies in
//! between. It decides nothing: whether something is lost comes in as an argument.

mod content;
mod handles;
mod journal;
mod names;
mod outside;
mod path;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::io::{Errno, Result};

pub(super) use self::content::Content;
use self::handles::OpenFile;
pub(super) use self::handles::{Access, HandleId};
use self::journal::Journal;
pub(super) use self::outside::View;
use super::choice::Remnant;
use super::config::Config;
use super::hash::Mix;
use super::touch::{Birth, Thing, Touched};
use crate::{Identity, Kind, Stat, Times};

/// The times of something that was last changed then. Nobody can set one of them, and a change of a name is none of what
/// has it: who takes both for what they are on a real disk is told less here, never more.
fn times(modified_ms: i64) -> Times {
    let at = (modified_ms.div_euclid(1_000), modified_ms.rem_euclid(1_000) * 1_000_000);
    Times { modified: at, changed: at }
}

/// Asks how much of something survives: 0 is all of it.
pub(super) type Ask<'a> = dyn FnMut(Remnant, usize) -> usize + 'a;

/// The one device there is.
const DEVICE: u64 = 0xf5;

/// Who owns every file.
const OWNER: u32 = 1_000;

/// Which thing on the disk, for good. Its inode number may be given out again, this never is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct NodeId(u64);

/// The root directory.
pub(super) const ROOT: NodeId = NodeId(0);

/// The entries of a directory, as everybody sees them and as they are on the disk.
#[derive(Clone, Default, Debug)]
pub(super) struct Entries {
    visible: BTreeMap<OsString, NodeId>,
    durable: BTreeMap<OsString, NodeId>,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    File(Content),
    Directory(Entries),
    Symlink(PathBuf),
}

/// A thing on the disk.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) body: Body,
    number: u64,
    born: Birth,
    mode: u32,
    modified_ms: i64,
    /// How many names everybody sees.
    links: u32,
    /// How many handles there are.
    opens: u32,
    /// The operations that must be durable before any name of it is: they freed its number.
    after: Vec<u64>,
    /// The operations that took names away from it.
    unlinked: Vec<u64>,
}

/// Where a path leads: a directory, and a name in it unless it is the directory itself.
pub(super) struct Place {
    dir: NodeId,
    name: Option<OsString>,
}

pub(super) struct Disk {
    nodes: BTreeMap<NodeId, Node>,
    next_node: u64,
    /// Inode numbers that are free, and the pending operations that freed them.
    free: BTreeMap<u64, Vec<u64>>,
    next_number: u64,
    journal: Journal,
    handles: BTreeMap<HandleId, OpenFile>,
    next_handle: u64,
    sector: usize,
    umask: u32,
    write_through: bool,
    pub(super) touched: Touched,
    /// How many writes fail yet because the disk is full.
    pub(super) full: u32,
}

impl Disk {
    pub(super) fn new(config: &Config) -> Self {
        let mut disk = Self {
            nodes: BTreeMap::new(),
            next_node: 0,
            free: BTreeMap::new(),
            next_number: 2,
            journal: Journal::new(config.names),
            handles: BTreeMap::new(),
            next_handle: 0,
            sector: config.sector.max(1),
            umask: config.umask,
            write_through: config.write_through,
            touched: Touched::new(config.steps),
            full: 0,
        };
        let root = disk.make(Body::Directory(Entries::default()), 0, 0o755, 0);
        disk.node_mut(root).links = 1;
        disk
    }

    #[expect(clippy::expect_used, reason = "an id is forgotten with the last thing that leads to it")]
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(&id).expect("a node that something leads to")
    }

    #[expect(clippy::expect_used, reason = "an id is forgotten with the last thing that leads to it")]
    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(&id).expect("a node that something leads to")
    }

    fn entries(&self, id: NodeId) -> Result<&Entries> {
        match &self.node(id).body {
            Body::Directory(entries) => Ok(entries),
            _ => Err(Errno::NOTDIR),
        }
    }

    fn entries_mut(&mut self, id: NodeId) -> Option<&mut Entries> {
        match &mut self.nodes.get_mut(&id)?.body {
            Body::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    /// Makes a thing without a name.
    fn make(&mut self, body: Body, born: Birth, mode: u32, now_ms: i64) -> NodeId {
        self.touched.changed(Thing::numbers);
        let (number, after) = self.free.pop_first().unwrap_or((self.next_number, Vec::new()));
        self.next_number = self.next_number.max(number + 1);
        let id = NodeId(self.next_node);
        self.next_node += 1;
        let (modified_ms, unlinked) = (now_ms, Vec::new());
        let node = Node { body, number, born, mode, modified_ms, links: 0, opens: 0, after, unlinked };
        self.nodes.insert(id, node);
        id
    }

    /// Gives the number of a thing free that nobody sees any more. The disk may still have it.
    fn free_if_gone(&mut self, id: NodeId) {
        let node = self.node(id);
        if node.links == 0 && node.opens == 0 {
            self.touched.changed(Thing::numbers);
            let (number, by) = (node.number, node.unlinked.clone());
            self.free.insert(number, by);
        }
    }

    /// Forgets what neither anybody sees nor the disk has. Things that can come back after a power loss stay.
    fn sweep(&mut self) {
        let gone = |node: &Node| node.links == 0 && node.opens == 0;
        if !self.nodes.values().any(gone) {
            return;
        }
        let mut kept: BTreeSet<NodeId> = self.journal.nodes().collect();
        for node in self.nodes.values() {
            if let Body::Directory(entries) = &node.body {
                kept.extend(entries.durable.values());
            }
        }
        self.nodes.retain(|id, node| !gone(node) || kept.contains(id));
        self.journal.forget(|id| !self.nodes.contains_key(&id));
    }

    pub(super) fn stat(&self, id: NodeId) -> Stat {
        let node = self.node(id);
        self.touched.read(|| Thing::inside(node.born));
        let (kind, len) = match &node.body {
            Body::File(content) => (Kind::File, content.len()),
            Body::Directory(_) => (Kind::Directory, 4_096),
            Body::Symlink(target) => (Kind::Symlink, target.as_os_str().len()),
        };
        Stat {
            kind,
            identity: Identity { device: DEVICE, inode: node.number },
            len: len as u64,
            mode: node.mode,
            owner: OWNER,
            modified_ms: node.modified_ms,
            times: Some(times(node.modified_ms)),
        }
    }

    /// The inode number of a thing.
    pub(super) fn number(&self, id: NodeId) -> u64 {
        self.node(id).number
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        let id = self.find(path)?;
        self.touched.read(|| Thing::inside(self.node(id).born));
        Ok(self.entries(id)?.visible.keys().cloned().collect())
    }

    /// Makes the names in a directory durable, and whatever cannot be durable later than they.
    pub(super) fn sync_dir(&mut self, id: NodeId) -> Result<()> {
        self.entries(id)?;
        for op in self.journal.take(id) {
            self.commit(&op);
        }
        self.sweep();
        Ok(())
    }

    /// Makes everything durable.
    pub(super) fn sync_all(&mut self, id: NodeId) -> Result<()> {
        self.entries(id)?;
        let sector = self.sector;
        for node in self.nodes.values_mut() {
            if let Body::File(content) = &mut node.body {
                content.sync(sector);
            }
        }
        let directories = self.nodes.iter().filter(|(_, node)| matches!(node.body, Body::Directory(_)));
        for id in directories.map(|(id, _)| *id).collect::<Vec<_>>() {
            for op in self.journal.take(id) {
                self.commit(&op);
            }
        }
        self.sweep();
        Ok(())
    }

    /// The power goes: what nobody made durable is kept or lost, and what is left is what everybody sees.
    pub(super) fn lose_power(&mut self, ask: &mut Ask<'_>) {
        self.handles.clear();
        self.full = 0;
        for op in self.journal.survivors(&mut |options| ask(Remnant::Name, options)) {
            self.commit(&op);
        }
        let links = self.durable_links();
        self.nodes.retain(|id, _| links.contains_key(id));
        for (id, node) in &mut self.nodes {
            node.links = links.get(id).copied().unwrap_or(0);
            node.opens = 0;
            node.after.clear();
            node.unlinked.clear();
            match &mut node.body {
                Body::File(content) => content.lose_power(self.sector, ask),
                Body::Directory(entries) => entries.visible = entries.durable.clone(),
                Body::Symlink(_) => {}
            }
        }
        let used: BTreeSet<u64> = self.nodes.values().map(|node| node.number).collect();
        self.free = (2..self.next_number).filter(|n| !used.contains(n)).map(|n| (n, Vec::new())).collect();
    }

    /// How many durable names lead to each thing that the root leads to.
    fn durable_links(&self) -> BTreeMap<NodeId, u32> {
        let mut links = BTreeMap::from([(ROOT, 1)]);
        let mut ahead = vec![ROOT];
        while let Some(dir) = ahead.pop() {
            let Ok(entries) = self.entries(dir) else { continue };
            for id in entries.durable.values() {
                let count = links.entry(*id).or_insert(0);
                *count += 1;
                if *count == 1 {
                    ahead.push(*id);
                }
            }
        }
        links
    }

    /// Everything that the future of the disk depends on, by inode numbers and names: two disks that were
    /// built in a different order are the same.
    pub(super) fn digest(&self, mix: &mut Mix) {
        mix.word(u64::from(self.full));
        for node in self.nodes.values().filter(|node| node.links > 0 || node.opens > 0) {
            self.digest_node(node, mix);
        }
        self.journal.digest(mix, |id| self.node(id).number);
        self.free.keys().for_each(|number| mix.word(*number));
        for handle in self.handles.values() {
            handle.digest(mix, self.node(handle.node).number);
        }
    }

    fn digest_node(&self, node: &Node, mix: &mut Mix) {
        for word in [node.number, u64::from(node.mode), u64::from(node.links)] {
            mix.word(word);
        }
        mix.word(node.modified_ms.cast_unsigned());
        match &node.body {
            Body::File(content) => content.digest(mix),
            Body::Symlink(target) => mix.bytes(target.as_os_str().as_encoded_bytes()),
            Body::Directory(entries) => {
                self.digest_entries(&entries.visible, mix);
                self.digest_entries(&entries.durable, mix);
            }
        }
    }

    fn digest_entries(&self, entries: &BTreeMap<OsString, NodeId>, mix: &mut Mix) {
        mix.word(entries.len() as u64);
        for (name, id) in entries {
            mix.bytes(name.as_encoded_bytes());
            let node = self.node(*id);
            mix.word(node.number);
            // What only the disk has is not among the things that are seen.
            if node.links == 0 && node.opens == 0 {
                self.digest_node(node, mix);
            }
        }
    }
}
