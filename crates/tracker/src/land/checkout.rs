//! The branch that work on an issue is done on. A worktree beside the main one gets a branch for each issue, from where
//! the target is; the main worktree stays where it is.

use std::path::Path;

use holdfast_git::{ObjectId, RefName, hooks};
use holdfast_kernel::Lease;

use super::candidate::Builder;
use super::follow;
use super::going::Going;
use super::plumbing::{FLUSHING, Plumbing};
use super::under_way;
use super::working::Working;
use crate::config::Satisfied;
use crate::error::{BegunHere, Error, LandError, Onto, Result};
use crate::ids::IssueId;
use crate::issues::{Issues, Scope, Standing};
use crate::notice::Notice;
use crate::session::Session;
use crate::target::Target;
use crate::worktrees::one_by_one;

/// The file that git has made and not yet written when it fails over a worktree that is being made.
const HALF_WRITTEN: &[u8] = b"commondir";

/// A worktree that can go to another branch.
pub(super) struct Checkout<'a> {
    session: &'a Session,
    /// What is noted for whoever comes after one that was killed.
    working: Option<&'a Working<'a>>,
    plumbing: Plumbing<'a>,
    /// Where the target was before anything was granted.
    tip: ObjectId,
}

impl<'a> Checkout<'a> {
    /// The worktree, if it is to go to another branch: one beside the main one, in a repository that has a target.
    ///
    /// # Errors
    /// When something is here that would be left behind.
    pub(super) fn prepare(session: &'a Session, working: Option<&'a Working<'a>>) -> Result<Option<Self>> {
        let (Some(repository), Some(root), true) =
            (session.repository(), session.root(), session.is_linked())
        else {
            return Ok(None);
        };
        let Some(target) = Target::find(&session.caller, repository, session.config())? else {
            return Ok(None);
        };
        let Some(tip) = target.onto() else { return Ok(None) };
        let plumbing = Plumbing::new(session, root);
        under_way::refuse(session, plumbing.directory()?)?;
        let left: Vec<String> = plumbing
            .dirty()?
            .into_iter()
            .filter(|dirty| !dirty.is_ours())
            .map(|dirty| String::from_utf8_lossy(&dirty.path).into_owned())
            .collect();
        if !left.is_empty() {
            return Err(busy(session, &target, "it has changes that are in no commit".into(), left));
        }
        if !is_finished(session)?
            && let Some(commit) = unlanded(&plumbing, &target)?
        {
            let Some(branch) = overtaken(session)? else {
                let what = format!("commit {commit} is not on {}", target.branch);
                return Err(busy(session, &target, what, Vec::new()));
            };
            session.notice(&Notice::LeftBranch(branch));
        }
        Ok(Some(Self { session, working, plumbing, tip }))
    }

    /// Goes to the branch of an issue that was just granted.
    pub(super) fn switch(&self, lease: &Lease) -> Result<()> {
        let Some(id) = IssueId::of(&lease.resource) else { return Ok(()) };
        let issues = Issues::new(self.session);
        let name = format!("jit/{}", issues.handle(id));
        // What is finished and has not landed is gone on with, wherever it is: somebody wants it otherwise.
        if let Ok(Standing::OnBranch { branch }) = issues.see(id, Scope::All, |seen| seen.standing.clone()) {
            if let Some(tip) = self.plumbing.branch(&branch)?
                && self.goes(&branch, &tip, &["switch", "-q", &branch])?
            {
                return Ok(());
            }
            let there =
                self.plumbing.git().ask(&["rev-parse", "--verify", "--end-of-options", &branch], &[])?;
            if let Some(tip) = ObjectId::from_hex(there.stdout.trim_ascii()) {
                return self.begin_at(&name, lease, &tip, self.plumbing.branch(&name)?.is_none());
            }
        }
        let base = self.base(&issues, id)?;
        let is_free = match self.plumbing.branch(&name)? {
            Some(tip) => self.plumbing.commits(&base, &tip)?.is_empty(),
            None => true,
        };
        self.begin_at(&name, lease, &base, is_free)
    }

