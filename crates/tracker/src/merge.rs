//! Merging two versions of an issue's file field by field. What only one side changed is taken from it; where
//! both changed one field, the one that wrote under the higher fence wins; where fences cannot decide, the
//! field is marked as git marks a conflict. Nothing that this program does not know is lost.

mod document;
mod lines;
mod text;

use std::cmp::Ordering;

use serde_json::{Map, Value};

use document::Document;
pub use lines::is_marked;

/// The outcome of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The file.
    pub text: Vec<u8>,
    /// How many fields are in conflict.
    pub conflicts: usize,
}

/// Merges what became of `base` on two sides; none if one of the three is no issue's file. A file that was not
/// there is empty. Marks of conflicts are `size` characters long.
#[must_use]
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], size: usize) -> Option<Merged> {
    let base = if base.trim_ascii().is_empty() { Document::default() } else { Document::parse(base)? };
    let (ours, theirs) = (Document::parse(ours)?, Document::parse(theirs)?);
    let winner = winner(&base, &ours, &theirs);
    let mut merge = Merge {
        winner,
        parted: winner.is_none() && pair(&ours) != pair(&theirs),
        marked: false,
        fields: Vec::new(),
    };
    for key in ours.keys().chain(theirs.keys().filter(|key| ours.get(key).is_none())) {
        merge.field(key, base.get(key), ours.get(key), theirs.get(key));
    }
    merge.say_conflict();
    let conflicts = merge.fields.iter().filter(|(_, field)| matches!(field, Field::Conflict { .. })).count();
    Some(Merged { text: text::write(&merge.fields, size), conflicts })
}

/// What a field is after a merge.
#[derive(Clone, PartialEq, Debug)]
enum Field {
    Value(Value),
    Conflict { ours: Option<Value>, theirs: Option<Value> },
}

/// One of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Ours,
    Theirs,
}

/// Fence and log of a version.
fn pair(side: &Document) -> (Option<&Value>, Option<&Value>) {
    (side.get("fence"), side.get("fence_log"))
}

/// The side that wrote under the higher fence, or alone under any; none if the fences are the same or cannot
/// be compared.
fn winner(base: &Document, ours: &Document, theirs: &Document) -> Option<Side> {
    let (here, there) = (pair(ours), pair(theirs));
    let number = |pair: (Option<&Value>, Option<&Value>)| pair.0.and_then(Value::as_u64);
    let order = match (number(here), number(there)) {
        (Some(a), Some(b)) if here.1 == there.1 => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        _ if here == there => Ordering::Equal,
        _ if there == pair(base) => Ordering::Greater,
        _ if here == pair(base) => Ordering::Less,
        _ => Ordering::Equal,
    };
    match order {
        Ordering::Greater => Some(Side::Ours),
        Ordering::Less => Some(Side::Theirs),
        Ordering::Equal => None,
    }
}

struct Merge {
    winner: Option<Side>,
    /// Whether both sides wrote under fences that cannot be compared.
    parted: bool,
    /// Whether both sides changed the same lines of the description.
    marked: bool,
    fields: Vec<(String, Field)>,
}

/// The field with what nobody types in two places at once without meaning it.
const DESCRIPTION: &str = "description";

/// The field that says what has to be resolved by a person.
pub const CONFLICT: &str = "conflict";

impl Merge {
    fn field(&mut self, key: &str, base: Option<&Value>, ours: Option<&Value>, theirs: Option<&Value>) {
        let field = match (key, self.winner) {
            // Fence and log belong together: a mixture would be nobody's.
            ("fence" | "fence_log", Some(Side::Ours)) => ours.cloned().map(Field::Value),
            ("fence" | "fence_log", Some(Side::Theirs)) => theirs.cloned().map(Field::Value),
            ("fence" | "fence_log", None) if self.parted => {
                Some(Field::Conflict { ours: ours.cloned(), theirs: theirs.cloned() })
            }
            ("updated_at", _) => match (ours.and_then(Value::as_str), theirs.and_then(Value::as_str)) {
                // Moments are texts that sort like them.
                (Some(ours), Some(theirs)) => Some(Field::Value(ours.max(theirs).into())),
                _ => self.decided(base, ours, theirs),
            },
            ("gates" | "reopened", _) => match (list(base), list(ours), list(theirs)) {
                (Some(base), Some(ours), Some(theirs)) => {
                    Some(Field::Value(Value::Array(united(&base, &ours, &theirs))))
                }
                _ => self.decided(base, ours, theirs),
            },
            (DESCRIPTION, _) => self.description(base, ours, theirs),
            _ => self.decided(base, ours, theirs),
        };
        if let Some(field) = field {
            self.fields.push((key.to_owned(), field));
        }
    }

