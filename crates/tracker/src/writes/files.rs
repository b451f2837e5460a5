//! The files of one issue, written so that a crash between any two calls leaves a valid issue.
//!
//! Each file is whole or not there. What spans several is ordered by what relies on what:
//! - The judgements of gates become durable before `issue.json`, whose state `done` relies on them.
//! - Sets come before `issue.json`: they are valid by themselves, and whoever sees the later `updated_at` sees
//!   them too.
//! - A fresh issue is built in a directory of its own that gets its name last, with one rename. A deleted one
//!   loses its name first. So there is never half an issue.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Kind, Open, Sys};

use super::copy::Local;
use super::members::{DEPS, LABELS};
use super::results;
use crate::control::Access;
use crate::durable;
use crate::error::{Error, Result, WriteError};
use crate::ids::IssueId;

/// What an issue's files shall hold; none is left as it is.
#[derive(Default)]
pub(super) struct Content {
    pub(super) issue: Option<Vec<u8>>,
    pub(super) labels: Vec<u8>,
    pub(super) deps: Vec<u8>,
    /// The judgements of its gates, by gate.
    pub(super) results: BTreeMap<String, Vec<u8>>,
}

/// The place of one issue's files.
pub(super) struct Place<'a> {
    sys: &'a Sys,
    data: &'a Path,
    id: IssueId,
    directory_mode: u32,
    file_mode: u32,
}

impl<'a> Place<'a> {
    /// In a worktree, where git keeps them and everybody may read them.
    pub(super) const fn new(sys: &'a Sys, data: &'a Path, id: IssueId) -> Self {
        Self { sys, data, id, directory_mode: 0o755, file_mode: 0o644 }
    }

    /// In the control plane, for those who may use it.
    pub(super) const fn shared(sys: &'a Sys, data: &'a Path, id: IssueId, access: Access) -> Self {
        Self { sys, data, id, directory_mode: access.directory(), file_mode: access.file() }
    }

    /// Writes everything anew.
    pub(super) fn replace(&self, content: &Content) -> Result<()> {
        self.write(content, &Local::default())
    }

    /// Writes what differs from what is there.
    pub(super) fn write(&self, content: &Content, local: &Local) -> Result<()> {
        self.put(content, local, true)
    }

    /// Writes what differs from what is there, where a durable copy of it is in the control plane: after a power loss each
    /// file is the old one or the new one, and whoever changes the issue next writes it again.
    pub(super) fn write_copy(&self, content: &Content, local: &Local) -> Result<()> {
        self.put(content, local, false)
    }

