//! Importing issues from lines of JSON. Everything is read, checked and permitted before anything is
//! written; what depends on something is written after it, so that a crash leaves no dangling dependency.

mod beads;
mod forge;
mod item;
mod order;
mod own;

use std::collections::{BTreeMap, BTreeSet};

use holdfast_sys::LockMode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Result, WriteError};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::session::Session;
use crate::times::rfc3339;
use crate::writes::Writer;
use item::Item;

/// After how many issues somebody who waits is told.
const PROGRESS: usize = 100;

/// How many issues are written at once.
const AT_ONCE: usize = 250;

/// What became of an import.
#[derive(Serialize, JsonSchema)]
pub struct Imported {
    /// The ids of the issues that are new here.
    pub created: Vec<String>,
    /// The ids of the issues that were changed.
    pub updated: Vec<String>,
    /// The ids of the issues that were the same already.
    pub unchanged: Vec<String>,
    /// What was left out or looked odd.
    pub notes: Vec<String>,
}

/// What became of the lines.
#[derive(Default)]
struct Done {
    created: Vec<IssueId>,
    updated: Vec<IssueId>,
    unchanged: Vec<IssueId>,
}

/// Imports the issues that `text` holds, one JSON object per line.
///
/// # Errors
/// When a line cannot be imported, when the caller may not change an issue that is there, or when one cannot be
/// written.
pub fn import(session: &Session, text: &[u8]) -> Result<Imported> {
    let (mut items, mut notes) = parse(session, text)?;
    let writer = Writer::open(session)?;
    session.used_unseen();
    let mut graph = writer.locks().graph()?;
    let _section = graph.enter(session.sys(), LockMode::Exclusive)?;
    writer.settle_made()?;
    notes.extend(order::drop_dangling(&writer, &mut items)?);
    notes.extend(order::drop_open(&writer, &mut items)?);
    let (sequence, dropped) = order::sequence(&writer, &mut items)?;
    notes.extend(dropped);
    let standing = standing(&writer, &items)?;
    for (id, _) in standing.iter().filter(|(_, standing)| **standing == Standing::Differs) {
        writer.may(*id, "importing")?;
    }
    let done = write(&writer, &items, &sequence, &standing)?;
    for (id, item) in &items {
        item.notes.iter().try_for_each(|note| crate::notes::put(session, *id, note))?;
    }
    // As they were asked for, not as they were written.
    let ids = |ids: &[IssueId]| {
        let some: BTreeSet<&IssueId> = ids.iter().collect();
        sequence.iter().filter(|id| some.contains(id)).map(ToString::to_string).collect::<Vec<_>>()
    };
    Ok(Imported {
        created: ids(&done.created),
        updated: ids(&done.updated),
        unchanged: ids(&done.unchanged),
        notes,
    })
}

/// The issues that the lines are, each once, and what there is to say about them.
fn parse(session: &Session, text: &[u8]) -> Result<(BTreeMap<IssueId, Item>, Vec<String>)> {
    let (mut items, mut notes) = (BTreeMap::<IssueId, Item>::new(), Vec::new());
    let lines = objects(text)?;
    let mut ids = beads::Ids::default();
    lines.iter().for_each(|(_, fields)| ids.note(fields));
    let mut source =
        Source { session, ids, now: rfc3339(&session.sys().clock.now()?), titles: BTreeMap::new() };
    for (number, fields) in lines {
        let item = source.item(fields).map_err(|why| WriteError::BadLine { number, why })?;
        let Some(item) = item else { continue };
        if let Some(known) = items.get(&item.id) {
            // A merge by union doubles lines: the later one counts.
            notes.push(format!("line {number}: {} is there twice", item.issue.id));
            if known.issue.updated_at >= item.issue.updated_at {
                continue;
            }
        }
        items.insert(item.id, item);
    }
    Ok((beads::adopt(items), notes))
}

