//! `jit import`: issues from lines of JSON.

use std::io::Read as _;
use std::path::Path;

use holdfast_tracker::durable;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::import::{self, Imported};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Import;
use crate::context::Context;
use crate::output::Report;

/// The largest file that is imported.
const LONGEST: usize = 256 << 20;

/// What became of an import, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ImportOutput {
    /// What became of it.
    pub imported: Imported,
}

pub fn run(context: &Context, typed: &Import) -> Result<Report> {
    let session = context.session()?;
    let text = read(context, &typed.file)?;
    let imported = import::import(&session, &text)?;
    imported.notes.iter().for_each(|note| context.printer.warn(note));
    let Imported { created, updated, unchanged, .. } = &imported;
    let text =
        format!("{} created, {} updated, {} unchanged\n", created.len(), updated.len(), unchanged.len());
    let brief = [created.as_slice(), updated.as_slice()].concat().join("\n");
    Ok(Report::new(text, &ImportOutput { imported }).brief(brief))
}

fn read(context: &Context, file: &str) -> Result<Vec<u8>> {
    if file != "-" {
        let path = context.caller.start.join(file);
        let bytes = durable::read(&context.caller.sys, &path, LONGEST)?;
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
