//! How finished work stands: whether the branch that everybody builds on has it, another branch, or nothing but the
//! worktree that it was written in. Work that is nowhere any more has to be done again, whatever a file says.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use holdfast_git::Repository;
use holdfast_store::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::branches::{self, Branch};
use super::layer::Layer;
use super::outline::Outline;
use super::{LONGEST, State};
use crate::claims::resource;
use crate::config::Satisfied;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::json;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::Target;
use crate::workspace::DATA;

/// Where it is noted, in the control plane, what was there when work on an issue was begun.
pub(crate) const STARTED: &str = "started";

/// Where it is noted what was finished under a lease.
const FINISHED: &str = "finished";

/// The issue that a note with this name is of.
fn noted(name: &OsString) -> Option<IssueId> {
    name.to_str()?.strip_suffix(".json").and_then(IssueId::parse)
}

/// How finished work stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Standing {
    /// It is not finished.
    Open,
    /// The target has it, or it needs no landing.
    Landed,
    /// The target has it here, and the remote does not.
    NotPushed,
    /// A branch has it, and the target does not.
    OnBranch {
        /// The branch.
        branch: String,
    },
    /// No commit has it, but the worktree that wrote it does.
    NotCommitted,
    /// It was finished once, and nothing has it any more: it has to be done again.
    Lost,
}

impl Standing {
    /// How an issue of this state stands where nothing has to land.
    pub(super) const fn alone(state: State) -> Self {
        if state.is_over() { Self::Landed } else { Self::Open }
    }

    /// Whether issues that depend on this one are free of it, once its state says that it is over.
    #[must_use]
    pub const fn satisfies(&self, when: Satisfied) -> bool {
        match self {
            Self::Landed | Self::NotPushed => true,
            Self::OnBranch { .. } | Self::NotCommitted => matches!(when, Satisfied::Done),
            Self::Open | Self::Lost => false,
        }
    }

    /// What there is to say besides the state; nothing if that says it all.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        match self {
            Self::Open | Self::Landed => None,
            Self::NotPushed => Some("landed here, not pushed".to_owned()),
            Self::OnBranch { branch } => Some(format!("on {branch}, not landed")),
            Self::NotCommitted => Some("not committed".to_owned()),
            Self::Lost => Some("finished once, and lost".to_owned()),
        }
    }
}

/// The tips of the target that have a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tips {
    pub(super) local: bool,
    pub(super) remote: bool,
}

impl Tips {
    pub(super) const fn any(self) -> bool {
        self.local || self.remote
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self { local: self.local || other.local, remote: self.remote || other.remote }
    }
}

/// That an issue was finished under a lease, and whether its holder gave that back. It is kept in the control plane
/// from before the issue says so until the target has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct FinishedNote {
    pub(crate) fence: u64,
    pub(crate) fence_log: String,
    pub(crate) released: bool,
    /// The grant under which the work was done, if this one only judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<u64>,
    /// The grant before this one under which it was finished and which was given back: if this one ends before the issue says
    /// that it is finished again, that one still counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given_back: Option<u64>,
}

impl FinishedNote {
    /// Where it is.
    pub(crate) fn path(session: &Session, id: IssueId) -> Option<PathBuf> {
        session.shared_data().map(|shared| shared.join(FINISHED).join(format!("{id}.json")))
    }

    /// What is noted of an issue. What cannot be read says nothing.
    pub(crate) fn read(session: &Session, id: IssueId) -> Option<Self> {
        let bytes = durable::read(session.sys(), &Self::path(session, id)?, LONGEST).ok().flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Notes it, durably.
    pub(crate) fn write(&self, session: &Session, id: IssueId) -> Result<()> {
        let Some(path) = Self::path(session, id) else { return Ok(()) };
        let (directory, file) = session.prepare()?.places();
        if let Some(above) = path.parent() {
            durable::make_dirs(session.sys(), above, directory)?;
        }
        Ok(durable::replace(session.sys(), &path, &json::file(self), file)?)
    }
}

/// As much of an issue as says whether its work is finished, and under which grant.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a> {
    pub(super) state: State,
    pub(super) fence: Option<u64>,
    pub(super) fence_log: Option<&'a str>,
}

