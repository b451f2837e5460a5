//! An issue as far as lists have to know it. It is borrowed from the issue's files, or from what is remembered of them.

use super::seen::Seen;
use super::standing::Standing;
use super::state::{Priority, State};
use crate::ids::IssueId;

/// An issue as far as lists have to know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glance<'a> {
    /// Its id.
    pub id: IssueId,
    /// What it is about.
    pub title: &'a str,
    /// Its place in the hierarchy of types.
    pub kind: &'a str,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// What a merge left for a person to resolve.
    pub conflict: Option<&'a str>,
    /// The id of the issue that it is a part of.
    pub parent: Option<&'a str>,
    /// Who is meant to do it.
    pub assignee: Option<&'a str>,
    /// The gates that must be passed before it is done, in their order.
    pub gates: Vec<&'a str>,
    /// When it was made.
    pub created_at: &'a str,
    /// When it was last changed.
    pub updated_at: &'a str,
    /// The fence of its last writer.
    pub fence: Option<u64>,
    /// The log that granted that fence.
    pub fence_log: Option<&'a str>,
    /// Its labels, in their order.
    pub labels: Vec<&'a str>,
    /// The ids of the issues that it depends on, in their order.
    pub deps: Vec<&'a str>,
    /// Whether it may depend on more than can be read.
    pub unsure: bool,
    /// How its work stands, if that is finished.
    pub standing: Standing,
}

impl Seen<'_> {
    /// As much of it as lists have to know.
    #[must_use]
    pub fn glance(&self) -> Glance<'_> {
        let issue = &self.issue;
        Glance {
            id: self.id,
            title: &issue.title,
            kind: &issue.kind,
            state: issue.state,
            priority: issue.priority,
            conflict: issue.conflict.as_deref(),
            parent: issue.parent.as_deref(),
            assignee: issue.assignee.as_deref(),
            gates: issue.gates.iter().map(String::as_str).collect(),
            created_at: &issue.created_at,
            updated_at: &issue.updated_at,
            fence: issue.fence,
            fence_log: issue.fence_log.as_deref(),
            labels: self.labels.members().collect(),
            deps: self.deps.members().collect(),
            unsure: self.unsure,
            standing: self.standing.clone(),
        }
    }
}

impl Glance<'_> {
    /// Whether it has a label.
    #[must_use]
    pub fn is_labelled(&self, label: &str) -> bool {
        self.labels.binary_search(&label).is_ok()
    }
}
