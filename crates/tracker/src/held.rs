//! What whoever asks holds in this worktree.

use holdfast_kernel::{Lease, Standing};

use crate::claims::resource;
use crate::error::{LandError, Result, WriteError};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::session::Session;

/// The claims that whoever asks holds in this worktree, by issue.
///
/// # Errors
/// When they cannot be read, or nobody says who asks.
pub fn held_here(session: &Session) -> Result<Vec<(IssueId, Lease)>> {
    let view = session.claims().view()?;
    let holder = session.holder()?;
    let lives = |lease: &&Lease| {
        let standing = lease.standing(&view.now);
        lease.holder == *holder && matches!(standing, Standing::Live { .. } | Standing::Beating)
    };
    let mine = view.table.iter().filter(lives);
    let mut held: Vec<(IssueId, Lease)> =
        mine.filter_map(|lease| Some((IssueId::of(&lease.resource)?, lease.clone()))).collect();
    held.sort_by_key(|(id, _)| *id);
    Ok(held)
}

/// The lease on an issue that is held here.
///
/// # Errors
/// When it is not held here, or the claims cannot be read.
pub fn own_lease(session: &Session, id: IssueId, what: &'static str) -> Result<Lease> {
    if let Some((_, lease)) = held_here(session)?.into_iter().find(|(held, _)| *held == id) {
        return Ok(lease);
    }
    let view = session.claims().view()?;
    let held = view.table.on(&resource(id)?).find(|lease| !lease.standing(&view.now).is_over());
    let held = held.cloned().map(Box::new);
    Err(WriteError::LeaseRequired { what, issue: id.to_string(), held }.into())
}

/// That several issues are held here, and none was named.
pub(crate) fn several(session: &Session, held: &[(IssueId, Lease)]) -> LandError {
    let issues = Issues::new(session);
    LandError::SeveralClaims(held.iter().map(|(id, _)| issues.handle(*id)).collect())
}
