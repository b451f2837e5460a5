//! Finishing: what was done is committed, put on top of the target, judged by its gates, and becomes part of the target
//! together with the word `done`. Asked for again, it goes on where it was.

use std::collections::BTreeSet;

use holdfast_git::ObjectId;
use holdfast_kernel::{Command, Lease, Request};

use super::candidate::{Builder, Candidate};
use super::checkout;
use super::gates::{Judge, Judged};
use super::own_lease;
use super::plumbing::{Plumbing, is_ours};
use super::publish::{Published, Publisher};
use super::started::Started;
use crate::claims::Terms;
use crate::config::{Strategy, Via};
use crate::error::{Error, LandError, Result};
use crate::hooks;
use crate::ids::IssueId;
use crate::issues::{Issues, Scope, Standing, State};
use crate::keep;
use crate::notes;
use crate::notice::Notice;
use crate::session::Session;
use crate::take;
use crate::target::Target;
use crate::workspace::DATA;
use crate::writes::{Draft, Files, Finished, Verdict, Writer};

/// How often the target may move under a candidate.
const MOST_TIMES: u32 = 32;

/// How work is finished.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What the commit says.
    pub message: Option<String>,
    /// With everything that is not ignored, new files too.
    pub all: bool,
    /// Whatever is left over stays here.
    pub leave: bool,
    /// There is nothing to land but the word.
    pub empty: bool,
    /// It stays on its branch for now.
    pub no_land: bool,
    /// Other issues that the branch may change.
    pub with: Vec<IssueId>,
}

/// What became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// The target has it.
    Landed {
        /// The target.
        target: String,
        /// Its tip.
        commit: String,
    },
    /// It is done, and there is no branch that it could land on.
    Done,
    /// These gates are open; a branch has the work.
    Gated(Vec<String>),
    /// A branch has it, and waits for whoever takes it from there.
    Waiting {
        /// The branch.
        branch: String,
        /// Why it has not landed.
        why: String,
    },
}

/// An issue that was finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The issue.
    pub issue: IssueId,
    /// What it is called.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// What became of it.
    pub how: How,
}

/// Finishes an issue that is held here.
///
/// # Errors
/// When it is not held, cannot be finished like that, or something failed; branch and claim are then as they were.
pub fn finish(session: &Session, id: IssueId, asked: &Asked) -> Result<Outcome> {
    let lease = own_lease(session, id, "finishing")?;
    let (target, root) = match (session.repository(), session.root()) {
        (Some(repository), Some(root)) => {
            (Target::find(&session.caller, repository, session.config())?, root)
        }
        _ => return plain(session, id, &lease),
    };
    let Some(target) = target.filter(|target| target.onto().is_some()) else {
        return plain(session, id, &lease);
    };
    let finisher = Finisher::new(session, id, lease, Plumbing::new(root), target)?;
    let how = if finisher.is_landed()? {
        finisher.landed()?
    } else if session.branch()?.as_deref() == Some(&finisher.target.branch) {
        finisher.on_the_target(asked)?
    } else {
        finisher.on_a_branch(asked)?
    };
    finisher.conclude(how)
}

/// Lands finished work that a branch has and whose holder is gone.
///
/// # Errors
/// When there is none, somebody holds the issue, or something failed.
pub fn land(session: &Session, id: IssueId) -> Result<Outcome> {
    let issues = Issues::new(session);
    let nothing = || Error::from(LandError::NothingToLand(issues.handle(id)));
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else {
        return Err(nothing());
    };
    let Standing::OnBranch { branch } = issues.see(id, Scope::All, |seen| seen.standing.clone())? else {
        return Err(nothing());
    };
    let target = Target::find(&session.caller, repository, session.config())?.ok_or_else(nothing)?;
    let plumbing = Plumbing::new(root);
    let source =
        plumbing.id(&["rev-parse", "--verify", "--end-of-options", &format!("{branch}^{{commit}}")])?;
    let agent = session.agent()?;
    let ttl = session.config().ttl_for(&agent.file, agent.id.kind());
    let terms = Terms { request: Request::Finite(ttl), reason: None };
    let taken = take::acquire(session, id, &terms, None)?;
    let finisher = Finisher::new(session, id, taken.lease, plumbing, target)?;
    match finisher.land(&source, None) {
        Ok(how) => finisher.conclude(how),
        Err(error) => {
            finisher.release()?;
            Err(error)
        }
    }
}

/// Without a branch to land on, done is a word in a file.
fn plain(session: &Session, id: IssueId, lease: &Lease) -> Result<Outcome> {
    let writer = Writer::open(session)?;
    let changed = writer.change(id, "finishing", |draft| {
        draft.step(State::Done, false);
        Ok(())
    })?;
    keep::release(session, &lease.id.to_string())?;
    let how = match changed.draft.finished() {
        Some(Finished::Gated(open)) => How::Gated(open),
        _ => How::Done,
    };
    let (handle, title) = (writer.issues.handle(id), changed.draft.issue().title.clone());
    Ok(Outcome { issue: id, handle, title, how })
}

