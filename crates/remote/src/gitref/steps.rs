//! The commits of steps, made and read in this process: a claim that had to start a program for each would take as long
//! again as the push that it is.
//!
//! A step is in a header of its commit, and so is a head that is short: every object more that is pushed costs both sides
//! about a millisecond. A long head is a file, because git sends of a file what is new in it, and of a commit all. Commits
//! that have both as files are read too.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_git::objects::{Commit, Loose, Made, Mode, TreeEntry};
use holdfast_git::{ObjectId, Objects};
use holdfast_sys::{Open, Sys};

use super::Asked;
use crate::head::LARGEST;
use crate::register::{Next, Unreachable};

/// Who makes the commit of a step: the same for all. Who did what and when stands in the step, and the id of the operation
/// there makes the commit one of a kind.
const BY: &str = "jit <jit@localhost>";

/// A head that is longer is a file: with two or three machines it is not.
const SHORT: usize = 4_096;

/// Something that a commit of a step has: its header, or the file in its tree.
#[derive(Clone, Copy)]
struct Part {
    header: &'static str,
    file: &'static str,
}

const HEAD: Part = Part { header: "jit-head", file: "head.json" };
const STEP: Part = Part { header: "jit-step", file: "step.json" };

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
        let by = format!("{BY} {} +0000", self.moment(parents.as_ref())?);
        let mut put = || {
            let (mut headers, mut entries) = (Vec::with_capacity(2), Vec::new());
            for (part, bytes, longest) in [(HEAD, next.head, SHORT), (STEP, next.step, usize::MAX)] {
                match line(bytes).filter(|line| line.len() <= longest) {
                    Some(line) => headers.push((part.header, line)),
                    None => {
                        let (name, id) = (part.file.as_bytes().to_vec(), loose.blob(bytes)?);
                        entries.push(TreeEntry { name, mode: Mode::File, id });
                    }
                }
            }
            let tree = if entries.is_empty() { Loose::empty_tree() } else { loose.tree(entries)? };
            let title: String = next.title.chars().filter(|c| !c.is_control()).take(200).collect();
            let (by, message) = (by.as_bytes(), format!("{title}\n"));
            let parents = parents.as_slice();
            let made = Made { tree: &tree, parents, author: by, committer: by, message: message.as_bytes() };
            loose.commit(&made, &headers)
        };
        put().map(|id: ObjectId| id.to_string()).map_err(|error| Unreachable(error.to_string()))
    }

    /// When the commit after `parent` is made, in seconds since 1970. It is later than its parent, whatever the clocks of
    /// two machines show: where commits are not, every git that looks for what a server lacks reads the history to its
    /// first step, and that of every branch which is younger.
    fn moment(&self, parent: Option<&ObjectId>) -> Asked<i64> {
        let now = self.sys.clock.now().map_err(|error| Unreachable(error.to_string()))?;
        let now = i64::try_from(now.wall_ms() / 1_000).unwrap_or(i64::MAX);
        let Some(parent) = parent else { return Ok(now) };
        // Of one that is not here the server says whether it is the right one.
        let before = self.objects()?.commit(parent).map_or(0, |commit| commit.written_secs);
        Ok(now.max(before.saturating_add(1)))
    }

    /// The head on a commit that is here; none if it is not.
    pub(super) fn head(&self, commit: &str) -> Asked<Option<Vec<u8>>> {
        let (id, objects) = (known(commit)?, self.objects()?);
        match self.part(&objects, &id, HEAD) {
            Err(_) if !objects.has(&id) => Ok(None),
            read => read.map(|(_, head)| head),
        }
    }

    /// A commit that is here, and a part of it; none if it does not have it.
    fn part(&self, objects: &Objects<'_>, id: &ObjectId, part: Part) -> Asked<(Commit, Option<Vec<u8>>)> {
        let read = || {
            let (commit, [header]) = objects.commit_with(id, [part.header])?;
            if let Some(mut line) = header {
                line.push(b'\n');
                return Ok((commit, Some(line)));
            }
            let entry =
                objects.tree(&commit.tree)?.into_iter().find(|entry| entry.name == part.file.as_bytes());
            let file = entry.map(|entry| objects.blob(&entry.id, LONGEST)).transpose()?;
            Ok((commit, file))
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
            let (commit, step) = self.part(&objects, &at, STEP)?;
            let Some(parent) = commit.parents.first() else {
                steps.reverse();
                return Ok((self.part(&objects, &at, HEAD)?.1.ok_or_else(missing)?, steps));
            };
            steps.push(step.ok_or_else(missing)?);
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

/// What a header would say of these bytes; none if they are not one line.
fn line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n'))
}

fn known(commit: &str) -> Asked<ObjectId> {
    let id = ObjectId::from_hex(commit.as_bytes());
    id.ok_or_else(|| Unreachable(format!("'{}' is no commit", commit.escape_debug())))
}
