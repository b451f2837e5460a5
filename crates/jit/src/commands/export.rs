//! `jit export`: issues as lines of JSON, each with everything that belongs to it.

use serde_json::{Value, json};

use crate::cli::Export;
use crate::context::Context;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issue, Issues};
use crate::output::Report;
use crate::workspace::Workspace;
use crate::writes::{deps_of, labels_of, results_of};

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &Export) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    let issues = Issues::new(context, &workspace);
    let mut exported = Vec::new();
    if typed.ids.is_empty() {
        let listing = issues.all()?;
        listing.problems.iter().for_each(|problem| context.printer.warn(problem));
        for (id, issue) in &listing.issues {
            exported.push(whole(&issues, *id, issue)?);
        }
    }
    for id in &typed.ids {
        let id = issues.resolve(id)?;
        exported.push(whole(&issues, id, &issues.read(id)?)?);
    }
    let text: Vec<_> = exported.iter().map(ToString::to_string).collect();
    let json = json!({ "issues": exported, "count": exported.len() });
    Ok(Report::new(text.join("\n"), &json).brief(text.join("\n")))
}

/// An issue with everything that belongs to it.
fn whole(issues: &Issues<'_>, id: IssueId, issue: &Issue) -> Result<Value> {
    let mut document = json!(issue);
    let (labels, deps) = (labels_of(issues, id)?, deps_of(issues, id)?);
    if let Some(fields) = document.as_object_mut() {
        // A fence says something in this repository only.
        fields.remove("fence");
        fields.remove("fence_log");
        fields.insert("labels".into(), json!(labels.members().collect::<Vec<_>>()));
        fields.insert("dependencies".into(), json!(deps.members().collect::<Vec<_>>()));
        let results = results_of(issues, id)?;
        if !results.0.is_empty() {
            fields.insert("gate_results".into(), json!(results.0));
        }
    }
    Ok(document)
}
