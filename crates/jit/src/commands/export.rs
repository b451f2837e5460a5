//! `jit export`: issues as lines of JSON, each with everything that belongs to it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cli::Export;
use crate::context::Context;
use crate::output::Report;
use crate::output::pieces::listed;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issue, Issues, Scope, Seen, Set};
use holdfast_tracker::notes::{self, Note};
use holdfast_tracker::writes::{GateResult, deps_of, labels_of, results_of};

/// Issues with everything that belongs to them, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ExportOutput {
    /// The issues.
    pub issues: Vec<Exported>,
    /// How many.
    pub count: usize,
}

/// An issue with everything that belongs to it. It has no fence, which says something in this repository only.
#[derive(Serialize, JsonSchema)]
pub struct Exported {
    /// The issue.
    #[serde(flatten)]
    pub issue: Whole,
    /// What came of its gates, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gate_results: BTreeMap<String, GateResult>,
    /// What was noted on it, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

pub fn run(context: &Context, typed: &Export) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    let mut lines = Vec::new();
    if typed.ids.is_empty() {
        lines = all(context, &issues)?;
    }
    for id in &typed.ids {
        let id = issues.resolve(id)?;
        lines.push(line(&issues, (id, issues.read(id)?), sets(&issues, id)?, notes::of(&session, id)?)?);
    }
    if context.printer.is_json() {
        return Ok(Report::default().pieces(listed("issues", lines, 0)));
    }
    lines.iter_mut().for_each(|line| *line += "\n");
    Ok(Report::default().pieces(lines))
}

/// Every issue that can be read, with all that belongs to it.
fn all(context: &Context, issues: &Issues<'_>) -> Result<Vec<Clean>> {
    let mut noted = notes::all(issues.session())?;
    let (mut ids, mut lines) = (Vec::new(), Vec::new());
    let whole =
        |seen: &Seen<'_>| Some((seen.id, seen.whole().ok()?, members(&seen.labels), members(&seen.deps)));
    let (taken, problems) = issues.walk(Scope::All, None, whole, |(id, issue, labels, deps)| {
        ids.push(id);
        let notes = noted.remove(&id).unwrap_or_default();
        match line(issues, (id, issue), (labels, deps), notes) {
            Ok(line) => lines.push(line),
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    })?;
    problems.iter().for_each(|problem| context.printer.warn(problem));
    if let ControlFlow::Break(error) = taken {
        return Err(error);
    }
    if !problems.is_empty() {
        // An issue whose labels cannot be read is not one without labels.
        ids.into_iter().try_for_each(|id| sets(issues, id).map(drop))?;
    }
    Ok(lines)
}

/// The labels of an issue, and what it depends on.
type Members = (Vec<String>, Vec<String>);

fn members(set: &Set) -> Vec<String> {
    set.members().map(ToOwned::to_owned).collect()
}

fn sets(issues: &Issues<'_>, id: IssueId) -> Result<Members> {
    Ok((members(&labels_of(issues, id)?), members(&deps_of(issues, id)?)))
}

/// An issue with everything that belongs to it.
fn line(
    issues: &Issues<'_>,
    (id, issue): (IssueId, Issue),
    (labels, dependencies): Members,
    notes: Vec<Note>,
) -> Result<Clean> {
    let gate_results = results_of(issues, id, &issue.gates)?.0;
    let issue = Issue { fence: None, fence_log: None, ..issue };
    let issue = Whole { handle: None, issue, labels, dependencies };
    // As a value, so that a name which an issue has twice is written once.
    Ok(Clean::json(&json!(Exported { issue, gate_results, notes })))
}
