//! Issues and claims for work in parallel git worktrees: the door `jit`.
//!
//! A door parses what was typed, opens the medium, has the kernel decide, and prints the answer. It never
//! touches a lease except through the medium, and no rule about leases is here.

pub mod agent;
pub mod claims;
pub mod cli;
pub mod code;
pub mod colours;
pub mod commands;
pub mod config;
pub mod context;
pub mod control;
pub mod demo;
pub mod divergence;
pub mod documents;
pub mod durable;
pub mod error;
pub mod gates;
pub mod heartbeat;
pub mod hooks;
pub mod ids;
pub mod interrupt;
pub mod issues;
pub mod merge;
pub mod output;
pub mod queries;
pub mod times;
pub mod vars;
pub mod workspace;
pub mod worktree;
pub mod writes;

use std::ffi::OsString;
use std::process::ExitCode;

use holdfast_sys::Sys;

use cli::Cli;
use code::Exit;
use context::Context;
pub use error::Error;
use output::Printer;

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run(&arguments).code())
}

fn run(arguments: &[OsString]) -> Exit {
    let cli = match Cli::typed(arguments) {
        Ok(cli) => cli,
        Err(error) => return output::clap(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let printer = Printer::new(&cli.global);
    let done = Context::new(Sys::os(), &cli.global, vars::Vars::read())
        .and_then(|context| commands::run(&context, cli.command));
    match done {
        Ok(report) => printer.report(&report),
        Err(error) => printer.error(&error),
    }
}
