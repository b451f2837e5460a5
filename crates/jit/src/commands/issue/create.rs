//! `jit issue create`. A fresh issue's id is its own, so this needs no claim.

use schemars::JsonSchema;
use serde::Serialize;

use super::show::Whole;
use crate::claims::lease::Shown;
use crate::cli::CreateIssue;
use crate::config::Config;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::gates::Registry;
use crate::issues::{Issue, typed as word};
use crate::output::Report;
use crate::workspace::Workspace;
use crate::writes::{self, Draft, Fresh, Results, Writer};

/// An issue that was made, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The issue.
    pub issue: Whole,
    /// The claim on it, if it was claimed at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Shown>,
    /// Whether the claim was there already; only with a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_held: Option<bool>,
}

pub(super) fn run(context: &Context, workspace: &Workspace, typed: &CreateIssue) -> Result<Report> {
    let draft = create(context, workspace, typed)?;
    let issue = draft.issue();
    let text = format!("created {}: {}\n", issue.id, issue.title);
    let document = Document { issue: Whole::from(&draft), lease: None, already_held: None };
    Ok(Report::new(text, &document).brief(&issue.id))
}

/// Creates an issue.
///
/// # Errors
/// When it cannot be written, or something that it names is not there.
pub fn create(context: &Context, workspace: &Workspace, typed: &CreateIssue) -> Result<Draft> {
    let title = writes::title(&typed.title)?;
    let description = typed.description.as_deref().map(writes::description).transpose()?;
    let labels = typed.labels.iter().map(|text| writes::label(text)).collect::<Result<_>>()?;
    let kind = kind(&workspace.config, typed.kind.as_deref())?;
    let priority = word("--priority", &typed.priority)?;
    let gates = Registry::known(context, workspace, &typed.gates)?;
    let writer = Writer::open(context, workspace)?;
    let dependencies =
        typed.depends_on.iter().map(|id| writer.issues.resolve(id)).collect::<Result<Vec<_>>>()?;
    let description = description.filter(|text| !text.is_empty());
    let issue = Issue { priority, description, kind, gates, ..writer.blank(title)? };
    writer.create(Fresh { issue, labels, dependencies, results: Results::default() })
}

/// The type that was typed, or the narrowest there is.
pub(super) fn kind(config: &Config, typed: Option<&str>) -> Result<String> {
    let known = &config.types.hierarchy;
    let Some(given) = typed else {
        return Ok(known.last().cloned().unwrap_or_else(|| "task".to_owned()));
    };
    if known.iter().any(|kind| kind == given) {
        return Ok(given.to_owned());
    }
    Err(Error::BadValue {
        what: "--type",
        given: given.to_owned(),
        why: format!("it is one of {}", known.join(", ")),
    })
}
