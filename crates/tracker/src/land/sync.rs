//! Following the target: what others have landed comes here, and what is here goes on top of it. The tracker's own files
//! merge field by field; whatever else conflicts stays as it was.

use holdfast_git::ObjectId;
use holdfast_sys::LockMode;

use super::candidate::{Builder, Candidate};
use super::follow::{self, Follow};
use super::going;
use super::moving::Moving;
use super::plumbing::Plumbing;
use super::turn::Turn;
use super::working::Working;
use crate::error::{Onto, Result};
use crate::session::Session;
use crate::target::Target;
use crate::writes;

/// What a sync has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Synced {
    /// Whether the remote was asked and answered; none if there is none.
    pub fetched: Option<bool>,
    /// The branches that moved, and where to.
    pub moved: Vec<(String, String)>,
}

/// Fetches, has the local target follow the remote's, and puts the branch of this worktree on top of it.
///
/// # Errors
/// When something conflicts, or a worktree has something that would be overwritten: that branch stays as it was.
pub fn sync(session: &Session) -> Result<Synced> {
    let _working = Working::begin(session)?;
    going::settle(session)?;
    let mut synced = Synced { fetched: super::fetch(session)?, moved: Vec::new() };
    if synced.fetched == Some(true) {
        writes::hand_over(session)?;
    }
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else { return Ok(synced) };
    let Some(target) = Target::find(&session.caller, repository, session.config())? else {
        return Ok(synced);
    };
    let syncer = Syncer { session, plumbing: Plumbing::new(session, root), target };
    let branch = session.branch()?;
    let is_on_target = branch.as_deref() == Some(&syncer.target.branch);
    if let Some(tip) = syncer.follow_remote(is_on_target)? {
        synced.moved.push((syncer.target.branch.clone(), tip.to_string()));
    }
    if let Some(branch) = branch.filter(|branch| !is_on_target && branch != "HEAD")
        && let Some(tip) = syncer.put_on_top(&branch)?
    {
        synced.moved.push((branch, tip.to_string()));
    }
    Ok(synced)
}

struct Syncer<'a> {
    session: &'a Session,
    plumbing: Plumbing<'a>,
    target: Target,
}

impl Syncer<'_> {
    fn builder(&self) -> Builder<'_> {
        Builder { plumbing: &self.plumbing, issue: None, onto: Onto::Target(self.target.top()) }
    }

    /// Has the local target follow the remote's. What it has of its own goes on top, if this is where it is checked out.
    fn follow_remote(&self, is_here: bool) -> Result<Option<ObjectId>> {
        let (Some(local), Some(remote)) = (self.target.local, self.target.remote) else { return Ok(None) };
        let base = self.plumbing.base(&local, &remote)?;
        if local == remote || base == Some(remote) || (base != Some(local) && !is_here) {
            return Ok(None);
        }
        let tip = if base == Some(local) { remote } else { self.builder().rebased(remote, &local)?.tip };
        let branch = &self.target.branch;
        let _turn = match self.session.agent() {
            Ok(_) => Some(Turn::take(self.session, branch)?),
            // Whoever says no name can follow all the same.
            Err(_) => None,
        };
        let mut lock = follow::lock(self.session)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        let moving = Moving::begin(self.session, branch, &tip)?;
        let follow =
            Follow::prepare(self.session, branch, &local, &tip).inspect_err(|_| moving.end(self.session))?;
        let moved = moving.swap(self.session, &self.plumbing, Some(&local), "jit: sync");
        moving.end(self.session);
        if matches!(moved, Ok(true)) {
            let followed = follow.as_ref().map(|follow| (follow, follow.follow()));
            self.plumbing.flush()?;
            if let Some((follow, followed)) = followed {
                follow.finish(followed);
            }
        } else {
            follow.iter().for_each(Follow::cancel);
        }
        Ok(moved?.then_some(tip))
    }

    /// Puts the branch of this worktree on top of the target: its commits one by one, or joined with the target if others
    /// may have the branch already.
    fn put_on_top(&self, branch: &str) -> Result<Option<ObjectId>> {
        let Some(onto) = self.target.onto() else { return Ok(None) };
        let head = self.plumbing.head()?;
        if self.plumbing.base(&onto, &head)? == Some(onto) {
            return Ok(None);
        }
        let Candidate { tip, .. } = if self.is_pushed(branch)? {
            self.builder().merged(onto, &head)?
        } else {
            self.builder().rebased(onto, &head)?
        };
        going::advance(self.session, &self.plumbing, &head, &tip)?;
        Ok(Some(tip))
    }

    fn is_pushed(&self, branch: &str) -> Result<bool> {
        let name = format!("refs/remotes/origin/{branch}");
        Ok(self.plumbing.git().ask(&["rev-parse", "--quiet", "--verify", &name], &[])?.code == Some(0))
    }
}
