//! Looking for what is wrong. Nothing is changed, except that the strict search makes and removes one empty
//! file to see what time the file system has.

use std::collections::BTreeSet;
use std::path::PathBuf;

use holdfast_store::whole::leftover_of;
use holdfast_sys::Open;

use super::{Finding, Kind, Remedy};
use crate::audit::Audit;
use crate::error::{Class, Result};
use crate::intent::{Found, Intent, Task};
use crate::lock::Lock;
use crate::lock::session::Session;
use crate::names::OpId;
use crate::repo::Repo;
use crate::snapshot;
use crate::verify::{self, vanished};
use crate::worktree::{Damaged, Worktree};

/// The directories that small files are replaced in.
const REPLACED_IN: [&str; 7] = ["", "audit", "intents", "locks", "pins", "sessions", "worktrees"];

/// How far a file system's clock may lag behind the machine's, because it moves in steps.
const TICK_MS: i64 = 20;

/// How far apart in time the wall clock and the boot-time clock may have been read: there is no way to read both
/// at once, and a busy machine does other things in between.
const APART_MS: u64 = 1_000;

/// Everything that is wrong; with `strict` also what crashes left, and whether audit and clock are right.
///
/// # Errors
/// When it cannot be looked at.
pub fn find(repo: &Repo, strict: bool) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let ids = Worktree::ids(repo)?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    repo.alone_with(&ids, || {
        let busy = if strict { left_over(repo, &mut findings)? } else { BTreeSet::new() };
        worktrees(repo, &mut findings)?;
        snapshots(repo, &busy, &mut findings)
    })?;
    if strict {
        sessions(repo, &mut findings)?;
        audit(repo, &mut findings)?;
        clock(repo, &mut findings)?;
    }
    Ok(findings)
}

fn finding(kind: Kind, path: PathBuf, text: impl Into<String>, remedy: Remedy) -> Finding {
    Finding { kind, path, text: text.into(), remedy }
}

/// What crashes left behind; gives the ids of work that goes on.
fn left_over(repo: &Repo, findings: &mut Vec<Finding>) -> Result<BTreeSet<OpId>> {
    let (mut known, mut busy) = (BTreeSet::new(), BTreeSet::new());
    for found in Intent::all(repo)? {
        let id = found.id();
        known.insert(id);
        if let Found::Busy(..) = found {
            busy.insert(id);
            continue;
        }
        let path = repo.control("intents").join(format!("{id}.json"));
        let (kind, what) = match found.task() {
            Some(Task::Snapshot { .. }) => (Kind::IncompleteSnapshot, "a snapshot"),
            Some(Task::Create { .. }) => (Kind::AbandonedOperation, "the making of a worktree"),
            Some(Task::Restore { .. }) => (Kind::AbandonedOperation, "a restore in place"),
            Some(Task::Rename { .. }) => (Kind::AbandonedOperation, "the renaming of a worktree"),
            Some(Task::Remove { .. }) => (Kind::AbandonedOperation, "the removal of a worktree"),
            Some(Task::Collect) => (Kind::AbandonedOperation, "the deletion of snapshots"),
            None => (Kind::AbandonedOperation, "something that had not begun yet"),
        };
        let text = format!("{what} was cut off, and its process is gone");
        findings.push(finding(kind, path, text, Remedy::EndWork(id)));
    }
    for name in repo.sys.files.list(&repo.control("staging"))? {
        let is_known = name.to_str().and_then(|name| name.parse().ok()).is_some_and(|id| known.contains(&id));
        if !is_known {
            let path = repo.control("staging").join(&name);
            let text = "it belongs to no work that goes on or was cut off";
            findings.push(finding(Kind::OrphanedStaging, path.clone(), text, Remedy::Remove(path)));
        }
    }
    for directory in REPLACED_IN {
        let directory = repo.control(directory);
        for name in repo.sys.files.list(&directory)?.iter().filter(|name| leftover_of(name).is_some()) {
            let path = directory.join(name);
            let text = "a crash left it beside the file that it was to replace";
            findings.push(finding(Kind::OrphanedTmp, path.clone(), text, Remedy::Remove(path)));
        }
    }
    Ok(busy)
}

fn worktrees(repo: &Repo, findings: &mut Vec<Finding>) -> Result<()> {
    let survey = Worktree::survey(repo)?;
    for worktree in &survey.readable {
        worktree_is_whole(repo, worktree, findings);
    }
    for Damaged { worktree_id, error } in survey.damaged {
        let path = Worktree::file(&repo.control(""), &worktree_id);
        findings.push(finding(Kind::DamagedWorktree, path, error.to_string(), Remedy::None));
    }
    Ok(())
}

fn worktree_is_whole(repo: &Repo, worktree: &Worktree, findings: &mut Vec<Finding>) {
    if let Err(error) = worktree.payload(repo) {
        let path = repo.payload(&worktree.name);
        findings.push(finding(Kind::MissingPayload, path, error.to_string(), Remedy::None));
    }
    if let Some(Err(error)) = worktree.head.map(|head| snapshot::load(repo, head)) {
        let path = Worktree::file(&repo.control(""), &worktree.worktree_id);
        findings.push(finding(Kind::DanglingHead, path, error.to_string(), Remedy::None));
    }
    if let Err(error) = Lock::of(repo, worktree).and_then(|lock| lock.view()) {
        let path = repo.control("locks").join(format!("{}.lock", worktree.worktree_id));
        let remedy = match error.class() {
            Class::DescriptorCorrupt => Remedy::SetLockAside(worktree.worktree_id.clone()),
            _ => Remedy::None,
        };
        findings.push(finding(Kind::DamagedLock, path, error.to_string(), remedy));
    }
}

