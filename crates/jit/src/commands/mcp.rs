//! `jit mcp`: serves one coding client on standard input and output until it goes away.

use std::sync::Arc;
use std::time::Duration;

use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Mcp;
use crate::context::Context;
use crate::mcp;
use crate::output::Report;
use holdfast_tracker::error::Result;

/// That the client went away; only its messages are printed.
#[derive(Serialize, JsonSchema)]
pub struct McpOutput {}

/// Serves a client.
///
/// # Errors
/// When its messages cannot be read.
pub fn run(context: &Context, run: mcp::Run, typed: &Mcp) -> Result<Report> {
    let patience = Duration::from_secs(typed.answer_within);
    let context = Context {
        caller: context.caller.clone(),
        printer: context.printer,
        names: Arc::clone(&context.names),
        temporary: context.temporary.clone(),
        keeper: context.keeper.clone(),
    };
    mcp::serve(context, run, patience, &mut std::io::stdin().lock(), Box::new(std::io::stdout()))?;
    // Standard output is the client's, to the end.
    Ok(Report::default().pieces(vec![Clean::default()]))
}
