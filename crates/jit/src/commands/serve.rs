//! `jit serve`: becomes `jit-server`, which is a program of its own so that no other command has to load it.

use std::os::unix::process::CommandExt as _;

use holdfast_tracker::error::{Error, Result};

use crate::cli::Serve;
use crate::context::Context;
use crate::output::Report;
use crate::vars;

/// Becomes the server.
///
/// # Errors
/// When it is not there, or cannot be started.
#[expect(clippy::disallowed_methods, reason = "this is what the command is for")]
pub fn run(context: &Context, typed: &Serve) -> Result<Report> {
    let program = vars::program().unwrap_or_else(|| "jit".into()).with_file_name("jit-server");
    if !holdfast_tracker::durable::is_file(&context.caller.sys, &program)? {
        return Err(Error::NoProgram(program));
    }
    let mut command = std::process::Command::new(&program);
    command.arg("-C").arg(&context.caller.start);
    if let Some(agent) = &context.caller.typed_agent {
        command.arg("--agent-id").arg(agent);
    }
    if context.printer.is_json() {
        command.arg("--json");
    }
    if let Some(listen) = typed.listen {
        command.args(["--listen", &listen.to_string()]);
    }
    if let Some(file) = &typed.token_file {
        command.arg("--token-file").arg(file);
    }
    for host in &typed.hosts {
        command.args(["--host", host]);
    }
    // It only comes back if it could not be done.
    Err(holdfast_sys::Error::new("start", &program, command.exec()).into())
}
