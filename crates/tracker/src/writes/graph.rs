//! Who waits for whom. Looks only at what can be reached, never at all issues.

use std::collections::BTreeSet;

use holdfast_sys::LockMode;

use super::members::deps_of;
use super::writer::{Changed, Writer};
use crate::error::WriteError;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::Issues;

/// What is done to an issue that is to wait.
const ADD: &str = "adding a dependency to";

impl Writer<'_> {
    /// Makes an issue wait for others, and says for which it did not wait before. Nobody adds another edge or
    /// deletes an issue meanwhile: two edges that are harmless each could close a circle together.
    ///
    /// # Errors
    /// When the caller may not, or a circle would be closed.
    pub fn depend(&self, from: IssueId, to: &[IssueId]) -> Result<Changed<Vec<String>>> {
        let mut graph = self.locks.graph()?;
        let _section = graph.enter(self.session.sys(), LockMode::Exclusive)?;
        self.may(from, ADD)?;
        for on in to {
            self.issues.base(*on)?;
            if let Some(path) = cycle_through(&self.issues, from, *on)? {
                let path = path.iter().map(ToString::to_string).collect();
                return Err(WriteError::Cycle { path }.into());
            }
        }
        self.change(from, ADD, |draft| {
            let mut added = Vec::new();
            for on in to.iter().map(ToString::to_string) {
                if draft.depend(&on, true)? {
                    added.push(on);
                }
            }
            Ok(added)
        })
    }
}

/// The way from `to` back to `from`, if there is one: with an edge from `from` to `to` it would be a circle.
/// Begins and ends with `from`.
///
/// # Errors
/// When dependencies on the way cannot be read.
pub fn cycle_through(issues: &Issues<'_>, from: IssueId, to: IssueId) -> Result<Option<Vec<IssueId>>> {
    let mut seen = BTreeSet::from([to]);
    let mut open = vec![vec![from, to]];
    while let Some(path) = open.pop() {
        let Some(last) = path.last().copied() else { continue };
        if last == from {
            return Ok(Some(path));
        }
        for next in next(issues, last)? {
            if next == from || seen.insert(next) {
                let mut path = path.clone();
                path.push(next);
                open.push(path);
            }
        }
    }
    Ok(None)
}

fn next(issues: &Issues<'_>, id: IssueId) -> Result<Vec<IssueId>> {
    Ok(deps_of(issues, id)?.members().filter_map(IssueId::parse).collect())
}

/// Those of these issues that are not out of the way. One that is not there blocks nobody.
///
/// # Errors
/// When one of them cannot be read.
pub(super) fn open_dependencies(issues: &Issues<'_>, ids: &[String]) -> Result<Vec<String>> {
    let mut open = Vec::new();
    for id in ids {
        let Some(known) = IssueId::parse(id) else { continue };
        match issues.is_satisfied(known) {
            Ok(true) => {}
            Ok(false) => open.push(id.clone()),
            Err(Error::NoIssue(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(open)
}
