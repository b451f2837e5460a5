//! `jit issue delete`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::error::Result;
use holdfast_tracker::writes::Writer;

/// What became of a deletion, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DeleteOutput {
    /// What was deleted.
    pub deleted: Gone,
}

/// An issue that is gone.
#[derive(Serialize, JsonSchema)]
pub struct Gone {
    /// Its id.
    pub id: String,
    /// What it was called where people read and type.
    pub handle: String,
    /// Its title.
    pub title: String,
    /// The ids of those that depended on it and no longer do.
    pub dependents: Vec<String>,
}

pub(super) fn run(session: &Session, typed: &str) -> Result<Report> {
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(typed)?;
    let handle = writer.issues.handle(id);
    let deleted = writer.delete(id)?;
    let dependents: Vec<_> = deleted.dependents.iter().map(ToString::to_string).collect();
    let mut text = format!("deleted {handle}: {}\n", deleted.title);
    for dependent in &deleted.dependents {
        text.push_str(&format!("{} no longer waits for it\n", writer.issues.handle(*dependent)));
    }
    let id = id.to_string();
    let deleted = Gone { id: id.clone(), handle, title: deleted.title, dependents };
    Ok(Report::new(text, &DeleteOutput { deleted }).brief(id))
}
