//! Pushing a branch whose work is done under claims: where the server keeps the claims too, both move in one step, and
//! whoever has lost a claim is refused there.

use holdfast_git::ObjectId;
use holdfast_kernel::{Claim, Event};
use holdfast_remote::Along;
use holdfast_store::{Error as StoreError, Trouble};

use super::plumbing::Plumbing;
use super::publish::ask_hook;
use super::{begun, held_here};
use crate::claims::resource;
use crate::claims::shared::SharedClaims;
use crate::error::{Error, LandError, NotPushed, Result, WriteError};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::session::Session;
use crate::target::{ORIGIN, Target};

/// A branch that was pushed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pushed {
    /// The branch.
    pub branch: String,
    /// The commit that it is on.
    pub commit: String,
    /// What the issues are called whose claims were in force.
    pub issues: Vec<String>,
    /// Whether the server would have refused it without them.
    pub fenced: bool,
    /// Whether it was not there already.
    pub changed: bool,
}

/// Pushes the branch of this worktree, if every claim that is held here is in force, and nobody else holds the issue that
/// it was begun for.
///
/// # Errors
/// When somebody else holds it, the remote has something that is not here, or something failed.
pub fn push(session: &Session) -> Result<Pushed> {
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else {
        return Err(Error::NotInGit(session.caller.start.clone()));
    };
    let branch = session.branch()?.filter(|branch| branch != "HEAD").ok_or_else(|| Error::BadValue {
        what: "the branch to push",
        given: "HEAD".into(),
        why: "this worktree is on no branch: git switch -c NAME".into(),
    })?;
    let held = held_here(session)?;
    let issues = Issues::new(session);
    let begun = begun(session, &issues)?;
    if let Some(id) = begun.filter(|id| held.iter().all(|(own, _)| own != id)) {
        refuse_lost(session, &issues, id, &branch)?;
    }
    let plumbing = Plumbing::new(session, root);
    let (name, tip) = (format!("refs/heads/{branch}"), plumbing.head()?);
    let shared = session.claims().shared.as_deref().filter(|shared| shared.is_where_work_lands());
    let handles = held.iter().map(|(id, _)| issues.handle(*id)).collect();
    let done = |fenced, changed| Pushed {
        branch: branch.clone(),
        commit: tip.to_string(),
        issues: handles,
        fenced,
        changed,
    };
    let claims: Vec<Claim> = held.iter().map(|(_, lease)| lease.claim()).collect();
    let Some(shared) = shared.filter(|_| !held.is_empty()) else {
        // Claims that are kept elsewhere are checked before the push, not with it.
        if let Some(elsewhere) = session.claims().shared.as_deref().filter(|_| !claims.is_empty()) {
            elsewhere.announce(&claims, &branch, &tip.to_string())?;
        }
        plain(session, &plumbing, &branch)?;
        // Whoever is granted something next has to see it.
        if let Some(shared) =
            session.claims().shared.as_deref().filter(|_| !held.is_empty() || begun.is_some())
        {
            shared.note_pushed(&tip.to_string())?;
        }
        return Ok(done(false, true));
    };
    let there = shared.branch_at(&name)?;
    let onto = there.as_ref().and_then(|there| ObjectId::from_hex(there.as_bytes()));
    if onto == Some(tip) {
        return Ok(done(true, false));
    }
    let follows = onto.is_none_or(|onto| plumbing.base(&onto, &tip).is_ok_and(|base| base == Some(onto)));
    if !follows {
        let (why, kind) = ("it has commits there that are not here".to_owned(), behind(&branch));
        return Err(LandError::PushRefused { branch, why, kind }.into());
    }
    let target = Target::find(&session.caller, repository, session.config())?;
    let lands = target.is_some_and(|target| target.branch == branch);
    ask_hook(session, &plumbing, &branch, onto.as_ref(), &tip)?;
    let along = Along { name, expected: there, to: tip.to_string() };
    fenced(shared, &claims, &along, lands, &branch)?;
    let tracking = format!("refs/remotes/{ORIGIN}/{branch}");
    plumbing.git().ask(&["update-ref", "-m", "jit: pushed", &tracking, &along.to], &[])?;
    Ok(done(true, true))
}

fn fenced(shared: &SharedClaims, claims: &[Claim], along: &Along, lands: bool, branch: &str) -> Result<()> {
    let refused = |why, kind| LandError::PushRefused { branch: branch.to_owned(), why, kind };
    match shared.publish(claims, along, lands) {
        Err(StoreError::Shared { trouble: Trouble::Behind, .. }) => {
            let why = "somebody else pushed at the same moment".to_owned();
            Err(refused(why, behind(branch)).into())
        }
        Err(StoreError::Shared { trouble: Trouble::Refused, what }) => {
            Err(refused(what, NotPushed::Branch).into())
        }
        done => Ok(done?),
    }
}

/// Nobody pushes what it has lost to somebody else.
fn refuse_lost(session: &Session, issues: &Issues<'_>, id: IssueId, branch: &str) -> Result<()> {
    let claims = session.claims();
    let view = match &claims.shared {
        Some(shared) => shared.known(true)?.view,
        None => claims.view()?,
    };
    let held = view.table.on(&resource(id)?).find(|lease| !lease.standing(&view.now).is_over()).cloned();
    match held {
        Some(lease) => {
            let (issue, held) = (id.to_string(), Some(Box::new(lease)));
            Err(WriteError::LeaseRequired { what: "pushing", issue, held }.into())
        }
        None => refuse_granted_since(session, issues, id, branch),
    }
}

/// What was given back may be pushed, unless somebody else was granted it since: then it is theirs to bring.
fn refuse_granted_since(session: &Session, issues: &Issues<'_>, id: IssueId, branch: &str) -> Result<()> {
    let (resource, holder) = (resource(id)?, session.holder()?);
    let (mut had_it, mut since) = (false, None);
    session.claims().medium.history(&mut |record| {
        let is_grant = matches!(record.event, Event::Granted { .. } | Event::Transferred { .. });
        if is_grant && record.lease.resource == resource {
            had_it = had_it || record.lease.holder == *holder;
            since = Some(record.lease.holder.clone()).filter(|last| last != holder);
        }
    })?;
    match since.filter(|_| had_it) {
        Some(other) => {
            let agent = &other.agent;
            let why = format!("{agent} was granted the issue after this worktree had it");
            let kind = NotPushed::Displaced { handle: issues.handle(id) };
            Err(LandError::PushRefused { branch: branch.to_owned(), why, kind }.into())
        }
        None => Ok(()),
    }
}

fn behind(branch: &str) -> NotPushed {
    NotPushed::Behind { pull: format!("git pull --rebase {ORIGIN} {branch}") }
}

fn plain(session: &Session, plumbing: &Plumbing<'_>, branch: &str) -> Result<()> {
    let mut git = plumbing.remote_git()?;
    if let Some(agent) = session.known_agent() {
        git = git.env("JIT_AGENT_ID", Some(agent.to_string().into()));
    }
    let said = git.ask(&["push", "-q", ORIGIN, &format!("HEAD:refs/heads/{branch}")], &[])?;
    if said.code == Some(0) {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
    // What git itself does not send, because it would replace what is there.
    let kind = if why.contains("[rejected]") { behind(branch) } else { NotPushed::Branch };
    Err(LandError::PushRefused { branch: branch.to_owned(), why, kind }.into())
}
