//! What is done only when somebody asks: removing what crashes left behind (locks that were being made or
//! broken, files that were being replaced; none of it blocks anybody) and setting a damaged counter aside.

use std::path::{Path, PathBuf};

use holdfast_kernel::Millis;

use super::change::remove_tree;
use super::layout::{self, Spot};
use super::scan::{self, Kept, Lock, families, names};
use super::{Directory, Inner};
use crate::{Result, whole};

/// How much is done in one section: others take their turns in between.
const PORTION: usize = 16;
/// How long nothing is done between two full portions. Others look whether the section is free every now and then, and one
/// that is free for a moment only is never seen to be.
const REST: Millis = Millis::new(5);

impl Directory {
    /// What crashes left behind.
    ///
    /// # Errors
    /// When the root cannot be read.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>> {
        let Inner { gate, .. } = &mut *self.inner();
        let _section = gate.together(&self.sys)?;
        self.find_leftovers()
    }

    /// Removes what crashes left behind, and says what is gone. What cannot be removed stays, and
    /// [`Directory::leftovers`] still shows it.
    ///
    /// # Errors
    /// When the root cannot be read.
    pub fn clean(&self) -> Result<Vec<PathBuf>> {
        let mut gone = self.remove(|| whole::leftovers(&*self.sys.files, self.counter.path()))?;
        for family in families(&self.sys, &self.root)? {
            let all = names(&self.sys, &self.root.join(&family))?;
            let (left, scopes): (Vec<String>, Vec<String>) =
                all.into_iter().partition(|name| layout::is_leftover(name));
            // Outside of the section what is being made looks like a leftover too; inside it is none any more, or gone.
            for some in left.chunks(PORTION) {
                let there = |name: &String| {
                    Some(self.root.join(&family).join(name)).filter(|path| self.is_there(path))
                };
                gone.extend(self.remove(|| Ok(some.iter().filter_map(there).collect()))?);
                self.rest_after(some.len());
            }
            for some in scan::spots_in(&self.root, &family, &scopes).chunks(PORTION) {
                gone.extend(self.remove(|| self.beside_owners(some))?);
                self.rest_after(some.len());
            }
        }
        Ok(gone)
    }

    fn rest_after(&self, done: usize) {
        if done == PORTION {
            self.sys.clock.sleep(REST);
        }
    }

    /// Removes what `find` finds, in a section of its own, so that nobody waits for more than that. Says what is gone.
    fn remove(&self, find: impl FnOnce() -> Result<Vec<PathBuf>>) -> Result<Vec<PathBuf>> {
        let Inner { gate, .. } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        let files = &*self.sys.files;
        let mut gone = find()?;
        // A lock that was renamed away must not come back without the owner that is about to be removed.
        gone.retain(|path| {
            files.sync_dir(whole::parent(path)).is_ok() && remove_tree(files, path, 0).is_ok()
        });
        Ok(gone)
    }

    fn is_there(&self, path: &Path) -> bool {
        self.sys.files.stat(path).is_ok()
    }

    /// Ends a damaged counter: its file gets a name of its own, and the next grant starts another counter
    /// above the floor. Locks that were numbered by the old one can only be evicted then. This is for a
    /// person who has looked.
    ///
    /// # Errors
    /// When it cannot be renamed, or is of a later version.
    pub fn set_aside(&self) -> Result<Option<PathBuf>> {
        let Inner { gate, .. } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        self.counter.set_aside(&self.sys)
    }

    fn find_leftovers(&self) -> Result<Vec<PathBuf>> {
        let mut found = whole::leftovers(&*self.sys.files, self.counter.path())?;
        for name in families(&self.sys, &self.root)? {
            let family = self.root.join(name);
            let left = names(&self.sys, &family)?.into_iter().filter(|name| layout::is_leftover(name));
            found.extend(left.map(|name| family.join(name)));
        }
        found.extend(self.beside_owners(&scan::spots(&self.sys, &self.root)?)?);
        Ok(found)
    }

    /// What crashes left in these locks.
    fn beside_owners(&self, spots: &[Spot]) -> Result<Vec<PathBuf>> {
        let (scan, mut found) = (self.scan()?, Vec::new());
        for spot in spots {
            // In a lock without an owner such a file may be what keeps scripts from replacing it, and
            // removing it would make the lock look young again.
            if let Some(Lock { spot, kept: Kept::Owned(_), .. }) = scan.lock(spot.clone())? {
                found.extend(whole::leftovers(&*self.sys.files, &spot.owner())?);
            }
        }
        Ok(found)
    }
}