    /// Goes to a branch of that name at a commit. If somebody has worked on it before, what they left stays where it is,
    /// and the branch is called after the grant.
    fn begin_at(&self, name: &str, lease: &Lease, at: &ObjectId, is_free: bool) -> Result<()> {
        if is_free && self.branches_off(name, at)? {
            return Ok(());
        }
        let commit = at.to_string();
        let own = ["switch", "-q", "--no-track", "-C", name, &commit];
        if is_free && self.goes(name, at, &own)? {
            return Ok(());
        }
        // An issue that was held here, and that the target has in a later version, may be in the way.
        let head = self.plumbing.head()?;
        let met = follow::meeting(&self.plumbing, &head, at)?;
        follow::take_over(self.session, &self.plumbing, &met, &head, at)?;
        if is_free && !met.is_empty() && self.goes(name, at, &own)? {
            return Ok(());
        }
        let name = format!("{name}-{}", lease.fence.get());
        let args = ["switch", "-q", "--no-track", "-C", &name, &commit];
        if !self.goes(&name, at, &args)? {
            self.plumbing.git().run(&[&FLUSHING[..], &args].concat())?;
        }
        Ok(())
    }

    /// Goes to a fresh branch where the worktree is: then nothing but names has to change, which is done in one step and
    /// without a look at any file. Says whether it did; where it is not that easy nothing is done.
    fn branches_off(&self, name: &str, at: &ObjectId) -> Result<bool> {
        let files = &self.session.sys().files;
        let there = |path: &Path| files.stat(path).is_ok();
        let directory = self.plumbing.directory()?;
        let Some(repository) = self.session.repository() else { return Ok(false) };
        let hooks = hooks::directory(repository, self.session.git_config()?)?;
        let is_easy = self.plumbing.head()? == *at
            && self.plumbing.branch(name)?.is_none()
            && under_way::find(self.session, directory).is_none()
            && !there(&hooks.join("post-checkout"));
        if !is_easy {
            return Ok(false);
        }
        let here = self.session.branch()?.unwrap_or_else(|| "HEAD".to_owned());
        let why = format!("checkout: moving from {here} to {name}");
        if self.branches_off_here(name, at, &why)? {
            return Ok(true);
        }
        let input = format!("create refs/heads/{name} {at}\nsymref-update HEAD refs/heads/{name}\n");
        let args = [&FLUSHING[..], &["update-ref", "-m", &why, "--no-deref", "--stdin"]].concat();
        // A git that does not know the second line does neither.
        Ok(self.plumbing.git().ask(&args, input.as_bytes())?.code == Some(0))
    }

    /// The same in this process, where git would do no more than that; says whether it did.
    fn branches_off_here(&self, name: &str, at: &ObjectId, why: &str) -> Result<bool> {
        let full = format!("refs/heads/{name}");
        let (Some(mover), Some(working)) = (self.plumbing.mover(), self.working) else { return Ok(false) };
        let Some(known) = RefName::new(full.as_bytes()) else { return Ok(false) };
        working.makes(&full)?;
        Ok(mover.branch_off(&known, at, why).unwrap_or(false))
    }

    /// Has git go to a branch at a commit, and says whether it did. It looks which worktree has it, and gives up over one
    /// that is being made at that moment: then it goes once nobody makes one.
    fn goes(&self, branch: &str, at: &ObjectId, args: &[&str]) -> Result<bool> {
        // Whoever is killed on the way is not there, and its files are not here.
        let _going = Going::begin(self.session, &self.plumbing.head()?, at, Some(branch))?;
        let args = [&FLUSHING[..], args].concat();
        let ask = || Ok(self.plumbing.git().ask(&args, &[])?);
        let mut said = ask()?;
        if said.code != Some(0) && memchr::memmem::find(&said.stderr, HALF_WRITTEN).is_some() {
            said = one_by_one(self.session, ask)?;
        }
        Ok(said.code == Some(0))
    }

    /// Where the target is. Whoever waited for a grant did so for others to land.
    fn tip(&self) -> Result<ObjectId> {
        let Session { caller, .. } = self.session;
        let Some(repository) = self.session.repository() else { return Ok(self.tip) };
        let target = Target::find(caller, repository, self.session.config())?;
        Ok(target.as_ref().and_then(Target::onto).unwrap_or(self.tip))
    }

