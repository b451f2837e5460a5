//! Making an issue. Its id is its own, so this needs no claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::show::Whole;
use crate::claims::lease::Shown;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::gates::Registry;
use crate::issues::{Issue, Issues, Priority, typed as word};
use crate::session::Session;
use crate::writes::{self, Fresh, Results, Writer};

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

/// What an issue is made from.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewIssue {
    /// What it is about.
    pub title: String,
    /// What there is to say about it.
    pub description: Option<String>,
    /// `critical`, `high`, `normal` or `low`; `normal` if not given.
    pub priority: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// A type of the hierarchy; the narrowest if not given.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The gates that must be passed before it is done.
    pub gates: Vec<String>,
    /// The issues that must be done first.
    pub depends_on: Vec<String>,
}

impl NewIssue {
    /// The issue, checked.
    ///
    /// # Errors
    /// When it cannot be like that, or something that it names is not there.
    pub fn fresh(&self, session: &Session) -> Result<Fresh> {
        let title = writes::title(&self.title)?;
        let description = self.description.as_deref().map(writes::description).transpose()?;
        let labels = self.labels.iter().map(|text| writes::label(text)).collect::<Result<_>>()?;
        let kind = kind(session.config(), self.kind.as_deref())?;
        let priority = self.priority.as_deref().map(|text| word("--priority", text)).transpose()?;
        let priority: Priority = priority.unwrap_or_default();
        let gates = Registry::known(session, &self.gates)?;
        let issues = Issues::new(session);
        let dependencies = self.depends_on.iter().map(|id| issues.resolve(id)).collect::<Result<Vec<_>>>()?;
        let description = description.filter(|text| !text.is_empty());
        let issue = Issue { priority, description, kind, gates, ..writes::blank(session.sys(), title)? };
        Ok(Fresh { issue, labels, dependencies, results: Results::default() })
    }
}

/// Makes an issue.
///
/// # Errors
/// What went wrong.
pub fn create(session: &Session, new: &NewIssue) -> Result<CreateOutput> {
    let writer = Writer::open(session)?;
    let draft = writer.create(new.fresh(session)?)?;
    Ok(CreateOutput { issue: Whole::new(&writer.issues, &draft), lease: None, already_held: None })
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
