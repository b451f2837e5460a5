//! Issues and claims for work in parallel git worktrees: the door `jit`.
//!
//! A door parses what was typed, opens the medium, has the kernel decide, and prints the answer. It never
//! touches a lease except through the medium, and no rule about leases is here.

mod background;
pub mod cli;
pub mod commands;
pub mod context;
pub mod interrupt;
pub mod mcp;
pub mod output;
pub mod prime;
pub mod setup;
pub mod vars;

use std::ffi::OsString;
use std::process::ExitCode;

use holdfast_sys::Sys;

use cli::Cli;
use context::Context;
use holdfast_tracker::code::Exit;
use output::Printer;
use output::names::Names;

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run(&arguments).code())
}

fn run(arguments: &[OsString]) -> Exit {
    let cli = match Cli::typed(arguments) {
        Ok(cli) => cli,
        Err(error) => return output::clap(&error, arguments),
    };
    let printer = Printer::new(&cli.global);
    let context = match Context::new(Sys::os(), &cli.global, vars::Vars::read()) {
        Ok(context) => context,
        Err(error) => return printer.error(&error, &Names::default()),
    };
    commands::run(&context, cli.command)
        .and_then(|report| printer.report(&report))
        .unwrap_or_else(|error| printer.error(&error, &context.names))
}
