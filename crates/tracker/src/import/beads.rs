//! A line of beads' `issues.jsonl`. What jit has no place for is kept in the metadata, so that nothing is lost.
//!
//! An id is made from beads' own and the moment the issue was made, always the same one: issues keep their
//! order, and importing again changes what was imported before.

use std::collections::BTreeMap;

use holdfast_kernel::{LeaseId, Stamp};
use serde_json::{Map, Value, json};

use super::item::Item;
use super::{list, words};
use crate::ids::IssueId;
use crate::issues::{Issue, Priority, State};
use crate::times::rfc3339;

/// What has a place of its own.
const PLACED: [&str; 13] = [
    "id",
    "title",
    "description",
    "status",
    "priority",
    "issue_type",
    "assignee",
    "labels",
    "dependencies",
    "created_at",
    "updated_at",
    "content_hash",
    "_type",
];

/// The texts that belong behind the description, under a heading each.
const SECTIONS: [(&str, &str); 3] =
    [("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes")];

/// The issue that a line is; none if it stands for something that was deleted.
pub(super) fn item(types: &[String], ids: &Ids, fields: &Map<String, Value>) -> Result<Option<Item>, String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let foreign = text("id").ok_or("it has no id")?;
    if text("status") == Some("tombstone") {
        return Ok(None);
    }
    check_kinds(fields)?;
    let id = ids.get(foreign);
    let title: String =
        text("title").ok_or("it has no title")?.split_whitespace().collect::<Vec<_>>().join(" ");
    let created = moment(text("created_at"))?;
    let mut issue = Issue::new(id.to_string(), title, created);
    issue.updated_at = moment(text("updated_at").or_else(|| text("created_at")))?;
    issue.state = state(text("status"));
    issue.priority = priority(fields.get("priority"));
    issue.description = description(fields);
    issue.assignee = text("assignee").map(ToOwned::to_owned);
    issue.metadata = metadata(fields);
    let kind = text("issue_type").unwrap_or("task");
    let mut item = Item::bare(id, issue);
    item.labels = words("labels", fields.get("labels"))?
        .iter()
        .map(|label| label.split_whitespace().collect::<Vec<_>>().join("-"))
        .collect();
    if types.iter().any(|known| known == kind) {
        kind.clone_into(&mut item.issue.kind);
    } else {
        item.issue.kind = types.last().cloned().unwrap_or_else(|| "task".to_owned());
        item.labels.insert(kind.to_owned());
    }
    relate(&mut item, ids, fields)?;
    item.checked().map(Some)
}

/// Whether what has a place of its own is of the kind that this place takes: what is of another kind would be lost.
fn check_kinds(fields: &Map<String, Value>) -> Result<(), String> {
    const TEXTS: [&str; 7] =
        ["title", "description", "status", "issue_type", "assignee", "created_at", "updated_at"];
    let present = |key: &str| fields.get(key).filter(|value| !value.is_null());
    let mut texts = TEXTS.into_iter().chain(SECTIONS.map(|(key, _)| key));
    if let Some(key) = texts.find(|key| present(key).is_some_and(|value| !value.is_string())) {
        return Err(format!("its {key} is not text"));
    }
    if present("priority").is_some_and(|value| !value.is_u64()) {
        return Err("its priority is not a number".into());
    }
    Ok(())
}

/// When each issue of a file was made, in milliseconds since 1970, by the id that beads gave it.
#[derive(Default)]
pub(super) struct Ids(BTreeMap<String, u64>);

impl Ids {
    /// Learns of a line.
    pub(super) fn note(&mut self, fields: &Map<String, Value>) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let made: Option<jiff::Timestamp> = text("created_at").and_then(|text| text.parse().ok());
        if let (Some(id), Some(made)) = (text("id"), made) {
            self.0.insert(id.to_owned(), u64::try_from(made.as_millisecond()).unwrap_or(0));
        }
    }

    /// The id that stands for one of beads'.
    fn get(&self, foreign: &str) -> IssueId {
        let hash = blake3::hash(format!("beads:{foreign}").as_bytes());
        let bits = hash.as_bytes().iter().take(10).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let made = self.0.get(foreign).copied().unwrap_or(0);
        IssueId::new(LeaseId::from_parts(made, bits))
    }
}

fn moment(text: Option<&str>) -> Result<String, String> {
    let text = text.unwrap_or("1970-01-01T00:00:00Z");
    let moment: jiff::Timestamp = text.parse().map_err(|_| format!("'{text}' is not a moment"))?;
    Stamp::new(moment.as_millisecond(), None)
        .map(|moment| rfc3339(&moment))
        .map_err(|_| format!("'{text}' is no moment that can be written"))
}

fn state(status: Option<&str>) -> State {
    match status {
        None | Some("open" | "blocked") => State::Ready,
        Some("in_progress" | "hooked") => State::InProgress,
        Some("closed") => State::Done,
        // Deferred, pinned, and whatever a project calls its own.
        Some(_) => State::Backlog,
    }
}

fn priority(value: Option<&Value>) -> Priority {
    match value.and_then(Value::as_u64) {
        Some(0) => Priority::Critical,
        Some(1) => Priority::High,
        None | Some(2) => Priority::Normal,
        Some(_) => Priority::Low,
    }
}