impl<'a> Finish<'a> {
    pub(super) fn of(issue: &'a Outline<'_>) -> Self {
        Self { state: issue.state, fence: issue.fence, fence_log: issue.fence_log.as_deref() }
    }
}

/// What finished work is judged with. Everything is looked at when it is first needed, and once.
pub(super) struct Landing<'a> {
    session: &'a Session,
    repository: Option<&'a Repository>,
    pub(super) target: Option<Target>,
    /// Whether a tip of the target has issues at all; if none has, nothing has to land.
    pub(super) is_tracked: bool,
    /// The claims as somebody saw them who must not ask again.
    pub(super) view: &'a OnceLock<Option<Arc<View>>>,
    /// Whether somebody asks for all issues: then it is listed which of them something is noted of, rather than asked for
    /// each.
    pub(super) is_of_all: bool,
    noted: OnceLock<Option<Vec<IssueId>>>,
    branches: OnceLock<Vec<Branch>>,
    worktrees: OnceLock<Vec<PathBuf>>,
}

impl<'a> Landing<'a> {
    /// Where nothing has to land.
    pub(super) fn none(session: &'a Session, view: &'a OnceLock<Option<Arc<View>>>) -> Self {
        Self::new(session, view, None, None)
    }

    pub(super) fn new(
        session: &'a Session,
        view: &'a OnceLock<Option<Arc<View>>>,
        repository: Option<&'a Repository>,
        target: Option<Target>,
    ) -> Self {
        Self {
            session,
            repository,
            target,
            is_tracked: false,
            view,
            is_of_all: false,
            noted: OnceLock::new(),
            branches: OnceLock::new(),
            worktrees: OnceLock::new(),
        }
    }

    /// How an issue stands whose counting copy this is. `landed` are the tips that have it in this state, at its fence
    /// or a later one; `committed` those that have exactly this copy.
    pub(super) fn of(
        &self,
        id: IssueId,
        issue: Finish<'_>,
        layer: Layer,
        landed: Tips,
        same: Tips,
    ) -> Standing {
        match issue.state {
            State::Rejected | State::Archived => Standing::Landed,
            State::Done if landed.remote => Standing::Landed,
            State::Done if !self.is_tracked => self.untracked(id, issue),
            State::Done if landed.local && self.has_remote() => Standing::NotPushed,
            State::Done if landed.local => Standing::Landed,
            State::Gated if !self.is_tracked => Standing::Open,
            State::Gated if same.any() => match self.judged_branch(id, issue) {
                Some(branch) => Standing::OnBranch { branch },
                None => Standing::Open,
            },
            State::Done | State::Gated => self.elsewhere(id, issue, layer),
            State::Backlog | State::Ready | State::InProgress => Standing::Open,
        }
    }

    /// How done work stands where the target has no issues: nothing has to land, unless it is on a branch that was begun
    /// for it and will bring the first ones.
    fn untracked(&self, id: IssueId, issue: Finish<'_>) -> Standing {
        let begun =
            || durable::is_dir(self.session.sys(), &self.session.control().join(STARTED)).unwrap_or(false);
        match begun().then(|| self.branch(id, issue)).flatten() {
            Some(branch) => Standing::OnBranch { branch },
            None => Standing::Landed,
        }
    }

