//! `jit export`: issues as lines of JSON, each with everything that belongs to it.

use std::collections::BTreeMap;

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cli::Export;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::answers::show::Whole;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issue, Issues, Set};
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
    let mut exported = Vec::new();
    if typed.ids.is_empty() {
        let listing = issues.all()?;
        let mut noted = notes::all(&session)?;
        listing.problems.iter().for_each(|problem| context.printer.warn(problem));
        for (id, issue) in &listing.issues {
            let notes = noted.remove(id).unwrap_or_default();
            exported.push(whole(&issues, *id, issue, notes)?);
        }
    }
    for id in &typed.ids {
        let id = issues.resolve(id)?;
        exported.push(whole(&issues, id, &issues.read(id)?, notes::of(&session, id)?)?);
    }
    // As values, so that a name which an issue has twice is written once.
    let lines: Vec<Clean> = exported.iter().map(|issue| Clean::json(&json!(issue))).collect();
    let text = Clean::join(&lines, "\n");
    let count = exported.len();
    Ok(Report::new(&text, &ExportOutput { issues: exported, count }).brief(text))
}

/// An issue with everything that belongs to it.
fn whole(issues: &Issues<'_>, id: IssueId, issue: &Issue, notes: Vec<Note>) -> Result<Exported> {
    let list = |set: &Set| set.members().map(ToOwned::to_owned).collect();
    let issue = Whole {
        handle: None,
        issue: Issue { fence: None, fence_log: None, ..issue.clone() },
        labels: list(&labels_of(issues, id)?),
        dependencies: list(&deps_of(issues, id)?),
    };
    Ok(Exported { gate_results: results_of(issues, id, &issue.issue.gates)?.0, issue, notes })
}
