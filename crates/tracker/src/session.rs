//! One question to the tracker: where it is asked, what is configured there, who asks, and the claims. It is opened
//! once per command; whatever only some commands need is worked out when it is first asked for, and once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use holdfast_git::{Config as GitConfig, ObjectId, Repository};
use holdfast_kernel::{Holder, Lease, LeaseId, Name, Tags};
use holdfast_store::{View, liveness};
use holdfast_sys::{ProcessId, Sys};

use crate::agent::AgentId;
use crate::caller::{Agent, Caller};
use crate::claims::{Claims, branch_tags, keeper, warn};
use crate::committed::Committed;
use crate::config::Config;
use crate::control::{self, Access};
use crate::error::{Error, Result};
use crate::home;
use crate::notice::Notice;
use crate::workspace::{Ground, Workspace};
use crate::worktree::{self, Record};

/// How much of a clone's id is part of the place of a holder: with the id of the worktree it is more than chance can
/// give twice.
const CLONE_DIGITS: usize = 12;

/// One question to the tracker.
pub struct Session {
    /// Who asks.
    pub caller: Caller,
    workspace: Workspace,
    agent: OnceLock<Agent>,
    writer: Arc<OnceLock<AgentId>>,
    access: OnceLock<Access>,
    prepared: OnceLock<()>,
    identity: OnceLock<Record>,
    worktree: OnceLock<Record>,
    holder: OnceLock<Holder>,
    claims: OnceLock<Claims>,
    keeper: OnceLock<ProcessId>,
    has_guardian: OnceLock<()>,
    mark: OnceLock<String>,
    warned: Mutex<BTreeSet<LeaseId>>,
    main_data: OnceLock<Option<PathBuf>>,
    commits: Mutex<BTreeMap<ObjectId, Option<Committed>>>,
    git_config: OnceLock<GitConfig>,
}

impl Session {
    /// A question that is asked where issues are tracked.
    ///
    /// # Errors
    /// When nobody has started tracking issues there, or git or the configuration stands in the way.
    pub fn open(caller: &Caller) -> Result<Self> {
        let session = Self::find(caller)?;
        if session.workspace.is_initialised(caller)? {
            Ok(session)
        } else {
            Err(Error::NotInitialised(caller.start.clone()))
        }
    }

    /// A question that is asked anywhere, be issues tracked there or not.
    ///
    /// # Errors
    /// When git or the configuration stands in the way.
    pub fn find(caller: &Caller) -> Result<Self> {
        Self::on(caller, Ground::find(caller)?)
    }

    /// A question that is asked on ground that was found already.
    ///
    /// # Errors
    /// When the configuration stands in the way.
    pub fn on(caller: &Caller, ground: Ground) -> Result<Self> {
        Ok(Self {
            caller: caller.clone(),
            workspace: Workspace::on(caller, ground)?,
            agent: OnceLock::new(),
            writer: Arc::default(),
            access: OnceLock::new(),
            prepared: OnceLock::new(),
            identity: OnceLock::new(),
            worktree: OnceLock::new(),
            holder: OnceLock::new(),
            claims: OnceLock::new(),
            keeper: OnceLock::new(),
            has_guardian: OnceLock::new(),
            mark: OnceLock::new(),
            warned: Mutex::default(),
            main_data: OnceLock::new(),
            commits: Mutex::default(),
            git_config: OnceLock::new(),
        })
    }

    /// What the gits are marked with that work for this command.
    pub(crate) fn mark(&self) -> Option<&str> {
        self.mark.get().map(String::as_str)
    }

    /// Has every git that works for this command from now on be marked.
    pub(crate) fn set_mark(&self, mark: String) {
        // The first one stays: gits have it already.
        let _ = self.mark.set(mark);
    }

    /// The machine.
    #[must_use]
    pub const fn sys(&self) -> &Sys {
        &self.caller.sys
    }

