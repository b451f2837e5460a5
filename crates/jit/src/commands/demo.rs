//! `jit demo`: four agents at work, in a repository that is thrown away afterwards.

use crate::cli::Demo;
use crate::context::Context;
use crate::demo;
use crate::output::Report;
use holdfast_tracker::error::Result;

/// Shows it, or plays one of the agents in it.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, typed: &Demo) -> Result<Report> {
    match &typed.act {
        Some(wanted) => demo::act(context, wanted),
        None => demo::run(context, typed.keep),
    }
}
