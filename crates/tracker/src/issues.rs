//! The issues that can be seen from a worktree: its own, those of the commit that it is on, those of the main
//! worktree, and what was last written in other worktrees, as one. Nothing here writes a byte.

mod branches;
mod cache;
mod glance;
mod issue;
mod layer;
mod layers;
mod outline;
mod quick;
mod raw;
mod recorder;
mod scan;
mod seen;
mod set;
mod standing;
mod state;
mod trees;

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdfast_git::objects::Mode;
use holdfast_store::View;

use crate::durable;
use crate::error::{Error, Result};
use crate::ids::{Handles, IssueId, Typed};
use crate::notice::Notice;
use crate::session::Session;
use crate::workspace::{self, DATA};
use layers::{Buffers, Layers, Listed};
use scan::Scanner;
use seen::Judge;

pub(crate) use branches::fetched;
pub use branches::{OnBranch, having};
pub use glance::Glance;
pub use issue::{Document, Issue};
pub use layer::Layer;
pub use layers::Scope;
pub use outline::{Outline, Text};
pub use raw::{DEPS, ISSUE, LABELS};
pub use scan::Scan;
pub use seen::{Seen, Sets, Whose};
pub use set::{BadLine, Change, Line, Set, Union};
pub use standing::Standing;
pub(crate) use standing::{FinishedNote, STARTED};
pub use state::{Priority, State, UnknownWord, typed};

/// More than anybody writes about one issue.
pub(crate) const LONGEST: usize = 4 << 20;

/// The size in bytes of the directories of issues from which on not all are listed to name one: some thousands of them.
const CROWDED: u64 = 128 << 10;

/// Of how many issues something is in memory at once, where all of them are told one after the other.
const AT_ONCE: usize = 4_096;

/// How many problems are named one by one.
const MOST_NAMED: usize = 20;

/// The issues that can be seen from one worktree.
pub struct Issues<'a> {
    session: &'a Session,
    view: OnceLock<Option<Arc<View>>>,
    handles: OnceLock<Handles>,
    /// The ids of all, once somebody has listed them.
    listed: OnceLock<Vec<IssueId>>,
    crowded: OnceLock<bool>,
}

impl<'a> Issues<'a> {
    /// The issues that can be seen from a workspace.
    #[must_use]
    pub const fn new(session: &'a Session) -> Self {
        Self {
            session,
            view: OnceLock::new(),
            handles: OnceLock::new(),
            listed: OnceLock::new(),
            crowded: OnceLock::new(),
        }
    }

