//! Claims that all clones share, kept by the git server or in etcd. Nothing is asked before somebody needs an answer; looks use
//! what was seen last as long as that is young enough, and say how old it is where the server cannot be reached.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use holdfast_git::{Config as GitConfig, Repository};
use holdfast_kernel::{Answer, Claim, Command, Fence, Millis, Policy, Refusal, Stamp};
use holdfast_remote::etcd::{self, Etcd};
use holdfast_remote::gitref::{self, GitRef};
use holdfast_remote::local::Local;
use holdfast_remote::shared::{Ended, Known, Latest, Trust};
use holdfast_remote::{Along, Head, Note, Register, Settings, Shared};
use holdfast_store::{
    Checked, CounterId, Error, Guarding, Held, JournaledMedium, Medium, Plan, Projected, Record, Recovery,
    Result, Trouble, View,
};
use serde::Deserialize;

use super::chosen::{self, Keeper, Place};
use super::credentials;
use super::fetched::Fetched;
use crate::caller::Caller;
use crate::config::Config;
use crate::durable;
use crate::notice::Notice;
use crate::reach;
use crate::target::ORIGIN;
use crate::workspace::{DATA, Workspace};

/// How long one call of git may take.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// How long one answer of etcd may take.
const ETCD_LIMIT: Millis = Millis::from_secs(5);

/// An issue that is longer is not looked into for its fence.
const LONGEST_ISSUE: usize = 16 << 20;

/// How long a server that could not be reached is left alone by looks.
const REST: Millis = Millis::from_secs(15);

/// How often the server is asked by those who wait, at most.
const POLL: Millis = Millis::from_secs(2);

/// What a clone remembers of a place.
pub(super) fn memory_of(control: &Path, place: &Place, mode: u32) -> Local {
    let about = match &place.keeper {
        Keeper::Git { register, .. } => format!("git {register} {}", place.counter),
        Keeper::Etcd { namespace, .. } => format!("etcd {namespace} {}", place.counter),
    };
    Local::new(chosen::directory(control), mode).about(&about)
}

/// The claims that all clones share.
pub struct SharedClaims {
    caller: Caller,
    control: PathBuf,
    /// Where git is started: a URL that is a path is relative to the worktree.
    root: PathBuf,
    repository: Option<Repository>,
    config: Config,
    place: Result<Place>,
    /// Whether this is the server that keeps them, if a git server does.
    serves: bool,
    mode: u32,
    opened: OnceLock<Shared>,
    /// When the server could not be reached last.
    failed: Mutex<Option<Stamp>>,
    /// The landed commit that was fetched for and is not on the target all the same.
    gone: Arc<Mutex<Option<String>>>,
    /// The pushed commit that branches were fetched for, until what they have is handed over to the worktrees here.
    fetched_for: Arc<Mutex<Option<String>>>,
}

impl SharedClaims {
    pub(super) fn new(caller: &Caller, workspace: &Workspace, place: Result<Place>, mode: u32) -> Self {
        Self {
            caller: caller.clone(),
            control: workspace.control.clone(),
            root: workspace.root.clone().unwrap_or_else(|| workspace.control.clone()),
            repository: workspace.repository.clone(),
            config: workspace.config.clone(),
            place,
            serves: false,
            mode,
            opened: OnceLock::new(),
            failed: Mutex::default(),
            gone: Arc::default(),
            fetched_for: Arc::default(),
        }
    }

    /// The claims at a place that nobody may have chosen yet.
    pub(crate) fn at(caller: &Caller, workspace: &Workspace, place: Place, mode: u32) -> Self {
        Self::new(caller, workspace, Ok(place), mode)
    }

    /// The claims that the hook of a server judges with: those that the server itself keeps, or that its configuration
    /// names; none where clones keep them.
    ///
    /// # Errors
    /// When the configuration does not say where they are.
    pub(crate) fn for_server(caller: &Caller, workspace: &Workspace) -> Result<Option<Self>> {
        // Whoever may push to a server may be one of a group.
        let noted = chosen::noted(&caller.sys, &workspace.control)?;
        let found = chosen::find(&workspace.config, noted)?;
        Ok(found.map(|place| Self { serves: true, ..Self::new(caller, workspace, Ok(place), 0o660) }))
    }

