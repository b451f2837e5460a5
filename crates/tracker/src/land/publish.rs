//! Moving the target. Where there is a remote, the work is there once the push went through; else once the local branch
//! has moved. Both only move it from where the candidate was built on: whoever was slower builds again.

use holdfast_git::{Git, ObjectId};
use holdfast_sys::LockMode;

use super::follow::{self, Follow};
use super::plumbing::Plumbing;
use crate::error::{LandError, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::Target;
use crate::writes::Writer;

/// What came of an attempt to move the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Published {
    /// It moved.
    Landed,
    /// Somebody else moved it.
    Moved,
    /// The remote cannot be reached.
    Offline(String),
}

/// Whoever moves the target.
pub(super) struct Publisher<'a> {
    pub(super) session: &'a Session,
    pub(super) writer: &'a Writer<'a>,
    pub(super) plumbing: &'a Plumbing,
    pub(super) id: IssueId,
    pub(super) target: &'a Target,
}

impl Publisher<'_> {
    /// Moves the target from `onto` to `tip`, while the issue is held.
    pub(super) fn publish(&self, onto: &ObjectId, tip: &ObjectId) -> Result<Published> {
        if self.target.remote.is_some() { self.push(onto, tip) } else { self.swap(Some(onto), tip) }
    }

    fn swap(&self, onto: Option<&ObjectId>, tip: &ObjectId) -> Result<Published> {
        let mut lock = follow::lock(self.session)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        let follow = Follow::prepare(self.session, &self.target.branch, onto, tip)?;
        let moved = self.writer.while_held(self.id, "landing", || {
            if let Some(follow) = &follow {
                follow.note()?;
            }
            self.plumbing.swap(&self.target.branch, onto, tip, "jit: landed")
        });
        match (moved, follow) {
            (Ok(true), follow) => {
                follow.iter().for_each(Follow::finish);
                Ok(Published::Landed)
            }
            (moved, follow) => {
                follow.iter().for_each(Follow::cancel);
                moved.map(|_| Published::Moved)
            }
        }
    }

    fn push(&self, onto: &ObjectId, tip: &ObjectId) -> Result<Published> {
        // The lease is looked at before: a push may take long, and nobody's claim waits for a network.
        self.writer.may(self.id, "landing")?;
        let branch = &self.target.branch;
        let agent = self.session.agent()?.id.to_string();
        let git = Git::in_dir(self.plumbing.root()).env("JIT_AGENT_ID", Some(agent.into()));
        let said = git.ask(&["push", "--porcelain", "origin", &format!("{tip}:refs/heads/{branch}")], &[])?;
        if said.code == Some(0) {
            self.catch_up(tip);
            return Ok(Published::Landed);
        }
        let (out, why) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        let line = out.lines().find(|line| line.starts_with('!')).unwrap_or_default();
        // A server that is asked by two at once may refuse the slower one in any words: where the target is now tells.
        if self.fetch()? && self.remote_tip()? != Some(*onto) {
            return Ok(Published::Moved);
        }
        if !line.is_empty() {
            let why = format!("{} {}", line.rsplit('\t').next().unwrap_or_default(), why.trim());
            return Err(LandError::PushRefused { branch: branch.clone(), why }.into());
        }
        Ok(Published::Offline(why.trim().to_owned()))
    }

    /// Where the target was at the remote when it was last asked.
    fn remote_tip(&self) -> Result<Option<ObjectId>> {
        let name = format!("refs/remotes/origin/{}^{{commit}}", self.target.branch);
        let said = self.plumbing.git().ask(&["rev-parse", "--quiet", "--verify", &name], &[])?;
        Ok(ObjectId::from_hex(said.stdout.trim_ascii()))
    }

    /// Asks the remote where the target is.
    pub(super) fn fetch(&self) -> Result<bool> {
        if self.target.remote.is_none() {
            return Ok(true);
        }
        let branch = &self.target.branch;
        let refs = format!("+refs/heads/{branch}:refs/remotes/origin/{branch}");
        Ok(self.plumbing.git().ask(&["fetch", "-q", "origin", &refs], &[])?.code == Some(0))
    }

    /// Has the local branch follow the remote's, where it has nothing of its own.
    fn catch_up(&self, tip: &ObjectId) {
        let Some(local) = self.target.local else { return };
        let is_behind = self.plumbing.base(&local, tip).is_ok_and(|base| base == Some(local));
        if !is_behind || local == *tip {
            return;
        }
        if let Err(error) = self.swap(Some(&local), tip) {
            self.session.notice(&Notice::BranchStays(error.to_string()));
        }
    }
}
