//! An issue as its file has it. What this program does not know in such a file is kept as it is, so that
//! an older program loses nothing of a newer one.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Priority, State};
use crate::json;
use crate::merge::is_marked;

/// The narrowest of the default types.
pub(super) const TASK: &str = "task";

/// An issue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Its place in the hierarchy of types.
    #[serde(rename = "type", default = "task")]
    pub kind: String,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    #[serde(default)]
    pub priority: Priority,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What a merge left for a person to resolve: `description`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<String>,
    /// The id of the issue that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Who is meant to do it. Only a lease says who does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// The gates that must be passed before it is done.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gates: BTreeSet<String>,
    /// The documents that belong to it, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<String, Document>,
    /// The ids of issues that it has to do with.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub relates: BTreeSet<String>,
    /// The ids of issues that are about the same.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub duplicates: BTreeSet<String>,
    /// Where its work is to be seen, by what that is: a commit, a pull request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// When those copies were written that said it was over, and that it was taken back from.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reopened: BTreeSet<String>,
    /// What else programs keep here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Value>,
    /// When it was made.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// The fence of its last writer; none before the first guarded write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// The log that granted that fence: fences of two logs cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence_log: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// A document that belongs to an issue.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// When it was added.
    pub added_at: String,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

fn task() -> String {
    TASK.to_owned()
}

impl Issue {
    /// An issue that can be worked on, made at this moment.
    #[must_use]
    pub fn new(id: String, title: String, at: String) -> Self {
        Self {
            id,
            title,
            kind: task(),
            state: State::Ready,
            priority: Priority::Normal,
            description: None,
            conflict: None,
            parent: None,
            assignee: None,
            gates: BTreeSet::new(),
            documents: BTreeMap::new(),
            relates: BTreeSet::new(),
            duplicates: BTreeSet::new(),
            links: BTreeMap::new(),
            reopened: BTreeSet::new(),
            metadata: BTreeMap::new(),
            created_at: at.clone(),
            updated_at: at,
            fence: None,
            fence_log: None,
            rest: BTreeMap::new(),
        }
    }

    /// Gives it another description. One without marks resolves what a merge left.
    pub fn describe(&mut self, text: Option<String>) {
        self.description = text.filter(|text| !text.is_empty());
        if !self.description.as_deref().is_some_and(is_marked) {
            self.conflict = None;
        }
    }

    /// The bytes of its file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        json::file(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Issue;

    #[test]
    fn what_is_not_known_survives() {
        let text = r#"{"id":"1","title":"t","state":"ready","created_at":"a","updated_at":"b","later":{"x":[1]},
            "documents":{"a.md":{"added_at":"c","seen":true}}}"#;
        let issue: Issue = serde_json::from_str(text).unwrap();
        let again: serde_json::Value = serde_json::from_slice(&issue.bytes()).unwrap();
        assert_eq!(again["later"]["x"][0], 1);
        assert_eq!(again["documents"]["a.md"]["seen"], true);
        assert_eq!(again["type"], "task");
    }
}
