//! An issue in a list, as programs read it.

use schemars::JsonSchema;
use serde::Serialize;

use super::Claimed;
use super::board::Reason;
use crate::issues::{Issues, Outline, Seen, Standing};

/// An issue in a list.
#[derive(Serialize, JsonSchema)]
pub struct Item<'a> {
    /// What it is called where people read and type.
    pub handle: String,
    /// The issue itself.
    #[serde(flatten)]
    pub issue: &'a Outline<'a>,
    /// Its labels.
    pub labels: Vec<&'a str>,
    /// The ids of the issues that it depends on.
    pub dependencies: Vec<&'a str>,
    /// How its work stands, if that is finished.
    #[serde(skip_serializing_if = "is_open")]
    pub standing: &'a Standing,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<&'a str>,
    /// What it waits for; only where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<Vec<Reason>>,
}

impl<'a> Item<'a> {
    /// The issue as it is seen.
    #[must_use]
    pub fn new(issues: &Issues<'_>, seen: &'a Seen<'a>, claimed: &'a Claimed) -> Self {
        Self {
            handle: issues.handle(seen.id),
            issue: &seen.issue,
            labels: seen.labels.members().collect(),
            dependencies: seen.deps.members().collect(),
            standing: &seen.standing,
            claimed_by: claimed.holder(seen.id),
            blocked_by: None,
        }
    }
}

const fn is_open(standing: &&Standing) -> bool {
    matches!(standing, Standing::Open)
}

/// Issues, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct IssueListOutput<'a> {
    /// The issues.
    pub issues: Vec<Item<'a>>,
    /// How many.
    pub count: usize,
    /// How many more there are, if some were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
}