/// The objects of a text, each with the number of its line: one on each line, or a list of them.
fn objects(text: &[u8]) -> Result<Vec<(usize, Map<String, Value>)>> {
    let bad = |number, error: serde_json::Error| WriteError::BadLine { number, why: error.to_string() };
    if text.trim_ascii_start().first() == Some(&b'[') {
        let all: Vec<Map<String, Value>> =
            serde_json::from_slice(text).map_err(|error| bad(error.line(), error))?;
        return Ok(all.into_iter().enumerate().map(|(index, fields)| (index + 1, fields)).collect());
    }
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let read = |(index, line)| {
        let fields = serde_json::from_slice(line).map_err(|error| bad(index + 1, error))?;
        Ok((index + 1, fields))
    };
    lines.map(read).collect()
}

/// What it takes to read issues of any kind.
struct Source<'a> {
    session: &'a Session,
    ids: beads::Ids,
    now: String,
    /// How often a title was there.
    titles: BTreeMap<String, usize>,
}

impl Source<'_> {
    fn item(&mut self, fields: Map<String, Value>) -> std::result::Result<Option<Item>, String> {
        let types = &self.session.config().types.hierarchy;
        if forge::is_one(&fields) {
            let title = fields.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
            let nth = self.titles.entry(title).or_default();
            *nth += 1;
            forge::item(types, &self.now, *nth, &fields).map(Some)
        } else if fields.contains_key("state") {
            own::item(fields).map(Some)
        } else if fields.contains_key("status") || fields.contains_key("issue_type") {
            beads::item(types, &self.ids, &fields)
        } else {
            Err("it is no issue of jit, of beads or of a forge, and has no title".into())
        }
    }
}

/// How an issue that is imported stands to what is here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    Missing,
    Differs,
    Same,
}

fn standing(writer: &Writer<'_>, items: &BTreeMap<IssueId, Item>) -> Result<BTreeMap<IssueId, Standing>> {
    let mut found = BTreeMap::new();
    for (id, item) in items {
        let standing = if !writer.exists(*id)? {
            Standing::Missing
        } else if item.is_like(writer)? {
            Standing::Same
        } else {
            Standing::Differs
        };
        found.insert(*id, standing);
    }
    Ok(found)
}

/// Writes the issues, many at a time. What depends on something comes in a later step than that, so that a crash
/// leaves no dangling dependency, and a second try goes on where the first one was.
fn write(
    writer: &Writer<'_>,
    items: &BTreeMap<IssueId, Item>,
    sequence: &[IssueId],
    standing: &BTreeMap<IssueId, Standing>,
) -> Result<Done> {
    let (mut done, mut told) = (Done::default(), 0);
    for step in order::steps(items, sequence) {
        for some in step.chunks(AT_ONCE) {
            let (mut fresh, mut differing) = (Vec::new(), Vec::new());
            for id in some {
                let (Some(item), Some(standing)) = (items.get(id), standing.get(id)) else { continue };
                match standing {
                    Standing::Same => done.unchanged.push(*id),
                    Standing::Missing => {
                        fresh.push(item.fresh());
                        done.created.push(*id);
                    }
                    Standing::Differs => differing.push(*id),
                }
            }
            writer.make_all(fresh)?;
            writer.change_all(&differing, "importing", |draft| {
                items.get(&draft.id()).map_or(Ok(()), |item| item.put(draft))
            })?;
            done.updated.extend(differing);
            let so_far = done.created.len() + done.updated.len() + done.unchanged.len();
            if so_far - told >= PROGRESS && so_far < sequence.len() {
                writer.notice(&Notice::Progress { what: "imported", done: so_far, of: sequence.len() });
                told = so_far;
            }
        }
    }
    Ok(done)
}

/// The entries of a list that need not be there. Anything else in its place is an error: an import that took it for an
/// empty list would remove what the issue has.
fn list<'a>(name: &str, value: Option<&'a Value>) -> std::result::Result<&'a [Value], String> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("its {name} are not a list")),
    }
}

/// The texts of a list of names.
fn words(name: &str, value: Option<&Value>) -> std::result::Result<BTreeSet<String>, String> {
    let word = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let words = list(name, value)?.iter().map(word).collect::<Option<_>>();
    words.ok_or_else(|| format!("its {name} are not all text"))
}
