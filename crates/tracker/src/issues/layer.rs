//! Where copies of an issue can be: this worktree, the commit that it is on, the main worktree, and what other
//! worktrees have handed over. Each layer only gives bytes; nothing here believes them, follows a link, or hides what it cannot read.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use holdfast_git::objects::Mode;
use holdfast_git::{ObjectId, Objects, Repository};
use holdfast_sys::{Folder, Identity, Kind};

use super::LONGEST;
use super::cache::{self, Cache, Entry, Extent, Names, Origin, Signature, Signatures};
use super::raw::{FILES, Raw};
use super::trees;
use crate::committed::Committed;
use crate::durable;
use crate::ids::IssueId;
use crate::seek::seek;
use crate::session::Session;
use crate::workspace::{self, DATA};

/// Where a copy is. Among equals the first counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// This worktree.
    Local,
    /// The commit that it is on.
    Head,
    /// The main worktree.
    Main,
    /// What was last written in a linked worktree and is not in the main one yet.
    Shared,
    /// The branch that finished work lands on.
    Target,
    /// That branch as it was last seen at the remote.
    Remote,
}

/// The issues in a worktree.
pub(super) struct Worktree<'a> {
    home: PathBuf,
    folder: Box<dyn Folder + 'a>,
    ids: Vec<IssueId>,
    /// Those of the ids that were not listed as directories: nobody said what they are, or it is something else.
    doubtful: Vec<IssueId>,
    listed: bool,
    /// Whether the ids are those of the cache, and so need not be looked for twice.
    recalled: bool,
    identity: Identity,
    /// How the directory looked when it was opened, where the machine tells.
    looks: Option<Signature>,
    cache: Option<Cache>,
}

impl<'a> Worktree<'a> {
    /// The issues below a `.jit/`; none if there are none. A link in the place of a directory is a problem.
    pub(super) fn open(session: &'a Session, data: &Path, problems: &mut Vec<String>) -> Option<Self> {
        let files = &*session.sys().files;
        let home = data.join("issues");
        match files.stat(data) {
            Ok(stat) if stat.kind == Kind::Directory => {}
            Ok(_) => {
                problems.push(format!("{} is not used: it is no directory", data.display()));
                return None;
            }
            Err(error) => return absent(&error, problems),
        }
        let open = || -> holdfast_sys::Result<Self> {
            let (folder, stat) = (files.folder(&home)?, files.stat(&home)?);
            let (identity, looks) = (stat.identity, Signature::of(&stat, Kind::Directory));
            let (ids, doubtful) = (Vec::new(), Vec::new());
            let (listed, recalled, cache) = (false, false, None);
            Ok(Self { home, folder, ids, doubtful, listed, recalled, identity, looks, cache })
        };
        open().map(Some).unwrap_or_else(|error| absent(&error, problems))
    }

    /// Has what is remembered in a file at hand. What cannot be used is not there.
    pub(super) fn remember(&mut self, session: &Session, path: &Path) {
        let bytes = durable::read(session.sys(), path, cache::LONGEST).ok().flatten();
        self.cache = bytes.and_then(|bytes| Cache::read(bytes, self.origin(session)?));
    }

    /// What is remembered from now on is of this; none where nobody can tell.
    pub(super) fn origin(&self, session: &Session) -> Option<Origin> {
        let boot = session.sys().clock.now().ok()?.boot().map(|boot| boot.id.get());
        Some(Origin { home: self.identity, boot })
    }

    /// How the directory and the files of an issue look; none where that cannot be told.
    pub(super) fn signatures(&self, id: IssueId) -> Option<Signatures> {
        let mut path = id.to_string();
        let directory = Signature::of(&self.folder.stat(&path).ok()??, Kind::Directory)?;
        let above = path.len();
        let mut files = [None; FILES.len()];
        for (name, file) in FILES.iter().zip(&mut files) {
            path.truncate(above);
            path.extend(["/", name]);
            if let Some(stat) = self.folder.stat(&path).ok()? {
                *file = Some(Signature::of(&stat, Kind::File)?);
            }
        }
        Some(Signatures { directory, files })
    }

