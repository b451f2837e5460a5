//! `jit board`: becomes `jit-board`, which is a program of its own so that no other command has to load it.

use holdfast_tracker::error::Result;

use super::beside;
use crate::cli::Board;
use crate::context::Context;
use crate::output::Report;

/// Becomes the board.
///
/// # Errors
/// When it is not there, or cannot be started.
pub fn run(context: &Context, typed: &Board) -> Result<Report> {
    let mut command = beside::program(context, "jit-board")?;
    if typed.once {
        command.arg("--once");
    }
    Err(beside::become_it(command))
}
