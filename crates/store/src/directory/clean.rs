//! What is done only when somebody asks: removing what crashes left behind (locks that were being made or
//! broken, files that were being replaced; none of it blocks anybody) and setting a damaged counter aside.

use std::path::PathBuf;

use super::change::remove_tree;
use super::layout;
use super::scan::{Kept, Lock, families, names};
use super::{Directory, Inner};
use crate::{Result, whole};

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
        let Inner { gate, .. } = &mut *self.inner();
        let _section = gate.alone(&self.sys)?;
        let files = &*self.sys.files;
        let mut gone = self.find_leftovers()?;
        // A lock that was renamed away must not come back without the owner that is about to be removed.
        gone.retain(|path| {
            files.sync_dir(whole::parent(path)).is_ok() && remove_tree(files, path, 0).is_ok()
        });
        Ok(gone)
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
        for Lock { spot, kept, .. } in self.scan()?.all()?.iter() {
            // In a lock without an owner such a file may be what keeps scripts from replacing it, and
            // removing it would make the lock look young again.
            if matches!(kept, Kept::Owned(_)) {
                found.extend(whole::leftovers(&*self.sys.files, &spot.owner())?);
            }
        }
        Ok(found)
    }
}
