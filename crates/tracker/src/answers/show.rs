//! One issue with everything that is known of it.

use schemars::JsonSchema;
use serde::Serialize;

use super::leases::shown;
use crate::claims::lease::Shown;
use crate::config::Satisfied;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues, Layer, OnBranch, Scope, Standing, State, having};
use crate::land::landed_as;
use crate::notes::{self, Note};
use crate::queries::{Claimed, Reason};
use crate::writes::Draft;

/// The link to the commit that an issue landed with.
const COMMIT: &str = "commit";

/// An issue with what belongs to it, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ShowOutput {
    /// The issue.
    pub issue: Whole,
    /// Who holds it.
    pub lease: Option<Shown>,
    /// The ids of its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// What it waits for.
    pub blocked_by: Vec<Reason>,
    /// Where the copy that counts is.
    pub layer: Layer,
    /// How its work stands, if that is finished.
    pub standing: Standing,
    /// Every branch that has it finished and is not the target, the one that counts first.
    pub branches: Vec<OnBranch>,
    /// What was noted on it, the oldest first.
    pub notes: Vec<Note>,
}

/// An issue with its sets.
#[derive(Serialize, JsonSchema)]
pub struct Whole {
    /// What it is called where people read and type; not in an export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The issue itself.
    #[serde(flatten)]
    pub issue: Issue,
    /// Its labels.
    pub labels: Vec<String>,
    /// The ids of the issues that it depends on.
    pub dependencies: Vec<String>,
}

impl Whole {
    /// An issue as it was written.
    #[must_use]
    pub fn new(issues: &Issues<'_>, draft: &Draft) -> Self {
        Self {
            handle: Some(issues.handle(draft.id())),
            issue: draft.issue().clone(),
            labels: draft.labels(),
            dependencies: draft.dependencies(),
        }
    }
}

/// A dependency, as far as it is shown.
pub struct Dep {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// How its work stands.
    pub standing: Standing,
    /// Its state and title, if it is there.
    pub known: Option<(State, String)>,
    /// Whether it is a part of the issue.
    pub is_part: bool,
}

/// An issue that was looked at.
pub struct Looked {
    /// What programs are told.
    pub document: ShowOutput,
    /// What it depends on.
    pub deps: Vec<Dep>,
    /// Who holds what.
    pub claimed: Claimed,
}

/// Looks at an issue.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn look(issues: &Issues<'_>, id: IssueId) -> Result<Looked> {
    let session = issues.session();
    let claimed = Claimed::or_none(session)?;
    let (whole, layer, unsure, standing) = issues.see(id, Scope::All, |seen| {
        let list = |set: &crate::issues::Set| set.members().map(ToOwned::to_owned).collect();
        let (labels, dependencies) = (list(&seen.labels), list(&seen.deps));
        let handle = Some(issues.handle(id));
        let whole = seen.whole().map(|issue| Whole { handle, issue, labels, dependencies });
        (whole, seen.layer, seen.unsure, seen.standing.clone())
    })?;
    let mut whole = whole
        .map_err(|error| Error::Unreadable { issue: id.to_string(), problems: vec![error.to_string()] })?;
    if let Some((_, commit)) = landed_as(session, id, &standing).filter(|_| whole.issue.state == State::Done)
    {
        whole.issue.links.entry(COMMIT.to_owned()).or_insert(commit);
    }
    let deps = dependencies(issues, id, &whole.dependencies)?;
    let parts = deps.iter().filter(|dep| dep.is_part).map(|dep| dep.id.clone()).collect();
    let when = session.config().landing.dependencies;
    let blocked_by = blockers(&deps, when, unsure, &claimed);
    let notes = notes::of(session, id)?;
    // Those of a landed issue only have what the target has, too.
    let branches = match &standing {
        Standing::Landed | Standing::NotPushed => Vec::new(),
        _ => having(session, id),
    };
    let lease = claimed.lease(id).map(|lease| shown(issues, lease, &claimed.now));
    let document = ShowOutput { issue: whole, lease, parts, blocked_by, layer, standing, branches, notes };
    Ok(Looked { document, deps, claimed })
}

/// What is known of the issues that one depends on.
fn dependencies(issues: &Issues<'_>, whole: IssueId, ids: &[String]) -> Result<Vec<Dep>> {
    let known = ids.iter().filter_map(|id| IssueId::parse(id)).collect::<Vec<_>>();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let named = whole.to_string();
    let scan = issues.some(known, |seen| {
        let about = (seen.issue.state, seen.issue.title.to_string());
        let is_part = seen.issue.parent.as_deref() == Some(named.as_str());
        Some((seen.id.to_string(), about, is_part, seen.standing.clone()))
    })?;
    issues.warn(&scan.problems);
    let found = |id: &String| scan.found.iter().find(|(found, ..)| found == id);
    let dep = |id: &String| Dep {
        id: id.clone(),
        handle: IssueId::parse(id).map_or_else(|| id.clone(), |id| issues.handle(id)),
        known: found(id).map(|(_, about, ..)| about.clone()),
        is_part: found(id).is_some_and(|(_, _, is_part, _)| *is_part),
        standing: found(id).map_or(Standing::Open, |(.., standing)| standing.clone()),
    };
    Ok(ids.iter().map(dep).collect())
}

fn blockers(deps: &[Dep], when: Satisfied, unsure: bool, claimed: &Claimed) -> Vec<Reason> {
    let open = |dep: &Dep| {
        let blocks = |state: &State| !state.is_over() || !dep.standing.satisfies(when);
        let (state, title) = dep.known.as_ref().filter(|(state, _)| blocks(state))?;
        let holder = IssueId::parse(&dep.id).and_then(|id| claimed.holder(id));
        Some(Reason::Dependency {
            id: dep.id.clone(),
            handle: dep.handle.clone(),
            title: title.clone(),
            state: *state,
            standing: dep.standing.clone(),
            claimed_by: holder.map(ToOwned::to_owned),
        })
    };
    deps.iter().filter_map(open).chain(unsure.then_some(Reason::Dependencies)).collect()
}
