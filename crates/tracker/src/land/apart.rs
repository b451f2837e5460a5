//! Beginning work in a worktree that is made for it. A worktree is named after the issue, so whoever is cut off and asks
//! again finds the one that it made. What nobody can begin in is left as it is, and another one is made.

use std::path::{Path, PathBuf};

use super::begin::{Begun, Branch, Wanted, start};
use crate::claims::Terms;
use crate::error::{Error, LandError, Result, WorktreeError};
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::session::Session;
use crate::take::{self, Patience};
use crate::worktrees;

/// How many worktrees an issue may have that nobody can begin in.
const MOST_PLACES: u32 = 20;

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
    let handle = Issues::new(session).handle(issue);
    let mut taken = PathBuf::new();
    for time in 1..=MOST_PLACES {
        let name = if time == 1 { handle.clone() } else { format!("{handle}.{time}") };
        let agent = Some(session.agent()?.id.clone());
        let place = worktrees::Wanted { name: name.clone(), agent, ..worktrees::Wanted::default() };
        let (root, is_new) = match worktrees::add_detached(session, &place) {
            Ok(made) => (made.root, true),
            Err(Error::Worktree(WorktreeError::Exists { path })) => (path, false),
            Err(error) => return Err(error),
        };
        taken.clone_from(&root);
        if !is_new && !is_usable(session, &root)? {
            continue;
        }
        let inside = worktrees::session_in(session, &root)?;
        let there = Wanted { issue: Some(issue), filter: wanted.filter, another: false, on: Branch::Fresh };
        match start(&inside, &there, terms, patience) {
            Ok(begun) => return Ok(Apart { root, session: inside, begun }),
            // What somebody left there is somebody's.
            Err(Error::Land(LandError::Busy { .. } | LandError::UnderWay { .. })) if !is_new => {}
            Err(error) => {
                if is_new {
                    // What cannot be taken away is in nobody's way.
                    let _ = worktrees::remove(session, &name, false);
                }
                return Err(error);
            }
        }
    }
    Err(WorktreeError::Exists { path: taken }.into())
}

/// Whether that is a worktree in which somebody can begin. Git, or something else, may have been killed while it made it.
fn is_usable(session: &Session, root: &Path) -> Result<bool> {
    let all = session.worktrees()?;
    Ok(all.iter().any(|entry| entry.root == root && !entry.gone && !entry.unfinished))
}
