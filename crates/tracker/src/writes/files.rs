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

use holdfast_store::whole::Staged;
use holdfast_sys::{Kind, Open, Sys};

use super::copy::Local;
use super::members::{DEPS, LABELS};
use super::results;
use crate::control::Access;
use crate::durable;
use crate::error::{Error, Result, WriteError};
use crate::ids::IssueId;
use crate::issues::LONGEST;

/// What an issue's files shall hold; none is left as it is.
#[derive(Default)]
pub(super) struct Content {
    pub(super) issue: Option<Vec<u8>>,
    pub(super) labels: Vec<u8>,
    pub(super) deps: Vec<u8>,
    /// The judgements of its gates, by gate.
    pub(super) results: BTreeMap<String, Vec<u8>>,
}

impl Content {
    /// Refuses what nobody could read any more: an issue with a file that is too long can be changed by nobody.
    pub(super) fn check(&self, id: IssueId) -> Result<()> {
        let issue = self.issue.as_deref().unwrap_or_default();
        let files = [("issue.json", issue), (LABELS, &self.labels), (DEPS, &self.deps)];
        match files.into_iter().find(|(_, bytes)| bytes.len() > LONGEST) {
            None => Ok(()),
            Some((name, _)) => {
                let why = format!("it would be longer than {} MiB", LONGEST >> 20);
                Err(Error::BadFile { path: PathBuf::from(format!("issues/{id}/{name}")), why })
            }
        }
    }
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
        let files = differing(&home, content, local);
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

    /// Writes what differs from what is there beside its place, where nobody sees it before it is revealed; the judgements
    /// of its gates must not differ. None if nothing differs.
    pub(super) fn stage(&self, content: &Content, local: &Local) -> Result<Option<Staged<'a>>> {
        let home = self.issues()?.join(self.id.to_string());
        let files = differing(&home, content, local);
        if files.is_empty() {
            return Ok(None);
        }
        durable::make_dirs(self.sys, &home, self.directory_mode)?;
        Ok(Some(durable::stage_all(self.sys, &files, self.file_mode)?))
    }

    /// As [`Self::stage`], for whoever makes many changes durable at once before they are revealed.
    pub(super) fn stage_unflushed(&self, content: &Content, local: &Local) -> Result<Staged<'a>> {
        let home = self.issues()?.join(self.id.to_string());
        durable::make_dirs(self.sys, &home, self.directory_mode)?;
        Ok(durable::stage_unflushed(self.sys, &differing(&home, content, local), self.file_mode)?)
    }

    /// Makes the names durable of what was revealed.
    pub(super) fn flush_names(&self) -> Result<()> {
        Ok(self.sys.files.sync_dir(&self.data.join("issues").join(self.id.to_string()))?)
    }

    /// Makes an issue that is not there yet, with an empty file of this name in its directory if one is given; false if
    /// something has its name.
    pub(super) fn create(&self, content: &Content, mark: Option<&str>) -> Result<bool> {
        let issues = self.issues()?;
        if self.sys.files.stat(&issues.join(self.id.to_string())).is_ok() {
            return Ok(false);
        }
        self.write_results(&content.results, &Local::default())?;
        let mut building = self.hidden(&issues)?;
        let built = self
            .gather(&issues, &mut building, content, mark)
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

    /// Builds an issue so that one flush, of the directory of all issues, is for all of its names. Each file is written
    /// there and moved into the new directory: a move is one step, so what makes it durable on one side does so on the
    /// other. The new directory then takes the name that the file had. Steps that concern one name are kept or lost
    /// in their order, so whoever finds the directory under the last of its names finds all files in it.
    fn gather(
        &self,
        issues: &Path,
        building: &mut PathBuf,
        content: &Content,
        mark: Option<&str>,
    ) -> Result<()> {
        let files = &self.sys.files;
        files.create_dir(building, self.directory_mode)?;
        let mark = mark.map(|name| (name, [].as_slice()));
        for (name, bytes) in mark.into_iter().chain(self.fresh(content)?) {
            let beside = self.hidden(issues)?;
            let moved = || {
                let file = files.open(&beside, Open::New { mode: self.file_mode })?;
                if !bytes.is_empty() {
                    file.write_all_at(bytes, 0)?;
                    file.sync()?;
                }
                files.rename(&beside, &building.join(name))
            };
            moved().inspect_err(|_| drop(files.remove_file(&beside)))?;
            files.rename(building, &beside)?;
            *building = beside;
        }
        Ok(())
    }

    /// Builds an issue without making anything of it durable.
    fn build(&self, building: &Path, content: &Content) -> Result<()> {
        self.sys.files.create_dir(building, self.directory_mode)?;
        for (name, bytes) in self.fresh(content)? {
            let file = self.sys.files.open(&building.join(name), Open::New { mode: self.file_mode })?;
            file.write_all_at(bytes, 0)?;
        }
        Ok(())
    }

    /// The files of an issue that is made.
    fn fresh<'c>(&self, content: &'c Content) -> Result<Vec<(&'static str, &'c [u8])>> {
        let Some(issue) = &content.issue else {
            return Err(Error::Internal(format!("{} was to be made without its own file", self.id)));
        };
        let mut files = vec![("issue.json", issue.as_slice())];
        for (name, bytes) in [(LABELS, &content.labels), (DEPS, &content.deps)] {
            if !bytes.is_empty() {
                files.push((name, bytes.as_slice()));
            }
        }
        Ok(files)
    }

    /// Builds an issue that is not there yet where nobody sees it, for whoever makes many: nothing of it is durable
    /// before all of them are flushed, and only then does it [get its name](Self::reveal).
    pub(super) fn build_unseen(&self, content: &Content) -> Result<PathBuf> {
        let building = self.hidden(&self.issues()?)?;
        self.build(&building, content)?;
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

/// The files of an issue that shall hold something else than they do, with what that is.
fn differing<'c>(home: &Path, content: &'c Content, local: &Local) -> Vec<(PathBuf, &'c [u8])> {
    let mut files = Vec::new();
    for (name, wanted, known) in
        [(LABELS, &content.labels, &local.labels), (DEPS, &content.deps, &local.deps)]
    {
        if wanted != known {
            files.push((home.join(name), wanted.as_slice()));
        }
    }
    files.extend(content.issue.as_deref().map(|bytes| (home.join("issue.json"), bytes)));
    files
}

#[cfg(test)]
mod tests;
