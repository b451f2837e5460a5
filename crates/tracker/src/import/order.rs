//! In which order issues are imported: what is depended on comes first. A circle is refused, unless an edge of
//! it only says where something belongs; that one is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::item::Item;
use crate::error::{Result, WriteError};
use crate::ids::IssueId;
use crate::issues::State;
use crate::writes::{Writer, deps_of};

/// Leaves out what depends on issues that are neither imported nor here, and says so.
pub(super) fn drop_dangling(writer: &Writer<'_>, items: &mut BTreeMap<IssueId, Item>) -> Result<Vec<String>> {
    let imported: BTreeSet<IssueId> = items.keys().copied().collect();
    let mut notes = Vec::new();
    for item in items.values_mut() {
        for on in item.dependencies.clone() {
            if !imported.contains(&on) && !writer.exists(on)? {
                item.dependencies.remove(&on);
                notes.push(format!("{} depends on {on}, which is not there: left out", item.issue.id));
            }
        }
    }
    Ok(notes)
}

/// Leaves out what finished issues depend on and what is not over: a finished issue waits for nothing. Says so.
pub(super) fn drop_open(writer: &Writer<'_>, items: &mut BTreeMap<IssueId, Item>) -> Result<Vec<String>> {
    let states: BTreeMap<IssueId, State> = items.iter().map(|(id, item)| (*id, item.issue.state)).collect();
    let mut notes = Vec::new();
    for item in items.values_mut().filter(|item| matches!(item.issue.state, State::Done | State::Gated)) {
        for on in item.dependencies.clone() {
            let state =
                states.get(&on).map_or_else(|| writer.issues.base(on).map(|it| it.state), |it| Ok(*it))?;
            if !state.is_over() {
                item.dependencies.remove(&on);
                let (issue, finished) = (&item.issue.id, item.issue.state);
                notes.push(format!(
                    "{issue} is {finished}, but {on}, which it depends on, is {state}: left out"
                ));
            }
        }
    }
    Ok(notes)
}

/// A step of the way down.
struct Step {
    id: IssueId,
    left: Vec<IssueId>,
}

/// The issues in an order in which each comes after what it depends on, and what had to be left out for it.
pub(super) fn sequence(
    writer: &Writer<'_>,
    items: &mut BTreeMap<IssueId, Item>,
) -> Result<(Vec<IssueId>, Vec<String>)> {
    let mut order = Vec::new();
    let mut notes = Vec::new();
    let mut done = BTreeSet::new();
    for start in items.keys().copied().collect::<Vec<_>>() {
        let mut way: Vec<Step> = Vec::new();
        if !done.contains(&start) {
            way.push(step(writer, items, start)?);
        }
        while let Some(last) = way.last_mut() {
            let (id, next) = (last.id, last.left.pop());
            match next {
                None => {
                    way.pop();
                    done.insert(id);
                    order.push(id);
                }
                Some(next) if done.contains(&next) => {}
                Some(next) => match way.iter().position(|step| step.id == next) {
                    None => way.push(step(writer, items, next)?),
                    Some(at) => notes.push(broken(&way, at, items)?),
                },
            }
        }
    }
    Ok((order, notes))
}

fn step(writer: &Writer<'_>, items: &BTreeMap<IssueId, Item>, id: IssueId) -> Result<Step> {
    let left = match items.get(&id) {
        Some(item) => item.dependencies.iter().copied().collect(),
        None => deps_of(&writer.issues, id)?.members().filter_map(IssueId::parse).collect(),
    };
    Ok(Step { id, left })
}

/// The issues in steps: what is in one depends only on what is in earlier ones, or here already.
pub(super) fn steps(items: &BTreeMap<IssueId, Item>, sequence: &[IssueId]) -> Vec<Vec<IssueId>> {
    let mut depths: BTreeMap<IssueId, usize> = BTreeMap::new();
    let mut steps: Vec<Vec<IssueId>> = Vec::new();
    for (id, item) in sequence.iter().filter_map(|id| Some((id, items.get(id)?))) {
        let below = item.dependencies.iter().filter_map(|on| depths.get(on)).max();
        let depth = below.map_or(0, |below| below + 1);
        depths.insert(*id, depth);
        if steps.len() <= depth {
            steps.resize_with(depth + 1, Vec::new);
        }
        steps.get_mut(depth).into_iter().for_each(|step| step.push(*id));
    }
    steps
}

/// Leaves the last edge of a circle out, if it can be; otherwise the circle is the error.
fn broken(way: &[Step], at: usize, items: &mut BTreeMap<IssueId, Item>) -> Result<String> {
    let circle: Vec<IssueId> = way.iter().skip(at).map(|step| step.id).collect();
    let (Some(first), Some(last)) = (circle.first(), circle.last()) else { return Ok(String::new()) };
    if let Some(item) = items.get_mut(last)
        && item.soft.contains(first)
    {
        item.dependencies.remove(first);
        return Ok(format!("{last} belongs to a circle with {first}: it does not wait for it"));
    }
    let path = circle.iter().chain([first]).map(ToString::to_string).collect();
    Err(WriteError::Cycle { path }.into())
}
