//! The commits of steps, made and read in this process: a claim that had to start a program for each would take as long
//! again as the push that it is.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_git::objects::{Loose, Mode, TreeEntry};
use holdfast_git::{ObjectId, Objects};
use holdfast_sys::{Open, Sys};

use super::{Asked, HEAD, STEP};
use crate::head::LARGEST;
use crate::register::{Next, Unreachable};

/// Who makes the commit of a step, and when: the same for all. Who did what and when stands in the step, and the id of
/// the operation there makes the commit one of a kind.
const BY: &str = "jit <jit@localhost> 0 +0000";

/// More than a step is long: it is smaller than the head that it leads to.
const LONGEST: usize = 2 * LARGEST;

/// The repository for steps.
pub(super) struct Steps {
    sys: Sys,
    engine: PathBuf,
}

impl Steps {
    pub(super) fn new(sys: &Sys, engine: &Path) -> Self {
        Self { sys: sys.clone(), engine: engine.to_path_buf() }
    }

    fn objects(&self) -> Asked<Objects<'_>> {
        let opened = Objects::in_places(
            &*self.sys.files,
            vec![self.engine.join("objects")],
            self.engine.join("shallow"),
        );
        opened.map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, why: &dyn std::fmt::Display) -> Unreachable {
        Unreachable(format!(
            "{why}; {} can be removed: it is fetched again from the server",
            self.engine.display()
        ))
    }

    /// Makes the commit of a step.
    pub(super) fn commit(&self, parent: Option<&str>, next: &Next<'_>) -> Asked<String> {
        let parents = parent.map(known).transpose()?;
        let nonce = self.sys.entropy.nonce().map_err(|error| Unreachable(error.to_string()))?;
        let place = self.engine.join("objects");
        let mut loose = Loose::new(&*self.sys.files, &place, nonce);
        let mut put = || {
            let mut entries = Vec::with_capacity(2);
            for (name, bytes) in [(HEAD, next.head), (STEP, next.step)] {
                let (name, id) = (name.as_bytes().to_vec(), loose.blob(bytes)?);
                entries.push(TreeEntry { name, mode: Mode::File, id });
            }
            let tree = loose.tree(entries)?;
            let title: String = next.title.chars().filter(|c| !c.is_control()).take(200).collect();
            loose.commit(&tree, parents.as_slice(), BY, &format!("{title}\n"))
        };
        put().map(|id: ObjectId| id.to_string()).map_err(|error| Unreachable(error.to_string()))
    }

    /// The head on a commit that is here; none if it is not.
    pub(super) fn head(&self, commit: &str) -> Asked<Option<Vec<u8>>> {
        let (id, objects) = (known(commit)?, self.objects()?);
        match self.file(&objects, &id, HEAD) {
            Err(_) if !objects.has(&id) => Ok(None),
            read => read,
        }
    }

    /// A file of a commit that is here; none if the commit has no such file.
    fn file(&self, objects: &Objects<'_>, commit: &ObjectId, name: &str) -> Asked<Option<Vec<u8>>> {
        let read = || {
            let tree = objects.commit(commit)?.tree;
            let entry = objects.tree(&tree)?.into_iter().find(|entry| entry.name == name.as_bytes());
            entry.map(|entry| objects.blob(&entry.id, LONGEST)).transpose()
        };
        read().map_err(|error: holdfast_git::Error| self.damaged(&error))
    }

    /// Whether the commit that is so many steps before another one is this.
    pub(super) fn is_before(&self, before: &str, steps: u64, after: &str) -> Asked<bool> {
        let (before, objects) = (known(before)?, self.objects()?);
        let mut at = known(after)?;
        for _ in 0..steps {
            let commit = objects.commit(&at).map_err(|error| self.damaged(&error))?;
            match commit.parents.as_slice() {
                [parent] => at = *parent,
                // A cut, or what is no history of steps.
                _ => return Ok(false),
            }
        }
        Ok(at == before)
    }

    /// The head that the history up to a commit begins with, and the steps after it.
    pub(super) fn past(&self, commit: &str) -> Asked<(Vec<u8>, Vec<Vec<u8>>)> {
        let (objects, mut at) = (self.objects()?, known(commit)?);
        let missing = || Unreachable("a step is not there".into());
        let mut steps = Vec::new();
        loop {
            let parents = objects.commit(&at).map_err(|error| self.damaged(&error))?.parents;
            let Some(parent) = parents.first() else {
                steps.reverse();
                return Ok((self.file(&objects, &at, HEAD)?.ok_or_else(missing)?, steps));
            };
            steps.push(self.file(&objects, &at, STEP)?.ok_or_else(missing)?);
            at = *parent;
        }
    }

    /// The commit that a ref here is on; none if it has no file of its own.
    pub(super) fn resolve(&self, name: &str) -> Asked<Option<String>> {
        let read = self.sys.files.open(&self.engine.join(name), Open::Read);
        let bytes = match read.and_then(|file| file.read_from(0, 100)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| self.damaged(&error))?,
        };
        Ok(ObjectId::from_hex(bytes.trim_ascii()).map(|id| id.to_string()))
    }
}

fn known(commit: &str) -> Asked<ObjectId> {
    let id = ObjectId::from_hex(commit.as_bytes());
    id.ok_or_else(|| Unreachable(format!("'{}' is no commit", commit.escape_debug())))
}
