//! `jvs pin`, `jvs unpin`, `jvs pins`: snapshots that are kept whatever becomes of the heads.

use holdfast_door::table;
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::names::OpId;
use crate::output::Report;
use crate::pins::{self, Pin};

/// Keeps a snapshot.
pub(super) fn add(context: &Context, id: &str, reason: Option<&str>) -> Result<Report> {
    reason.map_or(Ok(()), super::restore::is_a_reason)?;
    let pin = pins::add(&context.repo()?, OpId::typed(id)?, reason)?;
    Ok(Report::new(format!("pinned {}\n", pin.snapshot_id), &json!({ "pin": pin })))
}

/// Lets a snapshot go.
pub(super) fn remove(context: &Context, id: &str) -> Result<Report> {
    let id = OpId::typed(id)?;
    pins::remove(&context.repo()?, id)?;
    Ok(Report::new(format!("unpinned {id}\n"), &json!({ "unpinned": id })))
}

/// Lists what is kept.
pub(super) fn list(context: &Context) -> Result<Report> {
    let all = pins::all(&context.repo()?)?;
    let rows: Vec<[String; 4]> = all.iter().map(row).collect();
    let json = json!({ "count": all.len(), "pins": all });
    Ok(Report::new(table(["ID", "SINCE", "KEEPS", "REASON"], &rows), &json))
}

fn row(pin: &Pin) -> [String; 4] {
    let keeps = if pin.with_ancestors { "with ancestors" } else { "it alone" };
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    [pin.snapshot_id.to_string(), text(&pin.at), keeps.to_owned(), text(&pin.reason)]
}
