//! An issue in a list, as programs read it.

use holdfast_door::Clean;
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
    pub fn json(&self) -> Clean {
        Clean::json(self)
    }
}

/// An object with one more member. `object` is the JSON of an object that has some.
#[must_use]
pub fn with_member(object: &Clean, name: &str, value: &impl Serialize) -> Clean {
    let open = object.as_str().strip_suffix('}').unwrap_or(object.as_str());
    Clean::from(open) + format!(",\"{name}\":") + Clean::json(value) + "}"
}

/// The pieces of `{"<name>":[<objects>],"count":<their number>}`.
#[must_use]
pub fn listed(name: &str, objects: Vec<Clean>) -> Vec<Clean> {
    let count = objects.len();
    let mut pieces = Vec::with_capacity(2 * count + 2);
    pieces.push(format!("{{\"{name}\":[").into());
    for (index, object) in objects.into_iter().enumerate() {
        if index > 0 {
            pieces.push(",".into());
        }
        pieces.push(object);
    }
    pieces.push(format!("],\"count\":{count}}}").into());
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
    use super::{Clean, listed, with_member};

    #[test]
    fn pieces_make_one_document() {
        for (objects, text) in [
            (vec![], r#"{"issues":[],"count":0}"#),
            (vec!["1".into(), "2".into()], r#"{"issues":[1,2],"count":2}"#),
        ] {
            assert_eq!(listed("issues", objects).iter().collect::<Clean>().as_str(), text);
        }
        assert_eq!(with_member(&r#"{"a":1}"#.into(), "b", &[2]).as_str(), r#"{"a":1,"b":[2]}"#);
    }
}
