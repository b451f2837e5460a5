//! Objects of a repository: commits, trees and blobs. One that has a file of its own is read from there; for
//! any other the database is opened. This is the only module that uses libgit2, and of libgit2 only the
//! object database: which repository that is, and whether it may be used, is decided elsewhere.

mod ancestry;
mod history;
mod loose;
mod parse;
mod write;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use git2::{ErrorCode, ObjectType, Odb, Oid};
use holdfast_sys::Files;

use crate::{Environment, Error, ObjectId, Repository, Result};

pub use history::Change;
pub use parse::{Commit, Mode, TreeEntry, person};
pub use write::{Loose, Made};

/// More files than any repository keeps below one directory of ours. Trees may name one subtree many times
/// over, so a few kilobytes can spell out billions of paths.
const MOST_FILES: usize = 4 << 20;

/// Longer than any path that a file system takes.
const LONGEST_PATH: usize = 4_096;

/// A commit or tree larger than this is an attack.
const LARGEST_NODE: usize = 256 << 20;

/// The objects of a repository.
pub struct Objects<'f> {
    pub(crate) files: &'f dyn Files,
    /// Where they are: the directory that new ones go to, and those that the environment adds.
    places: Vec<PathBuf>,
    /// Where these have others from, once somebody asked for one that they do not have.
    borrowed: OnceLock<Vec<PathBuf>>,
    database: OnceLock<Odb<'static>>,
    /// Where it is written at which commits a clone was cut off.
    shallow: PathBuf,
    shallow_ends: OnceLock<BTreeSet<ObjectId>>,
}

/// A file in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeFile {
    /// Its path from the root of the tree. It need not be UTF-8.
    pub path: Vec<u8>,
    pub mode: Mode,
    /// Its content; for [`Mode::Submodule`] a commit of another repository.
    pub id: ObjectId,
}

impl<'f> Objects<'f> {
    /// The objects of a repository, those that it borrows from others, and those that the environment
    /// names: in a hook that judges a push these are where the pushed ones are. `start` is what relative
    /// paths in the environment are relative to.
    ///
    /// # Errors
    /// When the objects have names that cannot be read here, or are where libgit2 cannot find them.
    pub fn open(
        files: &'f dyn Files,
        repository: &Repository,
        env: &Environment,
        start: &Path,
    ) -> Result<Self> {
        if repository.format.sha256 {
            return Err(Error::Sha256 { git_dir: repository.git_dir.clone() });
        }
        let own = match &env.object_directory {
            Some(named) => start.join(named),
            None => repository.common_dir.join("objects"),
        };
        let others =
            env.alternate_object_directories.as_ref().map(|list| list.as_bytes()).unwrap_or_default();
        let others = others.split(|byte| *byte == b':').filter(|path| !path.is_empty());
        let places: Vec<PathBuf> = [own]
            .into_iter()
            .chain(others.map(|other| start.join(crate::paths::from_bytes(other))))
            .collect();
        Self::in_places(files, places, repository.common_dir.join("shallow"))
    }

    /// The objects in these directories, of which the first one gets new ones. `shallow` is the file that says where the
    /// history was cut off.
    ///
    /// # Errors
    /// When they are where libgit2 cannot find them.
    pub fn in_places(files: &'f dyn Files, places: Vec<PathBuf>, shallow: PathBuf) -> Result<Self> {
        match places.iter().find(|place| place.to_str().is_none()) {
            // libgit2's binding takes text; a path that is none would be cut or mangled.
            Some(odd) => Err(closed(odd, "its path is not UTF-8")),
            None => Ok(Self {
                files,
                places,
                borrowed: OnceLock::new(),
                database: OnceLock::new(),
                shallow,
                shallow_ends: OnceLock::new(),
            }),
        }
    }