    /// The counter that numbers the claims there, whichever it is; none if none are kept there.
    pub(crate) fn counter(&self) -> Result<Option<CounterId>> {
        self.open(None)?.counter()
    }

    /// Checks the whole history that is still kept.
    pub(crate) fn replayed(&self) -> Result<()> {
        self.shared()?.history(&mut |_| ()).map(drop)
    }

    /// Where they are kept.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn place(&self) -> Result<&Place> {
        self.place.as_ref().map_err(again)
    }

    /// Whether work lands at the server that keeps them, so that both can move in one step.
    #[must_use]
    pub fn is_where_work_lands(&self) -> bool {
        let is_origin = |keeper: &Keeper| matches!(keeper, Keeper::Git { remote, .. } if remote == ORIGIN);
        self.place.as_ref().is_ok_and(|place| is_origin(&place.keeper))
    }

    /// The medium, opened when it is first asked for.
    ///
    /// # Errors
    /// When the configuration or the remote stands in the way.
    pub fn shared(&self) -> Result<&Shared> {
        if let Some(shared) = self.opened.get() {
            return Ok(shared);
        }
        let shared = self.open(Some(self.place()?.counter))?;
        Ok(self.opened.get_or_init(|| shared))
    }

    fn open(&self, counter: Option<CounterId>) -> Result<Shared> {
        let place = self.place()?;
        let Some(repository) = &self.repository else {
            return Err(Trouble::Missing.because("claims that all clones share need a git repository"));
        };
        let sys = &self.caller.sys;
        let directory = chosen::directory(&self.control);
        durable::make_dirs(sys, &directory, if self.mode == 0o660 { 0o2770 } else { 0o700 })?;
        let register = self.register(&place.keeper, repository)?;
        let coordination = &self.config.coordination;
        let local = self.local(place);
        let settings = Settings {
            trust: if coordination.trust_clock { Trust::Clocks } else { Trust::Watch },
            max_age: Millis::from_secs(coordination.max_age_secs),
            floor: counter.and_then(|counter| self.floor(counter, &local)),
            counter,
            fresh: false,
            ..Settings::default()
        };
        let shared = Shared::new(sys.clone(), register, local, settings);
        Ok(match self.fetched() {
            Some(fetched) => {
                let (gone, fetched_for) = (Arc::clone(&self.gone), Arc::clone(&self.fetched_for));
                let is = |noted: &Mutex<Option<String>>, commit: &str| {
                    noted.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(commit)
                };
                shared.granting_if(move |latest| match latest {
                    Latest::Landed(commit) => fetched.has_landed(commit) || is(&gone, commit),
                    Latest::Pushed(commit) => is(&fetched_for, commit) || fetched.has_pushed(commit),
                })
            }
            None => shared,
        })
    }

    fn register(&self, keeper: &Keeper, repository: &Repository) -> Result<Box<dyn Register>> {
        let sys = &self.caller.sys;
        let failed = |error: holdfast_remote::Unreachable| Trouble::Unavailable.because(error.0);
        match keeper {
            Keeper::Git { remote, register } => {
                let ssh = self.caller.git.ssh_command.as_ref();
                let access = gitref::Access {
                    git_dir: repository.common_dir().to_path_buf(),
                    home: reach::home(&self.caller, repository),
                    engine: gitref::engine_in(&self.control),
                    remote: remote.clone(),
                    url: self.serves.then(|| repository.common_dir().to_string_lossy().into_owned()),
                    name: register.clone(),
                    config: GitConfig::read(&*sys.files, &self.caller.git, Some(repository)).ok(),
                    ssh_command: ssh.map(|command| command.to_string_lossy().into_owned()),
                    limit: LIMIT,
                };
                Ok(Box::new(GitRef::open(sys, &access).map_err(failed)?))
            }
            Keeper::Etcd { endpoints, namespace } => {
                let access = etcd::Access {
                    endpoints: endpoints.clone(),
                    namespace: namespace.clone(),
                    user: credentials::user(&self.caller, &self.config)?,
                    tls: credentials::tls(&self.caller, &self.config, endpoints, &self.root)?,
                    limit: ETCD_LIMIT,
                };
                Ok(Box::new(Etcd::open(sys, &access).map_err(failed)?))
            }
        }
    }

    /// The largest fence of a counter that the issues here show, for a clone that has not seen the claims yet, or does not
    /// know what came of its last step: whether they were set back it cannot know otherwise.
    fn floor(&self, counter: CounterId, local: &Local) -> Option<Fence> {
        #[derive(Deserialize)]
        struct Fenced {
            fence: Option<u64>,
            fence_log: Option<String>,
        }
        let files = &self.caller.sys.files;
        if local.is_sure(&self.caller.sys) {
            return None;
        }
        let issues = self.root.join(DATA).join("issues");
        let counter = counter.to_string();
        let fence = |name: std::ffi::OsString| {
            let bytes = durable::read(&self.caller.sys, &issues.join(name).join("issue.json"), LONGEST_ISSUE)
                .ok()??;
            let Fenced { fence, fence_log } = serde_json::from_slice(&bytes).ok()?;
            Fence::new(fence.filter(|_| fence_log.as_deref() == Some(&counter))?).ok()
        };
        files.list(&issues).ok()?.into_iter().filter_map(fence).max()
    }

    fn local(&self, place: &Place) -> Local {
        memory_of(&self.control, place, self.mode)
    }

    /// The file that changes whenever something new was seen of the claims; none if nobody knows where they are.
    #[must_use]
    pub fn seen_path(&self) -> Option<PathBuf> {
        Some(self.local(self.place.as_ref().ok()?).seen_path())
    }

    /// Makes the register, as nothing else does; says whether it was this call that made it.
    ///
    /// # Errors
    /// When there is another one, or it cannot be made.
    pub fn make(&self) -> Result<bool> {
        let place = self.place()?;
        self.open(None)?.make(place.counter, Fence::FIRST)
    }

    /// Makes the register with the claims of another one that is sealed.
    ///
    /// # Errors
    /// When there is another one, or it cannot be made.
    pub(crate) fn make_from(&self, head: &Head) -> Result<bool> {
        self.open(None)?.make_from(head)
    }

    /// Ends all claims there and goes on under the counter of this place.
    ///
    /// # Errors
    /// When it cannot be read or changed.
    pub(crate) fn begin_anew(&self, reason: &str) -> Result<Ended> {
        self.open(None)?.begin_anew(self.place()?.counter, reason)
    }

    /// What is known, asked for anew if it is older than is configured, or if `fresh`.
    ///
    /// # Errors
    /// When nothing is known and the server cannot be asked, or says that something is wrong.
    pub fn known(&self, fresh: bool) -> Result<Known> {
        let shared = self.shared()?;
        let sys = &self.caller.sys;
        let most = Millis::from_secs(self.config.coordination.max_age_secs);
        match shared.remembered_age()? {
            Some(age) if !fresh && (age <= most || self.rests()?) => return shared.known(false),
            None => {
                shared.refresh()?;
                return shared.known(false);
            }
            Some(_) => {}
        }
        match shared.refresh() {
            Err(error @ Error::Shared { trouble: Trouble::Unavailable, .. }) if !fresh => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(sys.clock.now()?);
                let known = shared.known(false)?;
                self.caller.notice(&Notice::ClaimsOld { age: known.age, why: error.to_string() });
                Ok(known)
            }
            Err(error) => Err(error),
            Ok(()) => shared.known(false),
        }
    }

    /// How long ago the server was asked for what is known; asks nobody.
    #[must_use]
    pub fn age(&self) -> Option<Millis> {
        self.shared().ok()?.remembered_age().ok()?
    }

    /// Whether the server could not be reached a moment ago.
    fn rests(&self) -> Result<bool> {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(failed) = failed else { return Ok(false) };
        Ok(self.caller.sys.clock.now()?.since(&failed).forward() < REST)
    }

    /// For somebody who waits: asks the server, unless a process of this clone did a moment ago.
    pub(super) fn poll(&self) {
        let Ok(shared) = self.shared() else { return };
        let is_due = shared.remembered_age().is_ok_and(|age| age.is_none_or(|age| age >= POLL));
        if is_due && !self.rests().unwrap_or(true) && shared.refresh().is_err() {
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = self.caller.sys.clock.now().ok();
        }
    }

    /// Asks the server, and fetches what was landed or pushed last and is not here.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn catch_up(&self) -> Result<()> {
        let shared = self.shared()?;
        shared.refresh()?;
        let head = shared.known(false)?.head;
        let Some(fetched) = self.fetched() else { return Ok(()) };
        let is_here =
            |commit: &String| self.fetched_for().as_ref() == Some(commit) || fetched.has_pushed(commit);
        if let Some(commit) = head.pushed.filter(|commit| !is_here(commit)) {
            fetched.fetch_branches(&self.root)?;
            *self.fetched_for.lock().unwrap_or_else(PoisonError::into_inner) = Some(commit);
        }
        head.tip.map_or(Ok(()), |tip| self.fetch_for(&fetched, &tip))
    }

    /// The pushed commit that branches were fetched for, if nobody has looked yet at what they have.
    pub(crate) fn fetched_for(&self) -> Option<String> {
        self.fetched_for.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that what was fetched for a pushed commit is handed over to the worktrees of this clone, durably.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn is_handed_over(&self, commit: &str) -> Result<()> {
        let Some(fetched) = self.fetched() else { return Ok(()) };
        fetched.note_pushed(commit)?;
        let mut fetched_for = self.fetched_for.lock().unwrap_or_else(PoisonError::into_inner);
        *fetched_for = fetched_for.take().filter(|noted| noted != commit);
        Ok(())
    }

    /// What this clone has of what others have brought; none where nothing can.
    fn fetched(&self) -> Option<Fetched> {
        Fetched::of(&self.caller, self.repository.as_ref()?, &self.config, &self.control, self.mode)
    }

    /// Fetches the target for a commit that was landed on it.
    fn fetch_for(&self, fetched: &Fetched, tip: &str) -> Result<()> {
        if fetched.has_landed(tip) {
            return Ok(());
        }
        let remote = match &self.place()?.keeper {
            Keeper::Git { remote, .. } => remote,
            Keeper::Etcd { .. } => ORIGIN,
        };
        fetched.fetch_target(&self.root, remote)?;
        if !fetched.has_landed(tip) {
            // The server has both refs, so the branch was set back by somebody who may.
            let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
            if gone.as_deref() != Some(tip) {
                self.caller.notice(&Notice::LandedGone(tip.to_owned()));
                *gone = Some(tip.to_owned());
            }
        }
        Ok(())
    }

    /// Does something that may grant. A clone that does not have what was landed last fetches it and asks again.
    fn granting<T>(&self, ask: impl Fn(&Shared) -> Result<T>) -> Result<T> {
        let shared = self.shared()?;
        chosen::choose(&self.caller.sys, &self.control, self.place()?, self.mode)?;
        let mut left = 5;
        loop {
            match ask(shared) {
                Err(Error::Shared { trouble: Trouble::Behind, .. }) if left > 0 => {
                    left -= 1;
                    self.catch_up()?;
                }
                done => return done,
            }
        }
    }

    /// Moves a branch of the server to a commit if these claims are in force, in one step with saying so.
    ///
    /// # Errors
    /// The refusal; [`Trouble::Behind`] if the branch is elsewhere; otherwise what failed.
    pub fn publish(&self, claims: &[Claim], branch: &Along, lands: bool) -> Result<()> {
        let shared = self.shared()?;
        if lands {
            return shared.publish(claims, branch, lands);
        }
        let before = shared.known(false).ok().map(|known| known.head);
        shared.publish(claims, branch, lands)?;
        let (after, fetched) = (shared.known(false).ok().map(|known| known.head), self.fetched());
        // Where nobody else did anything in between, what this clone had fetched is all that there was.
        if let (Some(before), Some(after), Some(fetched)) = (before, after, fetched)
            && before.pushed.is_none_or(|commit| fetched.has_pushed(&commit))
            && after.height == before.height + 1
        {
            // Whoever cannot note it fetches once more.
            let _ = fetched.note_pushed(&branch.to);
        }
        Ok(())
    }

    /// Says that a branch is about to get a commit, if these claims are in force: for a branch that another server has
    /// than the claims. Whoever loses one between this and the push is not stopped by it.
    ///
    /// # Errors
    /// The refusal, or what failed.
    pub fn announce(&self, claims: &[Claim], branch: &str, commit: &str) -> Result<()> {
        self.shared()?.announce(claims, branch, commit)
    }

    /// Decides commands one after the other, in one step.
    ///
    /// # Errors
    /// When none of them could be decided.
    pub(super) fn transact_all(&self, policy: &Policy, commands: &[Command]) -> Result<Vec<Result<Answer>>> {
        self.shared()?.transact_all(policy, commands)
    }

    /// The commit that a ref of the server is on; none if there is none.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn branch_at(&self, name: &str) -> Result<Option<String>> {
        let refs = self.shared()?.register().refs(&[name]);
        Ok(refs.map_err(|error| Trouble::Unavailable.because(error.0))?.into_iter().next().flatten())
    }

    /// Says that a branch beside the target has a commit, where that was not said with the push.
    ///
    /// # Errors
    /// What failed.
    pub fn note_pushed(&self, commit: &str) -> Result<()> {
        let shared = self.shared()?;
        if shared.known(false)?.head.pushed.as_deref() == Some(commit) {
            return Ok(());
        }
        shared.note(&[Note::Pushed { commit: commit.to_owned() }], &|_| Ok(()))
    }

    /// Says that the target has a commit, where that was not said with the push.
    ///
    /// # Errors
    /// What failed.
    pub fn note_landed(&self, commit: &str) -> Result<()> {
        let shared = self.shared()?;
        if shared.known(false)?.head.tip.as_deref() == Some(commit) {
            return Ok(());
        }
        shared.note(&[Note::Landed { commit: commit.to_owned() }], &|_| Ok(()))
    }
}

