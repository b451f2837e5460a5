//! The commits that changed one path, as `git log -- <path>` tells them: through merges only those sides that
//! made a difference.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{Commit, TreeEntry};
use super::{Mode, Objects};
use crate::{ObjectId, Result};

/// A commit that changed a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The commit.
    pub commit: ObjectId,
    /// When it was written, in seconds since 1970.
    pub written_secs: i64,
    /// The first line of its message. It need not be UTF-8.
    pub subject: Vec<u8>,
    /// What the path was from then on; none if it was removed.
    pub content: Option<ObjectId>,
}

/// A commit, and what it has at the path.
struct Seen {
    commit: Commit,
    content: Option<(Mode, ObjectId)>,
}

/// A walk through commits, the latest first.
struct Walk<'a> {
    objects: &'a Objects<'a>,
    path: &'a [u8],
    seen: BTreeMap<ObjectId, Seen>,
    open: BTreeSet<(i64, ObjectId)>,
    done: BTreeSet<ObjectId>,
}

impl Objects<'_> {
    /// The commits up to `start` that changed `path`, the latest first, at most `limit`.
    ///
    /// # Errors
    /// When a commit or a tree cannot be read.
    pub fn history(&self, start: &ObjectId, path: &[u8], limit: usize) -> Result<Vec<Change>> {
        let (seen, open, done) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut walk = Walk { objects: self, path, seen, open, done };
        walk.visit(*start)?;
        let mut changes = Vec::new();
        while let Some((_, id)) = walk.open.pop_last() {
            if changes.len() >= limit {
                break;
            }
            changes.extend(walk.step(id)?);
        }
        Ok(changes)
    }
}

impl Objects<'_> {
    /// The last commit up to `start` that changed `path`, through first parents only, as `git log --first-parent -1`
    /// tells it; none if there is none among the last `most` ones.
    ///
    /// # Errors
    /// When a commit or a tree cannot be read.
    pub fn last_change(&self, start: &ObjectId, path: &[u8], most: usize) -> Result<Option<ObjectId>> {
        let look = |id: &ObjectId| -> Result<(Commit, Option<(Mode, ObjectId)>)> {
            let commit = self.commit(id)?;
            let entry = self.entry(&commit.tree, path)?;
            Ok((commit, entry.map(|entry| (entry.mode, entry.id))))
        };
        let mut at = *start;
        let (mut commit, mut content) = look(&at)?;
        for _ in 0..most {
            let before = match commit.parents.first().filter(|parent| self.has(parent)) {
                Some(parent) => Some((*parent, look(parent)?)),
                None => None,
            };
            match before {
                Some((parent, (earlier, same))) if same == content => {
                    (at, commit, content) = (parent, earlier, same)
                }
                Some(_) => return Ok(Some(at)),
                None => return Ok(content.is_some().then_some(at)),
            }
        }
        Ok(None)
    }
}

impl Walk<'_> {
    /// Goes on from a commit to those before it that matter; says what it changed itself.
    fn step(&mut self, id: ObjectId) -> Result<Option<Change>> {
        let Some(Seen { commit, content }) = self.seen.remove(&id) else { return Ok(None) };
        let mut parents = Vec::new();
        for parent in commit.parents.iter().filter(|parent| self.objects.has(parent)) {
            parents.push((*parent, self.look(*parent)?));
        }
        let same = parents.iter().find(|(_, seen)| seen.content == content).map(|(id, _)| *id);
        let nothing = parents.is_empty() && content.is_none();
        for (parent, seen) in parents {
            if same.is_none_or(|same| same == parent) {
                self.open(parent, seen);
            }
        }
        if same.is_some() || nothing {
            return Ok(None);
        }
        let subject = commit.message.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec();
        let content = content.map(|(_, id)| id);
        Ok(Some(Change { commit: id, written_secs: commit.written_secs, subject, content }))
    }

    fn look(&self, id: ObjectId) -> Result<Seen> {
        let commit = self.objects.commit(&id)?;
        let entry = self.objects.entry(&commit.tree, self.path)?;
        Ok(Seen { commit, content: entry.map(|TreeEntry { mode, id, .. }| (mode, id)) })
    }

    fn visit(&mut self, id: ObjectId) -> Result<()> {
        let seen = self.look(id)?;
        self.open(id, seen);
        Ok(())
    }

    fn open(&mut self, id: ObjectId, seen: Seen) {
        if self.done.insert(id) {
            self.open.insert((seen.commit.written_secs, id));
            self.seen.insert(id, seen);
        }
    }
}
