//! Taking back that an issue is over, with the work that landed for it if that is asked for; and ending one without
//! work. Whoever does not hold the issue holds it for that moment.

use holdfast_git::ObjectId;
use holdfast_kernel::{Lease, Request};

use super::going;
use super::held_here;
use super::plumbing::{Merged, Plumbing, is_ours};
use super::there::landed_on;
use crate::claims::Terms;
use crate::error::{Error, LandError, Onto, Result};
use crate::hooks;
use crate::ids::IssueId;
use crate::issues::State;
use crate::keep;
use crate::notes;
use crate::session::Session;
use crate::take;
use crate::target::Target;
use crate::writes::Writer;

/// An issue whose state was decided without work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decided {
    /// The issue.
    pub issue: IssueId,
    /// What it is called.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where it stands now.
    pub state: State,
    /// The commit that takes back what landed.
    pub commit: Option<String>,
}

/// How an issue ends without work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Nobody will do it.
    Rejected,
    /// Another one is about the same.
    DuplicateOf(IssueId),
}

/// Takes back that an issue is over. With `revert`, a commit on this branch takes back what landed for it as well.
///
/// # Errors
/// When it is not over, somebody else holds it, nothing landed that could be taken back, or something failed.
pub fn reopen(session: &Session, id: IssueId, reason: Option<&str>, revert: bool) -> Result<Decided> {
    holding(session, id, |writer, lease| {
        let before = writer.issues.read(id)?;
        if !before.state.is_over() && before.state != State::Gated {
            let why = format!("it is {}, not over", before.state);
            return Err(Error::BadValue { what: "the issue", given: writer.issues.handle(id), why });
        }
        // What cannot be taken back is found out before anything is written: the issue then stays over.
        let undone = if revert { Some(Landed::find(session, writer, id)?.undo()?) } else { None };
        if let Some(reason) = reason {
            notes::add(session, id, &format!("reopened: {reason}"))?;
        }
        let changed = writer.change(id, "reopening", |draft| {
            draft.step(State::Ready, false);
            draft.edit().assignee = None;
            // The copy that says it is over may be on the target only, made by another clone.
            if before.state.is_over() {
                draft.edit().reopened.insert(before.updated_at.clone());
            }
            Ok(())
        })?;
        let commit = undone.map(|undone| undone.commit(session, writer, lease, reason)).transpose()?;
        let issue = changed.draft.issue();
        Ok(Decided {
            issue: id,
            handle: writer.issues.handle(id),
            title: issue.title.clone(),
            state: issue.state,
            commit: commit.map(|commit| commit.to_string()),
        })
    })
}

/// Ends an issue that nobody will work on.
///
/// # Errors
/// When somebody else holds it, it is over, or something failed.
pub fn close(session: &Session, id: IssueId, ending: Ending, reason: Option<&str>) -> Result<Decided> {
    if ending == Ending::DuplicateOf(id) {
        let (what, given) = ("--as duplicate-of", id.to_string());
        return Err(Error::BadValue { what, given, why: "an issue is no duplicate of itself".to_owned() });
    }
    holding(session, id, |writer, _| {
        if let Ending::DuplicateOf(other) = ending {
            writer.issues.read(other)?;
        }
        if let Some(reason) = reason {
            notes::add(session, id, &format!("closed: {reason}"))?;
        }
        let changed = writer.change(id, "closing", |draft| {
            if draft.issue().state.is_over() {
                let why = format!("it is {} already", draft.issue().state);
                return Err(Error::BadValue { what: "the issue", given: id.to_string(), why });
            }
            draft.step(State::Rejected, false);
            if let Ending::DuplicateOf(other) = ending {
                draft.edit().duplicates.insert(other.to_string());
            }
            Ok(())
        })?;
        let issue = changed.draft.issue();
        let (handle, title, state) = (writer.issues.handle(id), issue.title.clone(), issue.state);
        Ok(Decided { issue: id, handle, title, state, commit: None })
    })
}

