//! An issue in a list, as programs read it.

use holdfast_door::json_line;
use schemars::JsonSchema;
use serde::Serialize;

use super::Claimed;
use super::board::Reason;
use crate::issues::{Outline, Seen};

/// An issue in a list.
#[derive(Serialize, JsonSchema)]
pub struct Item<'a> {
    /// The issue itself.
    #[serde(flatten)]
    pub issue: &'a Outline<'a>,
    /// Its labels.
    pub labels: Vec<&'a str>,
    /// The ids of the issues that it depends on.
    pub dependencies: Vec<&'a str>,
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
    pub fn new(seen: &'a Seen<'a>, claimed: &'a Claimed) -> Self {
        Self {
            issue: &seen.issue,
            labels: seen.labels.members().collect(),
            dependencies: seen.deps.members().collect(),
            claimed_by: claimed.holder(seen.id),
            blocked_by: None,
        }
    }

    /// Its JSON.
    #[must_use]
    pub fn json(&self) -> String {
        json_line(self)
    }
}

/// An object with one more member. `object` is the JSON of an object that has some.
#[must_use]
pub fn with_member(object: &str, name: &str, value: &impl Serialize) -> String {
    let open = object.strip_suffix('}').unwrap_or(object);
    let value = json_line(value);
    format!("{open},\"{name}\":{value}}}")
}

/// The pieces of `{"<name>":[<objects>],"count":<their number>}`.
#[must_use]
pub fn listed(name: &str, objects: Vec<String>) -> Vec<String> {
    let count = objects.len();
    let mut pieces = Vec::with_capacity(2 * count + 2);
    pieces.push(format!("{{\"{name}\":["));
    for (index, object) in objects.into_iter().enumerate() {
        if index > 0 {
            pieces.push(",".to_owned());
        }
        pieces.push(object);
    }
    pieces.push(format!("],\"count\":{count}}}"));
    pieces
}

/// Issues, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Items<'a> {
    /// The issues.
    pub issues: Vec<Item<'a>>,
    /// How many.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    use super::{listed, with_member};

    #[test]
    fn pieces_make_one_document() {
        for (objects, text) in [
            (vec![], r#"{"issues":[],"count":0}"#),
            (vec!["1".to_owned(), "2".into()], r#"{"issues":[1,2],"count":2}"#),
        ] {
            assert_eq!(listed("issues", objects).concat(), text);
        }
        assert_eq!(with_member(r#"{"a":1}"#, "b", &[2]), r#"{"a":1,"b":[2]}"#);
    }
}
