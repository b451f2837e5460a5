//! Finishing: what was done is committed, put on top of the target, judged by its gates, and becomes part of the target
//! together with the word `done`. Asked for again, it goes on where it was.

use std::cell::{Cell, RefCell};

use holdfast_git::ObjectId;
use holdfast_kernel::{Command, Lease, Millis, Request};

use super::candidate::{Builder, Candidate};
use super::gates::{Judge, Judgement};
use super::going;
use super::plumbing::{FLUSHING, Plumbing, is_ours};
use super::publish::{Published, Publisher};
use super::review::Sent;
use super::started::Started;
use super::turn::Turn;
use super::under_way;
use super::working::Working;
use super::{over, own_lease};
use crate::claims::Terms;
use crate::config::{Strategy, Via};
use crate::error::{Error, LandError, NotLanded, Onto, Result};
use crate::hooks;
use crate::ids::IssueId;
use crate::issues::{Issues, Scope, Standing, State};
use crate::keep;
use crate::notes;
use crate::session::Session;
use crate::take;
use crate::target::Target;
use crate::writes::{Draft, Files, Finished, Verdict, Writer};

/// The link to the commit that landed work was put on.
pub const ONTO: &str = "onto";

/// How often the target may move under a candidate.
const MOST_TIMES: u32 = 32;

/// How long the claim lasts of somebody who lands what another one finished; what takes longer renews it.
const LANDING: Millis = Millis::from_secs(30);

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
    /// The target has it here, and not at the remote.
    NotPushed {
        /// The target.
        target: String,
        /// Its tip here.
        commit: String,
        /// Whether the claim stays: whoever shares it has not seen the work yet, and would do it again.
        is_held: bool,
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
    let _working = Working::begin(session)?;
    going::settle(session)?;
    let (target, root) = match (session.repository(), session.root()) {
        (Some(repository), Some(root)) => {
            (Target::find(&session.caller, repository, session.config())?, root)
        }
        _ => return plain(session, id, &lease),
    };
    let Some(target) = target.filter(|target| target.onto().is_some()) else {
        return plain(session, id, &lease);
    };
    let plumbing = Plumbing::new(session, root);
    under_way::refuse_begun(session, plumbing.directory()?)?;
    let finisher = Finisher::new(session, id, lease, plumbing, target)?;
    let how = if session.branch()?.as_deref() == Some(&finisher.target.branch) {
        finisher.on_the_target(asked)
    } else {
        finisher.on_a_branch(asked)
    };
    if let Err(Error::Land(error)) = &how
        && let Some(text) = NotLanded::note(error)
    {
        // Whoever goes on shall know, once; if it cannot be kept, the error itself matters more.
        let is_known =
            notes::of(session, id).is_ok_and(|notes| notes.last().is_some_and(|last| last.text == text));
        if !is_known {
            let _ = notes::add(session, id, &text);
        }
    }
    finisher.conclude(how?)
}

