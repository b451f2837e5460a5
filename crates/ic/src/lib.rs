//! Named locks for scripts: the door `ic`.
//!
//! A lock is a directory `<root>/<name>/<scope>`, so that scripts which know nothing but `mkdir` and this door
//! keep each other out. Every lease goes through the directory medium; here is only what people type and
//! read, how long to wait, and in which order locks were taken. No rule about leases is here.

pub mod cancel;
pub mod cli;
pub mod commands;
pub mod context;
pub mod cycle;
pub mod deadlock;
pub mod error;
pub mod inversion;
pub mod locks;
pub mod names;
pub mod order;
pub mod output;
pub mod owner;
pub mod root;
pub mod shown;
pub mod times;
pub mod vars;
pub mod wait;

mod beats;
mod patience;
mod side_files;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use holdfast_sys::Sys;

use cli::Cli;
use context::Context;
use error::Exit;

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run(&arguments).code())
}

fn run(arguments: &[OsString]) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return output::clap(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let context = Context::new(Sys::os(), &cli.global, &vars::Vars::read());
    match commands::run(&context, cli.command) {
        Ok(report) => context.printer.report(&report),
        Err(error) => context.printer.error(&error),
    }
}
