//! What differs between two states of a directory: two trees, or a tree and the index. Renames are what they
//! are to a file system: one file gone, another one there. Directories that are the same are never opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::index::{self, Entry, Index, Source};
use crate::objects::{Mode, Objects, TreeEntry};
use crate::{Environment, Error, Git, ObjectId, Repository, Result, paths};

/// The tree of an empty directory; git knows it without having it.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Deeper than any path that a file system takes.
const DEEPEST: usize = 2_048;

/// A file: what it is and its content.
pub type Version = (Mode, ObjectId);

/// A file that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its path from the root. It need not be UTF-8.
    pub path: Vec<u8>,
    /// What it was; none if it was not there.
    pub old: Option<Version>,
    /// What it is; none if it is gone.
    pub new: Option<Version>,
}

/// What the new side of a comparison has under one name.
enum Now<'a> {
    File(Version),
    Directory(&'a [Entry]),
    Tree(ObjectId),
}

impl Objects<'_> {
    /// What differs below the directory `prefix` between two trees; none is an empty one.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn changes(
        &self,
        old: Option<&ObjectId>,
        new: Option<&ObjectId>,
        prefix: &[u8],
    ) -> Result<Vec<Change>> {
        let at = |tree: Option<&ObjectId>| tree.map_or(Ok(None), |tree| self.entry(tree, prefix));
        let mut compared = Compared { objects: self, index: &Index::default(), changes: Vec::new() };
        compared.names(prefix, at(old)?, at(new)?.map(now), 0)?;
        Ok(compared.changes)
    }

    /// What differs between two whole trees.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn differences(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Change>> {
        let root = TreeEntry { name: Vec::new(), mode: Mode::Tree, id: *old };
        let mut compared = Compared { objects: self, index: &Index::default(), changes: Vec::new() };
        compared.names(b"", Some(root), Some(Now::Tree(*new)), 0)?;
        Ok(compared.changes)
    }

    /// What differs below the directory `prefix` between a tree (none is an empty one) and what is staged.
    /// `start` is what relative paths in the environment are relative to.
    ///
    /// # Errors
    /// When a tree or the index cannot be read, or git fails where only git can read it.
    pub fn staged(
        &self,
        place: (&Repository, &Environment, &Path),
        old: Option<&ObjectId>,
        prefix: &[u8],
    ) -> Result<Vec<Change>> {
        let (repository, env, start) = place;
        let path = index::path(repository, env, start);
        let before = old.map_or(Ok(None), |tree| self.entry(tree, prefix))?;
        let index = match Source::open(self.files, &path)? {
            None => Index::default(),
            Some(source) if is_unchanged(&source, before.as_ref(), prefix) => return Ok(Vec::new()),
            Some(source) => match index::parse(&source, prefix) {
                Some(index) => index,
                None => return staged_by_git(&Git::in_dir(start), old, prefix),
            },
        };
        let mut compared = Compared { objects: self, index: &index, changes: Vec::new() };
        let now = match index.entries.first() {
            Some(entry) if entry.path == prefix => Some(Now::File((entry.mode, entry.id))),
            Some(_) => Some(Now::Directory(&index.entries)),
            None => None,
        };
        compared.names(prefix, before, now, 0)?;
        Ok(compared.changes)
    }
}

impl Objects<'_> {
    /// What differs between a whole tree and the index that is in a file; none if only git can read that one.
    ///
    /// # Errors
    /// When a tree or the file cannot be read.
    pub fn staged_in(&self, index: &Path, old: &ObjectId) -> Result<Option<Vec<Change>>> {
        let root = TreeEntry { name: Vec::new(), mode: Mode::Tree, id: *old };
        let index = match Source::open(self.files, index)? {
            None => Index::default(),
            Some(source) if is_unchanged(&source, Some(&root), b"") => return Ok(Some(Vec::new())),
            Some(source) => match index::parse(&source, b"") {
                Some(index) => index,
                None => return Ok(None),
            },
        };
        let mut compared = Compared { objects: self, index: &index, changes: Vec::new() };
        let now = (!index.entries.is_empty()).then_some(Now::Directory(&index.entries));
        compared.names(b"", Some(root), now, 0)?;
        Ok(Some(compared.changes))
    }

    /// What the index that is in a file has under each of these paths, as far as it has them; none if only git can read
    /// that index.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn indexed(
        &self,
        index: &Path,
        paths: &BTreeSet<Vec<u8>>,
    ) -> Result<Option<BTreeMap<Vec<u8>, Version>>> {
        let Some(source) = Source::open(self.files, index)? else { return Ok(Some(BTreeMap::new())) };
        let Some(index) = index::parse(&source, b"") else { return Ok(None) };
        let wanted = index.entries.into_iter().filter(|entry| paths.contains(&entry.path));
        Ok(Some(wanted.map(|entry| (entry.path, (entry.mode, entry.id))).collect()))
    }
}

fn now(entry: TreeEntry) -> Now<'static> {
    if entry.mode == Mode::Tree { Now::Tree(entry.id) } else { Now::File((entry.mode, entry.id)) }
}

struct Compared<'a> {
    objects: &'a Objects<'a>,
    index: &'a Index,
    changes: Vec<Change>,
}