    /// The database, which is opened by the first who needs it.
    fn database(&self) -> Result<&Odb<'static>> {
        if let Some(database) = self.database.get() {
            return Ok(database);
        }
        let nowhere = Path::new("objects");
        let failed = |place: &Path, error: &git2::Error| closed(place, error.message());
        let database = Odb::new().map_err(|error| failed(nowhere, &error))?;
        for place in &self.places {
            let text = place.to_str().ok_or_else(|| closed(place, "its path is not UTF-8"))?;
            database.add_disk_alternate(text).map_err(|error| failed(place, &error))?;
        }
        Ok(self.database.get_or_init(|| database))
    }

    /// Where new ones go to.
    fn own(&self) -> &Path {
        self.places.first().map_or(Path::new("objects"), PathBuf::as_path)
    }

    /// Whether there is such an object.
    #[must_use]
    pub fn has(&self, id: &ObjectId) -> bool {
        let there = |oid| self.database().is_ok_and(|database| database.exists(oid));
        Oid::from_bytes(id.as_bytes()).is_ok_and(there)
    }

    /// A commit.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn commit(&self, id: &ObjectId) -> Result<Commit> {
        let bytes = self.read(id, ObjectType::Commit, LARGEST_NODE)?;
        Commit::parse(&bytes).ok_or_else(|| failed(id, ObjectType::Commit, "it is damaged"))
    }

    /// A commit, and what headers of its own have these names; none for one that it does not have.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn commit_with<const N: usize>(
        &self,
        id: &ObjectId,
        names: [&str; N],
    ) -> Result<(Commit, [Option<Vec<u8>>; N])> {
        let bytes = self.read(id, ObjectType::Commit, LARGEST_NODE)?;
        let commit = Commit::parse(&bytes).ok_or_else(|| failed(id, ObjectType::Commit, "it is damaged"))?;
        Ok((commit, names.map(|name| parse::header(&bytes, name).map(<[u8]>::to_vec))))
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

    /// The content of an object that has a file of its own; none if it has not.
    fn loose(
        &self,
        id: &ObjectId,
        kind: ObjectType,
        limit: usize,
    ) -> std::result::Result<Option<Vec<u8>>, String> {
        let read = |place: &PathBuf| loose::read(self.files, place, id, word(kind), limit).transpose();
        let borrowed = || self.borrowed.get_or_init(|| loose::borrowed(self.files, &self.places)).iter();
        self.places.iter().find_map(read).or_else(|| borrowed().find_map(read)).transpose()
    }

    /// The content of an object, if it is of that kind and at most `limit` bytes long.
    fn read(&self, id: &ObjectId, kind: ObjectType, limit: usize) -> Result<Vec<u8>> {
        if let Some(content) = self.loose(id, kind, limit).map_err(|why| failed(id, kind, &why))? {
            return Ok(content);
        }
        let said = |error: git2::Error| match error.code() {
            ErrorCode::NotFound => failed(id, kind, "there is no such object"),
            _ => failed(id, kind, error.message()),
        };
        let oid = Oid::from_bytes(id.as_bytes()).map_err(said)?;
        let database = self.database()?;
        let (len, found) = database.read_header(oid).map_err(said)?;
        if found != kind {
            return Err(failed(id, kind, &format!("it is a {found}")));
        }
        if len > limit {
            return Err(failed(id, kind, &format!("it is {len} bytes long; at most {limit} are read")));
        }
        Ok(database.read(oid).map_err(said)?.data().to_vec())
    }
}

fn joined(path: &[u8], name: &[u8]) -> Vec<u8> {
    if path.is_empty() { name.to_vec() } else { [path, b"/", name].concat() }
}

/// What git calls it. libgit2 has the words too, but need not be loaded for them.
const fn word(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Commit => "commit",
        ObjectType::Tree => "tree",
        ObjectType::Tag => "tag",
        ObjectType::Blob | ObjectType::Any => "blob",
    }
}

fn closed(path: &Path, why: &str) -> Error {
    Error::Database { path: path.to_path_buf(), why: why.into() }
}

fn failed(id: &ObjectId, kind: ObjectType, why: &str) -> Error {
    Error::Object { kind: word(kind), id: *id, why: why.into() }
}
