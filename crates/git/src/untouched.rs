//! Whether a worktree has nothing that its index does not have, told without the git program where that is beyond doubt:
//! every file is the one that the index was written for, and no directory has a name that the index does not know. Where a
//! filter, an ignored file, a submodule or an index of another form could matter, nothing is said, and git is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use holdfast_sys::{Files, Kind, Open, Stat};

use crate::index::{self, Mark, Source, is_below};
use crate::objects::Mode;
use crate::{Result, hash, paths};

/// A worktree with more files is left to git, which looks at several at once.
const MOST_FILES: usize = 10_000;

/// How many files are read because their times do not tell, and how long each may be.
const MOST_READ: usize = 64;
const LONGEST: usize = 1 << 20;

/// Whether the files below `root` are what the index in the file `index` has, and nothing else is there. What lies below
/// the directory `except` is not looked at. `false` says nothing: git has to be asked.
///
/// # Errors
/// When a file or a directory cannot be read.
pub fn is_untouched(files: &dyn Files, root: &Path, index: &Path, except: &[u8]) -> Result<bool> {
    // Before it is read: whoever replaces it in between makes it look older, and more is read then.
    let Some(written) = paths::if_there(files.stat(index).map_err(Into::into))?.and_then(|stat| stat.times)
    else {
        return Ok(false);
    };
    let Some(source) = Source::open(files, index)? else { return Ok(false) };
    let Some(mut marks) = index::marks(&source).filter(|marks| marks.len() <= MOST_FILES) else {
        return Ok(false);
    };
    marks.retain(|mark| !is_below(&mark.path, except));
    Look { files, root, written: written.modified, read: 0 }.at(&marks, except)
}

struct Look<'a> {
    files: &'a dyn Files,
    root: &'a Path,
    /// When the index was written.
    written: (i64, i64),
    /// How many files were read.
    read: usize,
}

impl Look<'_> {
    fn at(&mut self, marks: &[Mark], except: &[u8]) -> Result<bool> {
        // The cheaper question first: what git ignores is at the top as a rule.
        if !self.has_no_other(marks, except)? {
            return Ok(false);
        }
        for mark in marks {
            if !self.is_same(mark)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no directory has a name that the index does not know.
    fn has_no_other(&self, marks: &[Mark], except: &[u8]) -> Result<bool> {
        let mut known: BTreeMap<&[u8], BTreeSet<&[u8]>> = BTreeMap::from([(&b""[..], BTreeSet::new())]);
        for Mark { path, .. } in marks {
            let mut from = 0;
            while let Some(slash) = path.iter().skip(from).position(|byte| *byte == b'/') {
                let (above, name) = (path.get(..from.saturating_sub(1)), path.get(from..from + slash));
                known.entry(above.unwrap_or_default()).or_default().extend(name);
                from += slash + 1;
            }
            let above = path.get(..from.saturating_sub(1)).unwrap_or_default();
            known.entry(above).or_default().extend(path.get(from..));
        }
        for (directory, names) in known {
            let place = self.root.join(paths::from_bytes(directory));
            let listed = match (self.files.stat(&place), self.files.list(&place)) {
                // A link in the place of a directory is a file to git.
                (Ok(stat), Ok(listed)) if stat.kind == Kind::Directory => listed,
                (Ok(_), Ok(_)) => return Ok(false),
                (Err(error), _) | (_, Err(error)) if is_missing(error.kind()) => return Ok(false),
                (Err(error), _) | (_, Err(error)) => return Err(error.into()),
            };
            let is_known = |name: &[u8]| {
                names.contains(name) || directory.is_empty() && (name == b".git" || name == except)
            };
            if !listed.iter().all(|name| is_known(name.as_bytes())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a file is the one that the index was written for, or has the same content.
    fn is_same(&mut self, mark: &Mark) -> Result<bool> {
        let path = self.root.join(paths::from_bytes(&mark.path));
        let stat = match self.files.stat(&path) {
            Err(error) if is_missing(error.kind()) => return Ok(false),
            stat => stat?,
        };
        let mode = match stat.kind {
            Kind::File if stat.mode & 0o100 == 0 => Mode::File,
            Kind::File => Mode::Executable,
            Kind::Symlink => Mode::Symlink,
            Kind::Directory | Kind::Other => return Ok(false),
        };
        if mode != mark.mode {
            return Ok(false);
        }
        // A file that was written as late as the index may have been written once more since.
        if mark.is_of(&stat) && mark.is_before(self.written) {
            return Ok(true);
        }
        if mode == Mode::Symlink || self.read >= MOST_READ || stat.len > LONGEST as u64 {
            return Ok(false);
        }
        self.read += 1;
        let bytes = self.files.open(&path, Open::Read)?.read_from(0, LONGEST + 1)?;
        Ok(hash::blob(&bytes) == mark.id)
    }
}

impl Mark {
    /// Whether the file is, by all that the system tells without reading it, the one that the index was written for.
    fn is_of(&self, stat: &Stat) -> bool {
        let Some(times) = stat.times else { return false };
        // As git, which keeps the lower half of what does not fit.
        let is = |marked: (u32, u32), (seconds, nanos): (i64, i64)| {
            i64::from(marked.0) == seconds & 0xffff_ffff && i64::from(marked.1) == nanos
        };
        is(self.modified, times.modified)
            && is(self.changed, times.changed)
            && u64::from(self.inode) == stat.identity.inode & 0xffff_ffff
            && u64::from(self.size) == stat.len & 0xffff_ffff
    }

    /// Whether the file was last written before a moment.
    fn is_before(&self, moment: (i64, i64)) -> bool {
        (i64::from(self.modified.0), i64::from(self.modified.1)) < moment
    }
}

const fn is_missing(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
