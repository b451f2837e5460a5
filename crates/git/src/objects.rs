//! Objects of a repository: commits, trees and blobs, through one open database. This is the only module
//! that uses libgit2, and of libgit2 only the object database: which repository that is, and whether it may
//! be used, is decided elsewhere. Only commands that need an object open it.

mod history;
mod parse;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, ObjectType, Odb, Oid};

use crate::{Environment, Error, ObjectId, Repository, Result};

pub use history::Change;
pub use parse::{Commit, Mode, TreeEntry};

/// More files than any repository keeps below one directory of ours. Trees may name one subtree many times
/// over, so a few kilobytes can spell out billions of paths.
const MOST_FILES: usize = 4 << 20;

/// Longer than any path that a file system takes.
const LONGEST_PATH: usize = 4_096;

/// A commit or tree larger than this is an attack.
const LARGEST_NODE: usize = 256 << 20;

/// An open object database.
pub struct Objects {
    database: Odb<'static>,
}

/// A file in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeFile {
    /// Its path from the root of the tree. It need not be UTF-8.
    pub path: Vec<u8>,
    /// What it is.
    pub mode: Mode,
    /// Its content; for [`Mode::Submodule`] a commit of another repository.
    pub id: ObjectId,
}

impl Objects {
    /// Opens the objects of a repository, those that it borrows from others, and those that the environment
    /// names: in a hook that judges a push these are where the pushed ones are. `start` is what relative
    /// paths in the environment are relative to.
    ///
    /// # Errors
    /// When the database cannot be opened, or its objects have names that cannot be read here.
    pub fn open(repository: &Repository, env: &Environment, start: &Path) -> Result<Self> {
        if repository.format.sha256 {
            return Err(Error::Sha256 { git_dir: repository.git_dir.clone() });
        }
        let own = match &env.object_directory {
            Some(named) => start.join(named),
            None => repository.common_dir.join("objects"),
        };
        let failed = |why: &git2::Error| Error::Database { path: own.clone(), why: why.message().into() };
        let objects = Self { database: Odb::new().map_err(|error| failed(&error))? };
        objects.add(&own)?;
        let others =
            env.alternate_object_directories.as_ref().map(|list| list.as_bytes()).unwrap_or_default();
        for other in others.split(|byte| *byte == b':').filter(|path| !path.is_empty()) {
            objects.add(&start.join(crate::paths::from_bytes(other)))?;
        }
        Ok(objects)
    }

    fn add(&self, path: &Path) -> Result<()> {
        let failed = |why: &str| Error::Database { path: PathBuf::from(path), why: why.into() };
        // libgit2's binding takes text; a path that is none would be cut or mangled.
        let text = path.to_str().ok_or_else(|| failed("its path is not UTF-8"))?;
        self.database.add_disk_alternate(text).map_err(|error| failed(error.message()))
    }

    /// Whether there is such an object.
    #[must_use]
    pub fn has(&self, id: &ObjectId) -> bool {
        Oid::from_bytes(id.as_bytes()).is_ok_and(|oid| self.database.exists(oid))
    }

    /// A commit.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn commit(&self, id: &ObjectId) -> Result<Commit> {
        let bytes = self.read(id, ObjectType::Commit, LARGEST_NODE)?;
        Commit::parse(&bytes).ok_or_else(|| failed(id, ObjectType::Commit, "it is damaged"))
    }

    /// The content of a blob of at most `limit` bytes. A larger one is not loaded.
    ///
    /// # Errors
    /// When there is no such blob, or it is larger.
    pub fn blob(&self, id: &ObjectId, limit: usize) -> Result<Vec<u8>> {
        self.read(id, ObjectType::Blob, limit)
    }

    /// The entries of one tree.
    ///
    /// # Errors
    /// When there is no such tree, or it is one that git itself would never make.
    pub fn tree(&self, id: &ObjectId) -> Result<Vec<TreeEntry>> {
        let bytes = self.read(id, ObjectType::Tree, LARGEST_NODE)?;
        parse::tree(&bytes).ok_or_else(|| failed(id, ObjectType::Tree, "it is damaged"))
    }

    /// Shows every entry of one tree, which may have very many.
    ///
    /// # Errors
    /// As [`Objects::tree`]; some entries may have been shown then.
    pub fn each_entry(&self, id: &ObjectId, show: impl FnMut(&[u8], Mode, ObjectId)) -> Result<()> {
        let bytes = self.read(id, ObjectType::Tree, LARGEST_NODE)?;
        parse::entries(&bytes, show).ok_or_else(|| failed(id, ObjectType::Tree, "it is damaged"))
    }

    /// What is at `path` in a tree.
    ///
    /// # Errors
    /// When a tree on the way cannot be read.
    pub fn entry(&self, tree: &ObjectId, path: &[u8]) -> Result<Option<TreeEntry>> {
        let mut at: Option<TreeEntry> = None;
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let within = match &at {
                None => *tree,
                Some(entry) if entry.mode == Mode::Tree => entry.id,
                Some(_) => return Ok(None),
            };
            at = self.tree(&within)?.into_iter().find(|entry| entry.name == name);
            if at.is_none() {
                return Ok(None);
            }
        }
        Ok(at)
    }

    /// Every file below the directory `prefix` of a tree (all of it if that is empty), in the order of
    /// their paths. Nothing if there is no such directory.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn files_below(&self, tree: &ObjectId, prefix: &[u8]) -> Result<Vec<TreeFile>> {
        let prefix: Vec<&[u8]> = prefix.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let prefix = prefix.join(&b'/');
        let root = match self.entry(tree, &prefix)? {
            Some(entry) if entry.mode == Mode::Tree => entry.id,
            None if prefix.is_empty() => *tree,
            Some(_) | None => return Ok(Vec::new()),
        };
        let mut files = Vec::new();
        let mut open = vec![(prefix, Mode::Tree, root)];
        while let Some((path, mode, id)) = open.pop() {
            if mode != Mode::Tree {
                files.push(TreeFile { path, mode, id });
                continue;
            }
            for entry in self.tree(&id)?.into_iter().rev() {
                open.push((joined(&path, &entry.name), entry.mode, entry.id));
            }
            if files.len() + open.len() > MOST_FILES || path.len() > LONGEST_PATH {
                return Err(failed(
                    tree,
                    ObjectType::Tree,
                    "it spells out too many files, or too long a path",
                ));
            }
        }
        Ok(files)
    }

    /// The content of an object, if it is of that kind and at most `limit` bytes long.
    fn read(&self, id: &ObjectId, kind: ObjectType, limit: usize) -> Result<Vec<u8>> {
        let said = |error: git2::Error| match error.code() {
            ErrorCode::NotFound => failed(id, kind, "there is no such object"),
            _ => failed(id, kind, error.message()),
        };
        let oid = Oid::from_bytes(id.as_bytes()).map_err(said)?;
        let (len, found) = self.database.read_header(oid).map_err(said)?;
        if found != kind {
            return Err(failed(id, kind, &format!("it is a {found}")));
        }
        if len > limit {
            return Err(failed(id, kind, &format!("it is {len} bytes long; at most {limit} are read")));
        }
        Ok(self.database.read(oid).map_err(said)?.data().to_vec())
    }
}

fn joined(path: &[u8], name: &[u8]) -> Vec<u8> {
    if path.is_empty() { name.to_vec() } else { [path, b"/", name].concat() }
}

fn failed(id: &ObjectId, kind: ObjectType, why: &str) -> Error {
    Error::Object { kind: kind.str(), id: *id, why: why.into() }
}