    /// What is remembered of an issue, whether that is still so or not.
    pub(super) fn remembered(&self, id: IssueId, from: &mut usize) -> Option<Entry<'_>> {
        self.cache.as_ref()?.find(id, from)
    }

    /// Whether what is remembered of an issue that was listed is still so. Every file that it was read from is looked at;
    /// its directory only where that says more: that a file which was not there has not come, or that it is a directory
    /// at all, where the list does not say so. `path` is the issue's id, and room for names behind it; `folder` is this
    /// directory if it was opened once more.
    pub(super) fn is_fresh(
        &self,
        entry: &Entry<'_>,
        extent: Extent,
        (path, folder): (&mut String, Option<&dyn Folder>),
    ) -> bool {
        let folder = folder.unwrap_or(&*self.folder);
        let looks = &entry.looks;
        let is = |path: &str, kind, known: Option<Signature>| {
            let stat = folder.stat(path).ok().flatten();
            known.is_some() && stat.and_then(|stat| Signature::of(&stat, kind)) == known
        };
        path.truncate(IssueId::LENGTH);
        let needed =
            || (0..).zip(FILES).zip(extent.files()).filter_map(|(file, needed)| needed.then_some(file));
        let some_are_missing = needed().any(|(file, _)| !looks.has(file));
        let is_doubtful = !self.doubtful.is_empty() && self.doubtful.binary_search(&entry.id()).is_ok();
        if (some_are_missing || is_doubtful) && !is(path, Kind::Directory, looks.directory()) {
            return false;
        }
        needed().filter(|(file, _)| looks.has(*file)).all(|(file, name)| {
            path.truncate(IssueId::LENGTH);
            path.push('/');
            path.push_str(name);
            is(path, Kind::File, looks.file(file))
        })
    }

    /// Whether what is there is known without listing it: the directory looks as it did when it had these names.
    pub(super) fn recall(&mut self) -> bool {
        let names = self.cache.as_ref().zip(self.looks).and_then(|(cache, looks)| cache.names(looks));
        (self.listed, self.recalled) = (names.is_some(), names.is_some());
        self.ids = names.unwrap_or_default();
        self.listed
    }

    /// Whether the names that are remembered are those that are there.
    pub(super) fn is_recalled(&self) -> bool {
        let known = self.cache.as_ref().zip(self.looks);
        known.is_some_and(|(cache, looks)| cache.is_of(looks))
    }

    /// The names that may be remembered by somebody who has begun then: of a directory that was last changed before, and
    /// has nothing in it but directories with the ids of issues. It is listed here once more, because who added something
    /// to it just after the last time may have done so within the tick in which it was last changed.
    pub(super) fn names(&self, session: &Session, begun: (i64, i64)) -> Option<Names> {
        let stat = session.sys().files.stat(&self.home).ok()?;
        let looks = Signature::of(&stat, Kind::Directory).filter(|looks| looks.is_older_than(begun))?;
        let (mut ids, mut others) = (Vec::with_capacity(self.ids.len()), 0);
        let listed = self.folder.each(&mut |name, kind| match name.to_str().and_then(IssueId::parse) {
            Some(id) if kind == Some(Kind::Directory) => ids.push(id),
            None if is_in_progress(name) => {}
            Some(_) | None => others += 1,
        });
        ids.sort_unstable();
        (listed.is_ok() && others == 0 && stat.identity == self.identity).then_some(Names { looks, ids })
    }

    /// Lists what is there. Whatever has no id for a name is named; names with a dot are work in progress.
    /// Says what failed if it cannot be listed.
    pub(super) fn list(&mut self, problems: &mut Vec<String>) -> Option<String> {
        let (mut ids, mut doubtful, mut odd) = (Vec::new(), Vec::new(), Vec::new());
        let listed = self.folder.each(&mut |name, kind| match name.to_str().and_then(IssueId::parse) {
            Some(id) => {
                ids.push(id);
                if kind != Some(Kind::Directory) {
                    doubtful.push(id);
                }
            }
            None if is_in_progress(name) => {}
            None => odd.push(name.to_owned()),
        });
        if let Err(error) = listed {
            problems.push(with_cause(&error));
            return Some(with_cause(&error));
        }
        self.listed = true;
        ids.sort_unstable();
        doubtful.sort_unstable();
        odd.sort_unstable();
        (self.ids, self.doubtful) = (ids, doubtful);
        for name in odd {
            let path = self.home.join(&name);
            problems.push(format!("{} is no issue: its name is no id", path.display()));
        }
        None
    }

    pub(super) fn ids(&self) -> &[IssueId] {
        &self.ids
    }

    /// The directory, opened once more for a thread that looks at many issues.
    pub(super) fn again(&self) -> Option<Box<dyn Folder>> {
        self.folder.again()
    }

    /// Whether it has something of that name, which a list that was made knows, and what is remembered of it. Whoever asks in
    /// the order of ids begins where the last one was found, in the list and in what is remembered.
    pub(super) fn find(&self, id: IssueId, [listed, from]: &mut [usize; 2]) -> (bool, Option<Entry<'_>>) {
        if let Some(cache) = self.cache.as_ref().filter(|_| self.recalled) {
            let found = cache.place(id, from);
            return (found.is_some(), found.and_then(|found| cache.entry(id, found)));
        }
        let at = |number: usize| self.ids.get(number).map(|id| id.bits());
        let is_there = seek(self.ids.len(), listed, id, at).is_some();
        (is_there, self.remembered(id, from).filter(|_| is_there))
    }

    /// Whether it can have an issue: a list that was made knows, and saves asking for every single one.
    pub(super) fn may_have(&self, id: IssueId) -> bool {
        !self.listed || self.ids.binary_search(&id).is_ok()
    }

    pub(super) fn read(&self, id: IssueId, into: &mut Raw) {
        into.clear();
        for (name, part) in FILES.iter().zip(into.parts_mut()) {
            let path = format!("{id}/{name}");
            match self.folder.read(&path, &mut part.bytes, LONGEST) {
                Ok(there) => part.there = there,
                Err(error) => part.spoil(with_cause(&error)),
            }
            if part.bytes.len() > LONGEST {
                part.spoil(format!("{} is far too large", self.home.join(path).display()));
            }
        }
    }

    /// What a file of an issue is called in a message.
    pub(super) fn name(&self, id: IssueId, file: &str) -> String {
        self.home.join(id.to_string()).join(file).display().to_string()
    }
}