fn description(fields: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let mut parts: Vec<String> = text("description").map(ToOwned::to_owned).into_iter().collect();
    parts
        .extend(SECTIONS.iter().filter_map(|(key, heading)| Some(format!("## {heading}\n\n{}", text(key)?))));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn metadata(fields: &Map<String, Value>) -> BTreeMap<String, Value> {
    let sections = SECTIONS.map(|(key, _)| key);
    let rest = fields.iter().filter(|(key, value)| {
        !PLACED.contains(&key.as_str()) && !sections.contains(&key.as_str()) && !value.is_null()
    });
    let mut beads: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    for key in ["id", "status"] {
        beads.extend(fields.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    BTreeMap::from([("beads".to_owned(), Value::Object(beads))])
}

/// What it waits for, what it belongs to, and what it is merely about.
fn relate(item: &mut Item, ids: &Ids, fields: &Map<String, Value>) -> Result<(), String> {
    let mut others = Vec::new();
    for edge in list("dependencies", fields.get("dependencies"))? {
        let text = |key: &str| edge.get(key).and_then(Value::as_str);
        let on = edge.as_str().or_else(|| text("depends_on_id"));
        let on = on.ok_or("one of its dependencies names no issue")?;
        match text("type").unwrap_or("blocks") {
            "blocks" => drop(item.dependencies.insert(ids.get(on))),
            "parent-child" => drop(item.parents.insert(ids.get(on))),
            kind => others.push(json!({ "id": on, "type": kind })),
        }
    }
    if !others.is_empty()
        && let Some(beads) = item.issue.metadata.get_mut("beads").and_then(Value::as_object_mut)
    {
        beads.insert("related".into(), Value::Array(others));
    }
    Ok(())
}

/// Lets what others belong to wait for them: an epic is done when its parts are.
pub(super) fn adopt(mut items: BTreeMap<IssueId, Item>) -> BTreeMap<IssueId, Item> {
    let edges: Vec<_> =
        items.values().flat_map(|item| item.parents.iter().map(|parent| (*parent, item.id))).collect();
    for (parent, child) in edges {
        if let Some(parent) = items.get_mut(&parent)
            && parent.dependencies.insert(child)
        {
            parent.soft.insert(child);
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::{Ids, adopt};
    use crate::import::item::Item;
    use crate::issues::{Priority, State};

    fn fields(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    fn item(text: &str) -> Result<Option<Item>, String> {
        super::item(&["epic", "task"].map(ToOwned::to_owned), &Ids::default(), &fields(text))
    }

    #[test]
    fn everything_of_beads_has_a_place() {
        let item = item(
            r#"{"id":"bd-a1","title":"Log in","description":"d","design":"e","status":"closed","priority":1,
            "issue_type":"bug","assignee":"ann","labels":["ui","two words"],"created_at":"2025-01-15T10:00:00+01:00",
            "updated_at":"2025-01-16T10:00:00.123456Z","close_reason":"fixed","estimated_minutes":30,
            "dependencies":[{"issue_id":"bd-a1","depends_on_id":"bd-b","type":"blocks"},
            {"depends_on_id":"bd-c","type":"related"},{"depends_on_id":"bd-e","type":"parent-child"}]}"#,
        );
        let (item, id) = (item.unwrap().unwrap(), |text| Ids::default().get(text));
        assert_eq!((item.issue.state, item.issue.priority), (State::Done, Priority::High));
        assert_eq!(item.issue.kind, "task");
        assert_eq!(item.labels, ["bug", "two-words", "ui"].map(ToOwned::to_owned).into());
        assert_eq!(item.issue.description.unwrap(), "d\n\n## Design\n\ne");
        assert_eq!(item.issue.created_at, "2025-01-15T09:00:00.000Z");
        assert_eq!(item.dependencies, [id("bd-b")].into());
        assert_eq!(item.parents, [id("bd-e")].into());
        let beads = &item.issue.metadata["beads"];
        assert_eq!((&beads["id"], &beads["close_reason"]), (&"bd-a1".into(), &"fixed".into()));
        assert_eq!(
            (&beads["related"][0]["type"], &beads["estimated_minutes"]),
            (&"related".into(), &30.into())
        );
    }

    #[test]
    fn what_is_missing_or_hostile_is_an_error_or_a_default() {
        let small = item(r#"{"id":"x","title":"t","status":"open"}"#).unwrap().unwrap();
        assert_eq!((small.issue.state, small.issue.priority), (State::Ready, Priority::Normal));
        for text in [
            r#"{"title":"t","status":"open"}"#,
            r#"{"id":"x","status":"open"}"#,
            r#"{"id":"x","title":"t","status":"open","created_at":"soon"}"#,
            r#"{"id":"x","title":"t","status":"open","dependencies":[{"depends_on_id":"x","type":"blocks"}]}"#,
        ] {
            assert!(item(text).is_err(), "{text}");
        }
        assert!(item(r#"{"id":"x","title":"t","status":"tombstone"}"#).unwrap().is_none());
    }

    #[test]
    fn ids_are_always_the_same_and_keep_their_order() {
        let mut ids = Ids::default();
        for (name, at) in [("old", "2024-01-01T00:00:00Z"), ("new", "2025-01-01T00:00:00Z")] {
            ids.note(&fields(&format!(r#"{{"id":"{name}","created_at":"{at}"}}"#)));
        }
        assert!(ids.get("old") < ids.get("new"));
        assert_eq!(ids.get("old"), ids.get("old"));
        assert_ne!(ids.get("x"), ids.get("y"));
    }

    #[test]
    fn what_others_belong_to_waits_for_them() {
        let epic = item(r#"{"id":"e","title":"t","issue_type":"epic"}"#).unwrap().unwrap();
        let part = item(
            r#"{"id":"p","title":"t","status":"open","dependencies":[{"depends_on_id":"e","type":"parent-child"}]}"#,
        );
        let part = part.unwrap().unwrap();
        let (epic_id, part_id) = (epic.id, part.id);
        let items = adopt([(epic_id, epic), (part_id, part)].into());
        assert_eq!(items[&epic_id].dependencies, [part_id].into());
        assert!(items[&part_id].dependencies.is_empty());
    }
}
