//! The operations on names that are visible but not durable, in their order. Each is one transaction: it
//! survives whole or not at all.

use std::collections::BTreeSet;
use std::ffi::OsString;

use super::super::config::NameOrder;
use super::super::hash::Mix;
use super::NodeId;

/// One name of a directory that now leads there, or nowhere.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) dir: NodeId,
    pub(super) name: OsString,
    pub(super) node: Option<NodeId>,
}

/// One operation.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) id: u64,
    pub(super) edits: Vec<Edit>,
    /// Operations that must be durable for this one to be: they freed the inode number that it uses.
    after: Vec<u64>,
}

/// What two operations must share for the earlier one to survive whenever the later one does.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Dir(NodeId),
    Name(NodeId, OsString),
    Op(u64),
}

pub(super) struct Journal {
    order: NameOrder,
    pending: Vec<Op>,
    next: u64,
}

impl Journal {
    pub(super) const fn new(order: NameOrder) -> Self {
        Self { order, pending: Vec::new(), next: 0 }
    }

    /// Adds an operation and says which one it is.
    pub(super) fn push(&mut self, edits: Vec<Edit>, after: Vec<u64>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.pending.push(Op { id, edits, after });
        id
    }

    /// The things that pending operations give names to.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.pending.iter().flat_map(|op| &op.edits).filter_map(|edit| edit.node)
    }

    /// Forgets operations in directories that are gone, which nobody can lose or make durable any more.
    pub(super) fn forget(&mut self, gone: impl Fn(NodeId) -> bool) {
        self.pending.retain(|op| !op.edits.iter().all(|edit| gone(edit.dir)));
    }

    fn keys(&self, op: &Op) -> Vec<Key> {
        let key = |edit: &Edit| match self.order {
            NameOrder::PerDirectory => Key::Dir(edit.dir),
            NameOrder::PerName => Key::Name(edit.dir, edit.name.clone()),
        };
        op.edits.iter().map(key).chain([Key::Op(op.id)]).collect()
    }

    /// Takes out the operations in `dir` and all that must be durable before them.
    pub(super) fn take(&mut self, dir: NodeId) -> Vec<Op> {
        let mut wanted = BTreeSet::new();
        let mut taken = BTreeSet::new();
        for op in self.pending.iter().rev() {
            let keys = self.keys(op);
            if op.edits.iter().any(|edit| edit.dir == dir) || keys.iter().any(|key| wanted.contains(key)) {
                wanted.extend(keys);
                wanted.extend(op.after.iter().map(|id| Key::Op(*id)));
                taken.insert(op.id);
            }
        }
        let (out, left) =
            std::mem::take(&mut self.pending).into_iter().partition(|op| taken.contains(&op.id));
        self.pending = left;
        out
    }

    /// What a power loss keeps. Nothing is pending then.
    pub(super) fn survivors(&mut self, ask: &mut dyn FnMut(usize) -> usize) -> Vec<Op> {
        let mut lost = BTreeSet::new();
        let mut kept = Vec::new();
        for op in std::mem::take(&mut self.pending) {
            let keys = self.keys(&op);
            let cannot = keys.iter().any(|key| lost.contains(key))
                || op.after.iter().any(|id| lost.contains(&Key::Op(*id)));
            if cannot || ask(2) != 0 {
                lost.extend(keys);
            } else {
                kept.push(op);
            }
        }
        kept
    }

    pub(super) fn digest(&self, mix: &mut Mix, number: impl Fn(NodeId) -> u64) {
        mix.word(self.pending.len() as u64);
        for edit in self.pending.iter().flat_map(|op| &op.edits) {
            mix.word(number(edit.dir));
            mix.bytes(edit.name.as_encoded_bytes());
            mix.word(edit.node.map_or(0, &number));
        }
    }
}