/// Whoever finishes an issue.
struct Finisher<'a> {
    session: &'a Session,
    id: IssueId,
    lease: Lease,
    plumbing: Plumbing,
    target: Target,
    writer: Writer<'a>,
    handle: String,
    title: String,
}

impl<'a> Finisher<'a> {
    fn new(
        session: &'a Session,
        id: IssueId,
        lease: Lease,
        plumbing: Plumbing,
        target: Target,
    ) -> Result<Self> {
        let writer = Writer::open(session)?;
        let title = writer.issues.read(id)?.title;
        let handle = writer.issues.handle(id);
        Ok(Self { session, id, lease, plumbing, target, writer, handle, title })
    }

    /// Whether the target has the issue done under this very grant: then only the rest is left.
    fn is_landed(&self) -> Result<bool> {
        let path = format!("{DATA}/issues/{}/issue.json", self.id);
        let log = self.session.claims().view()?.counter.map(|counter| counter.to_string());
        for tip in self.target.tips() {
            let bytes = self.plumbing.show(&tip, &path)?.unwrap_or_default();
            let issue = serde_json::from_slice::<crate::issues::Issue>(&bytes).ok();
            let ours = |issue: crate::issues::Issue| {
                issue.state == State::Done
                    && issue.fence == Some(self.lease.fence.get())
                    && issue.fence_log == log
            };
            if issue.is_some_and(ours) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is left to do after a landing that was cut off.
    fn landed(&self) -> Result<How> {
        let tip = self.target.onto().ok_or_else(|| Error::Internal("a target without a tip".into()))?;
        let head = self.plumbing.head()?;
        if self.session.branch()?.as_deref() != Some(&self.target.branch) {
            self.go_to(&head, &tip);
        }
        Ok(How::Landed { target: self.target.branch.clone(), commit: tip.to_string() })
    }

    /// On the target itself: the work and the word are one commit.
    fn on_the_target(&self, asked: &Asked) -> Result<How> {
        let started = Started::read(self.session, self.id, self.lease.fence.get());
        self.check_left_over(asked)?;
        self.stage(asked)?;
        let head = self.plumbing.head()?;
        let since = started.and_then(|started| ObjectId::from_hex(started.base?.as_bytes())).unwrap_or(head);
        let staged = self.plumbing.text(&["diff", "--cached", "--name-only"])?;
        let is_work = |path: &[u8]| !is_ours(path);
        let has_work = staged.lines().any(|path| is_work(path.as_bytes()))
            || self.plumbing.changed(&since, &head)?.iter().any(|path| is_work(path));
        self.check_change(has_work, asked)?;
        if let Some(Finished::Gated(open)) = self.write_done(asked.message.as_deref())? {
            return Ok(How::Gated(open));
        }
        let commit = self.plumbing.head()?.to_string();
        if self.target.remote.is_some() && self.session.config().landing.via == Via::Push {
            self.push(&self.target.branch)?;
        }
        Ok(How::Landed { target: self.target.branch.clone(), commit })
    }

    /// On a branch of its own.
    fn on_a_branch(&self, asked: &Asked) -> Result<How> {
        self.check_left_over(asked)?;
        self.stage(asked)?;
        if !self.plumbing.text(&["diff", "--cached", "--name-only"])?.is_empty() {
            self.commit(asked.message.as_deref())?;
        }
        let source = self.plumbing.head()?;
        let onto = self.onto()?;
        let base = self.plumbing.base(&onto, &source)?.unwrap_or(onto);
        let changed = self.plumbing.changed(&base, &source)?;
        self.check_change(changed.iter().any(|path| !is_ours(path)), asked)?;
        self.check_others(&changed, &source, asked)?;
        if asked.no_land || self.session.config().landing.via == Via::Review {
            return self.keep_on_branch(&source, "it waits for review");
        }
        match self.land(&source, asked.message.as_deref()) {
            Err(Error::Land(error @ LandError::TargetDirty { .. })) => {
                // What is done is not lost because somebody has something open on the target.
                self.keep_on_branch(&source, "the target has changes of its own")?;
                self.release()?;
                Err(error.into())
            }
            how => how,
        }
    }

    /// Puts the work on top of the target, has it judged, and moves the target; again and again if others are faster.
    fn land(&self, source: &ObjectId, message: Option<&str>) -> Result<How> {
        let publisher = Publisher {
            session: self.session,
            writer: &self.writer,
            plumbing: &self.plumbing,
            id: self.id,
            target: &self.target,
        };
        if !publisher.fetch()? {
            return self.keep_on_branch(source, "the remote cannot be reached");
        }
        for _ in 0..MOST_TIMES {
            let onto = self.onto()?;
            let candidate = self.build(onto, source)?;
            let (judged_tree, judged) = self.judge(&candidate)?;
            let (draft, files) = self.compose(&judged_tree, &judged)?;
            if let Some(Finished::Gated(open)) = draft.finished() {
                self.keep_on_branch(source, "its gates are open")?;
                return Ok(How::Gated(open));
            }
            let tip = self.seal(&candidate, &files, message)?;
            match publisher.publish(&onto, &tip)? {
                Published::Landed => {
                    if self.plumbing.head()? == *source {
                        self.go_to(source, &tip);
                    }
                    return Ok(How::Landed { target: self.target.branch.clone(), commit: tip.to_string() });
                }
                Published::Moved => {}
                Published::Offline(why) => return self.keep_on_branch(source, &why),
            }
        }
        Err(LandError::Moving { branch: self.target.branch.clone(), times: MOST_TIMES }.into())
    }

    /// Where the target is now.
    fn onto(&self) -> Result<ObjectId> {
        let repository = self.session.repository();
        let found = match repository {
            Some(repository) => Target::find(&self.session.caller, repository, self.session.config())?,
            None => None,
        };
        let onto = found.as_ref().and_then(Target::onto);
        onto.ok_or_else(|| Error::Internal(format!("{} has no commit any more", self.target.branch)))
    }

    fn build(&self, onto: ObjectId, source: &ObjectId) -> Result<Candidate> {
        let builder = Builder { sys: self.session.sys(), plumbing: &self.plumbing };
        match self.session.config().landing.strategy {
            Strategy::Rebase => builder.rebased(onto, source),
            Strategy::Merge => builder.merged(onto, source),
            Strategy::Squash => builder.squashed(onto, source),
        }
    }

    fn judge(&self, candidate: &Candidate) -> Result<(String, Vec<Judged>)> {
        let issue = self.writer.issues.base(self.id)?;
        let results = crate::writes::results_of(&self.writer.issues, self.id, &issue.gates)?;
        let judge = Judge { session: self.session, plumbing: &self.plumbing, id: self.id };
        judge.judge(&issue, &results, &candidate.onto, &candidate.tip)
    }

    /// The files that say that it is done.
    fn compose(&self, tree: &str, judged: &[Judged]) -> Result<(Draft, Files)> {
        self.writer.compose(self.id, "finishing", |draft| {
            for one in judged {
                let mut result = draft.judgement(Verdict::Passed, None);
                result.exit_code = one.outcome.code;
                result.judged = Some(tree.to_owned());
                draft.judge(&one.key, result);
            }
            draft.step(State::Done, false);
            Ok(())
        })
    }

    /// The last commit of a candidate, with the word in it.
    fn seal(&self, candidate: &Candidate, files: &Files, message: Option<&str>) -> Result<ObjectId> {
        let tree =
            self.plumbing.with_files(self.session.sys(), &self.plumbing.tree(&candidate.tip)?, files)?;
        if !candidate.has_work {
            let message = hooks::naming(message.unwrap_or(&self.title).as_bytes(), &self.lease);
            return self.plumbing.commit(&tree, &[candidate.tip], &message, None);
        }
        let parents = self.plumbing.text(&["log", "-1", "--format=%P", &candidate.tip.to_string()])?;
        let parents: Vec<ObjectId> =
            parents.split(' ').filter_map(|parent| ObjectId::from_hex(parent.as_bytes())).collect();
        let message = hooks::naming(&self.plumbing.message(&candidate.tip)?, &self.lease);
        self.plumbing.commit(&tree, &parents, &message, Some(&candidate.tip))
    }

    /// Says on the branch itself how it stands, and puts that to the remote if there is one.
    fn keep_on_branch(&self, source: &ObjectId, why: &str) -> Result<How> {
        let branch = self.session.branch()?.unwrap_or_else(|| "HEAD".to_owned());
        if self.plumbing.head()? != *source {
            return Ok(How::Waiting { branch, why: why.to_owned() });
        }
        let finished = self.write_done(None)?;
        if self.target.remote.is_some() {
            self.push(&branch)?;
        }
        match finished {
            Some(Finished::Gated(open)) => Ok(How::Gated(open)),
            _ => Ok(How::Waiting { branch, why: why.to_owned() }),
        }
    }

    /// Writes into this worktree that it is done, and commits that with whatever is staged.
    fn write_done(&self, message: Option<&str>) -> Result<Option<Finished>> {
        let changed = self.writer.change(self.id, "finishing", |draft| {
            draft.step(State::Done, false);
            Ok(())
        })?;
        let (home, results) = self.own();
        let mut args = vec!["add", "-A", "--", &home];
        if !changed.draft.results().0.is_empty() {
            args.push(&results);
        }
        self.plumbing.git().run(&args)?;
        self.commit(message)?;
        Ok(changed.draft.finished())
    }

    /// Puts this branch to the remote, under the name of a branch there. If that fails it is said, and the work is here.
    fn push(&self, branch: &str) -> Result<()> {
        let said =
            self.plumbing.git().ask(&["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")], &[])?;
        if said.code != Some(0) {
            let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
            self.session.notice(&Notice::NotPushed(why));
        }
        Ok(())
    }

    /// The directories of the issue's own files.
    fn own(&self) -> (String, String) {
        (format!("{DATA}/issues/{}", self.id), format!("{DATA}/gates/results/{}", self.id))
    }

    /// Moves this worktree and its branch to what landed.
    fn go_to(&self, from: &ObjectId, to: &ObjectId) {
        if let Err(error) = checkout::advance(self.session, &self.plumbing, from, to) {
            self.session.notice(&Notice::BranchStays(error.to_string()));
        }
    }

    /// Refuses to leave something behind that nobody was asked about.
    fn check_left_over(&self, asked: &Asked) -> Result<()> {
        if asked.all || asked.leave {
            return Ok(());
        }
        let left = self.plumbing.dirty()?.into_iter().filter(|dirty| !dirty.is_ours() && !dirty.is_staged);
        let left: Vec<String> = left.map(|dirty| String::from_utf8_lossy(&dirty.path).into_owned()).collect();
        if left.is_empty() { Ok(()) } else { Err(LandError::LeftOver(left).into()) }
    }

    /// Stages what is to be committed, but for the issue's own files: these say something else once it is done.
    fn stage(&self, asked: &Asked) -> Result<()> {
        if asked.all {
            self.plumbing.git().run(&["add", "-A"])?;
        }
        let (home, results) = self.own();
        self.plumbing.git().ask(&["reset", "-q", "--", &home, &results], &[])?;
        Ok(())
    }

    fn commit(&self, message: Option<&str>) -> Result<()> {
        let message = message.unwrap_or(&self.title);
        let message = hooks::naming(message.as_bytes(), &self.lease);
        let agent = self.session.agent()?.id.to_string();
        let git = self.plumbing.git().clone().env("JIT_AGENT_ID", Some(agent.into()));
        git.run_with(&["commit", "-q", "-F", "-"], &message)?;
        Ok(())
    }

    fn check_change(&self, is_there: bool, asked: &Asked) -> Result<()> {
        if is_there || (asked.empty && asked.message.is_some()) {
            return Ok(());
        }
        Err(LandError::NoChange(self.handle.clone()).into())
    }

    /// Refuses to land changes of issues that are somebody else's matter: those that are there and not over.
    fn check_others(&self, changed: &[Vec<u8>], source: &ObjectId, asked: &Asked) -> Result<()> {
        let named = |path: &Vec<u8>| {
            let text = String::from_utf8_lossy(path).into_owned();
            let rest = text.strip_prefix(&format!("{DATA}/issues/"))?.to_owned();
            IssueId::parse(rest.split('/').next()?)
        };
        let others: BTreeSet<IssueId> = changed
            .iter()
            .filter(|path| !notes::is_note(path))
            .filter_map(named)
            .filter(|other| *other != self.id)
            .collect();
        let onto = self.onto()?;
        let mut foreign = Vec::new();
        for other in others.into_iter().filter(|other| !asked.with.contains(other)) {
            let path = format!("{DATA}/issues/{other}/issue.json");
            if self.plumbing.show(&onto, &path)?.is_none() {
                continue;
            }
            let bytes = self.plumbing.show(source, &path)?.unwrap_or_default();
            let issue = serde_json::from_slice::<crate::issues::Issue>(&bytes).ok();
            if issue.is_none_or(|issue| !issue.state.is_over()) {
                foreign.push(self.writer.issues.handle(other));
            }
        }
        if foreign.is_empty() { Ok(()) } else { Err(LandError::OtherIssues(foreign).into()) }
    }

    fn release(&self) -> Result<()> {
        let command = Command::Release { lease: self.lease.id, holder: self.lease.holder.clone() };
        self.session.claims().command(&command)?;
        Ok(())
    }

    /// Gives the claim back and says what became of it.
    fn conclude(self, how: How) -> Result<Outcome> {
        keep::release(self.session, &self.lease.id.to_string())?;
        Started::remove(self.session, self.id);
        Ok(Outcome { issue: self.id, handle: self.handle, title: self.title, how })
    }
}
