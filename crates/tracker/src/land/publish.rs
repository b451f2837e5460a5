//! Moving the target. Where there is a remote, the work is there once the push went through; else once the local branch
//! has moved. Both only move it from where the candidate was built on: whoever was slower builds again.

use holdfast_git::{Git, ObjectId};
use holdfast_kernel::{Claim, Lease};
use holdfast_remote::Along;
use holdfast_remote::gitref::without_credentials;
use holdfast_store::{Error as StoreError, Trouble};
use holdfast_sys::LockMode;

use super::alive::while_renewing;
use super::follow::{self, Follow};
use super::moving::Moving;
use super::plumbing::Plumbing;
use super::turn::Turn;
use crate::claims::shared::SharedClaims;
use crate::error::{Error, LandError, NotPushed, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::{ORIGIN, Target};
use crate::writes::Writer;

/// What a server says to the slower of two pushes. That is no policy: it is asked again.
const CONTENDED: [&str; 3] = ["cannot lock ref", "failed to update ref", "incorrect old value"];

/// What came of an attempt to move the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Published {
    /// It moved.
    Landed,
    /// Somebody else moved it.
    Moved,
    /// The remote cannot be reached: it did not move, or nobody knows. If it did, it has the work under this claim, and
    /// the next one to look sees that.
    Offline(String),
}

/// Whoever moves the target.
pub(super) struct Publisher<'a> {
    pub(super) session: &'a Session,
    pub(super) writer: &'a Writer<'a>,
    pub(super) plumbing: &'a Plumbing<'a>,
    pub(super) id: IssueId,
    pub(super) lease: &'a Lease,
    pub(super) target: &'a Target,
}

