//! `jvs lock`: take, keep and give back the writer lock. What is shown of a lock never holds its nonce.

use holdfast_kernel::{Lease, Stamp, Standing};
use holdfast_store::CounterId;
use serde_json::{Value, json};

use crate::cli;
use crate::config::{LONGEST_MS, SHORTEST_MS};
use crate::context::Context;
use crate::error::{Class, Error, Result};
use crate::holder::holder_of;
use crate::lock::codec::LockRecord;
use crate::lock::session::Session;
use crate::lock::take::take_within;
use crate::lock::{Granted, Lock};
use crate::output::{Report, document};
use crate::repo::Repo;
use crate::worktree::{Isolation, Worktree};

pub(super) fn run(context: &Context, command: &cli::Lock) -> Result<Report> {
    match command {
        cli::Lock::Acquire { worktree, lease_ms } => acquire(context, worktree.as_deref(), *lease_ms),
        cli::Lock::Renew { worktree } => renew(context, worktree.as_deref()),
        cli::Lock::Release { worktree } => release(context, worktree.as_deref()),
        cli::Lock::Status { worktree } => status(context, worktree.as_deref()),
        cli::Lock::Break { reason, worktree } => break_open(context, worktree.as_deref(), reason),
        cli::Lock::Run { worktree, lease_ms, command } => {
            super::run::run(context, worktree.as_deref(), *lease_ms, command)
        }
    }
}

/// That a lease may last that long.
pub(super) fn bounded(lease_ms: Option<u64>) -> Result<()> {
    match lease_ms {
        Some(ms) if !(SHORTEST_MS..=LONGEST_MS).contains(&ms) => Err(Error::usage(format!(
            "a lease of {ms} ms is not allowed: from {SHORTEST_MS} to {LONGEST_MS}"
        ))),
        _ => Ok(()),
    }
}

/// A lock as others may see it.
fn shown(lease: &Lease, counter: CounterId) -> Result<Value> {
    let mut shown = document(&LockRecord::of(lease, counter))?;
    for secret in ["holder_nonce", "created_boot", "renewed_boot", "format"] {
        shown.remove(secret);
    }
    Ok(Value::Object(shown))
}

fn acquire(context: &Context, name: Option<&str>, lease_ms: Option<u64>) -> Result<Report> {
    bounded(lease_ms)?;
    let repo = context.repo()?;
    let name = context.name(&repo, name)?;
    let path = |worktree: &Worktree| context.session_path(&repo, worktree);
    let (session, Granted { lease, counter, already_held }) =
        take_within(&repo, &name, &context.shell, &path, lease_ms, context.wait_for_lock())
            .map_err(|error| context.explained(&repo, &name, error))?;
    let verb = if already_held { "already held" } else { "locked" };
    let record = LockRecord::of(&lease, counter);
    let text = format!(
        "{verb} '{name}' until {} with token {}\nrenew it every {} ms; the session is in {}\n",
        record.lease_expires_at,
        record.fencing_token,
        record.renew_interval_ms,
        session.path.display()
    );
    let json = json!({
        "worktree": name, "lock": shown(&lease, counter)?, "already_held": already_held,
        "session_file": session.path,
    });
    Ok(Report::new(text, &json))
}

/// The lock of a worktree, and the session of this shell on it.
fn mine(context: &Context, repo: &Repo, worktree: &Worktree) -> Result<(Lock, Session)> {
    let session = context.needed_session(repo, worktree)?;
    Ok((Lock::of(repo, worktree)?, session))
}

fn renew(context: &Context, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    repo.on_lock(&worktree.worktree_id, || {
        let (lock, session) = mine(context, &repo, &worktree)?;
        let lease = lock.renew(&session).map_err(|error| match error.class() {
            Class::Io | Class::AuditChainBroken => {
                error.hint("the renewal is not safe on disk: stop writing now")
            }
            _ => error,
        })?;
        let counter = counter(&lock)?;
        let until = LockRecord::of(&lease, counter).lease_expires_at;
        let json = json!({ "worktree": worktree.name, "lock": shown(&lease, counter)? });
        Ok(Report::new(format!("renewed '{}' until {until}\n", worktree.name), &json))
    })
}

fn release(context: &Context, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    repo.on_lock(&worktree.worktree_id, || {
        let (lock, session) = mine(context, &repo, &worktree)?;
        let lease = lock.release(&session)?;
        session.forget(&repo.sys);
        let json = json!({
            "worktree": worktree.name, "lock_id": lease.id.to_string(), "fencing_token": lease.fence.get(),
        });
        Ok(Report::new(format!("released '{}'\n", worktree.name), &json))
    })
}

fn break_open(context: &Context, name: Option<&str>, reason: &str) -> Result<Report> {
    super::restore::is_a_reason(reason)?;
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let lease = repo.on_lock(&worktree.worktree_id, || Lock::of(&repo, &worktree)?.break_open(reason))?;
    let by = holder_of(&lease);
    let json = json!({
        "worktree": worktree.name, "lock_id": lease.id.to_string(), "fencing_token": lease.fence.get(),
        "holder_id": by, "reason": reason,
    });
    let text = format!("broke the lock of '{}', which {by} had with token {}\n", worktree.name, lease.fence);
    Ok(Report::new(text, &json))
}

fn counter(lock: &Lock) -> Result<CounterId> {
    lock.view()?.counter.ok_or_else(|| Error::new(Class::Io, "the lock has no counter"))
}

fn status(context: &Context, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    if worktree.isolation == Isolation::Shared {
        let json =
            json!({ "worktree": worktree.name, "isolation": "shared", "state": "shared", "lock": null });
        return Ok(Report::new(format!("'{}' is shared: it has no writer lock\n", worktree.name), &json));
    }
    let view = Lock::of(&repo, &worktree)?.view()?;
    let held = view.table.iter().next().zip(view.counter);
    let (state, text) = match held {
        None => ("free", format!("'{}' is free\n", worktree.name)),
        Some((lease, _)) => described(&worktree, lease, &view.now),
    };
    let remaining = held.and_then(|(lease, _)| match lease.standing(&view.now) {
        Standing::Live { left } => Some(left.get()),
        _ => None,
    });
    let mine = context.session(&repo, &worktree).ok().flatten();
    let mine = mine.zip(held).is_some_and(|(session, (lease, _))| session.lock_id == lease.id);
    let lock = held.map(|(lease, counter)| shown(lease, counter)).transpose()?;
    let json = json!({
        "worktree": worktree.name, "isolation": "exclusive", "state": state, "remaining_ms": remaining,
        "mine": mine, "lock": lock,
    });
    Ok(Report::new(text, &json))
}

fn described(worktree: &Worktree, lease: &Lease, now: &Stamp) -> (&'static str, String) {
    let (name, by, token) = (&worktree.name, holder_of(lease), lease.fence);
    match lease.standing(now) {
        Standing::Live { left } => {
            ("held", format!("'{name}' is locked by {by} with token {token}, {left} left\n"))
        }
        Standing::Lapsed { takeover_in, .. } => {
            ("expired", format!("the lease of {by} on '{name}' is over; it can be taken in {takeover_in}\n"))
        }
        Standing::Open { ago } => {
            ("stealable", format!("the lease of {by} on '{name}' ended {ago} ago; anybody may take it\n"))
        }
        Standing::Beating | Standing::Stale { .. } => ("held", format!("'{name}' is locked by {by}\n")),
    }
}
