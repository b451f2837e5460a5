//! From a claim to the branch that everybody builds on: beginning work, finishing it, giving it back. Every step can be
//! cut off and asked for again: it goes on where it was, and nothing is done twice.
//!
//! The word `done` and the work that it stands for become part of the target in one step, made while the lease is in
//! force: no crash leaves one without the other.

mod alive;
mod apart;
mod begin;
mod briefing;
mod candidate;
mod checkout;
mod checks;
mod finish;
mod follow;
mod gates;
mod give;
mod going;
mod left;
mod looked;
mod made;
mod moving;
mod over;
mod plumbing;
mod publish;
mod push;
mod reopen;
mod review;
mod started;
mod sync;
mod there;
mod turn;
mod under_way;
mod working;

use crate::error::{LandError, Result};
use crate::held;
use crate::held::own_lease;
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::session::Session;

pub use crate::held::held_here;
pub use apart::{Apart, start_apart};
pub use begin::{Begun, Branch, Wanted, go_to_branch, start};
pub use briefing::{Briefing, landed_as};
pub use finish::{Asked, How, ONTO, Outcome, finish, land};
pub use follow::settle;
pub use give::{Dropped, give_back};
pub use over::{close_over, is_held};
pub use push::{Pushed, push};
pub use reopen::{Decided, Ending, close, reopen};
pub use sync::{Synced, sync};

/// Asks the remote where its branches are; none if there is no remote. Says whether it answered.
fn fetch(session: &Session) -> Result<Option<bool>> {
    let Some(root) = session.root().filter(|_| session.repository().is_some()) else { return Ok(None) };
    let git = plumbing::Plumbing::new(session, root);
    if git.text(&["remote"])?.lines().all(|name| name != "origin") {
        return Ok(None);
    }
    git.fetch(&[]).map(Some)
}

/// The issue that the branch of this worktree was begun for.
fn begun(session: &Session, issues: &Issues<'_>) -> Result<Option<IssueId>> {
    let branch = session.branch()?.unwrap_or_default();
    let Some(name) = branch.strip_prefix("jit/") else { return Ok(None) };
    let handle = name.split('-').next().unwrap_or_default();
    Ok(issues.resolve(handle).ok())
}

/// The issue that was meant: the one that was typed, or the only one that is held in this worktree.
///
/// # Errors
/// When none is held, or several are and none was typed.
pub fn meant(session: &Session, typed: Option<&str>) -> Result<IssueId> {
    let issues = Issues::new(session);
    if let Some(typed) = typed {
        return issues.resolve(typed);
    }
    match held_here(session)?.as_slice() {
        // Whoever lost its claim is told of that, by the branch that it works on.
        [] => match begun(session, &issues)? {
            Some(lost) => Ok(lost),
            None => Err(LandError::NoClaim.into()),
        },
        [(only, _)] => Ok(*only),
        several => Err(held::several(session, several).into()),
    }
}
