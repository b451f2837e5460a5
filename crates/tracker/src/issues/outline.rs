//! An issue as far as lists, graphs and searches need it, borrowed from the bytes of its file. It accepts
//! exactly what [`super::Issue`] accepts, so that no command shows what another one refuses.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Document, Priority, State};

/// A text that is borrowed where its file has it without escapes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// An issue, borrowed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outline<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// What it is about.
    #[serde(borrow)]
    pub title: Text<'a>,
    /// Its place in the hierarchy of types.
    #[serde(rename = "type", borrow, default = "task")]
    pub kind: Text<'a>,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    #[serde(default)]
    pub priority: Priority,
    /// What there is to say about it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// What a merge left for a person to resolve: `description`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Text<'a>>,
    /// The id of the issue that it is a part of.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Text<'a>>,
    /// Who is meant to do it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Text<'a>>,
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
    /// Where its work is to be seen, by what that is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// When those copies were written that said it was over, and that it was taken back from.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reopened: BTreeSet<String>,
    /// What else programs keep here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Value>,
    /// When it was made.
    #[serde(borrow)]
    pub created_at: Text<'a>,
    /// When it was last changed.
    #[serde(borrow)]
    pub updated_at: Text<'a>,
    /// The fence of its last writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// The log that granted that fence.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub fence_log: Option<Text<'a>>,
}

const fn task<'a>() -> Text<'a> {
    Text(Cow::Borrowed(super::issue::TASK))
}

#[cfg(test)]
mod tests {
    use super::Outline;
    use crate::issues::Issue;

    const WHOLE: &str = r#"{"id":"1","title":"a \"b\"","type":"epic","state":"in-progress","priority":"high",
        "description":"d","assignee":"agent:a","gates":["g"],"documents":{"a.md":{"added_at":"c"}},
        "reopened":["a"],"metadata":{"k":[1]},"created_at":"a","updated_at":"b","fence":7,"fence_log":"L"}"#;

    #[test]
    fn it_says_the_same_as_the_whole_issue() {
        for text in [WHOLE, r#"{"id":"1","title":"t","state":"ready","created_at":"a","updated_at":"b"}"#] {
            let outline: Outline<'_> = serde_json::from_str(text).unwrap();
            let issue: Issue = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_value(outline).unwrap(), serde_json::to_value(issue).unwrap());
        }
    }

    #[test]
    fn it_refuses_what_the_whole_issue_refuses() {
        for (good, bad) in [
            ("\"d\"", "5"),
            ("[\"g\"]", "[1]"),
            ("{\"added_at\":\"c\"}", "{}"),
            ("{\"k\":[1]}", "[]"),
            (":7", ":-7"),
            ("\"high\"", "\"urgent\""),
        ] {
            let text = WHOLE.replace(good, bad);
            assert_ne!(text, WHOLE);
            assert!(serde_json::from_str::<Issue>(&text).is_err(), "{bad}");
            assert!(serde_json::from_str::<Outline<'_>>(&text).is_err(), "{bad}");
        }
    }
}
