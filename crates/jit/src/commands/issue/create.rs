//! `jit issue create`. A fresh issue's id is its own, so this needs no claim.

use schemars::JsonSchema;
use serde::Serialize;

use super::show::Whole;
use crate::cli::CreateIssue;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::Shown;
use holdfast_tracker::config::Config;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::gates::Registry;
use holdfast_tracker::issues::{Issue, Issues, typed as word};
use holdfast_tracker::writes::{self, Fresh, Results, Writer};

/// An issue that was made, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct CreateOutput {
    /// The issue.
    pub issue: Whole,
    /// The claim on it, if it was claimed at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Shown>,
    /// Whether the claim was there already; only with a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_held: Option<bool>,
}

pub(super) fn run(session: &Session, typed: &CreateIssue) -> Result<Report> {
    let writer = Writer::open(session)?;
    let draft = writer.create(fresh(session, typed)?)?;
    let issue = Whole::new(&writer.issues, &draft);
    let handle = issue.handle.as_deref().unwrap_or_default();
    let text = format!("created {handle}: {}\n", issue.issue.title);
    let document = CreateOutput { issue, lease: None, already_held: None };
    Ok(Report::new(text, &document).brief(draft.id().to_string()))
}

/// The issue that was typed.
///
/// # Errors
/// When it cannot be like that, or something that it names is not there.
pub fn fresh(session: &Session, typed: &CreateIssue) -> Result<Fresh> {
    let title = typed.about.as_deref().or(typed.title.as_deref()).unwrap_or_default();
    let title = writes::title(title)?;
    let description = super::description(typed.description.as_deref())?;
    let labels = typed.labels.iter().map(|text| writes::label(text)).collect::<Result<_>>()?;
    let kind = kind(session.config(), typed.kind.as_deref())?;
    let priority = word("--priority", &typed.priority)?;
    let gates = Registry::known(session, &typed.gates)?;
    let issues = Issues::new(session);
    let dependencies = typed.depends_on.iter().map(|id| issues.resolve(id)).collect::<Result<Vec<_>>>()?;
    let description = description.filter(|text| !text.is_empty());
    let issue = Issue { priority, description, kind, gates, ..writes::blank(session.sys(), title)? };
    Ok(Fresh { issue, labels, dependencies, results: Results::default() })
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
        why: format!("expected one of {}", known.join(", ")),
    })
}
