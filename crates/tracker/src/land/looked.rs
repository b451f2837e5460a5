//! What differs in a worktree, told without the git program where that is beyond doubt. Where a filter, an ignored file, a
//! sparse checkout or an index of another form could matter, nothing is said, and git is asked.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use holdfast_git::changes::Version;
use holdfast_git::objects::Mode;
use holdfast_git::{ObjectId, hash, is_untouched};
use holdfast_sys::Kind;

use super::plumbing::{Dirty, Plumbing, is_ours};
use crate::durable;
use crate::workspace::DATA;

/// A longer file is left to git.
const LONGEST: usize = 4 << 20;

/// What a file in a worktree is, beside the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Beside {
    Same,
    Differs,
    Untracked,
}

impl Plumbing<'_> {
    /// The paths that the index has otherwise than a commit; none if git has to be asked.
    pub(super) fn looked_at_index(&self, commit: &ObjectId) -> Option<Vec<Vec<u8>>> {
        let index = self.index()?;
        let staged = self.read(|objects| {
            let tree = objects.commit(commit)?.tree;
            objects.staged_in(&index, &tree)
        });
        Some(staged??.into_iter().map(|change| change.path).collect())
    }

    /// What is staged, if the files are what the index has; none if git has to be asked.
    pub(super) fn looked_over(&self) -> Option<Vec<Dirty>> {
        let files = &*self.session().sys().files;
        if !is_untouched(files, self.root(), &self.index()?, DATA.as_bytes()).ok()? {
            return None;
        }
        let staged = self.looked_at_index(&self.head().ok()?)?;
        let staged = staged.into_iter();
        let one = |path| Dirty { path, is_staged: true, is_in_index: true, is_untracked: false };
        Some(staged.map(one).collect())
    }

    /// What differs from a commit among these paths; none if git has to be asked.
    pub(super) fn looked_at(&self, commit: &ObjectId, paths: &BTreeSet<Vec<u8>>) -> Option<Vec<Dirty>> {
        let index = self.index()?;
        let indexed = self.read(|objects| objects.indexed(&index, paths))??;
        let tree = self.tree(commit).ok()?;
        let mut dirty = Vec::new();
        for path in paths {
            let entry = self.read(|objects| objects.entry(&tree, path))?;
            let committed: Option<Version> = entry.map(|entry| (entry.mode, entry.id));
            let staged = indexed.get(path).copied();
            let beside = self.beside(path, staged)?;
            // What was taken out of the index and is still there is two things to git.
            if beside == Beside::Untracked && committed.is_some() {
                return None;
            }
            if committed != staged || beside != Beside::Same {
                dirty.push(Dirty {
                    path: path.clone(),
                    is_staged: beside == Beside::Same,
                    is_in_index: committed != staged,
                    is_untracked: beside == Beside::Untracked,
                });
            }
        }
        Some(dirty)
    }

    /// How the file of a path stands to what the index has of it; none if only git can tell.
    fn beside(&self, path: &[u8], staged: Option<Version>) -> Option<Beside> {
        let sys = self.session().sys();
        let file: PathBuf = self.root().join(OsStr::from_bytes(path));
        let (mode, id) = match (sys.files.stat(&file), staged) {
            // The tracker's own are looked at whether or not git is to ignore them.
            (Ok(stat), None) if stat.kind == Kind::File && is_ours(path) => return Some(Beside::Untracked),
            // One that git does not know may be one that it is to ignore.
            (Ok(_), None) => return None,
            (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => return Some(Beside::Same),
            (Ok(stat), Some(staged)) if stat.kind == Kind::File => {
                let is_executable = stat.mode & 0o100 != 0;
                (if is_executable { Mode::Executable } else { Mode::File }, staged)
            }
            _ => return None,
        };
        let bytes = durable::read(sys, &file, LONGEST).ok().flatten()?;
        if mode != id.0 {
            return None;
        }
        if hash::blob(&bytes) == id.1 {
            return Some(Beside::Same);
        }
        // Only of the tracker's own files is it known that they are kept as they are written.
        (is_ours(path) && !bytes.contains(&b'\r')).then_some(Beside::Differs)
    }
}
