//! `jvs history`: the snapshots of a worktree, and those that it descends from.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_door::table;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::Result;
use crate::names::OpId;
use crate::output::{Report, document};
use crate::snapshot::{self, Descriptor};
use crate::worktree::Worktree;

/// Lists the snapshots, the newest first.
pub(super) fn run(context: &Context, limit: Option<usize>, name: Option<&str>) -> Result<Report> {
    let repo = context.repo()?;
    let worktree = context.worktree(&repo, name)?;
    let all: BTreeMap<OpId, Descriptor> =
        snapshot::all(&repo)?.into_iter().map(|one| (one.snapshot_id, one)).collect();
    let line = ancestors(worktree.head, &all);
    let ours = |one: &&Descriptor| one.worktree_id == worktree.worktree_id || line.contains(&one.snapshot_id);
    let shown: Vec<&Descriptor> = all.values().rev().filter(ours).take(limit.unwrap_or(usize::MAX)).collect();
    let rows: Vec<[String; 6]> = shown.iter().map(|one| row(one, &worktree)).collect();
    let entries = shown.iter().map(|one| entry(one, &worktree)).collect::<Result<Vec<Value>>>()?;
    let json = json!({ "worktree": worktree.name, "count": entries.len(), "snapshots": entries });
    Ok(Report::new(table(["ID", "CREATED", "TOKEN", "FILES", "RISK", "NOTE"], &rows), &json))
}

fn ancestors(head: Option<OpId>, all: &BTreeMap<OpId, Descriptor>) -> BTreeSet<OpId> {
    let mut line = BTreeSet::new();
    let mut next = head;
    while let Some(id) = next.filter(|id| line.insert(*id)) {
        next = all.get(&id).and_then(|one| one.parent);
    }
    line
}

fn row(one: &Descriptor, worktree: &Worktree) -> [String; 6] {
    let mark = if worktree.head == Some(one.snapshot_id) { " *" } else { "" };
    [
        format!("{}{mark}", one.snapshot_id),
        one.created_at.clone(),
        one.fencing_token.map_or_else(|| "-".to_owned(), |token| token.to_string()),
        one.files.to_string(),
        one.risk.clone().unwrap_or_else(|| "-".to_owned()),
        one.note.clone().unwrap_or_default(),
    ]
}

fn entry(one: &Descriptor, worktree: &Worktree) -> Result<Value> {
    let mut entry = document(one)?;
    entry.insert("head".to_owned(), json!(worktree.head == Some(one.snapshot_id)));
    Ok(Value::Object(entry))
}
