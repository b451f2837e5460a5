//! `jit import`: issues from lines of JSON. Everything is read, checked and permitted before anything is
//! written; what depends on something is written after it, so that a crash leaves no dangling dependency.

mod beads;
mod item;
mod order;
mod own;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use holdfast_sys::LockMode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::Import;
use crate::context::Context;
use crate::durable;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::output::Report;
use crate::workspace::Workspace;
use crate::writes::{self, Writer};
use item::Item;

/// The largest file that is imported.
const LONGEST: usize = 256 << 20;

/// What became of an import, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// What became of it.
    pub imported: Imported,
}

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

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &Import) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    let text = read(context, &typed.file)?;
    let (mut items, mut notes) = parse(&workspace, &text)?;
    let writer = Writer::open(context, &workspace)?;
    let mut graph = writer.locks().graph()?;
    let _section = graph.enter(&context.sys, LockMode::Exclusive)?;
    notes.extend(order::drop_dangling(&writer, &mut items)?);
    let (sequence, dropped) = order::sequence(&writer, &mut items)?;
    notes.extend(dropped);
    let standing = standing(&writer, &items)?;
    for (id, _) in standing.iter().filter(|(_, standing)| **standing == Standing::Differs) {
        writer.may(*id, "import")?;
    }
    let done = write(&writer, &items, &sequence, &standing)?;
    notes.iter().for_each(|note| context.printer.warn(note));
    Ok(report(&done, notes))
}

fn read(context: &Context, file: &str) -> Result<Vec<u8>> {
    if file != "-" {
        let path = context.start.join(file);
        let bytes = durable::read(&context.sys, &path, LONGEST)?;
        return bytes.ok_or_else(|| Error::BadFile { path, why: "there is no such file".into() });
    }
    let mut bytes = Vec::new();
    let failed = |error| holdfast_sys::Error::new("read", Path::new("what is piped in"), error);
    std::io::stdin().lock().take(LONGEST as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > LONGEST {
        return Err(Error::BadFile { path: "what is piped in".into(), why: "it is far too large".into() });
    }
    Ok(bytes)
}

/// The issues that the lines are, each once, and what there is to say about them.
fn parse(workspace: &Workspace, text: &[u8]) -> Result<(BTreeMap<IssueId, Item>, Vec<String>)> {
    let (mut items, mut notes) = (BTreeMap::<IssueId, Item>::new(), Vec::new());
    let (mut lines, mut ids) = (Vec::new(), beads::Ids::default());
    let texts = text.split(|byte| *byte == b'\n').enumerate();
    for (index, text) in texts.filter(|(_, text)| !text.trim_ascii().is_empty()) {
        let number = index + 1;
        let bad = |error: serde_json::Error| writes::Error::BadLine { number, why: error.to_string() };
        let fields: Map<String, Value> = serde_json::from_slice(text).map_err(bad)?;
        ids.note(&fields);
        lines.push((number, fields));
    }
    for (number, fields) in lines {
        let item = line(workspace, &ids, fields).map_err(|why| writes::Error::BadLine { number, why })?;
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

fn line(
    workspace: &Workspace,
    ids: &beads::Ids,
    fields: Map<String, Value>,
) -> std::result::Result<Option<Item>, String> {
    if fields.contains_key("state") {
        own::item(fields).map(Some)
    } else if fields.contains_key("status") || fields.contains_key("issue_type") {
        beads::item(&workspace.config.types.hierarchy, ids, &fields)
    } else {
        Err("it is neither an issue of jit nor of beads".into())
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

fn write(
    writer: &Writer<'_>,
    items: &BTreeMap<IssueId, Item>,
    sequence: &[IssueId],
    standing: &BTreeMap<IssueId, Standing>,
) -> Result<Done> {
    let mut done = Done::default();
    for id in sequence {
        let (Some(item), Some(standing)) = (items.get(id), standing.get(id)) else { continue };
        match standing {
            Standing::Same => done.unchanged.push(*id),
            Standing::Missing => {
                writer.make(item.fresh())?;
                done.created.push(*id);
            }
            Standing::Differs => {
                writer.change(*id, "import", |draft| item.put(draft))?;
                done.updated.push(*id);
            }
        }
    }
    Ok(done)
}

fn report(done: &Done, notes: Vec<String>) -> Report {
    let ids = |ids: &[IssueId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (created, updated) = (ids(&done.created), ids(&done.updated));
    let text =
        format!("{} created, {} updated, {} unchanged\n", created.len(), updated.len(), done.unchanged.len());
    let brief = [created.as_slice(), updated.as_slice()].concat().join("\n");
    let imported = Imported { created, updated, unchanged: ids(&done.unchanged), notes };
    Report::new(text, &Document { imported }).brief(brief)
}

/// The texts of a list of names.
fn words(value: Option<&Value>) -> BTreeSet<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}
