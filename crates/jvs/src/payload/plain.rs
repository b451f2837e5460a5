//! Trees through [`Files`](holdfast_sys::Files), one call at a time: what runs in the simulator, and wherever
//! there is nothing faster. It keeps contents, directories and permission bits; it knows no links, owners or
//! extended attributes, because the simulated machine has none to copy.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use holdfast_sys::{Kind, Open, Stat, Sys};

use super::{Content, Entry, Hashed, Listing, Mark, Progress, Scan, Summary, Trees, What};
use crate::error::{Error, Result};

/// How much is read at once.
const BUFFER: usize = 64 * 1_024;

/// Trees through the files of a machine.
pub struct PlainTrees {
    sys: Sys,
}

impl PlainTrees {
    /// The trees of this machine.
    #[must_use]
    pub const fn new(sys: Sys) -> Self {
        Self { sys }
    }

    fn list(&self, root: &Path, path: &[u8], entries: &mut Vec<Entry>) -> Result<()> {
        for name in self.sys.files.list(&below(root, path))? {
            let mut full = path.to_vec();
            if !full.is_empty() {
                full.push(b'/');
            }
            full.extend_from_slice(name.as_bytes());
            let entry = entry(full, &self.sys.files.stat(&below(root, path).join(&name))?);
            if entry.what == What::Directory {
                self.list(root, &entry.path, entries)?;
            }
            entries.push(entry);
        }
        Ok(())
    }

    /// Reads a file, and writes it to `to` if there is such a place.
    fn file(&self, from: &Path, to: Option<(&Path, u32)>, progress: &Progress) -> Result<Hashed> {
        let source = self.sys.files.open(from, Open::Read)?;
        let target = to.map(|(to, mode)| self.sys.files.open(to, Open::New { mode })).transpose()?;
        let (mut hasher, mut at) = (blake3::Hasher::new(), 0);
        loop {
            let part = source.read_from(at, BUFFER)?;
            if part.is_empty() {
                break;
            }
            hasher.update(&part);
            if let Some(target) = &target {
                target.write_all_at(&part, at)?;
            }
            at += part.len() as u64;
            progress.bytes(part.len() as u64);
        }
        if let Some(target) = target {
            target.sync()?;
        }
        progress.file();
        Ok(Hashed::plain(Content::File(at, hasher.finalize())))
    }

    fn hashed(&self, root: &Path, entry: &Entry, progress: &Progress) -> Result<Hashed> {
        let path = below(root, &entry.path);
        match entry.what {
            What::File => self.file(&path, None, progress),
            What::Symlink => {
                let target = self.sys.files.read_link(&path)?;
                Ok(Hashed::plain(Content::Target(target.as_os_str().as_bytes().to_vec())))
            }
            What::Directory | What::Other => Ok(Hashed::plain(Content::Nothing)),
        }
    }
}

fn below(root: &Path, path: &[u8]) -> PathBuf {
    if path.is_empty() { root.to_path_buf() } else { root.join(OsStr::from_bytes(path)) }
}

fn entry(path: Vec<u8>, stat: &Stat) -> Entry {
    let what = match stat.kind {
        Kind::File => What::File,
        Kind::Directory => What::Directory,
        Kind::Symlink => What::Symlink,
        Kind::Other => What::Other,
    };
    let modified_ns = i128::from(stat.modified_ms) * 1_000_000;
    let identity = (stat.identity.device, stat.identity.inode);
    let mark = Mark { identity, len: stat.len, modified_ns, changed_ns: modified_ns };
    Entry { path, what, mode: stat.mode, owner: (stat.owner, 0), links: 1, mark }
}

impl Trees for PlainTrees {
    fn scan(&self, root: &Path) -> Result<Scan> {
        if self.sys.files.stat(root)?.kind != Kind::Directory {
            return Err(Error::path_escape(root));
        }
        let mut entries = Vec::new();
        self.list(root, &[], &mut entries)?;
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Scan { entries })
    }

    fn copy(&self, from: &Path, scan: &Scan, to: &Path, progress: &Progress) -> Result<Summary> {
        let mut hashed = Vec::with_capacity(scan.entries.len());
        for entry in &scan.entries {
            let target = below(to, &entry.path);
            hashed.push(match entry.what {
                What::File => self.file(&below(from, &entry.path), Some((&target, entry.mode)), progress)?,
                What::Directory => {
                    self.sys.files.create_dir(&target, entry.mode)?;
                    Hashed::plain(Content::Nothing)
                }
                What::Symlink => return Err(Error::unsupported(&target, "a symbolic link")),
                What::Other => Hashed::plain(Content::Nothing),
            });
        }
        for entry in scan.entries.iter().filter(|entry| entry.what == What::Directory) {
            self.sys.files.sync_dir(&below(to, &entry.path))?;
        }
        self.sys.files.sync_dir(to)?;
        Ok(Summary::new(scan, &hashed, false))
    }

    fn read(&self, root: &Path, progress: &Progress) -> Result<Listing> {
        let scan = self.scan(root)?;
        progress.expect(scan.size());
        let hashed = scan.entries.iter().map(|entry| self.hashed(root, entry, progress));
        let hashed = hashed.collect::<Result<Vec<_>>>()?;
        Ok(Listing { scan, hashed })
    }

    fn remove(&self, root: &Path) -> Result<()> {
        let kind = match self.sys.files.stat(root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found?.kind,
        };
        if kind != Kind::Directory {
            return gone(self.sys.files.remove_file(root));
        }
        for name in self.sys.files.list(root)? {
            self.remove(&root.join(name))?;
        }
        gone(self.sys.files.remove_dir(root))
    }
}

/// Somebody else who cleans up may be faster.
fn gone(removed: holdfast_sys::Result<()>) -> Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => Ok(done?),
    }
}
