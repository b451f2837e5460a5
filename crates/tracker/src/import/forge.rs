//! An issue of a forge, as `gh issue list --json …` prints it, or one that somebody wrote down without an id: a title, and
//! what else of an issue is known.
//!
//! An id is made from the address of the issue, its number, or its title, always the same one: importing again goes on
//! where an import was cut off, and changes what was imported before.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use holdfast_kernel::LeaseId;
use serde_json::{Map, Value};

use super::item::Item;
use crate::ids::IssueId;
use crate::issues::{Issue, State};

/// What has a place of its own.
const PLACED: [&str; 11] = [
    "title",
    "body",
    "description",
    "labels",
    "state",
    "priority",
    "type",
    "assignees",
    "createdAt",
    "updatedAt",
    "url",
];

/// Whether these fields are an issue of a forge, or one without an id.
pub(super) fn is_one(fields: &Map<String, Value>) -> bool {
    let state = fields.get("state").and_then(Value::as_str);
    let is_theirs = state.is_none_or(|state| matches!(state, "OPEN" | "CLOSED"));
    let has = |key: &str| fields.contains_key(key);
    has("title") && (is_theirs || !has("id")) && !has("status") && !has("issue_type")
}

/// The issue that the fields are. `nth` tells those apart that have nothing but the same title.
pub(super) fn item(
    types: &[String],
    now: &str,
    nth: usize,
    fields: &Map<String, Value>,
) -> Result<Item, String> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let title = text("title").ok_or("it has no title")?.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = fields.get("number").and_then(Value::as_u64);
    let source = match (text("url"), number) {
        (Some(url), _) => format!("forge:{url}"),
        (None, Some(number)) => format!("forge:#{number}"),
        (None, None) => format!("title:{nth}:{title}"),
    };
    let made = text("createdAt").map(moment).transpose()?;
    let id = id(&source, made.as_ref().map_or(0, |(_, millis)| *millis));
    let created = made.map_or_else(|| now.to_owned(), |(text, _)| text);
    let mut issue = Issue::new(id.to_string(), title, created);
    if let Some(updated) = text("updatedAt").map(moment).transpose()? {
        issue.updated_at = updated.0;
    }
    issue.kind = kind(types, word(fields, "type")?)?;
    issue.state = match word(fields, "state")? {
        None | Some("OPEN") => issue.state,
        Some("CLOSED") => State::Done,
        Some(state) => known("state", state)?,
    };
    if let Some(priority) = word(fields, "priority")? {
        issue.priority = known("priority", priority)?;
    }
    issue.description = text("body").or_else(|| text("description")).map(ToOwned::to_owned);
    issue.assignee = names(fields.get("assignees"), "login").into_iter().next();
    if let Some(url) = text("url") {
        issue.links.insert("issue".to_owned(), url.to_owned());
    }
    let rest = fields.iter().filter(|(key, value)| !PLACED.contains(&key.as_str()) && !value.is_null());
    issue.metadata = rest.map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>();
    let mut item = Item::bare(id, issue);
    let word = |label: String| label.replace(',', " ").split_whitespace().collect::<Vec<_>>().join("-");
    item.labels = names(fields.get("labels"), "name").into_iter().map(word).collect();
    item.checked()
}

/// A field that is one word, if it is there. Anything else in its place would be lost.
fn word<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its {key} is not a word")),
    }
}

fn known<T: FromStr<Err: Display>>(what: &str, word: &str) -> Result<T, String> {
    word.parse().map_err(|why| format!("its {what} '{word}': {why}"))
}

/// The type of an issue that has this one: the lowest where none is said.
fn kind(types: &[String], said: Option<&str>) -> Result<String, String> {
    let lowest = || types.last().cloned().unwrap_or_else(|| "task".to_owned());
    match said {
        None => Ok(lowest()),
        Some(said) if types.iter().any(|known| known == said) => Ok(said.to_owned()),
        Some(said) => Err(format!("'{said}' is not a type; there are {}", types.join(", "))),
    }
}

/// A moment as our files have it, and in milliseconds since 1970.
fn moment(text: &str) -> Result<(String, u64), String> {
    let moment: jiff::Timestamp = text.parse().map_err(|_| format!("'{text}' is not a moment"))?;
    let millis = moment.as_millisecond();
    let stamp = holdfast_kernel::Stamp::new(millis, None).map_err(|_| format!("'{text}' is too far away"))?;
    Ok((crate::times::rfc3339(&stamp), u64::try_from(millis).unwrap_or(0)))
}

/// The names in a list of texts, or of objects that have one.
fn names(value: Option<&Value>, key: &str) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |entry: &Value| match entry {
        Value::String(text) => Some(text.clone()),
        other => other.get(key).and_then(Value::as_str).map(ToOwned::to_owned),
    };
    list.iter().filter_map(name).collect()
}

fn id(source: &str, made: u64) -> IssueId {
    let hash = blake3::hash(source.as_bytes());
    let bits = hash.as_bytes().iter().take(10).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    IssueId::new(LeaseId::from_parts(made, bits))
}