    /// The description, merged by lines whatever the fences say: both sides typed something.
    fn description(
        &mut self,
        base: Option<&Value>,
        ours: Option<&Value>,
        theirs: Option<&Value>,
    ) -> Option<Field> {
        let text = |value: Option<&Value>| match value {
            None => Some(String::new()),
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => None,
        };
        if ours == theirs || theirs == base || ours == base {
            return self.decided(base, ours, theirs);
        }
        let (Some(base), Some(one), Some(other)) = (text(base), text(ours), text(theirs)) else {
            return self.decided(base, ours, theirs);
        };
        let merged = lines::merge(&base, &one, &other);
        self.marked |= merged.marked;
        (!merged.text.is_empty()).then(|| Field::Value(merged.text.into()))
    }

    /// Says that the description has to be resolved, as long as it has marks.
    fn say_conflict(&mut self) {
        let said = |(key, _): &(String, Field)| key == CONFLICT;
        let described = self.fields.iter().find_map(|(key, field)| match field {
            Field::Value(Value::String(text)) if key == DESCRIPTION => Some(text.as_str()),
            _ => None,
        });
        let marked = described.is_some_and(is_marked);
        if self.marked && marked && !self.fields.iter().any(said) {
            let at = self.fields.iter().position(|(key, _)| key == DESCRIPTION).map_or(0, |at| at + 1);
            self.fields.insert(at, (CONFLICT.to_owned(), Field::Value(DESCRIPTION.into())));
        }
    }

    /// The three-way merge of a value; within objects each field is one of its own.
    fn decided(&self, base: Option<&Value>, ours: Option<&Value>, theirs: Option<&Value>) -> Option<Field> {
        if let Some(settled) = self.settled(base, ours, theirs) {
            return settled.map(Field::Value);
        }
        if let (Some(Value::Object(ours)), Some(Value::Object(theirs))) = (ours, theirs) {
            let empty = Map::new();
            let base = base.and_then(Value::as_object).unwrap_or(&empty);
            if let Some(merged) = self.objects(base, ours, theirs) {
                return Some(Field::Value(Value::Object(merged)));
            }
        }
        Some(Field::Conflict { ours: ours.cloned(), theirs: theirs.cloned() })
    }

    /// The value that wins; nothing if it is a conflict. None of a value is that the field is gone.
    fn settled(
        &self,
        base: Option<&Value>,
        ours: Option<&Value>,
        theirs: Option<&Value>,
    ) -> Option<Option<Value>> {
        if ours == theirs || theirs == base {
            return Some(ours.cloned());
        }
        if ours == base {
            return Some(theirs.cloned());
        }
        if matches!((ours, theirs), (Some(Value::Object(_)), Some(Value::Object(_)))) {
            return None;
        }
        self.winner.map(|side| if side == Side::Ours { ours.cloned() } else { theirs.cloned() })
    }

    /// Merges objects; none if a field of theirs is in conflict.
    fn objects(
        &self,
        base: &Map<String, Value>,
        ours: &Map<String, Value>,
        theirs: &Map<String, Value>,
    ) -> Option<Map<String, Value>> {
        let mut merged = Map::new();
        for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
            match self.decided(base.get(key), ours.get(key), theirs.get(key)) {
                Some(Field::Value(value)) => drop(merged.insert(key.clone(), value)),
                Some(Field::Conflict { .. }) => return None,
                None => {}
            }
        }
        Some(merged)
    }
}

/// The members of a set; a missing one is empty.
fn list(value: Option<&Value>) -> Option<Vec<Value>> {
    match value {
        None => Some(Vec::new()),
        Some(Value::Array(members)) => Some(members.clone()),
        Some(_) => None,
    }
}

/// What is in a set after both sides added to it and took from it.
fn united(base: &[Value], ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let kept = |value: &&Value| {
        let (here, there) = (ours.contains(value), theirs.contains(value));
        if base.contains(value) { here && there } else { here || there }
    };
    let mut all: Vec<Value> = ours.iter().chain(theirs).filter(kept).cloned().collect();
    all.sort_by_key(ToString::to_string);
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