impl Publisher<'_> {
    /// Moves the target from `onto` to `tip`, while the issue and the turn are held. `then` is done once it has moved, and all
    /// of it is durable before anybody is told.
    pub(super) fn publish(
        &self,
        turn: &Turn<'_>,
        onto: &ObjectId,
        tip: &ObjectId,
        then: &dyn Fn() -> Result<()>,
    ) -> Result<Published> {
        if self.target.remote.is_none() {
            return self.swap(turn, onto, tip, then);
        }
        let published = self.push(turn, onto, tip)?;
        if published == Published::Landed {
            then()?;
            self.plumbing.flush()?;
        }
        Ok(published)
    }

    fn swap(
        &self,
        turn: &Turn<'_>,
        onto: &ObjectId,
        tip: &ObjectId,
        then: &dyn Fn() -> Result<()>,
    ) -> Result<Published> {
        let mut lock = follow::lock(self.session)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        let branch = &self.target.branch;
        let moving = Moving::begin(self.session, branch, tip)?;
        let follow =
            Follow::prepare(self.session, branch, onto, tip).inspect_err(|_| moving.end(self.session))?;
        let moved = self.writer.while_held(self.id, "landing", &turn.claims(), || {
            moving.swap(self.session, self.plumbing, Some(onto), "jit: landed")
        });
        moving.end(self.session);
        match (moved, follow) {
            (Ok(true), follow) => {
                let followed = follow.as_ref().map(|follow| (follow, follow.follow()));
                let done = then();
                // Whoever comes after a power loss has the note, until nothing of what it stands for can be lost.
                self.plumbing.flush()?;
                if let Some((follow, followed)) = followed {
                    follow.finish(followed);
                }
                done.map(|()| Published::Landed)
            }
            (moved, follow) => {
                follow.iter().for_each(Follow::cancel);
                moved.map(|_| Published::Moved)
            }
        }
    }

    fn push(&self, turn: &Turn<'_>, onto: &ObjectId, tip: &ObjectId) -> Result<Published> {
        // The lease is looked at before, and kept alive meanwhile: a push may take long, and nobody's claim waits for a
        // network.
        self.writer.may(self.id, "landing")?;
        if self.is_fenced() {
            let published = self.push_fenced(&turn.claims(), Some(onto), tip)?;
            if published == Published::Landed {
                self.catch_up(turn, tip);
            }
            return Ok(published);
        }
        if let Some(offline) = self.announce(turn, tip)? {
            return Ok(offline);
        }
        let published = self.push_plain(turn, onto, tip)?;
        if published == Published::Landed {
            self.say_landed(tip)?;
        }
        Ok(published)
    }

    /// Where the claims are kept elsewhere than the work: has them checked there before the push.
    fn announce(&self, turn: &Turn<'_>, tip: &ObjectId) -> Result<Option<Published>> {
        let Some(shared) = self.shared() else { return Ok(None) };
        let claims: Vec<Claim> = std::iter::once(self.lease.claim()).chain(turn.claims()).collect();
        match shared.announce(&claims, &self.target.branch, &tip.to_string()) {
            Err(StoreError::Shared { trouble: Trouble::Unavailable | Trouble::Unresolved, what }) => {
                Ok(Some(Published::Offline(what)))
            }
            done => Ok(done.map(|()| None)?),
        }
    }

    fn push_plain(&self, turn: &Turn<'_>, onto: &ObjectId, tip: &ObjectId) -> Result<Published> {
        let branch = &self.target.branch;
        let agent = self.session.agent()?.id.to_string();
        let git = self.plumbing.remote_git()?.env("JIT_AGENT_ID", Some(agent.into()));
        let expected = format!("--force-with-lease=refs/heads/{branch}:{onto}");
        let refs = format!("{tip}:refs/heads/{branch}");
        let args = ["push", "--porcelain", &expected, "origin", &refs];
        let said = while_renewing(self.session.claims(), &self.alive(turn), || git.ask(&args, &[]))?;
        if said.code == Some(0) {
            self.catch_up(turn, tip);
            return Ok(Published::Landed);
        }
        let (out, why) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        if !self.fetch()? {
            return Ok(Published::Offline(why.trim().to_owned()));
        }
        // The answer may be lost where the work is not. A server that is asked by two at once may refuse the slower one
        // in any words: where the target is now tells.
        if self.has(tip)? {
            self.catch_up(turn, tip);
            return Ok(Published::Landed);
        }
        let line = out.lines().find(|line| line.starts_with('!')).unwrap_or_default();
        if self.remote_tip()? != Some(*onto) || CONTENDED.iter().any(|words| line.contains(words)) {
            return Ok(Published::Moved);
        }
        let why = format!("{} {}", line.rsplit('\t').next().unwrap_or_default(), why.trim());
        let why = why.trim().to_owned();
        Err(LandError::PushRefused { branch: branch.clone(), why, kind: NotPushed::Target }.into())
    }

    fn alive<'l>(&'l self, turn: &'l Turn<'_>) -> Vec<&'l Lease> {
        std::iter::once(self.lease).chain(turn.lease()).collect()
    }

    /// Whether the server that work lands at keeps the claims too, and refuses whoever has lost one.
    pub(super) fn is_fenced(&self) -> bool {
        self.shared().is_some_and(SharedClaims::is_where_work_lands)
    }

    fn shared(&self) -> Option<&SharedClaims> {
        self.session.claims().shared.as_deref()
    }

    /// Says that the target has a commit, for whoever was cut off before it was said with the push.
    pub(super) fn say_landed(&self, tip: &ObjectId) -> Result<()> {
        Ok(self.shared().map_or(Ok(()), |shared| shared.note_landed(&tip.to_string()))?)
    }

    /// Says that a branch has a commit that was pushed to it by git alone.
    pub(super) fn say_pushed(&self, tip: &ObjectId) -> Result<()> {
        Ok(self.shared().map_or(Ok(()), |shared| shared.note_pushed(&tip.to_string()))?)
    }

    /// Moves the remote's target in one step with the claims: whoever has lost one is refused by the server, and nobody
    /// is granted the next before it has what landed.
    pub(super) fn push_fenced(
        &self,
        turn: &[Claim],
        onto: Option<&ObjectId>,
        tip: &ObjectId,
    ) -> Result<Published> {
        let Some(shared) = self.shared() else {
            return Err(Error::Internal("there are no shared claims to publish under".into()));
        };
        ask_hook(self.session, self.plumbing, &self.target.branch, onto, tip)?;
        let claims: Vec<Claim> = std::iter::once(self.lease.claim()).chain(turn.iter().cloned()).collect();
        let branch = &self.target.branch;
        let along = Along {
            name: format!("refs/heads/{branch}"),
            expected: onto.map(ToString::to_string),
            to: tip.to_string(),
        };
        match shared.publish(&claims, &along, true) {
            Ok(()) => {
                // As a push of git's own would.
                let tracking = format!("refs/remotes/{ORIGIN}/{branch}");
                self.plumbing.git().ask(&["update-ref", "-m", "jit: pushed", &tracking, &along.to], &[])?;
                Ok(Published::Landed)
            }
            Err(StoreError::Shared { trouble: Trouble::Behind, .. }) => {
                self.fetch()?;
                Ok(if self.has(tip)? { Published::Landed } else { Published::Moved })
            }
            Err(StoreError::Shared { trouble: Trouble::Unavailable | Trouble::Unresolved, what }) => {
                Ok(Published::Offline(what))
            }
            Err(StoreError::Shared { trouble: Trouble::Refused, what }) => {
                let kind = NotPushed::Target;
                Err(LandError::PushRefused { branch: branch.clone(), why: what, kind }.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a branch that is not the target to the remote, under the claim; says why not, where that is no loss.
    pub(super) fn push_branch(&self, branch: &str, tip: &ObjectId, replaces: bool) -> Result<Option<String>> {
        let Some(shared) = self.shared() else { return Ok(None) };
        let name = format!("refs/heads/{branch}");
        let published = shared.branch_at(&name).and_then(|there| {
            let onto = there.as_ref().and_then(|there| ObjectId::from_hex(there.as_bytes()));
            let follows =
                |onto: &ObjectId| self.plumbing.base(onto, tip).is_ok_and(|base| base == Some(*onto));
            if onto == Some(*tip) {
                return shared.note_pushed(&tip.to_string());
            }
            if !replaces && !onto.as_ref().is_none_or(follows) {
                return Err(Trouble::Behind.because(format!("{branch} has commits there that are not here")));
            }
            let along = Along { name: name.clone(), expected: there, to: tip.to_string() };
            shared.publish(&[self.lease.claim()], &along, false)
        });
        match published {
            Ok(()) => Ok(None),
            Err(StoreError::Shared { what, .. }) => Ok(Some(what)),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the remote's target has a commit, as far as was last asked.
    fn has(&self, commit: &ObjectId) -> Result<bool> {
        let tracking = format!("refs/remotes/origin/{}", self.target.branch);
        let args = ["merge-base", "--is-ancestor", &commit.to_string(), &tracking];
        Ok(self.plumbing.git().ask(&args, &[])?.code == Some(0))
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
        self.plumbing.fetch(&[&refs])
    }

    /// Has the local branch follow the remote's, where it has nothing of its own.
    pub(super) fn catch_up(&self, turn: &Turn<'_>, tip: &ObjectId) {
        let caught_up = self.plumbing.branch(&self.target.branch).and_then(|local| match local {
            Some(local) if local != *tip && self.plumbing.base(&local, tip)? == Some(local) => {
                self.swap(turn, &local, tip, &|| Ok(())).map(drop)
            }
            _ => Ok(()),
        });
        if let Err(error) = caught_up {
            self.session.notice(&Notice::BranchStays(error.to_string()));
        }
    }
}

/// Asks the hook that git would ask before a push.
pub(super) fn ask_hook(
    session: &Session,
    plumbing: &Plumbing<'_>,
    branch: &str,
    onto: Option<&ObjectId>,
    tip: &ObjectId,
) -> Result<()> {
    let agent = session.agent()?.id.to_string();
    let git = Git::in_dir(plumbing.root()).env("JIT_AGENT_ID", Some(agent.into()));
    let git = git.env("JIT_PUBLISHES", Some("1".into()));
    let url = git.run(&["remote", "get-url", "--push", ORIGIN])?;
    // Everybody on this machine can read the arguments of a process.
    let url = without_credentials(String::from_utf8_lossy(&url).trim_end());
    let old = onto.map_or_else(|| "0".repeat(40), ToString::to_string);
    let line = format!("{tip} {tip} refs/heads/{branch} {old}\n");
    let args = ["hook", "run", "--ignore-missing", "--to-stdin=/dev/stdin", "pre-push", "--", ORIGIN, &url];
    let said = git.ask(&args, line.as_bytes())?;
    if said.code == Some(0) {
        return Ok(());
    }
    let words = [said.stdout, said.stderr].concat();
    let why = format!("the pre-push hook says no: {}", String::from_utf8_lossy(&words).trim());
    Err(LandError::PushRefused { branch: branch.to_owned(), why, kind: NotPushed::Hook }.into())
}