/// Whether it is the name of something that somebody is making.
fn is_in_progress(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// The issues in a commit.
pub(super) struct Commit<'a> {
    /// The commit.
    pub(super) id: ObjectId,
    /// What it is called in a message.
    called: String,
    session: &'a Session,
    repository: &'a Repository,
    objects: OnceLock<Objects<'a>>,
    issues: Committed,
}

impl<'a> Commit<'a> {
    /// The issues in the commit that HEAD is on; none on a branch without one.
    pub(super) fn open(
        session: &'a Session,
        repository: &'a Repository,
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        let found = match workspace::head_commit(&session.caller, repository) {
            Ok(Some(head)) => Self::find(session, repository, head, "HEAD"),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        Self::seen("HEAD", found, problems)
    }

    /// The issues in a commit that is called so.
    pub(super) fn at(
        session: &'a Session,
        repository: &'a Repository,
        (id, called): (ObjectId, &str),
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        Self::seen(called, Self::find(session, repository, id, called), problems)
    }

    fn seen(
        called: &str,
        found: holdfast_git::Result<Option<Self>>,
        problems: &mut Vec<String>,
    ) -> Option<Self> {
        found.unwrap_or_else(|error| {
            problems.push(format!("the issues of {called} are not seen: {error}"));
            None
        })
    }

    fn find(
        session: &'a Session,
        repository: &'a Repository,
        id: ObjectId,
        called: &str,
    ) -> holdfast_git::Result<Option<Self>> {
        let issues = session.issues_of(id, || Self::list(session, repository, id))?;
        let called = called.to_owned();
        Ok(issues.map(|issues| Self { id, called, session, repository, objects: OnceLock::new(), issues }))
    }

    /// The issues that a commit has, in their order; none if it has no place for them.
    fn list(
        session: &Session,
        repository: &Repository,
        id: ObjectId,
    ) -> holdfast_git::Result<Option<Committed>> {
        let objects = workspace::objects(&session.caller, repository)?;
        let tree = objects.commit(&id)?.tree;
        let home = objects.entry(&tree, format!("{DATA}/issues").as_bytes())?;
        let Some(home) = home.filter(|entry| entry.mode == Mode::Tree) else { return Ok(None) };
        if let Some(known) = trees::recall(session, &home.id) {
            return Ok(Some(known));
        }
        let mut issues = Vec::new();
        objects.each_entry(&home.id, |name, mode, id| {
            let issue = std::str::from_utf8(name).ok().and_then(IssueId::parse);
            issues.extend(issue.filter(|_| mode == Mode::Tree).map(|issue| (issue, id)));
        })?;
        // Git sorts trees; whoever pushed this one need not have used git.
        issues.sort_unstable();
        Ok(trees::remember(session, &home.id, &issues))
    }

    fn objects(&self) -> holdfast_git::Result<&Objects<'a>> {
        match self.objects.get() {
            Some(objects) => Ok(objects),
            None => {
                let opened = workspace::objects(&self.session.caller, self.repository)?;
                Ok(self.objects.get_or_init(|| opened))
            }
        }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = IssueId> {
        self.issues.ids()
    }

    /// The name of an issue's directory.
    pub(super) fn tree(&self, id: IssueId) -> Option<ObjectId> {
        self.next_tree(id, &mut 0)
    }

    /// The same for somebody who asks in the order of ids.
    pub(super) fn next_tree(&self, id: IssueId, from: &mut usize) -> Option<ObjectId> {
        self.issues.tree(id, from)
    }

    pub(super) fn read(&self, id: IssueId, tree: &ObjectId, into: &mut Raw) {
        into.clear();
        let found = self.objects().and_then(|objects| Ok((objects, objects.tree(tree)?)));
        let (objects, entries) = match found {
            Ok(found) => found,
            Err(error) => return into.issue.spoil(format!("{}: {error}", self.name(id, ""))),
        };
        for (name, part) in FILES.iter().zip(into.parts_mut()) {
            let Some(entry) = entries.iter().find(|entry| entry.name == name.as_bytes()) else { continue };
            match entry.mode {
                Mode::File | Mode::Executable => match objects.blob(&entry.id, LONGEST) {
                    Ok(bytes) => (part.bytes, part.there) = (bytes, true),
                    Err(error) => part.spoil(format!("{}: {error}", self.name(id, name))),
                },
                Mode::Symlink | Mode::Tree | Mode::Submodule => {
                    part.spoil(format!("{} cannot be used: it is no file", self.name(id, name)));
                }
            }
        }
    }

    /// What a file of an issue is called in a message.
    pub(super) fn name(&self, id: IssueId, file: &str) -> String {
        format!("{}:{DATA}/issues/{id}/{file}", self.called)
    }
}

/// Nothing, and a problem unless there is simply nothing.
pub(super) fn absent<T>(error: &holdfast_sys::Error, problems: &mut Vec<String>) -> Option<T> {
    if error.kind() != io::ErrorKind::NotFound {
        problems.push(with_cause(error));
    }
    None
}

/// An error with its cause, in one line.
fn with_cause(error: &holdfast_sys::Error) -> String {
    format!("{error}: {}", error.source)
}
