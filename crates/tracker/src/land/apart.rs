//! Beginning work in a worktree that is made for it. A worktree is named after the issue, so whoever is cut off and asks
//! again finds the one that it made.

use std::path::PathBuf;

use super::begin::{Begun, Wanted, start};
use crate::claims::Terms;
use crate::error::{Error, LandError, Result, WorktreeError};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::session::Session;
use crate::take::{self, Patience};
use crate::worktrees;

/// Work that was begun in a worktree of its own.
pub struct Apart {
    /// Where the worktree is.
    pub root: PathBuf,
    /// Whoever works there.
    pub session: Session,
    /// The work.
    pub begun: Begun,
}

/// Claims an issue and begins work on it in a worktree that is made for it.
///
/// # Errors
/// As [`start`], or when the worktree cannot be made. One that was made and is not needed is taken away.
pub fn start_apart(
    session: &Session,
    wanted: &Wanted<'_>,
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Apart> {
    if let Some(issue) = wanted.issue {
        return begin(session, wanted, issue, terms, patience);
    }
    take::within(session, patience, || {
        for issue in take::available(session, wanted.filter)? {
            match begin(session, wanted, issue, terms, None) {
                // Somebody else was faster, with its claim or with all of it.
                Err(Error::Refused(_) | Error::Land(LandError::Over { .. })) => {}
                begun => return begun,
            }
        }
        Err(Error::NothingAvailable)
    })
}

fn begin(
    session: &Session,
    wanted: &Wanted<'_>,
    issue: IssueId,
    terms: &Terms,
    patience: Option<&Patience<'_>>,
) -> Result<Apart> {
    let name = Issues::new(session).handle(issue);
    let agent = Some(session.agent()?.id.clone());
    let place = worktrees::Wanted { name: name.clone(), agent, ..worktrees::Wanted::default() };
    let (root, is_new) = match worktrees::add_detached(session, &place) {
        Ok(made) => (made.root, true),
        Err(Error::Worktree(WorktreeError::Exists { path })) => {
            let known = session.worktrees()?.into_iter().any(|entry| !entry.gone && entry.root == path);
            if !known {
                return Err(WorktreeError::Exists { path }.into());
            }
            (path, false)
        }
        Err(error) => return Err(error),
    };
    let inside = worktrees::session_in(session, &root)?;
    let there = Wanted { issue: Some(issue), filter: wanted.filter, another: false, here: false };
    match start(&inside, &there, terms, patience) {
        Ok(begun) => Ok(Apart { root, session: inside, begun }),
        Err(error) => {
            if is_new {
                // What cannot be taken away is in nobody's way.
                let _ = worktrees::remove(session, &name, false);
            }
            Err(error)
        }
    }
}
