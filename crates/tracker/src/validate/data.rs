//! What can be wrong with issues, their sets, their dependencies and their gates.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::gates::Registry;
use crate::ids::IssueId;
use crate::issues::{Issues, Layer, Scope, Standing, State};
use crate::session::Session;
use crate::writes::results_of;

use super::Check;

/// What has to be known of an issue.
struct Entry {
    id: IssueId,
    kind: String,
    state: State,
    gates: BTreeSet<String>,
    deps: Vec<String>,
    conflict: Option<String>,
    title: String,
    standing: Standing,
    /// Where the copy is that counts.
    layer: Layer,
}

/// Looks at everything that is versioned.
pub(super) fn checks(session: &Session) -> Result<Vec<Check>> {
    let issues = Issues::new(session);
    let scan = issues.scan(Scope::All, |seen| {
        Some(Entry {
            id: seen.id,
            kind: seen.issue.kind.to_string(),
            state: seen.issue.state,
            gates: seen.issue.gates.clone(),
            deps: seen.deps.members().map(ToOwned::to_owned).collect(),
            conflict: seen.issue.conflict.as_deref().map(ToOwned::to_owned),
            title: seen.issue.title.to_string(),
            standing: seen.standing.clone(),
            layer: seen.layer,
        })
    })?;
    let (sets, mut known): (Vec<_>, Vec<_>) = scan.problems.into_iter().partition(|why| why.contains(SET));
    let types: BTreeSet<&str> = session.config().types.hierarchy.iter().map(String::as_str).collect();
    for Entry { id, kind, .. } in scan.found.iter().filter(|entry| !types.contains(entry.kind.as_str())) {
        known.push(format!("{id} has the type '{kind}', which types.hierarchy does not have"));
    }
    for Entry { id, conflict, .. } in &scan.found {
        if let Some(what) = conflict {
            let handle = issues.handle(*id);
            known.push(format!(
                "the {what} of {handle} has two versions of some lines: jit edit {handle} resolves it"
            ));
        }
    }
    let gates = gates(session, &issues, &scan.found);
    let landing = scan.found.iter().filter_map(|entry| not_landed(&issues, entry)).collect();
    let data = Data { deps: scan.found.into_iter().map(|entry| (entry.id, entry.deps)).collect() };
    Ok(vec![
        Check::new("issues", known),
        Check::new("sets", sets),
        Check::new("dependencies", data.dependencies()),
        Check::new("gates", gates),
        Check::noted("landing", landing),
    ])
}

/// What is left to do for finished work that the target does not have. That is nobody's mistake: it may wait for a review.
fn not_landed(issues: &Issues<'_>, Entry { id, state, title, standing, .. }: &Entry) -> Option<String> {
    let words = standing.words()?;
    let handle = issues.handle(*id);
    let next = match standing {
        Standing::OnBranch { .. } => format!(": jit land {handle}"),
        Standing::NotPushed => ": git push".to_owned(),
        Standing::NotCommitted => format!(": jit finish {handle}, or git commit"),
        Standing::Lost => format!(": jit start {handle}"),
        Standing::Open | Standing::Landed => return None,
    };
    Some(format!("{handle} '{title}' is {state}, {words}{next}"))
}

/// What the names of all files end in that a set is kept in.
const SET: &str = ".or-set.jsonl";

struct Data {
    deps: BTreeMap<IssueId, Vec<String>>,
}

impl Data {
    fn dependencies(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (id, deps) in &self.deps {
            for on in deps {
                if IssueId::parse(on).is_none_or(|on| !self.deps.contains_key(&on)) {
                    problems.push(format!("{id} depends on {on}, which is not there: jit dep rm {id} {on}"));
                }
            }
        }
        problems.extend(self.cycles().iter().map(|path| format!("a cycle: {}", path.join(" -> "))));
        problems
    }

    /// Circles, each told once. Whatever can be peeled off from the leaves is in none.
    fn cycles(&self) -> Vec<Vec<String>> {
        let mut waits: BTreeMap<IssueId, BTreeSet<IssueId>> = BTreeMap::new();
        for (id, deps) in &self.deps {
            let known = deps.iter().filter_map(|on| IssueId::parse(on));
            waits.insert(*id, known.filter(|on| self.deps.contains_key(on)).collect());
        }
        peel(&mut waits);
        let mut cycles = Vec::new();
        while let Some(start) = waits.keys().next().copied() {
            let circle = circle(&waits, start);
            for id in &circle {
                waits.remove(id);
            }
            waits.values_mut().for_each(|on| on.retain(|id| !circle.contains(id)));
            peel(&mut waits);
            cycles.push(circle.iter().chain(circle.first()).map(ToString::to_string).collect());
        }
        cycles
    }
}

/// Removes whatever waits for nothing, until everything waits.
fn peel(waits: &mut BTreeMap<IssueId, BTreeSet<IssueId>>) {
    let mut dependents: BTreeMap<IssueId, Vec<IssueId>> = BTreeMap::new();
    for (id, on) in waits.iter() {
        on.iter().for_each(|on| dependents.entry(*on).or_default().push(*id));
    }
    let mut free: Vec<IssueId> = waits.iter().filter(|(_, on)| on.is_empty()).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        waits.remove(&id);
        for dependent in dependents.remove(&id).unwrap_or_default() {
            if let Some(on) = waits.get_mut(&dependent) {
                on.remove(&id);
                if on.is_empty() {
                    free.push(dependent);
                }
            }
        }
    }
}

/// A circle that can be reached from here: where everything waits, any way leads into one.
fn circle(waits: &BTreeMap<IssueId, BTreeSet<IssueId>>, start: IssueId) -> Vec<IssueId> {
    let mut way = vec![start];
    let mut places = BTreeMap::from([(start, 0)]);
    while let Some(next) = way.last().and_then(|last| waits.get(last)).and_then(BTreeSet::first).copied() {
        if let Some(at) = places.get(&next) {
            return way.split_off(*at);
        }
        places.insert(next, way.len());
        way.push(next);
    }
    way
}

fn gates(session: &Session, issues: &Issues<'_>, all: &[Entry]) -> Vec<String> {
    let registry = match Registry::load(session) {
        Ok(registry) => registry,
        Err(error) => return vec![text(&error)],
    };
    let mut problems = Vec::new();
    for issue in all.iter().filter(|issue| !issue.gates.is_empty()) {
        let id = issue.id;
        let unknown = issue.gates.iter().filter(|key| !registry.gates.contains_key(*key));
        problems.extend(unknown.map(|key| format!("{id} has the gate '{key}', which is not defined")));
        match results_of(issues, id, &issue.gates) {
            Err(error) => problems.push(text(&error)),
            // What this worktree has not followed yet came to the target together with its judgements.
            Ok(_) if matches!(issue.layer, Layer::Target | Layer::Remote) => {}
            Ok(results) if issue.state == State::Done => {
                let open = issue.gates.iter().filter(|key| !results.passed(key));
                problems.extend(open.map(|key| format!("{id} is done, but its gate '{key}' is open")));
            }
            Ok(_) => {}
        }
    }
    problems
}

fn text(error: &Error) -> String {
    let causes = error.causes().into_iter().map(|cause| format!(": {cause}"));
    format!("{error}{}", causes.collect::<String>())
}