/// An error once more, for each of several callers.
fn again(error: &Error) -> Error {
    match error {
        Error::Shared { trouble, what } => trouble.because(what.clone()),
        other => Trouble::Missing.because(other.to_string()),
    }
}

/// A handle on the claims that all clones share, as a medium.
pub(super) struct Handle(pub(super) Arc<SharedClaims>);

impl Medium for Handle {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        self.0.granting(|shared| shared.transact(policy, command))
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        self.0.shared()?.guarded(claim, act)
    }

    fn view(&self) -> Result<View> {
        self.0.known(false).map(|known| known.view)
    }

    fn guarding(&self) -> Guarding {
        Guarding::Fenced
    }
}

impl JournaledMedium for Handle {
    fn transact_first(
        &self,
        policy: &Policy,
        commands: &[Command],
        passes: &dyn Fn(&Refusal) -> bool,
    ) -> Result<Option<(usize, Answer)>> {
        chosen::choose(&self.0.caller.sys, &self.0.control, self.0.place()?, self.0.mode)?;
        // Whoever looks for something to do has to look again at what the target has.
        self.0.shared()?.transact_first(policy, commands, passes)
    }

    fn transact_together(&self, policy: &Policy, plan: &Plan<'_>) -> Result<Vec<Answer>> {
        self.0.granting(|shared| shared.transact_together(policy, plan))
    }

    fn history(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        self.0.known(false)?;
        self.0.shared()?.history(visit)
    }

    fn recover(&self, policy: &Policy, elsewhere: &Projected, repair: bool) -> Result<Recovery> {
        self.0.shared()?.recover(policy, elsewhere, repair)
    }

    fn as_medium(&self) -> &dyn Medium {
        self
    }
}
