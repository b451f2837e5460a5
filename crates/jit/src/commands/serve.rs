//! `jit serve`: becomes `jit-server`, which is a program of its own so that no other command has to load it.

use holdfast_tracker::error::Result;

use super::beside;
use crate::cli::Serve;
use crate::context::Context;
use crate::output::Report;

/// Becomes the server.
///
/// # Errors
/// When it is not there, or cannot be started.
pub fn run(context: &Context, typed: &Serve) -> Result<Report> {
    let mut command = beside::program(context, "jit-server")?;
    if let Some(listen) = typed.listen {
        command.args(["--listen", &listen.to_string()]);
    }
    if let Some(file) = &typed.token_file {
        command.arg("--token-file").arg(file);
    }
    for host in &typed.hosts {
        command.args(["--host", host]);
    }
    for also in &typed.also {
        command.arg("--also").arg(also);
    }
    Err(beside::become_it(command))
}