    /// What is noted of an issue that was finished.
    fn note(&self, id: IssueId) -> Option<FinishedNote> {
        let all = || {
            let directory = self.session.shared_data()?.join(FINISHED);
            match self.session.sys().files.list(&directory) {
                Ok(names) => Some(names.iter().filter_map(noted).collect()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
                Err(_) => None,
            }
        };
        let known = self.is_of_all.then(|| self.noted.get_or_init(all).as_ref()).flatten();
        let is_noted = known.is_none_or(|known| known.binary_search(&id).is_ok());
        if is_noted { FinishedNote::read(self.session, id) } else { None }
    }

    fn has_remote(&self) -> bool {
        self.target.as_ref().is_some_and(|target| target.remote.is_some())
    }

    /// How work stands that the target does not have.
    fn elsewhere(&self, id: IssueId, issue: Finish<'_>, layer: Layer) -> Standing {
        if let Some(branch) = self.branch(id, issue).or_else(|| self.judged_branch(id, issue)) {
            return Standing::OnBranch { branch };
        }
        let gated = issue.state == State::Gated;
        if self.is_kept(id, issue, layer) && self.counts(id, issue) {
            return if gated { Standing::Open } else { Standing::NotCommitted };
        }
        Standing::Lost
    }

    /// The branch that has the issue in this state, at this fence.
    fn branch(&self, id: IssueId, issue: Finish<'_>) -> Option<String> {
        self.branch_at(id, issue, issue.state, issue.fence)
    }

    /// The branch that has the work of an issue whose gates somebody judged elsewhere.
    fn judged_branch(&self, id: IssueId, issue: Finish<'_>) -> Option<String> {
        let note = self.note(id)?;
        let is_this = Some(note.fence) == issue.fence && Some(&*note.fence_log) == issue.fence_log;
        let work = note.work.filter(|_| is_this)?;
        self.branch_at(id, issue, State::Gated, Some(work))
    }

    fn branch_at(&self, id: IssueId, issue: Finish<'_>, state: State, fence: Option<u64>) -> Option<String> {
        let text = id.to_string();
        let has = |branch: &&Branch| {
            branch.finished.iter().any(|finished| {
                finished.issue == text
                    && finished.state == state
                    && finished.fence == fence
                    && finished.fence_log.as_deref() == issue.fence_log
            })
        };
        // One that builds on it has it too; the one that was begun for it has nothing else.
        let random = text.get(10..).unwrap_or_default().to_lowercase();
        let is_own = |branch: &&Branch| {
            let name = branch.name.strip_prefix("origin/").unwrap_or(&branch.name);
            let handle = name.strip_prefix("jit/").and_then(|rest| rest.split('-').next());
            handle.is_some_and(|handle| handle.len() >= 4 && random.starts_with(handle))
        };
        let mut all = self.branches().iter().filter(has);
        let own = all.clone().find(is_own);
        own.or_else(|| all.next()).map(|branch| branch.name.clone())
    }

    fn branches(&self) -> &[Branch] {
        self.branches.get_or_init(|| {
            let (Some(repository), Some(target)) = (self.repository, &self.target) else { return Vec::new() };
            branches::load(self.session, repository, target).unwrap_or_else(|error| {
                self.session.notice(&Notice::BranchesUnknown(error.to_string()));
                Vec::new()
            })
        })
    }

    /// Whether a worktree still has what it wrote.
    fn is_kept(&self, id: IssueId, issue: Finish<'_>, layer: Layer) -> bool {
        if matches!(layer, Layer::Local | Layer::Main) {
            return true;
        }
        let roots = self.worktrees.get_or_init(|| {
            let all = self.session.visible_worktrees();
            all.into_iter().filter(|entry| !entry.gone).map(|entry| entry.root).collect()
        });
        roots.iter().any(|root| {
            let path = root.join(DATA).join("issues").join(id.to_string()).join(super::ISSUE);
            let bytes = durable::read(self.session.sys(), &path, LONGEST).ok().flatten().unwrap_or_default();
            let copy = serde_json::from_slice::<Outline<'_>>(&bytes).ok();
            copy.is_some_and(|copy| {
                copy.state == issue.state
                    && copy.fence == issue.fence
                    && copy.fence_log.as_deref() == issue.fence_log
            })
        })
    }

    /// Whether what a worktree has counts: its lease lives, or was given back. Where nothing is noted, it was written
    /// without a lease or by an earlier version, and counts.
    fn counts(&self, id: IssueId, issue: Finish<'_>) -> bool {
        let Some(note) = self.note(id) else { return true };
        if Some(&*note.fence_log) != issue.fence_log {
            return true;
        }
        match issue.fence {
            Some(fence) if fence == note.fence => note.released || self.is_in_force(id, fence),
            // It was granted again, and about to be finished under that grant.
            Some(fence) if fence < note.fence => note.given_back == Some(fence),
            Some(_) | None => true,
        }
    }

    fn is_in_force(&self, id: IssueId, fence: u64) -> bool {
        let view = self.view.get_or_init(|| self.session.claims().view().ok().map(Arc::new));
        // Nobody knows: then nothing is given away.
        let (Some(view), Ok(name)) = (view, resource(id)) else { return true };
        view.table.on(&name).any(|lease| lease.fence.get() == fence && !lease.standing(&view.now).is_over())
    }
}