    fn put(&self, content: &Content, local: &Local, flushes_names: bool) -> Result<()> {
        let home = self.issues()?.join(self.id.to_string());
        self.write_results(&content.results, local)?;
        let mut files = Vec::new();
        if content.labels != local.labels {
            files.push((home.join(LABELS), content.labels.as_slice()));
        }
        if content.deps != local.deps {
            files.push((home.join(DEPS), content.deps.as_slice()));
        }
        files.extend(content.issue.as_deref().map(|bytes| (home.join("issue.json"), bytes)));
        if files.is_empty() {
            return Ok(());
        }
        if flushes_names {
            durable::make_dirs(self.sys, &home, self.directory_mode)?;
            return Ok(durable::replace_all(self.sys, &files, self.file_mode)?);
        }
        match self.sys.files.create_dir(&home, self.directory_mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        Ok(durable::place_all(self.sys, &files, self.file_mode)?)
    }

    /// Makes an issue that is not there yet; false if something has its name.
    pub(super) fn create(&self, content: &Content) -> Result<bool> {
        let issues = self.issues()?;
        if self.sys.files.stat(&issues.join(self.id.to_string())).is_ok() {
            return Ok(false);
        }
        self.write_results(&content.results, &Local::default())?;
        let building = self.hidden(&issues)?;
        let built = self
            .build(&building, content, true)
            .and_then(|()| Ok(self.sys.files.rename_new(&building, &issues.join(self.id.to_string()))?));
        match built {
            Ok(()) => {
                self.sys.files.sync_dir(&issues)?;
                Ok(true)
            }
            Err(error) => {
                self.clear(&building);
                if matches!(&error, Error::Sys(error) if error.kind() == io::ErrorKind::AlreadyExists) {
                    Ok(false)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// Builds an issue, durably if that is wanted, but for the name of the directory that it is built in: that one it will
    /// lose.
    fn build(&self, building: &Path, content: &Content, lasting: bool) -> Result<()> {
        self.sys.files.create_dir(building, self.directory_mode)?;
        for (path, bytes) in self.fresh(building, content)? {
            let file = self.sys.files.open(&path, Open::New { mode: self.file_mode })?;
            file.write_all_at(bytes, 0)?;
            if lasting {
                file.sync()?;
            }
        }
        if lasting { Ok(self.sys.files.sync_dir(building)?) } else { Ok(()) }
    }

    /// The files of an issue that is made, in the directory that it is built in.
    fn fresh<'c>(&self, building: &Path, content: &'c Content) -> Result<Vec<(PathBuf, &'c [u8])>> {
        let Some(issue) = &content.issue else {
            return Err(Error::Internal(format!("{} was to be made without its own file", self.id)));
        };
        let mut files = vec![(building.join("issue.json"), issue.as_slice())];
        for (name, bytes) in [(LABELS, &content.labels), (DEPS, &content.deps)] {
            if !bytes.is_empty() {
                files.push((building.join(name), bytes.as_slice()));
            }
        }
        Ok(files)
    }

    /// Builds an issue that is not there yet where nobody sees it, for whoever makes many: nothing of it is durable
    /// before all of them are flushed, and only then does it [get its name](Self::reveal).
    pub(super) fn build_unseen(&self, content: &Content) -> Result<PathBuf> {
        let building = self.hidden(&self.issues()?)?;
        self.build(&building, content, false)?;
        Ok(building)
    }

    /// Gives an issue that was built its name. That is durable once the directory of all issues is.
    pub(super) fn reveal(&self, building: &Path) -> Result<()> {
        let name = self.data.join("issues").join(self.id.to_string());
        match self.sys.files.rename_new(building, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(WriteError::Exists(self.id.to_string()).into())
            }
            renamed => Ok(renamed?),
        }
    }

    /// Takes away what has no name, because it never got one or was hidden.
    pub(super) fn discard(&self, building: &Path) {
        self.clear(building);
    }

    /// Removes an issue from this worktree. Its name goes first, in one step.
    pub(super) fn remove(&self) -> Result<()> {
        // If it is only elsewhere, the mark hides it.
        if let Some(gone) = self.hide()? {
            self.sys.files.sync_dir(&self.data.join("issues"))?;
            self.clear(&gone);
        }
        self.forget_results()
    }

    /// Takes the name of an issue away; gives the one that it has instead, if it was there. Its
    /// files may go once that is durable: what the power brings back is whole.
    pub(super) fn hide(&self) -> Result<Option<PathBuf>> {
        let issues = self.issues()?;
        let gone = self.hidden(&issues)?;
        match self.sys.files.rename(&issues.join(self.id.to_string()), &gone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            renamed => Ok(renamed.map(|()| Some(gone))?),
        }
    }

    /// Removes the judgements of its gates.
    pub(super) fn forget_results(&self) -> Result<()> {
        self.clear(&self.data.join(results::folder(self.id)));
        self.remove_file(&self.data.join(results::old_file(self.id)))
    }

    /// Writes the judgements that differ and removes those that are no more. What an earlier version had in one file
    /// has its own files before that one goes.
    fn write_results(&self, wanted: &BTreeMap<String, Vec<u8>>, local: &Local) -> Result<()> {
        let folder = self.data.join(results::folder(self.id));
        let path = |key: &String| folder.join(format!("{key}.json"));
        let changed = wanted.iter().filter(|(key, bytes)| local.results.get(*key) != Some(bytes));
        let files: Vec<(PathBuf, &[u8])> =
            changed.map(|(key, bytes)| (path(key), bytes.as_slice())).collect();
        if !files.is_empty() {
            durable::make_dirs(self.sys, &folder, self.directory_mode)?;
            durable::replace_all(self.sys, &files, self.file_mode)?;
        }
        for key in local.results.keys().filter(|key| !wanted.contains_key(*key)) {
            self.remove_file(&path(key))?;
        }
        if local.old_results { self.remove_file(&self.data.join(results::old_file(self.id))) } else { Ok(()) }
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        match self.sys.files.remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// The directory of all issues, which must be one: a link would lead out of the worktree.
    fn issues(&self) -> Result<PathBuf> {
        let issues = self.data.join("issues");
        durable::make_dirs(self.sys, &issues, self.directory_mode)?;
        for path in [issues.clone(), issues.join(self.id.to_string())] {
            match self.sys.files.stat(&path) {
                Ok(stat) if stat.kind != Kind::Directory => {
                    return Err(Error::BadFile { path, why: "it is not a directory".into() });
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(issues)
    }

    /// A name that is no issue's and that git ignores.
    fn hidden(&self, issues: &Path) -> Result<PathBuf> {
        Ok(issues.join(format!(".{}.new-{:032x}", self.id, self.sys.entropy.nonce()?)))
    }

    /// Removes a directory that nobody can see any more. What cannot be removed harms nobody.
    fn clear(&self, directory: &Path) {
        for name in self.sys.files.list(directory).unwrap_or_default() {
            let path = directory.join(name);
            if durable::is_dir(self.sys, &path).unwrap_or(false) {
                self.clear(&path);
            } else {
                let _ = self.sys.files.remove_file(&path);
            }
        }
        let _ = self.sys.files.remove_dir(directory);
    }
}