fn snapshots(repo: &Repo, busy: &BTreeSet<OpId>, findings: &mut Vec<Finding>) -> Result<()> {
    for name in repo.sys.files.list(&repo.control("snapshots"))? {
        let path = repo.control("snapshots").join(&name);
        let id: Option<OpId> = name.to_str().and_then(|name| name.parse().ok());
        let wrong = match id {
            Some(id) if busy.contains(&id) => continue,
            Some(id) => snapshot::load(repo, id).err().map(|error| error.to_string()),
            None => Some("it is no snapshot".to_owned()),
        };
        findings.extend(wrong.map(|text| finding(Kind::PartialSnapshot, path, text, Remedy::None)));
    }
    Ok(())
}

/// Sessions whose shell is known to be gone. What cannot be read is not known to be over.
fn sessions(repo: &Repo, findings: &mut Vec<Finding>) -> Result<()> {
    for name in repo.sys.files.list(&repo.control("sessions"))? {
        let path = repo.control("sessions").join(&name);
        if leftover_of(&name).is_some() {
            continue;
        }
        if let Ok(Some(session)) = Session::read(repo, &path)
            && session.is_orphan(&repo.sys)
        {
            let text = "the shell that it belongs to is gone";
            findings.push(finding(Kind::OrphanedSession, path.clone(), text, Remedy::Remove(path)));
        }
    }
    Ok(())
}

fn audit(repo: &Repo, findings: &mut Vec<Finding>) -> Result<()> {
    let chain = Audit::of(repo).read(&mut |_| {})?;
    if let Some(found) = chain.broken {
        let kind = if found.torn { Kind::TornAuditTail } else { Kind::AuditBroken };
        let text = match found.line {
            0 => found.why.clone(),
            line => format!("line {line}: {}", found.why),
        };
        findings.push(finding(kind, found.file.clone(), text, Remedy::MendAudit(Box::new(found))));
        return Ok(());
    }
    let audited = verify::audit(repo)?;
    for error in audited.unheard {
        findings.push(finding(Kind::AuditBroken, repo.control("audit"), error.to_string(), Remedy::None));
    }
    for (worktree, error) in audited.heads {
        let path = Worktree::file(&repo.control(""), &worktree.worktree_id);
        findings.push(finding(Kind::MovedHead, path, error.to_string(), Remedy::None));
    }
    for id in audited.missing {
        let text = vanished(id).to_string();
        findings.push(finding(Kind::MissingSnapshot, repo.snapshot(id), text, Remedy::WriteOff(id)));
    }
    Ok(())
}

/// A clock that is not where it should be: further from the file system's than half of what clocks may be apart, or
/// moved by more than that since the audit was last written to. The file system of the same machine has the same
/// clock, so the first is about file systems of others; the second compares the wall clock with the boot-time
/// clock, which nobody can set.
fn clock(repo: &Repo, findings: &mut Vec<Finding>) -> Result<()> {
    let most = repo.config.policy.max_clock_skew_ms / 2;
    let mut told = |offset: u64, most: u64, text: String| {
        if offset > most {
            let text = format!("{text}; {most} ms are allowed");
            findings.push(finding(Kind::ClockOffset, repo.root.clone(), text, Remedy::None));
        }
    };
    let offset = offset_of_files(repo)?;
    told(offset, most, format!("the clock is {offset} ms away from the file system's"));
    let Some(last) = Audit::of(repo).last_written()? else { return Ok(()) };
    let now = repo.sys.clock.now()?;
    match (last.at.boot(), now.boot()) {
        (Some(then), Some(boot)) if then.id == boot.id => {
            let expected = last.at.wall_ms().saturating_add(boot.ms.saturating_sub(then.ms));
            let moved = now.wall_ms().abs_diff(expected);
            let text = format!("the clock was moved by {moved} ms since the last entry of the audit log");
            told(moved, most.max(APART_MS), text);
        }
        _ => {
            let ahead = last.at.wall_ms().saturating_sub(now.wall_ms());
            told(ahead, most, format!("the last entry of the audit log is {ahead} ms in the future"));
        }
    }
    Ok(())
}

/// How far the clock is from the file system's. A file is made between two looks at the clock, so that a slow
/// machine is not taken for a wrong clock.
fn offset_of_files(repo: &Repo) -> Result<u64> {
    let path = repo.control("intents").join(format!("clock.{:032x}.tmp", repo.sys.entropy.nonce()?));
    let wall_ms =
        || Ok::<_, crate::Error>(i64::try_from(repo.sys.clock.now()?.wall_ms()).unwrap_or(i64::MAX));
    let before = wall_ms()?;
    let file = repo.sys.files.open(&path, Open::New { mode: 0o600 })?;
    let made = file.stat().map(|stat| stat.modified_ms);
    repo.sys.files.remove_file(&path)?;
    let (made, after) = (made?, wall_ms()?);
    Ok((before - TICK_MS - made).max(made - after).max(0).unsigned_abs())
}
