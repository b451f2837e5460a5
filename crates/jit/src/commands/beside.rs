//! Programs that belong to `jit` and lie beside it: what is heavy is loaded by whoever asks for it, and by no other command.

use std::path::PathBuf;
use std::process::Command;

use holdfast_tracker::error::{Error, Result};

use crate::context::Context;
use crate::vars;

/// Where a program beside this one is.
#[must_use]
pub fn place(name: &str) -> PathBuf {
    vars::program().unwrap_or_else(|| "jit".into()).with_file_name(name)
}

/// A program beside this one, to be started where `jit` was, as whom it acts.
///
/// # Errors
/// When it is not there.
#[expect(clippy::disallowed_methods, reason = "this is where the door starts its other programs")]
pub fn program(context: &Context, name: &str) -> Result<Command> {
    let program = place(name);
    if !holdfast_tracker::durable::is_file(&context.caller.sys, &program)? {
        return Err(Error::NoProgram(program));
    }
    let mut command = Command::new(&program);
    command.arg("-C").arg(&context.caller.start);
    if let Some(agent) = &context.caller.typed_agent {
        command.arg("--agent-id").arg(agent);
    }
    if context.printer.is_json() {
        command.arg("--json");
    }
    Ok(command)
}

/// Becomes that program; only comes back with why it could not be done.
#[must_use]
pub fn become_it(mut command: Command) -> Error {
    use std::os::unix::process::CommandExt as _;
    let error = command.exec();
    holdfast_sys::Error::new("start", command.get_program().as_ref(), error).into()
}
