//! The tracker over HTTP: the door `jit-server`, which `jit serve` starts.
//!
//! A request is checked (who asks, from which page, how much it says), one question is put to the tracker, and its answer
//! goes back as the JSON that the command prints. Nothing about leases is decided here. The tracker waits for files and
//! locks, so each question is asked on a thread of its own, of which there are few; connections cost no thread.

mod body;
mod cli;
mod connection;
mod delta;
mod gatekeeper;
mod guests;
mod locks;
mod message;
mod metrics;
mod openapi;
mod pages;
mod place;
mod problem;
mod query;
mod routes;
mod service;
mod stream;
mod token;
mod vars;
mod watch;
mod wire;

use std::process::ExitCode;

use clap::Parser as _;
use holdfast_door::{Clean, Notes, print, typed_wrong};
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};

use cli::Cli;

pub use problem::{Own, Problem};

/// Runs the program with the arguments and the environment of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let json = std::env::args_os().any(|argument| argument == "--json");
            let document = |first: &str| Error::Usage(first.to_owned()).document();
            let wrong = typed_wrong(&error, json.then_some(document));
            return ExitCode::from(if wrong { Exit::Usage } else { Exit::Ok }.code());
        }
    };
    ExitCode::from(ended(&cli, run(&cli)).code())
}

fn run(cli: &Cli) -> Result<()> {
    let place = place::Place::take(cli)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(service::THREADS)
        .build()
        .map_err(|error| holdfast_sys::Error::new("start", std::path::Path::new("jit-server"), error))?;
    let served = runtime.block_on(connection::serve(cli, place));
    // A question that waits for a lock is not waited for.
    runtime.shutdown_background();
    served
}

/// Says how it ended.
fn ended(cli: &Cli, result: Result<()>) -> Exit {
    let Err(error) = result else { return Exit::Ok };
    let notes = Notes::new();
    notes.error(&error.to_string());
    if let Some(hint) = error.hint() {
        notes.hint(&hint);
    }
    if cli.json {
        // The exit code tells the same to whoever cannot read this.
        let _ = print(&[Clean::json(&error.document())]);
    }
    error.exit()
}
