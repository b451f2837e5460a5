//! A line of `jit export`.

use serde_json::{Map, Value};

use super::item::Item;
use super::words;
use crate::ids::IssueId;
use crate::issues::Issue;
use crate::notes;
use crate::writes::Results;

/// The issue that a line is.
pub(super) fn item(mut fields: Map<String, Value>) -> Result<Item, String> {
    let labels = fields.remove("labels");
    let dependencies = fields.remove("dependencies");
    let results = fields.remove("gate_results");
    let notes = fields.remove("notes");
    let issue: Issue =
        serde_json::from_value(Value::Object(fields)).map_err(|error| format!("it is no issue: {error}"))?;
    let known = |id: &str| IssueId::parse(id).ok_or_else(|| format!("'{id}' is not the id of an issue"));
    let mut item = Item::bare(known(&issue.id)?, issue);
    item.labels = words("labels", labels.as_ref())?;
    let dependencies = words("dependencies", dependencies.as_ref())?;
    item.dependencies = dependencies.iter().map(|id| known(id)).collect::<Result<_, _>>()?;
    if let Some(results) = results {
        let results = serde_json::from_value(results);
        item.results = Results(results.map_err(|error| format!("its gate_results are none: {error}"))?);
        item.results.0.retain(|key, _| item.issue.gates.contains(key));
    }
    if let Some(notes) = notes {
        item.notes = serde_json::from_value(notes).map_err(|error| format!("its notes are none: {error}"))?;
        let id = item.id;
        item.notes.iter().try_for_each(|note| notes::check(id, note))?;
    }
    item.checked()
}