/// Does something under the lease on an issue: the one that is held here, or one for this moment.
fn holding<T>(
    session: &Session,
    id: IssueId,
    act: impl FnOnce(&Writer<'_>, &Lease) -> Result<T>,
) -> Result<T> {
    let writer = Writer::open(session)?;
    if let Some((_, lease)) = held_here(session)?.into_iter().find(|(held, _)| *held == id) {
        return act(&writer, &lease);
    }
    let agent = session.agent()?;
    let ttl = session.config().ttl_for(&agent.file, agent.id.kind());
    let terms = Terms { request: Request::Finite(ttl), reason: None, reserve: None };
    let taken = take::acquire(session, id, &terms, None)?;
    let done = act(&writer, &taken.lease);
    keep::release(session, &taken.lease.id.to_string())?;
    done
}

/// What landed for an issue.
struct Landed<'a> {
    plumbing: Plumbing<'a>,
    id: IssueId,
    /// The newest first, each with the commit that it goes back to.
    commits: Vec<(ObjectId, ObjectId)>,
}

impl<'a> Landed<'a> {
    /// Finds the commit that says that the issue is done, and what came with it: everything since the commit that it was
    /// put on, or where nothing says which that was, the commits that were made under the same lease.
    fn find(session: &'a Session, writer: &Writer<'_>, id: IssueId) -> Result<Self> {
        let nothing = || Error::from(LandError::NothingLanded(writer.issues.handle(id)));
        let (Some(repository), Some(root)) = (session.repository(), session.root()) else {
            return Err(nothing());
        };
        let plumbing = Plumbing::new(session, root);
        let target = Target::find(&session.caller, repository, session.config())?;
        let tip = target.as_ref().and_then(Target::onto).ok_or_else(nothing)?;
        let (done, issue) = plumbing.finished(&tip, id)?.ok_or_else(nothing)?;
        // What was landed here begins behind the commit that it was put on, whatever its commits say.
        if let Some(onto) = landed_on(&issue)
            && plumbing.base(&onto, &done).ok().flatten() == Some(onto)
        {
            return Ok(Self { plumbing, id, commits: vec![(done, onto)] });
        }
        let mut all = vec![done];
        if let Some(lease) = hooks::lease_on(&plumbing.message(&done)?, id) {
            let grep = format!("--grep=JIT-Lease: {lease}");
            let args = ["log", "--no-merges", "--fixed-strings", &grep, "--format=%H", &tip.to_string()];
            let named = plumbing.text(&args)?;
            let more = named.lines().filter_map(|line| ObjectId::from_hex(line.as_bytes()));
            all.extend(more.filter(|commit| *commit != done));
        }
        let mut commits = Vec::new();
        for commit in all {
            let parent = plumbing.parents(&commit)?.into_iter().next();
            commits.push((commit, parent.ok_or_else(nothing)?));
        }
        Ok(Self { plumbing, id, commits })
    }

    /// This branch without it. Writes nothing but objects of git.
    fn undo(self) -> Result<Undone<'a>> {
        let head = self.plumbing.head()?;
        let mut tip = head;
        for (commit, parent) in &self.commits {
            let tree = match self.plumbing.merge(Some(commit), &tip, parent)? {
                Merged::Clean(tree) => tree,
                Merged::Conflict { tree, files } if files.iter().all(|path| is_ours(path)) => tree,
                Merged::Conflict { files, .. } => {
                    let files = files.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
                    let (commit, onto) = (commit.to_string(), Onto::Since);
                    return Err(LandError::Conflict { files, commit, onto }.into());
                }
            };
            tip = self.plumbing.commit(&tree, &[tip], b"revert", None)?;
        }
        let tree = self.plumbing.with_own_files_of(&self.plumbing.tree(&tip)?, Some(&head))?;
        Ok(Undone { plumbing: self.plumbing, id: self.id, head, tree })
    }
}

/// A branch from which what landed for an issue was taken out.
struct Undone<'a> {
    plumbing: Plumbing<'a>,
    id: IssueId,
    head: ObjectId,
    tree: ObjectId,
}

impl Undone<'_> {
    /// Makes it the next commit on this branch, with the issue's own files as they are now.
    fn commit(
        &self,
        session: &Session,
        writer: &Writer<'_>,
        lease: &Lease,
        reason: Option<&str>,
    ) -> Result<ObjectId> {
        let (draft, files) = writer.compose(self.id, "reopening", |_| Ok(()))?;
        let tree = self.plumbing.with_files(&self.tree, &files)?;
        let title = &draft.issue().title;
        let reason = reason.map(|reason| format!("\n{reason}\n")).unwrap_or_default();
        let message = hooks::naming(format!("Revert \"{title}\"\n{reason}").as_bytes(), lease);
        let commit = self.plumbing.commit(&tree, &[self.head], &message, None)?;
        going::advance(session, &self.plumbing, &self.head, &commit)?;
        Ok(commit)
    }
}