impl Compared<'_> {
    /// Compares what both sides have under the name `path`.
    fn names(
        &mut self,
        path: &[u8],
        old: Option<TreeEntry>,
        new: Option<Now<'_>>,
        depth: usize,
    ) -> Result<()> {
        let (old_tree, old_file) = match old {
            Some(entry) if entry.mode == Mode::Tree => (Some(entry.id), None),
            Some(entry) => (None, Some((entry.mode, entry.id))),
            None => (None, None),
        };
        let new_file = if let Some(Now::File(version)) = &new { Some(*version) } else { None };
        if old_file != new_file {
            self.changes.push(Change { path: path.to_vec(), old: old_file, new: new_file });
        }
        let same = match &new {
            Some(Now::Tree(tree)) => old_tree == Some(*tree),
            Some(Now::Directory(_)) => old_tree.is_some() && old_tree.as_ref() == self.index.trees.get(path),
            Some(Now::File(_)) | None => old_tree.is_none(),
        };
        if same { Ok(()) } else { self.directories(path, old_tree, new, depth + 1) }
    }

    fn directories(
        &mut self,
        path: &[u8],
        old: Option<ObjectId>,
        new: Option<Now<'_>>,
        depth: usize,
    ) -> Result<()> {
        if depth > DEEPEST {
            let tree = old.unwrap_or(ObjectId::NULL);
            return Err(Error::Object { kind: "tree", id: tree, why: "it is too deep".into() });
        }
        let mut names: BTreeMap<Vec<u8>, (Option<TreeEntry>, Option<Now<'_>>)> = BTreeMap::new();
        for entry in old.map_or(Ok(Vec::new()), |tree| self.objects.tree(&tree))? {
            let name = entry.name.clone();
            names.entry(name).or_default().0 = Some(entry);
        }
        match new {
            Some(Now::Tree(tree)) => {
                for entry in self.objects.tree(&tree)? {
                    let name = entry.name.clone();
                    names.entry(name).or_default().1 = Some(now(entry));
                }
            }
            Some(Now::Directory(entries)) => {
                for (name, now) in children(path, entries) {
                    names.entry(name).or_default().1 = Some(now);
                }
            }
            Some(Now::File(_)) | None => {}
        }
        for (name, (old, new)) in names {
            let path = if path.is_empty() { name } else { [path, b"/", &name].concat() };
            self.names(&path, old, new, depth)?;
        }
        Ok(())
    }
}

/// What entries of an index that lie in the directory `path` make of it.
fn children<'a>(path: &[u8], mut entries: &'a [Entry]) -> Vec<(Vec<u8>, Now<'a>)> {
    let skip = if path.is_empty() { 0 } else { path.len() + 1 };
    let mut children = Vec::new();
    while let Some(first) = entries.first() {
        let rest = first.path.get(skip..).unwrap_or_default();
        let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
            children.push((rest.to_vec(), Now::File((first.mode, first.id))));
            entries = entries.get(1..).unwrap_or_default();
            continue;
        };
        let below = first.path.get(..=skip + slash).unwrap_or_default();
        // Entries are sorted, so those of one directory are neighbours.
        let count = entries.partition_point(|entry| entry.path.starts_with(below)).max(1);
        let (inside, after) = entries.split_at(count);
        children.push((rest.get(..slash).unwrap_or_default().to_vec(), Now::Directory(inside)));
        entries = after;
    }
    children
}

/// Whether the index knows that what is at `prefix` is the directory that was there before.
fn is_unchanged(index: &Source<'_>, before: Option<&TreeEntry>, prefix: &[u8]) -> bool {
    let before = before.filter(|entry| entry.mode == Mode::Tree).map(|entry| entry.id);
    before.is_some() && before == index::tree(index, prefix)
}

/// What is staged, as git says it.
fn staged_by_git(git: &Git, old: Option<&ObjectId>, prefix: &[u8]) -> Result<Vec<Change>> {
    use std::ffi::OsStr;
    let tree = old.map_or_else(|| EMPTY_TREE.to_owned(), ToString::to_string);
    let words = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--full-index"];
    let mut args: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    let top = [b":(top,literal)", prefix].concat();
    args.extend([OsStr::new(&tree), OsStr::new("--"), paths::from_bytes(&top).as_os_str()]);
    let said = git.run(&args)?;
    let odd =
        || Error::Failed { command: "git diff-index".into(), code: Some(0), stderr: "its answer".into() };
    let mut words = said.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let (Some(about), Some(path)) = (words.next().filter(|word| !word.is_empty()), words.next()) {
        let change = raw(about, path).ok_or_else(odd)?;
        changes.extend(change);
    }
    Ok(changes)
}

/// A record `:<old mode> <new mode> <old id> <new id> <status>`; nothing for a file in conflict, which git
/// does not commit.
fn raw(about: &[u8], path: &[u8]) -> Option<Option<Change>> {
    let mut words = about.strip_prefix(b":")?.split(|byte| *byte == b' ');
    let mut word = || words.next();
    let (old_mode, new_mode, old, new, status) = (word()?, word()?, word()?, word()?, word()?);
    let version = |mode: &[u8], id: &[u8]| -> Option<Option<Version>> {
        if mode == b"000000" {
            return Some(None);
        }
        Some(Some((Mode::parse(mode)?, ObjectId::from_hex(id)?)))
    };
    if status == b"U" {
        return Some(None);
    }
    Some(Some(Change { path: path.to_vec(), old: version(old_mode, old)?, new: version(new_mode, new)? }))
}
