//! `jit split`: parts of an issue.

use holdfast_tracker::error::Result;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::writes::{Split, Writer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli;
use crate::context::Context;
use crate::output::Report;

/// What an issue was split into, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct SplitOutput {
    /// The issue.
    pub parent: PartOf,
    /// Its new parts.
    pub parts: Vec<PartOf>,
    /// How many.
    pub count: usize,
}

/// An issue, in few words.
#[derive(Serialize, JsonSchema)]
pub struct PartOf {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
}

/// Makes parts of an issue that is held here.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &cli::Split) -> Result<Report> {
    let session = context.session()?;
    let writer = Writer::open(&session)?;
    let id = writer.issues.resolve(&typed.issue)?;
    let title = writer.issues.read(id)?.title;
    let Split { parent, parts } = writer.split(id, &typed.into)?;
    let issues = Issues::new(&session);
    let parts: Vec<PartOf> = parts
        .into_iter()
        .map(|(id, title)| PartOf { id: id.to_string(), handle: issues.handle(id), title })
        .collect();
    let parent = PartOf { id: parent.to_string(), handle: issues.handle(parent), title };
    let mut text = format!("split {} into\n", parent.handle);
    for part in &parts {
        text.push_str(&format!("  {}  {}\n", part.handle, part.title));
    }
    text.push_str("it can be finished once they have landed; jit drop gives it back until then\n");
    let brief = parts.iter().map(|part| part.id.clone()).collect::<Vec<_>>().join("\n");
    Ok(Report::new(text, &SplitOutput { parent, count: parts.len(), parts }).brief(brief))
}
