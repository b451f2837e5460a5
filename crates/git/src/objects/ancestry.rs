//! Which commits come before which: where two histories parted, and what one has that the other has not. The walk goes
//! from the latest commits backwards and ends where both sides have met, so it costs what lies between them.

use std::collections::{BTreeMap, BTreeSet};

use super::Objects;
use crate::{ObjectId, Result, paths};

/// Reached from the first side, from the second, and behind a commit that both have.
const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const STALE: u8 = 4;

/// Clocks that went this many seconds apart do not hide that a commit is behind another one.
const SKEW: i64 = 2 * 24 * 3_600;

/// A commit, as far as the walk needs it.
struct Node {
    parents: Vec<ObjectId>,
    written_secs: i64,
    marks: u8,
}

/// A walk through two histories at once.
struct Walk<'a> {
    objects: &'a Objects<'a>,
    nodes: BTreeMap<ObjectId, Node>,
    open: BTreeSet<(i64, ObjectId)>,
    /// How many of the open ones are not known to be behind a common one.
    fresh: usize,
    common: Vec<ObjectId>,
}

impl Objects<'_> {
    /// Where two commits parted: the best commit that both have, the latest of several. None if they have none.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn merge_base(&self, one: &ObjectId, other: &ObjectId) -> Result<Option<ObjectId>> {
        if one == other {
            return Ok(Some(*one));
        }
        let walk = Walk::over(self, *one, &[*other])?;
        let mut best = walk.best();
        if best.len() > 1 {
            let all = best.clone();
            let mut left = Vec::new();
            for base in best {
                let mut is_behind = false;
                for other in all.iter().filter(|other| **other != base) {
                    is_behind = is_behind || self.is_ancestor(&base, other)?;
                }
                if !is_behind {
                    left.push(base);
                }
            }
            best = left;
        }
        Ok(best.into_iter().max_by_key(|id| walk.nodes.get(id).map(|node| node.written_secs)))
    }

    /// Whether a commit is another one or comes before it.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn is_ancestor(&self, one: &ObjectId, other: &ObjectId) -> Result<bool> {
        if one == other {
            return Ok(true);
        }
        let walk = Walk::over(self, *one, &[*other])?;
        Ok(walk.nodes.get(one).is_some_and(|node| node.marks & RIGHT != 0))
    }

    /// The commits up to `tip` that none of `others` has, each after those before it, with their parents.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn beyond(&self, tip: &ObjectId, others: &[ObjectId]) -> Result<Vec<(ObjectId, Vec<ObjectId>)>> {
        let mut walk = Walk::over(self, *tip, others)?;
        walk.go_on_behind_common()?;
        let is_own = |id: &ObjectId| walk.nodes.get(id).is_some_and(|node| node.marks == LEFT);
        let mut ordered = Vec::new();
        let mut seen = BTreeSet::new();
        let mut path = vec![(*tip, 0_usize)];
        while let Some((id, next)) = path.pop() {
            if next == 0 && (!is_own(&id) || !seen.insert(id)) {
                continue;
            }
            let parents = walk.nodes.get(&id).map(|node| node.parents.clone()).unwrap_or_default();
            match parents.get(next) {
                Some(parent) => {
                    path.push((id, next + 1));
                    path.push((*parent, 0));
                }
                None => ordered.push((id, parents)),
            }
        }
        Ok(ordered)
    }

    /// The commits before a commit that are here: those before one that a shallow clone ends with are not.
    fn parents(&self, id: &ObjectId) -> Result<(Vec<ObjectId>, i64)> {
        let commit = self.commit(id)?;
        if self.is_shallow(id)? {
            return Ok((Vec::new(), commit.written_secs));
        }
        Ok((commit.parents, commit.written_secs))
    }

    /// Whether a clone was cut off at this commit.
    fn is_shallow(&self, id: &ObjectId) -> Result<bool> {
        let ends = match self.shallow_ends.get() {
            Some(ends) => ends,
            None => {
                let list = paths::read_if_there(self.files, &self.shallow, 64 << 20)?.unwrap_or_default();
                let ends = list.split(|byte| *byte == b'\n').filter_map(ObjectId::from_hex).collect();
                self.shallow_ends.get_or_init(|| ends)
            }
        };
        Ok(ends.contains(id))
    }
}

impl<'a> Walk<'a> {
    /// Goes back from both sides until everything that is left is behind a commit that both have.
    fn over(objects: &'a Objects<'a>, left: ObjectId, right: &[ObjectId]) -> Result<Self> {
        let (nodes, open) = (BTreeMap::new(), BTreeSet::new());
        let mut walk = Self { objects, nodes, open, fresh: 0, common: Vec::new() };
        walk.mark(left, LEFT)?;
        for id in right {
            walk.mark(*id, RIGHT)?;
        }
        while walk.fresh > 0 {
            walk.step()?;
        }
        Ok(walk)
    }

    /// Goes on as long as clocks that went apart may hide that a commit of one side is one of both.
    fn go_on_behind_common(&mut self) -> Result<()> {
        let own = self.nodes.values().filter(|node| node.marks == LEFT);
        let Some(oldest) = own.map(|node| node.written_secs).min() else { return Ok(()) };
        while self.open.last().is_some_and(|(secs, _)| secs.saturating_add(SKEW) >= oldest) {
            self.step()?;
        }
        Ok(())
    }

    fn mark(&mut self, id: ObjectId, marks: u8) -> Result<()> {
        if !self.nodes.contains_key(&id) {
            let (parents, written_secs) = self.objects.parents(&id)?;
            self.nodes.insert(id, Node { parents, written_secs, marks: 0 });
        }
        let Some(node) = self.nodes.get_mut(&id) else { return Ok(()) };
        if node.marks & marks == marks {
            return Ok(());
        }
        let was_fresh = node.marks & STALE == 0;
        node.marks |= marks;
        let is_fresh = node.marks & STALE == 0;
        if self.open.insert((node.written_secs, id)) {
            self.fresh += usize::from(is_fresh);
        } else if was_fresh && !is_fresh {
            self.fresh -= 1;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let Some((_, id)) = self.open.pop_last() else { return Ok(()) };
        let Some(node) = self.nodes.get(&id) else { return Ok(()) };
        let (mut marks, parents) = (node.marks, node.parents.clone());
        if marks & STALE == 0 {
            self.fresh -= 1;
        }
        if marks == LEFT | RIGHT {
            self.common.push(id);
            marks |= STALE;
        }
        for parent in parents {
            self.mark(parent, marks)?;
        }
        Ok(())
    }

    /// Those that both have and that are not behind another such one, as far as the walk knows.
    fn best(&self) -> Vec<ObjectId> {
        let mut best = self.common.clone();
        best.sort();
        best.dedup();
        best.retain(|id| self.nodes.get(id).is_some_and(|node| node.marks & STALE == 0));
        best
    }
}
