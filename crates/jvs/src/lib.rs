//! One writer per worktree, and snapshots that can be trusted: the door `jvs`.
//!
//! A door parses what was typed, opens the medium, has the kernel decide, and prints the answer. It never
//! touches a lease except through the medium, and no rule about leases is here. Whatever is published becomes
//! visible in one step, under the lock's guard, after the token was checked there.

pub mod audit;
pub mod change;
pub mod cli;
pub mod commands;
pub mod config;
pub mod context;
pub mod diff;
pub mod doctor;
pub mod error;
pub mod gc;
pub mod guards;
pub mod holder;
pub mod intent;
pub mod lock;
pub mod names;
pub mod output;
pub mod payload;
pub mod pins;
pub mod publish;
pub mod recover;
pub mod repo;
pub mod snapshot;
pub mod verify;
pub mod worktree;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use holdfast_sys::Sys;

use cli::Cli;
use context::Context;
pub use error::Error;
use output::Printer;

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run(&arguments))
}

fn run(arguments: &[OsString]) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return output::clap(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let printer = Printer::new(&cli.global);
    let done = Context::new(Sys::os(), &cli.global, printer)
        .and_then(|context| commands::run(&context, cli.command));
    match done {
        Ok(report) => printer.report(&report),
        Err(error) => printer.error(&error),
    }
}
