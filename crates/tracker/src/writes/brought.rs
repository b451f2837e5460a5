//! What other clones have finished and put on branches of the remote: handed over to the worktrees of this one, as a linked
//! worktree hands over what it writes. Otherwise it would be offered here, and done twice.

use std::path::Path;

use holdfast_git::objects::Mode;
use holdfast_git::{Git, ObjectId, Objects, Repository};
use holdfast_sys::LockMode;

use super::copy::results_of;
use super::deleted;
use super::files::{Content, Place};
use super::locks::Locks;
use super::members::{DEPS, LABELS, union};
use super::results::{self, GateResult, Results};
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{self, Issue, Issues, LONGEST};
use crate::session::Session;
use crate::target::Target;
use crate::workspace::{self, DATA};

/// Hands over what was finished on branches that were fetched for a grant. Once it is durable, nobody fetches them again.
pub(crate) fn settle(session: &Session) -> Result<()> {
    let Some(shared) = session.claims().shared.as_deref() else { return Ok(()) };
    let Some(commit) = shared.fetched_for() else { return Ok(()) };
    hand_over(session)?;
    Ok(shared.is_handed_over(&commit)?)
}

/// Hands over what branches of the remote have finished later than anybody here. Clones that do not share their claims
/// cannot tell which is later, and leave it to the branch that all land on.
pub(crate) fn hand_over(session: &Session) -> Result<()> {
    let (Some(repository), Some(shared)) = (session.repository(), session.shared_data()) else {
        return Ok(());
    };
    if session.claims().shared.is_none() {
        return Ok(());
    }
    let Some(log) = session.claims().view()?.counter.map(|counter| counter.to_string()) else {
        return Ok(());
    };
    let fetched = issues::fetched(session, &log)?;
    if fetched.is_empty() {
        return Ok(());
    }
    let objects = workspace::objects(&session.caller, repository)?;
    let (locks, issues) = (Locks::open(session)?, Issues::new(session));
    let is_later =
        |known: &Issue, fence| known.fence_log.as_deref() != Some(&*log) || known.fence < Some(fence);
    for (id, (fence, tip)) in fetched {
        let is_known = |known: &Issue| !is_later(known, fence);
        let is_wanted = match issues.base(id) {
            Ok(known) => !is_known(&known),
            Err(_) => !was_deleted(session, repository, id)?,
        };
        if !is_wanted || deleted::is_marked(session.sys(), shared, id) {
            continue;
        }
        let Some(content) = content(&issues, &objects, &tip, id)? else { continue };
        let mut lock = locks.issue(id)?;
        let _section = lock.enter(session.sys(), LockMode::Exclusive)?;
        // Somebody here may have written it meanwhile.
        let file = shared.join("issues").join(id.to_string()).join("issue.json");
        if read(session, &file)?.is_none_or(|known| !is_known(&known)) {
            Place::shared(session.sys(), shared, id, locks.access()).replace(&content)?;
        }
    }
    Ok(())
}

/// Whether the branch that all land on has had an issue that nobody here knows.
fn was_deleted(session: &Session, repository: &Repository, id: IssueId) -> Result<bool> {
    let Some(target) = Target::find(&session.caller, repository, session.config())? else { return Ok(false) };
    let tips: Vec<String> = target.tips().map(|tip| tip.to_string()).collect();
    let file = format!("{DATA}/issues/{id}/issue.json");
    let mut args = vec!["rev-list", "-1"];
    args.extend(tips.iter().map(String::as_str));
    args.extend(["--", &file]);
    Ok(!Git::in_dir(repository.common_dir()).run(&args)?.is_empty())
}

fn read(session: &Session, file: &Path) -> Result<Option<Issue>> {
    let bytes = durable::read(session.sys(), file, LONGEST)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// An issue as a commit has it, with all that is known here of its sets and gates; none if it cannot be used.
fn content(
    issues: &Issues<'_>,
    objects: &Objects<'_>,
    tip: &ObjectId,
    id: IssueId,
) -> Result<Option<Content>> {
    let tree = objects.commit(tip)?.tree;
    let read = |path: &str| -> Result<Vec<u8>> {
        match objects.entry(&tree, format!("{DATA}/{path}").as_bytes())? {
            Some(entry) if matches!(entry.mode, Mode::File | Mode::Executable) => {
                Ok(objects.blob(&entry.id, LONGEST)?)
            }
            Some(_) | None => Ok(Vec::new()),
        }
    };
    let home = format!("issues/{id}");
    let bytes = read(&format!("{home}/issue.json"))?;
    let Some(issue) = serde_json::from_slice::<Issue>(&bytes).ok().filter(|issue| issue.id == id.to_string())
    else {
        return Ok(None);
    };
    let set = |name: &str| -> Result<Vec<u8>> {
        let path = format!("{home}/{name}");
        let copies = issues.copies(&path)?;
        Ok(copies.iter().fold(read(&path)?, |all, copy| union(all, copy)))
    };
    let mut results: Results = results_of(issues, id, &issue.gates)?;
    for key in issue.gates.iter().filter(|key| results::can_be_file(key)) {
        if let Ok(result) = GateResult::read(id, key, &read(&results::file(id, key))?) {
            results.merge(key.clone(), result);
        }
    }
    let content =
        Content { issue: Some(bytes), labels: set(LABELS)?, deps: set(DEPS)?, results: results.files(id) };
    Ok(content.check(id).is_ok().then_some(content))
}