    /// What is configured.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.workspace.config
    }

    /// What is configured for git here.
    ///
    /// # Errors
    /// When that cannot be read.
    pub(crate) fn git_config(&self) -> Result<&GitConfig> {
        let (caller, repository) = (&self.caller, self.repository());
        once(&self.git_config, || Ok(GitConfig::read(&*caller.sys.files, &caller.git, repository)?))
    }

    /// The repository; none outside of git.
    #[must_use]
    pub const fn repository(&self) -> Option<&Repository> {
        self.workspace.repository.as_ref()
    }

    /// The root of the worktree; none in a bare repository.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.workspace.root.as_deref()
    }

    /// The control plane, which all worktrees share.
    #[must_use]
    pub fn control(&self) -> &Path {
        &self.workspace.control
    }

    /// This worktree's `.jit/`; none without a worktree.
    #[must_use]
    pub fn data(&self) -> Option<PathBuf> {
        self.workspace.data()
    }

    /// This worktree's `.jit/`.
    ///
    /// # Errors
    /// When there is no worktree.
    pub fn own_data(&self) -> Result<PathBuf> {
        self.workspace.own_data()
    }

    /// The main worktree's `.jit/`, if this is not the main worktree.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn main_data(&self) -> Result<Option<PathBuf>> {
        once(&self.main_data, || self.workspace.main_data(&self.caller)).cloned()
    }

    /// The issues that a commit has, which never changes: they are looked up once.
    pub(crate) fn issues_of(
        &self,
        commit: ObjectId,
        look: impl FnOnce() -> holdfast_git::Result<Option<Committed>>,
    ) -> holdfast_git::Result<Option<Committed>> {
        let known = || self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(issues) = known().get(&commit) {
            return Ok(issues.clone());
        }
        let issues = look()?;
        known().insert(commit, issues.clone());
        Ok(issues)
    }

    /// Where linked worktrees hand over what they have written; none where nothing is shared.
    #[must_use]
    pub fn shared_data(&self) -> Option<&Path> {
        self.workspace.shared_data()
    }

    /// Where things are.
    pub(crate) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Whether this is a worktree beside the main one.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.workspace.is_linked()
    }

    /// The branch of this worktree: none outside of git, `HEAD` where there is no branch.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn branch(&self) -> Result<Option<String>> {
        self.workspace.branch(&self.caller)
    }

    /// All worktrees of the repository; outside of git the one that there is.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn worktrees(&self) -> Result<Vec<worktree::Entry>> {
        let mut all = worktree::all(&self.caller, &self.workspace)?;
        let clone = self.clone_name().ok().flatten();
        all.iter_mut().for_each(|entry| entry.clone.clone_from(&clone));
        Ok(all)
    }

    /// What this clone is called in the places of holders, where all clones share their claims.
    ///
    /// # Errors
    /// When it cannot be given an id.
    pub fn clone_name(&self) -> Result<Option<String>> {
        let Some(shared) = &self.claims().shared else { return Ok(None) };
        let id = shared.shared()?.clone_id()?.to_string();
        Ok(Some(id.chars().take(CLONE_DIGITS).collect()))
    }

    /// All worktrees, for what can go on without them: where they cannot be listed, a notice says so.
    pub fn visible_worktrees(&self) -> Vec<worktree::Entry> {
        self.worktrees().unwrap_or_else(|error| {
            self.notice(&Notice::WorktreesUnknown(error.to_string()));
            Vec::new()
        })
    }

    /// The agent that asks.
    ///
    /// # Errors
    /// When nobody says, or says something that is no agent.
    pub fn agent(&self) -> Result<&Agent> {
        let agent = once(&self.agent, || self.caller.agent(self.own_agent()?.as_deref()))?;
        self.writer.get_or_init(|| agent.id.clone());
        Ok(agent)
    }

    /// The agent that this worktree is given to, if it is to one.
    fn own_agent(&self) -> Result<Option<String>> {
        Ok(self.known_identity()?.and_then(|known| known.agent))
    }

    /// The identity that this worktree has, if it has one.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn known_identity(&self) -> Result<Option<Record>> {
        if let Some(known) = self.worktree.get().or_else(|| self.identity.get()) {
            return Ok(Some(known.clone()));
        }
        let Some(root) = self.root() else { return Ok(None) };
        let found = worktree::read(self.sys(), self.repository().map(Repository::git_dir), root)?;
        Ok(found.map(|found| self.identity.get_or_init(|| found).clone()))
    }

    /// Gives this worktree to an agent, unless somebody else is named.
    ///
    /// # Errors
    /// When that cannot be kept.
    pub fn assign(&self, agent: &AgentId) -> Result<Record> {
        worktree::assign(&self.caller, &self.workspace, &|| self.prepare(), agent)
    }

    /// The agent that asks, for commands that only say more to somebody they know.
    #[must_use]
    pub fn known_agent(&self) -> Option<&AgentId> {
        self.agent().ok().map(|agent| &agent.id)
    }

    /// Who may use the control plane.
    ///
    /// # Errors
    /// When the group that shares it is not known here.
    pub fn access(&self) -> Result<Access> {
        let group = self.config().coordination.shared_group.as_deref();
        once(&self.access, || Access::of(self.sys(), group)).copied()
    }

    /// Makes the control plane if it is not there. Whoever writes does this first.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn prepare(&self) -> Result<Access> {
        let access = self.access()?;
        once(&self.prepared, || {
            let locks = control::prepare(self.sys(), self.control(), access)?;
            let (caller, control, config) = (&self.caller, self.control(), self.config());
            home::Place { caller, control, locks, access, config }.settle()
        })?;
        Ok(access)
    }

    /// What this worktree is known as; made if it was never asked for.
    ///
    /// # Errors
    /// When it cannot be given an id.
    pub fn worktree(&self) -> Result<&Record> {
        once(&self.worktree, || worktree::ensure(&self.caller, &self.workspace, &|| self.prepare()))
    }

    /// Who holds what is claimed by whoever asks: the agent in this worktree.
    ///
    /// # Errors
    /// When nobody says who asks, or the worktree cannot be given an id.
    pub fn holder(&self) -> Result<&Holder> {
        once(&self.holder, || {
            let agent = self.agent()?.id.name().clone();
            let place = self.worktree()?.name(&self.own_data()?)?;
            let place = match self.clone_name()? {
                Some(clone) => Name::new(&worktree::place_in(place.as_str(), &clone))
                    .map_err(|_| Error::Internal(format!("'{place}' of '{clone}' is no place")))?,
                None => place,
            };
            Ok(Holder { agent, place })
        })
    }

    /// What is kept beside a grant to whoever asks.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn tags(&self) -> Result<Tags> {
        let tags = branch_tags(self.branch()?.as_deref());
        let Some(keeper) = self.keeper.get() else { return Ok(tags) };
        let tags = if self.has_guardian.get().is_some() { keeper::without_grace(tags) } else { tags };
        liveness::describe(keeper, tags).ok_or_else(|| Error::BadValue {
            what: "the keeper",
            given: keeper.pid.to_string(),
            why: "the name of this host cannot be kept beside a lease".into(),
        })
    }

    /// Names the process that stands for whoever asks, for what is granted from now on; `what` says who gave its number.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn name_keeper(&self, what: &'static str, pid: &str) -> Result<()> {
        once(&self.keeper, || keeper::find(self.sys(), what, pid)).map(|_| ())
    }

    /// Names a process that stands for whoever asks and ends last of all that work for it, so that nobody has to wait
    /// once it is gone.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn name_guardian(&self, pid: u32) -> Result<()> {
        self.name_keeper("the guardian", &pid.to_string())?;
        self.has_guardian.get_or_init(|| ());
        Ok(())
    }

    /// The same, where whatever process stands for `other` does.
    pub(crate) fn kept_as(self, other: &Self) -> Self {
        Self { keeper: other.keeper.clone(), has_guardian: other.has_guardian.clone(), ..self }
    }

    /// The process that was named as standing for whoever asks, if one was.
    pub fn keeper(&self) -> Option<u32> {
        self.keeper.get().map(|keeper| keeper.pid)
    }

    /// The claims, to look at.
    pub fn claims(&self) -> &Claims {
        self.claims.get_or_init(|| {
            // Only a writer needs the group, and is told if there is none.
            let mode = self.access().map_or(0o600, Access::file);
            Claims::open(&self.caller, &self.workspace, &self.writer, mode)
        })
    }

    /// The claims, to be changed by whoever asks.
    ///
    /// # Errors
    /// When nobody says who asks, or the control plane cannot be set up.
    pub fn claims_to_change(&self) -> Result<&Claims> {
        self.agent()?;
        self.prepare()?;
        Ok(self.claims())
    }

    /// Lets whoever asks know something besides the answer.
    pub fn notice(&self, notice: &Notice) {
        self.caller.notice(notice);
    }

    /// Renews what whoever asks has claimed here and uses by writing, if less than half of it is left, and warns of
    /// what is about to end all the same. Whoever writes says so here, with the claims as they are seen then. Nothing
    /// that goes wrong here stops a write.
    pub fn used(&self, view: &View) {
        match self.renew_used(view) {
            Ok(false) => self.warn_of_ending(view),
            // What was renewed is warned of no more.
            Ok(true) => self.claims().view().iter().for_each(|view| self.warn_of_ending(view)),
            Err(error) => {
                self.notice(&Notice::Failed(format!("the claims could not be renewed: {error}")));
                self.warn_of_ending(view);
            }
        }
    }

    /// As [`Session::used`], for whoever has not looked at the claims.
    pub fn used_unseen(&self) {
        // Nobody's claims are neither renewed nor warned of.
        if self.known_agent().is_none() {
            return;
        }
        self.claims().view().iter().for_each(|view| self.used(view));
    }

    fn renew_used(&self, view: &View) -> Result<bool> {
        let Some(agent) = self.known_agent().filter(|_| self.config().coordination.renew_on_use) else {
            return Ok(false);
        };
        let is_own = |lease: &Lease| lease.holder.agent == *agent.name();
        if !view.table.iter().any(is_own) || !self.has_identity()? {
            return Ok(false);
        }
        self.claims().renew_used(self.holder()?, view)
    }

    /// Whether this worktree has an identity, so that somebody can hold something here.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn has_identity(&self) -> Result<bool> {
        Ok(self.known_identity()?.is_some())
    }

    /// Warns whoever asks of its leases that are about to end, of each once.
    pub fn warn_of_ending(&self, view: &View) {
        if let Some(agent) = self.known_agent() {
            let threshold = self.config().coordination.lease_renewal_threshold_pct;
            let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
            warn::ending(&*self.caller.listener, view, agent, threshold, &mut warned);
        }
    }
}

/// What is in the cell, put there if nothing is.
fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
