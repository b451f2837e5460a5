//! What programs are told, whichever door they ask at: one type for each answer, made in one place, so that `--json` and
//! HTTP cannot differ.

pub mod approvals;
pub mod board;
pub mod claims;
pub mod create;
pub mod gates;
pub mod leases;
pub mod list;
pub mod notes;
pub mod pools;
pub mod serve;
pub mod show;
pub mod update;
pub mod worktrees;

use crate::caller::Caller;
use crate::error::Result;
use crate::session::Session;
use crate::{land, writes};

/// A question, once whatever a landing or a change that was cut off left to do is done: that is for whoever comes next.
///
/// # Errors
/// When nobody has started tracking issues there, or git or the configuration stands in the way.
pub fn session(caller: &Caller) -> Result<Session> {
    let session = Session::open(caller)?;
    land::settle(&session)?;
    writes::complete_changes(&session)?;
    Ok(session)
}