    /// What it is asked with.
    #[must_use]
    pub const fn session(&self) -> &'a Session {
        self.session
    }

    /// The issue that was meant.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, typed: &str) -> Result<IssueId> {
        let typed = Typed::new(typed)?;
        let missing = || Error::NoIssue(typed.as_str().to_owned());
        if let Some(id) = typed.complete().map(IssueId::new) {
            return if self.is_known(id)? { Ok(id) } else { Err(missing()) };
        }
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (Scope::All, Listed::Names), &mut problems)?;
        let ids = layers.ids();
        self.warn(layers.failures());
        let found = typed.issue(&ids)?.ok_or_else(missing);
        let _ = self.handles.set(Handles::new(&ids));
        found
    }

    /// What an issue is called where people read and type. Among many its handle may be longer than it would have to
    /// be: what one command costs must not depend on how many issues there are.
    pub fn handle(&self, id: IssueId) -> String {
        let is_known = self.handles.get().is_some() || self.listed.get().is_some();
        if !is_known && *self.crowded.get_or_init(|| self.is_crowded()) {
            return id.among_many();
        }
        self.handles().of(id)
    }

    /// Whether there are so many issues that naming one is not worth a look at all of them. The size of a directory
    /// tells that well enough.
    fn is_crowded(&self) -> bool {
        let own = [self.session.data(), self.session.main_data().ok().flatten()];
        let size =
            |data: PathBuf| self.session.sys().files.stat(&data.join("issues")).map_or(0, |stat| stat.len);
        own.into_iter().flatten().map(size).sum::<u64>() > CROWDED
    }

    /// What all issues are called.
    pub fn handles(&self) -> &Handles {
        self.handles.get_or_init(|| match self.listed.get() {
            Some(ids) => Handles::new(ids),
            None => Handles::new(&self.nearest_ids()),
        })
    }

    /// The ids of the issues that lie in files. Those that are only in a commit are few, and finding them would cost
    /// every command.
    fn nearest_ids(&self) -> Vec<IssueId> {
        let mut problems = Vec::new();
        let how = (Scope::Nearest, Listed::Names);
        let layers = Layers::open(self.session, &self.view, how, &mut problems);
        layers.map(|layers| layers.ids()).unwrap_or_default()
    }

    /// Whether any layer has something of that name.
    fn is_known(&self, id: IssueId) -> Result<bool> {
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (Scope::Nearest, Listed::No), &mut problems)?;
        let is_known = !layers.copies(id, &mut Buffers::default(), &mut problems).is_empty();
        if is_known || problems.is_empty() { Ok(is_known) } else { Err(Error::Unlisted(problems)) }
    }

    /// The ids of all issues that can be seen, each once, in their order. Whoever asks for all must not get
    /// some.
    ///
    /// # Errors
    /// When a layer cannot be listed.
    pub fn ids(&self) -> Result<Vec<IssueId>> {
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (Scope::All, Listed::Names), &mut problems)?;
        let ids = layers.ids();
        match layers.failures() {
            [] => Ok(ids),
            failures => Err(Error::Unlisted(failures.to_vec())),
        }
    }

    /// Shows one issue to `look`, and warns of copies that cannot be read.
    ///
    /// # Errors
    /// When there is none, or not one copy can be read.
    pub fn see<T>(&self, id: IssueId, scope: Scope, look: impl FnOnce(&Seen<'_>) -> T) -> Result<T> {
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (scope, Listed::No), &mut problems)?;
        let mut buffers = Buffers::default();
        let copies = layers.copies(id, &mut buffers, &mut problems);
        if copies.is_empty() {
            // It may lie where nobody could look.
            return Err(match problems.is_empty() {
                true => Error::NoIssue(id.to_string()),
                false => Error::Unlisted(problems),
            });
        }
        let name = |layer, id, file: &str| layers.name(layer, id, file);
        let judge = Judge { name: &name, log: &|| self.log_id(), landing: Some(&layers.landing) };
        match judge.see(id, &copies, Sets::ALL, &mut problems) {
            Some(seen) => {
                self.warn(&problems);
                Ok(look(&seen))
            }
            None => Err(Error::Unreadable { issue: id.to_string(), problems }),
        }
    }

    /// Reads an issue: of all copies the one that counts.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(&self, id: IssueId) -> Result<Issue> {
        whole(id, self.see(id, Scope::All, |seen| seen.whole())?)
    }

    /// The copy that a change of an issue starts from. It costs the same however many issues there are. A copy
    /// that cannot be read may be the newest one, so nothing is built on the others then.
    ///
    /// # Errors
    /// When there is none, or not every copy can be read.
    pub fn base(&self, id: IssueId) -> Result<Issue> {
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (Scope::Nearest, Listed::No), &mut problems)?;
        let mut buffers = Buffers::default();
        let copies = layers.copies(id, &mut buffers, &mut problems);
        let name = |layer, id, file: &str| layers.name(layer, id, file);
        let judge = Judge { name: &name, log: &|| self.log_id(), landing: Some(&layers.landing) };
        let seen = judge.see(id, &copies, Sets::ALL, &mut problems);
        match (seen, problems.is_empty()) {
            (Some(seen), true) => {
                let mut issue = whole(id, seen.whole())?;
                // Whether finished work is still somewhere takes a wider look.
                if matches!(issue.state, State::Done | State::Gated) && self.is_lost(id)? {
                    issue.state = State::InProgress;
                }
                Ok(issue)
            }
            (None, true) => Err(Error::NoIssue(id.to_string())),
            (_, false) => Err(Error::Unreadable { issue: id.to_string(), problems }),
        }
    }

    /// Whether issues that depend on one are free of it.
    ///
    /// # Errors
    /// When there is none, or not every copy can be read.
    pub fn is_satisfied(&self, id: IssueId) -> Result<bool> {
        let state = self.base(id)?.state;
        let when = self.session.config().landing.dependencies;
        Ok(state.is_over() && self.see(id, Scope::All, |seen| seen.standing.satisfies(when))?)
    }

    /// Whether an issue was finished once and has to be done again.
    fn is_lost(&self, id: IssueId) -> Result<bool> {
        self.see(id, Scope::All, |seen| seen.standing == Standing::Lost)
    }

    /// The layers, and the ids of all issues that they have.
    fn everything(
        &self,
        how: (Scope, Listed),
        problems: &mut Vec<String>,
    ) -> Result<(Layers<'_>, Vec<IssueId>)> {
        let layers = Layers::open(self.session, &self.view, how, problems)?;
        let ids = layers.ids();
        if how.0 == Scope::All {
            let _ = self.listed.set(ids.clone());
        }
        Ok((layers, ids))
    }

    /// Shows every issue to `look` and collects what it keeps.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn scan<T: Send>(
        &self,
        scope: Scope,
        look: impl Fn(&Seen<'_>) -> Option<T> + Sync,
    ) -> Result<Scan<T>> {
        self.scan_with(scope, Sets::ALL, look)
    }

    /// As [`Issues::scan`], where not everybody's labels and dependencies are needed.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn scan_with<T: Send>(
        &self,
        scope: Scope,
        sets: Sets,
        look: impl Fn(&Seen<'_>) -> Option<T> + Sync,
    ) -> Result<Scan<T>> {
        let mut problems = Vec::new();
        let (layers, ids) = self.everything((scope, Listed::Names), &mut problems)?;
        Ok(self.look_at(&layers, sets, ids, problems, &look))
    }

    /// Shows every issue to `look` that needs no more than a glance, and collects what it keeps. What is remembered of an
    /// issue that is still what it was saves reading it.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn glance<T: Send>(
        &self,
        scope: Scope,
        look: impl Fn(&Glance<'_>) -> Option<T> + Sync,
    ) -> Result<Scan<T>> {
        self.glance_with(scope, Sets::ALL, look)
    }

    /// As [`Issues::glance`], where not everybody's labels and dependencies are needed.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn glance_with<T: Send>(
        &self,
        scope: Scope,
        sets: Sets,
        look: impl Fn(&Glance<'_>) -> Option<T> + Sync,
    ) -> Result<Scan<T>> {
        let mut problems = Vec::new();
        let (layers, ids) = self.everything((scope, Listed::Remembered), &mut problems)?;
        let (found, more) = self.scanner(&layers, sets, &|| self.log_id()).glance(&ids, &look);
        problems.extend(more);
        Ok(Scan { found, ids, problems })
    }

    /// Shows these issues to `look`, as far as they are there, and collects what it keeps.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn some<T: Send>(
        &self,
        ids: Vec<IssueId>,
        look: impl Fn(&Seen<'_>) -> Option<T> + Sync,
    ) -> Result<Scan<T>> {
        let mut problems = Vec::new();
        let layers = Layers::open(self.session, &self.view, (Scope::All, Listed::No), &mut problems)?;
        Ok(self.look_at(&layers, Sets::ALL, ids, problems, &look))
    }

    /// Shows issues to `look`, those of `which` or else all, and hands on what it keeps, in their order and some at a time,
    /// so that not all of it is in memory at once. It ends early when whoever takes it has enough. Says how it ended, and what
    /// is wrong with copies that cannot be read.
    ///
    /// # Errors
    /// When git stands in the way; nothing was handed on then.
    pub fn walk<T: Send, B>(
        &self,
        scope: Scope,
        which: Option<&[IssueId]>,
        look: impl Fn(&Seen<'_>) -> Option<T> + Sync,
        mut take: impl FnMut(T) -> ControlFlow<B>,
    ) -> Result<(ControlFlow<B>, Vec<String>)> {
        let mut problems = Vec::new();
        let (layers, all) = self.everything((scope, Listed::Names), &mut problems)?;
        for ids in which.unwrap_or(&all).chunks(AT_ONCE) {
            let (found, more) = self.scanner(&layers, Sets::ALL, &|| self.log_id()).scan(ids, &look);
            problems.extend(more);
            let taken = found.into_iter().try_for_each(&mut take);
            if taken.is_break() {
                return Ok((taken, problems));
            }
        }
        Ok((ControlFlow::Continue(()), problems))
    }

    fn look_at<T: Send>(
        &self,
        layers: &Layers<'_>,
        sets: Sets,
        ids: Vec<IssueId>,
        mut problems: Vec<String>,
        look: &(dyn Fn(&Seen<'_>) -> Option<T> + Sync),
    ) -> Scan<T> {
        let (found, more) = self.scanner(layers, sets, &|| self.log_id()).scan(&ids, look);
        problems.extend(more);
        Scan { found, ids, problems }
    }

    const fn scanner<'s, 'l>(
        &'s self,
        layers: &'s Layers<'l>,
        sets: Sets,
        log: &'s (dyn Fn() -> Option<String> + Sync),
    ) -> Scanner<'s, 'l> {
        Scanner { session: self.session, layers, log, sets }
    }

    /// Warns of what cannot be read.
    pub fn warn(&self, problems: &[String]) {
        for problem in problems.iter().take(MOST_NAMED) {
            self.session.notice(&Notice::Unusable(problem.clone()));
        }
        if let Some(more) = problems.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            self.session.notice(&Notice::MoreUnusable(more));
        }
    }

    /// Takes the claims from somebody who has just looked at them. Inside a guarded write they cannot be asked again:
    /// the question would wait for the write.
    pub(crate) fn know(&self, view: View) {
        let _ = self.view.set(Some(Arc::new(view)));
    }

    /// The id of the log that grants the fences of this repository, if it has granted one.
    fn log_id(&self) -> Option<String> {
        let read = || match self.session.claims().view() {
            Ok(view) => Some(Arc::new(view)),
            Err(error) => {
                self.session.notice(&Notice::FencesNotCompared(error.to_string()));
                None
            }
        };
        self.view.get_or_init(read).as_ref()?.counter.map(|counter| counter.to_string())
    }

    /// What this worktree itself has of an issue.
    ///
    /// # Errors
    /// When it has one that cannot be read.
    pub fn local(&self, id: IssueId) -> Result<Option<Issue>> {
        match self.see(id, Scope::Local, |seen| seen.whole()) {
            Err(Error::NoIssue(_)) => Ok(None),
            seen => whole(id, seen?).map(Some),
        }
    }

    /// What each layer that has a file holds there, the nearest first. The file is named from `.jit/` on. The
    /// commit is asked only where this worktree has neither the file nor the issue that it is named after.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn copies(&self, relative: &str) -> Result<Vec<Vec<u8>>> {
        let sys = self.session.sys();
        let read = |data: &Path| durable::read(sys, &data.join(relative), LONGEST);
        let mut copies = Vec::new();
        let own = self.session.data();
        if let Some(data) = &own {
            copies.extend(read(data)?);
        }
        let id = relative.split(['/', '.']).find_map(IssueId::parse);
        let home = own.zip(id).map(|(data, id)| data.join("issues").join(id.to_string()));
        if copies.is_empty() && !home.map_or(Ok(false), |home| durable::is_dir(sys, &home))? {
            copies.extend(self.committed(relative)?);
        }
        if let Some(data) = self.session.main_data()? {
            copies.extend(read(&data)?);
        }
        if let Some(data) = self.session.shared_data() {
            copies.extend(read(data)?);
        }
        Ok(copies)
    }

    /// What the commit that this worktree is on holds in a file that is named from `.jit/` on.
    fn committed(&self, relative: &str) -> Result<Option<Vec<u8>>> {
        let Some(repository) = self.session.repository() else { return Ok(None) };
        let Some(commit) = workspace::head_commit(&self.session.caller, repository)? else { return Ok(None) };
        let objects = workspace::objects(&self.session.caller, repository)?;
        let tree = objects.commit(&commit)?.tree;
        match objects.entry(&tree, format!("{DATA}/{relative}").as_bytes())? {
            Some(entry) if matches!(entry.mode, Mode::File | Mode::Executable) => {
                Ok(Some(objects.blob(&entry.id, LONGEST)?))
            }
            Some(_) | None => Ok(None),
        }
    }
}

fn whole(id: IssueId, read: serde_json::Result<Issue>) -> Result<Issue> {
    read.map_err(|error| Error::BadFile { path: PathBuf::from(id.to_string()), why: error.to_string() })
}
