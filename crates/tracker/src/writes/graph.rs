//! Who waits for whom. Looks only at what can be reached, never at all issues.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_sys::LockMode;

use super::draft::Draft;
use super::members::deps_of;
use super::writer::{Changed, Writer};
use crate::error::WriteError;
use crate::error::{Error, Result};
use crate::ids::{IssueId, Typed};
use crate::issues::Issues;

/// What is done to an issue that is to wait.
const ADD: &str = "adding a dependency to";

/// What is done to an issue that no longer waits.
const REMOVE: &str = "removing a dependency from";

impl Writer<'_> {
    /// Makes issues wait for others, and says of each for which it did not wait before. Nobody adds another edge or
    /// deletes an issue meanwhile: two edges that are harmless each could close a circle together. Those that are added
    /// here cannot: if one way back leads over two of them, there is a shorter one over each.
    ///
    /// # Errors
    /// When the caller may not, or a circle would be closed; nothing was changed then.
    pub fn depend(&self, from: &[IssueId], to: &[IssueId]) -> Result<Vec<Changed<Vec<String>>>> {
        let mut graph = self.locks.graph()?;
        let _section = graph.enter(self.session.sys(), LockMode::Exclusive)?;
        from.iter().try_for_each(|id| self.may(*id, ADD))?;
        for on in to {
            self.issues.base(*on)?;
            for id in from {
                if let Some(path) = cycle_through(&self.issues, *id, *on)? {
                    let path = path.iter().map(ToString::to_string).collect();
                    return Err(WriteError::Cycle { path }.into());
                }
            }
        }
        self.change_deps(from, ADD, |draft| {
            let mut added = Vec::new();
            for on in to.iter().map(ToString::to_string) {
                if draft.depend(&on, true)? {
                    added.push(on);
                }
            }
            Ok(added)
        })
    }

    /// Makes issues no longer wait for others, and says of each for which it waited before; also for issues that are not
    /// there any more.
    ///
    /// # Errors
    /// When the caller may not, or what was typed may mean several of those that one waits for.
    pub fn undepend(&self, from: &[IssueId], to: &[Typed]) -> Result<Vec<Changed<Vec<String>>>> {
        if from.len() > 1 {
            from.iter().try_for_each(|id| self.may(*id, REMOVE))?;
        }
        self.change_deps(from, REMOVE, |draft| {
            let known: Vec<IssueId> =
                draft.dependencies().iter().filter_map(|id| IssueId::parse(id)).collect();
            let mut removed = Vec::new();
            for typed in to {
                let meant = typed.only(known.iter().copied())?;
                if let Some(on) = meant.map(|id| id.to_string())
                    && draft.depend(&on, false)?
                {
                    removed.push(on);
                }
            }
            Ok(removed)
        })
    }

    fn change_deps(
        &self,
        from: &[IssueId],
        what: &'static str,
        act: impl Fn(&mut Draft) -> Result<Vec<String>>,
    ) -> Result<Vec<Changed<Vec<String>>>> {
        let mut values = BTreeMap::new();
        let changed = self.change_all(from, what, |draft| {
            // It may be found out more than once; the last time counts.
            values.insert(draft.id(), act(draft)?);
            Ok(())
        })?;
        let with_value = |one: Changed<()>| {
            let value = values.remove(&one.draft.id()).unwrap_or_default();
            Changed { draft: one.draft, written: one.written, value }
        };
        Ok(changed.into_iter().map(with_value).collect())
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
