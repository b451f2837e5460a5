//! `jvs snapshot`: publish the payload of a worktree. The lock is kept alive meanwhile.

use serde_json::json;

use crate::cli;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::lock::keeper::Keeper;
use crate::lock::session::Session;
use crate::output::Report;
use crate::payload::Progress;
use crate::publish::{Wanted, publish};
use crate::repo::Repo;
use crate::snapshot::Consistency;
use crate::worktree::{Isolation, Worktree};

/// The longest note, in bytes.
const LONGEST_NOTE: usize = 1_024;

/// Takes a snapshot.
pub(super) fn run(
    context: &Context,
    note: Option<&str>,
    consistency: cli::Consistency,
    name: Option<&str>,
) -> Result<Report> {
    if note.is_some_and(|note| note.len() > LONGEST_NOTE) {
        return Err(Error::usage(format!("a note has at most {LONGEST_NOTE} bytes")));
    }
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let session = held_session(context, &repo, &worktree)?;
    let consistency = match consistency {
        cli::Consistency::Quiesced => Consistency::Quiesced,
        cli::Consistency::BestEffort => Consistency::BestEffort,
    };
    let wanted = Wanted { note: note.map(ToOwned::to_owned), consistency, session: session.as_ref() };
    let progress = Progress::default();
    let work = || publish(&repo, &worktree, &wanted, &progress);
    let done =
        kept(&repo, &worktree, session.as_ref(), || context.printer.watch("copying", &progress, work))?;
    if done.skipped > 0 {
        let said = format!("{} pipes, sockets or devices are not in the snapshot", done.skipped);
        context.printer.warn(&said);
    }
    let token = done.fencing_token.map_or_else(|| "no token".to_owned(), |token| format!("token {token}"));
    let risk = done.risk.as_ref().map_or_else(String::new, |risk| format!(", risk {risk}"));
    let aside = match done.aside {
        true => format!(
            "somebody else holds the lock: the head stays; keep it with `jvs pin {}`\n",
            done.snapshot_id
        ),
        false => String::new(),
    };
    let text = format!(
        "{}\n{} files, {} bytes, {token}{risk}\nhash {}\n{aside}",
        done.snapshot_id, done.files, done.bytes, done.payload_root_hash
    );
    Ok(Report::new(text, &json!({ "snapshot": done, "is_head": !done.aside })))
}

/// The session of this shell; a shared worktree has none.
pub(super) fn held_session(context: &Context, repo: &Repo, worktree: &Worktree) -> Result<Option<Session>> {
    match worktree.isolation {
        Isolation::Shared => Ok(None),
        Isolation::Exclusive => context.session(repo, worktree),
    }
}

/// Does long work and renews the lock of the session meanwhile. Whether it is still held is decided where
/// the work becomes visible, not here.
pub(super) fn kept<T>(
    repo: &Repo,
    worktree: &Worktree,
    session: Option<&Session>,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let Some(session) = session else { return work() };
    let lock = Lock::of(repo, worktree)?;
    let view = lock.view()?;
    let length = view.table.get(session.lock_id).and_then(|lease| {
        let deadline = lease.deadline()?;
        Some(deadline.since(lease.last_sign()).forward().get())
    });
    let every = repo.config.policy.renew_interval(length.unwrap_or(repo.config.policy.lease_duration_ms));
    let keeper = Keeper::start(lock, session.clone(), every, |_| {});
    let done = work();
    // A lost lock is what the work itself was refused for; if it went through, it was held at that moment.
    let _ = keeper.stop();
    done
}
