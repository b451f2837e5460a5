//! `jit demo`: a pool of four workers that lands real changes on the main branch of a repository that is thrown away
//! afterwards. One of its runs is really killed and one is really put to sleep for longer than its claim lasts. Nothing is
//! staged but the order of events; the log and the main branch have the last word.

mod audit;
mod director;
mod ground;

pub use audit::{Story, Turn};
pub use director::{DemoOutput, Verdict};
use holdfast_tracker::error::Result;

use serde_json::Value;

use crate::cli::Demo;
use crate::context::Context;
use crate::output::Report;

/// How many work at once.
const WORKERS: usize = 4;

/// How long a claim lasts here, in seconds: short, so that nobody has to wait long for a worker that sleeps.
const TTL_SECS: u64 = 2;

/// Shows it.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &Demo) -> Result<Report> {
    director::run(context, typed.keep)
}

/// A text in a document of ours; empty if it is not there.
fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A list in a document of ours; empty if it is not there.
fn list<'a>(document: &'a Value, pointer: &str) -> &'a [Value] {
    document.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