/// Lands finished work that a branch has and whose holder is gone, and of other issues only what `with` names.
///
/// # Errors
/// When there is none, somebody holds the issue, or something failed.
pub fn land(session: &Session, id: IssueId, with: &[IssueId]) -> Result<Outcome> {
    let issues = Issues::new(session);
    let nothing = || Error::from(LandError::NothingToLand(issues.handle(id)));
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else {
        return Err(nothing());
    };
    let waits_on = || {
        let standing = Issues::new(session).see(id, Scope::All, |seen| seen.standing.clone())?;
        Ok::<_, Error>(match standing {
            Standing::OnBranch { branch } => Some(branch),
            _ => None,
        })
    };
    waits_on()?.ok_or_else(nothing)?;
    let target = Target::find(&session.caller, repository, session.config())?.ok_or_else(nothing)?;
    let _working = Working::begin(session)?;
    let agent = session.agent()?;
    // Whoever dies while it lands what somebody else finished holds nobody up for long.
    let range = session.config().policy().rule_for(session.holder()?).ttl;
    let usual = session.config().ttl_for(&agent.file, agent.id.kind());
    let ttl = usual.min(LANDING).max(range.min);
    let terms = Terms { request: Request::Finite(ttl), reason: None, reserve: None };
    let taken = take::acquire(session, id, &terms, None)?;
    let mut finisher = Finisher::new(session, id, taken.lease, Plumbing::new(session, root), target)?;
    let asked = Asked { with: with.to_vec(), ..Asked::default() };
    let mut landing = || {
        // Somebody else may have landed it, or gone on with it, before it was granted here.
        let branch = waits_on()?.ok_or_else(nothing)?;
        let source = finisher.plumbing.tip(&branch)?;
        finisher.branch = Some(branch);
        finisher.check_others(&source, &asked)?;
        finisher.land(&source, None)
    };
    match landing() {
        // The claim was for the moment: what is done on a branch says so under the claim that it was done under.
        Ok(how @ (How::Landed { .. } | How::Done)) => finisher.conclude(how),
        Ok(how) => {
            finisher.release()?;
            Ok(finisher.outcome(how))
        }
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
pub(super) struct Finisher<'a> {
    pub(super) session: &'a Session,
    pub(super) id: IssueId,
    pub(super) lease: Lease,
    pub(super) plumbing: Plumbing<'a>,
    pub(super) target: Target,
    pub(super) writer: Writer<'a>,
    pub(super) handle: String,
    pub(super) title: String,
    /// The branch that has the work, if it is not that of this worktree.
    pub(super) branch: Option<String>,
    /// How the gates were judged last.
    judged: RefCell<Judgement>,
    /// Whether what became of it is durable already.
    is_durable: Cell<bool>,
}

impl<'a> Finisher<'a> {
    fn new(
        session: &'a Session,
        id: IssueId,
        lease: Lease,
        plumbing: Plumbing<'a>,
        target: Target,
    ) -> Result<Self> {
        let writer = Writer::open(session)?;
        let title = writer.issues.read(id)?.title;
        let handle = writer.issues.handle(id);
        let (branch, judged, is_durable) = (None, RefCell::default(), Cell::new(false));
        Ok(Self { session, id, lease, plumbing, target, writer, handle, title, branch, judged, is_durable })
    }

    pub(super) const fn publisher(&self) -> Publisher<'_> {
        Publisher {
            session: self.session,
            writer: &self.writer,
            plumbing: &self.plumbing,
            id: self.id,
            lease: &self.lease,
            target: &self.target,
        }
    }

    /// On the target itself: the work and the word are one commit.
    fn on_the_target(&self, asked: &Asked) -> Result<How> {
        let head = self.plumbing.head()?;
        self.target.tips().try_for_each(|tip| self.refuse_elsewhere(&tip))?;
        if !self.is_landed(&head)?
            && let Some(open) = self.commit_on_the_target(&head, asked)?
        {
            return Ok(How::Gated(open));
        }
        let commit = self.plumbing.head()?.to_string();
        let target = self.target.branch.clone();
        let pushes = self.target.remote.is_some() && self.session.config().landing.via == Via::Push;
        if pushes && !self.push_target()? {
            return Ok(How::NotPushed { target, commit, is_held: self.session.claims().shared.is_some() });
        }
        Ok(How::Landed { target, commit })
    }

    /// Judges what is to be committed, and commits it with the word; gives the gates that are open.
    fn commit_on_the_target(&self, head: &ObjectId, asked: &Asked) -> Result<Option<Vec<String>>> {
        let started = Started::read(self.session, self.id, self.lease.fence.get());
        let staged = self.stage(asked)?;
        let since = started.and_then(|started| ObjectId::from_hex(started.base?.as_bytes())).unwrap_or(*head);
        let has_work = staged.iter().any(|path| !is_ours(path))
            || self.plumbing.changed(&since, head)?.iter().any(|path| !is_ours(path));
        self.check_change(has_work, asked)?;
        let tree = self.plumbing.id(&["write-tree"])?;
        let tip = self.plumbing.commit(&tree, &[*head], self.title.as_bytes(), None)?;
        self.judge(&Candidate { onto: *head, tip, has_work: true }, None)?;
        Ok(match self.write_done(asked.message.as_deref())? {
            Some(Finished::Gated(open)) => Some(open),
            _ => None,
        })
    }

    /// On a branch of its own.
    fn on_a_branch(&self, asked: &Asked) -> Result<How> {
        // Cut off after the target had it, only the rest is left, unless more was done since. What is in no commit is asked
        // for with everything else, or stays where it is.
        let (tips, head): (Vec<ObjectId>, _) = (self.target.tips().collect(), self.plumbing.head()?);
        let takes_more =
            || Ok::<_, Error>(asked.all && self.plumbing.dirty()?.iter().any(|dirty| !dirty.is_ours()));
        for tip in &tips {
            if self.is_landed(tip)? && !self.has_more(&head, tip)? && !takes_more()? {
                return self.landed_before(&head, tip);
            }
            self.refuse_elsewhere(tip)?;
        }
        if !self.stage(asked)?.is_empty() {
            self.commit(asked.message.as_deref())?;
        }
        let source = self.plumbing.head()?;
        let onto = self.onto()?;
        let base = self.plumbing.base(&onto, &source)?.unwrap_or(onto);
        let changed = self.plumbing.changed(&base, &source)?;
        self.check_change(changed.iter().any(|path| !is_ours(path)), asked)?;
        self.check_others(&source, asked)?;
        if asked.no_land || self.session.config().landing.via == Via::Review {
            self.publisher().fetch()?;
            self.refuse_elsewhere(&self.onto()?)?;
            return self.keep_judged(&source, "it waits for review");
        }
        match self.land(&source, asked.message.as_deref()) {
            Err(Error::Land(error @ LandError::TargetDirty { .. })) => {
                // What is done is not lost because somebody has something open on the target.
                self.keep_on_branch(&source, "the target has changes of its own")?;
                keep::release(self.session, &self.lease.id.to_string())?;
                Err(error.into())
            }
            how => how,
        }
    }

    /// Puts the work on top of the target, has it judged, and moves the target. Whoever is slower than somebody else does
    /// all of it again, but then nobody else has the turn, so that nobody starves.
    pub(super) fn land(&self, source: &ObjectId, message: Option<&str>) -> Result<How> {
        let publisher = self.publisher();
        if !publisher.fetch()? {
            return self.keep_judged(source, "the remote cannot be reached");
        }
        let mut turn: Option<Turn<'_>> = None;
        for _ in 0..MOST_TIMES {
            let onto = self.onto()?;
            if self.is_landed(&onto)? && !self.has_more(source, &onto)? {
                return self.landed_before(source, &onto);
            }
            self.refuse_elsewhere(&onto)?;
            if let Some(why) = self.waits_for()? {
                return self.keep_judged(source, &why);
            }
            let candidate = self.build(onto, source)?;
            self.judge(&candidate, turn.as_ref())?;
            let (draft, files) = self.compose(&onto)?;
            if let Some(Finished::Gated(open)) = draft.finished() {
                self.keep_on_branch(source, "its gates are open")?;
                return Ok(How::Gated(open));
            }
            let tip = self.seal(&candidate, &files, message)?;
            // No ref leads to what the power can still take away.
            self.plumbing.flush()?;
            let held = match turn.take() {
                Some(held) => held,
                None => Turn::take(self.session, &self.target.branch)?,
            };
            match publisher.publish(&held, &onto, &tip, &|| self.bring_along(source, &tip, true))? {
                Published::Landed => {
                    self.is_durable.set(true);
                    return Ok(self.landed(&tip));
                }
                Published::Moved => turn = Some(held.insist()?),
                Published::Offline(why) => return self.keep_judged(source, &why),
            }
        }
        Err(LandError::Moving { branch: self.target.branch.clone(), times: MOST_TIMES }.into())
    }

    /// Where the target is now.
    pub(super) fn onto(&self) -> Result<ObjectId> {
        let repository = self.session.repository();
        let found = match repository {
            Some(repository) => Target::find(&self.session.caller, repository, self.session.config())?,
            None => None,
        };
        let onto = found.as_ref().and_then(Target::onto);
        onto.ok_or_else(|| Error::Internal(format!("{} has no commit any more", self.target.branch)))
    }

    pub(super) fn build(&self, onto: ObjectId, source: &ObjectId) -> Result<Candidate> {
        self.build_as(self.session.config().landing.strategy, onto, source)
    }

    pub(super) fn build_as(
        &self,
        strategy: Strategy,
        onto: ObjectId,
        source: &ObjectId,
    ) -> Result<Candidate> {
        let target = Onto::Target(self.target.top());
        let builder = Builder { plumbing: &self.plumbing, issue: Some(self.id), onto: target };
        match strategy {
            Strategy::Rebase => builder.rebased(onto, source),
            Strategy::Merge => builder.merged(onto, source),
            Strategy::Squash => builder.squashed(onto, source),
        }
    }

    /// Has the commands of gates judge a candidate, unless they have judged the same already.
    fn judge(&self, candidate: &Candidate, turn: Option<&Turn<'_>>) -> Result<()> {
        let issue = self.writer.issues.base(self.id)?;
        let results = crate::writes::results_of(&self.writer.issues, self.id, &issue.gates)?;
        let mut leases = vec![&self.lease];
        leases.extend(turn.and_then(Turn::lease));
        let judge = Judge { session: self.session, plumbing: &self.plumbing, id: self.id, leases: &leases };
        let before = self.judged.take();
        let judged = judge.judge(&issue, &results, before, &candidate.onto, &candidate.tip)?;
        self.judged.replace(judged);
        Ok(())
    }

    /// Makes of a draft what it is once the work is done: with what gates were judged, and the word.
    fn finish_draft(&self, draft: &mut Draft, onto: Option<&ObjectId>) {
        let judged = self.judged.borrow();
        for one in &judged.gates {
            let mut result = draft.judgement(Verdict::Passed, None);
            result.exit_code = one.outcome.code;
            result.judged = Some(judged.tree.clone());
            draft.judge(&one.key, result);
        }
        draft.step(State::Done, false);
        // Where the work begins cannot be told from its commits later; where it ends says the word itself.
        match onto {
            Some(onto) => drop(draft.edit().links.insert(ONTO.to_owned(), onto.to_string())),
            None => drop(draft.edit().links.remove(ONTO)),
        }
    }

    /// The files that say that it is done, on top of a commit of the target.
    fn compose(&self, onto: &ObjectId) -> Result<(Draft, Files)> {
        self.writer.compose(self.id, "finishing", |draft| {
            self.finish_draft(draft, Some(onto));
            Ok(())
        })
    }

    /// The last commit of a candidate, with the word in it.
    fn seal(&self, candidate: &Candidate, files: &Files, message: Option<&str>) -> Result<ObjectId> {
        let tree = self.plumbing.with_files(&self.plumbing.tree(&candidate.tip)?, files)?;
        if !candidate.has_work {
            let message = hooks::naming(message.unwrap_or(&self.title).as_bytes(), &self.lease);
            return self.plumbing.commit(&tree, &[candidate.tip], &message, None);
        }
        let parents = self.plumbing.parents(&candidate.tip)?;
        let message = hooks::naming(&self.plumbing.message(&candidate.tip)?, &self.lease);
        self.plumbing.commit(&tree, &parents, &message, Some(&candidate.tip))
    }

    /// Has the gates judge what would land now, and keeps it on the branch.
    fn keep_judged(&self, source: &ObjectId, why: &str) -> Result<How> {
        let candidate = self.build(self.onto()?, source)?;
        self.judge(&candidate, None)?;
        self.keep_on_branch(source, why)
    }

    /// Says on the branch itself how it stands, and puts that to the remote if there is one.
    fn keep_on_branch(&self, source: &ObjectId, why: &str) -> Result<How> {
        if let Some(branch) = &self.branch {
            return Ok(How::Waiting { branch: branch.clone(), why: why.to_owned() });
        }
        let branch = match self.session.branch()?.filter(|branch| branch != "HEAD") {
            Some(branch) => branch,
            None => self.goes_to_own_branch()?,
        };
        if self.plumbing.head()? != *source {
            return Ok(How::Waiting { branch, why: why.to_owned() });
        }
        let finished = self.write_done(None)?;
        if self.target.remote.is_some()
            && let Sent::There { review: Some(address) } = self.push(&branch)?
        {
            self.keep_address(&branch, &address)?;
        }
        match finished {
            Some(Finished::Gated(open)) => Ok(How::Gated(open)),
            _ => Ok(How::Waiting { branch, why: why.to_owned() }),
        }
    }

    /// Has a worktree that is on no branch go to one with what it has, called after the issue: work can wait on nothing else.
    fn goes_to_own_branch(&self) -> Result<String> {
        let (head, own) = (self.plumbing.head()?, format!("jit/{}", self.handle));
        let is_free = match self.plumbing.branch(&own)? {
            Some(tip) => self.plumbing.base(&tip, &head)? == Some(tip),
            None => true,
        };
        let switch = [&FLUSHING[..], &["switch", "-q", "--no-track", "-C"]].concat();
        if is_free && self.plumbing.git().ask(&[&switch[..], &[&own]].concat(), &[])?.code == Some(0) {
            return Ok(own);
        }
        // Somebody has worked on it before, and what they left stays where it is.
        let granted = format!("{own}-{}", self.lease.fence);
        self.plumbing.git().run(&[&switch[..], &[&granted]].concat())?;
        Ok(granted)
    }

    /// Writes into this worktree that it is done, and commits that with whatever is staged.
    fn write_done(&self, message: Option<&str>) -> Result<Option<Finished>> {
        let changed = self.writer.change(self.id, "finishing", |draft| {
            self.finish_draft(draft, None);
            Ok(())
        })?;
        let (home, results) = self.own();
        let mut args = [&FLUSHING[..], &["add", "-A", "--", &home]].concat();
        if !changed.draft.results().0.is_empty() {
            args.push(&results);
        }
        self.plumbing.git().run(&args)?;
        // Cut off after this commit and asked for again, there is nothing left to commit.
        if !self.plumbing.staged()?.is_empty() {
            self.commit(message)?;
        }
        Ok(changed.draft.finished())
    }

    pub(super) fn commit(&self, message: Option<&str>) -> Result<()> {
        let message = message.unwrap_or(&self.title);
        let message = hooks::naming(message.as_bytes(), &self.lease);
        let agent = self.session.agent()?.id.to_string();
        let git = self.plumbing.git().clone().env("JIT_AGENT_ID", Some(agent.into()));
        git.run_with(&[&FLUSHING[..], &["commit", "-q", "-F", "-"]].concat(), &message)?;
        Ok(())
    }

    fn release(&self) -> Result<()> {
        let command = Command::Release { lease: self.lease.id, holder: self.lease.holder.clone() };
        self.session.claims().command(&command)?;
        Ok(())
    }

    fn outcome(self, how: How) -> Outcome {
        Outcome { issue: self.id, handle: self.handle, title: self.title, how }
    }

    /// Gives the claim back, unless it has to stay, and says what became of it, once that is durable.
    fn conclude(self, how: How) -> Result<Outcome> {
        if !self.is_durable.get() {
            self.plumbing.flush()?;
        }
        if matches!(how, How::NotPushed { is_held: true, .. }) {
            return Ok(self.outcome(how));
        }
        match keep::release(self.session, &self.lease.id.to_string()) {
            // Somebody took it away once the work was there: there is nothing to give back.
            Err(_) if !over::is_held(self.session, &self.lease)? => {}
            released => drop(released?),
        }
        Started::remove(self.session, self.id);
        Ok(self.outcome(how))
    }
}