    /// Where work on an issue begins: where the target is, and on the branches of what it depends on if that only has to
    /// be done.
    fn base(&self, issues: &Issues<'_>, id: IssueId) -> Result<ObjectId> {
        let mut base = self.tip()?;
        if self.session.config().landing.dependencies == Satisfied::Landed {
            return Ok(base);
        }
        let deps = issues
            .see(id, Scope::All, |seen| seen.deps.members().filter_map(IssueId::parse).collect::<Vec<_>>())?;
        let builder = Builder { plumbing: &self.plumbing, issue: None, onto: Onto::Dependencies };
        for dep in deps {
            let standing = issues.see(dep, Scope::All, |seen| seen.standing.clone());
            let Ok(Standing::OnBranch { branch }) = standing else { continue };
            let tip = self.plumbing.tip(&branch)?;
            base = match self.plumbing.base(&base, &tip)? {
                Some(common) if common == tip => base,
                Some(common) if common == base => tip,
                _ => builder.merged(base, &tip)?.tip,
            };
        }
        Ok(base)
    }
}

/// That a worktree cannot go to another branch, and what it could go on with: what was begun here and by nobody since.
fn busy(session: &Session, target: &Target, what: String, files: Vec<String>) -> Error {
    let begun = || -> Result<Option<Box<BegunHere>>> {
        let issues = Issues::new(session);
        let Some(id) = super::begun(session, &issues)? else { return Ok(None) };
        if overtaken(session)?.is_some() {
            return Ok(None);
        }
        let is_held = super::held_here(session)?.iter().any(|(held, _)| *held == id);
        Ok(Some(Box::new(BegunHere { issue: id.to_string(), handle: issues.handle(id), is_held })))
    };
    match begun() {
        Ok(begun) => LandError::Busy { what, files, begun, target: target.top() }.into(),
        Err(error) => error,
    }
}

/// Whether this worktree is on a branch whose issue is finished there: that one waits for its landing by itself.
fn is_finished(session: &Session) -> Result<bool> {
    let issues = Issues::new(session);
    let Some(id) = super::begun(session, &issues)? else { return Ok(false) };
    let own = session.branch()?;
    let standing = issues.see(id, Scope::All, |seen| seen.standing.clone());
    Ok(matches!(standing, Ok(Standing::OnBranch { branch }) if Some(&branch) == own.as_ref()))
}

/// The branch of this worktree, if the issue that it was begun for has landed, or somebody has begun that under a later
/// claim: nobody here will land what it has, and it stays where it is.
fn overtaken(session: &Session) -> Result<Option<String>> {
    let issues = Issues::new(session);
    let Some(id) = super::begun(session, &issues)? else { return Ok(None) };
    let log = session.claims().view()?.counter.map(|counter| counter.to_string());
    let here = issues.local(id)?.filter(|own| own.fence_log == log).and_then(|own| own.fence);
    let is_over = issues.see(id, Scope::All, |seen| {
        let by_another = seen.issue.fence_log.as_deref().is_some_and(|known| Some(known) != log.as_deref());
        let is_there = matches!(seen.standing, Standing::Landed | Standing::NotPushed);
        let is_later = !by_another && here.is_some() && seen.issue.fence > here;
        is_later || seen.issue.state.is_over() && is_there
    })?;
    Ok(if is_over { session.branch()? } else { None })
}

/// The newest commit of this worktree that no tip of the target has, for people.
fn unlanded(plumbing: &Plumbing<'_>, target: &Target) -> Result<Option<String>> {
    let tips: Vec<ObjectId> = target.tips().collect();
    if plumbing.beyond(&plumbing.head()?, &tips)?.is_empty() {
        return Ok(None);
    }
    let mut args = vec![
        "log".to_owned(),
        "--format=%h (%s)".to_owned(),
        "-1".to_owned(),
        "HEAD".to_owned(),
        "--not".to_owned(),
    ];
    args.extend(tips.iter().map(ToString::to_string));
    args.extend(["--".to_owned(), ".".to_owned(), ":(exclude).jit".to_owned()]);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    Ok(plumbing.text(&words)?.lines().next().map(ToOwned::to_owned))
}
