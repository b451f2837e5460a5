//! `jvs diff`: what differs between two snapshots, or between one and a payload.

use holdfast_door::Clean;
use serde_json::{Value, json};

use crate::context::Context;
use crate::diff::{Difference, between, unsaved};
use crate::error::Result;
use crate::names::OpId;
use crate::output::Report;
use crate::payload::Progress;
use crate::snapshot;

/// Shows what differs.
pub(super) fn run(
    context: &Context,
    from: Option<&str>,
    to: Option<&str>,
    name: Option<&str>,
) -> Result<Report> {
    let repo = context.repo()?;
    let (from, to) = (from.map(OpId::typed).transpose()?, to.map(OpId::typed).transpose()?);
    let progress = Progress::default();
    let read = |id: OpId| {
        snapshot::load(&repo, id)?;
        repo.trees.read(&snapshot::payload(&repo, id)?, &progress)
    };
    let work = || match (from, to) {
        (Some(from), Some(to)) => Ok(between(&read(from)?, &read(to)?)),
        (Some(from), None) => {
            let payload = context.worktree(&repo, name)?.payload(&repo)?;
            Ok(between(&read(from)?, &repo.trees.read(&payload, &progress)?))
        }
        (None, _) => unsaved(&repo, &context.worktree(&repo, name)?, &progress),
    };
    let found = context.printer.watch("comparing", &progress, work)?;
    let text = if found.is_empty() { "no differences\n".to_owned() } else { lines(&found) };
    let json = json!({ "from": from, "to": to, "count": found.len(), "changes": documents(&found) });
    Ok(Report::new(text, &json))
}

/// One line for each difference.
pub(super) fn lines(found: &[Difference]) -> String {
    let line = |one: &Difference| {
        format!("{}  {}\n", one.change.letter(), Clean::line(&String::from_utf8_lossy(&one.path)))
    };
    found.iter().map(line).collect()
}

/// The differences for scripts.
pub(super) fn documents(found: &[Difference]) -> Vec<Value> {
    let one = |one: &Difference| json!({ "change": one.change, "path": String::from_utf8_lossy(&one.path) });
    found.iter().map(one).collect()
}
