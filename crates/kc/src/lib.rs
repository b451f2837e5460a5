//! Turns on the lineage of documents: the door `kc_cli`.
//!
//! Whoever wants to change a document's overlays acquires the lease first and shows its token with every change;
//! the token is checked in the transaction that makes the change. The functions here are the only arbiter:
//! the program and the procedure calls only pass words on. No rule about leases is here; the kernel has them.

pub mod cli;
pub mod commands;
pub mod document;
pub mod error;
pub mod lock;
pub mod medium;
pub mod output;
pub mod overlay;
pub mod rpc;
pub mod schemas;
pub mod secret;
pub mod undelivered;
pub mod vault;
pub mod verify;
pub mod wire;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use holdfast_sys::Sys;

pub use document::{doc_add, doc_list, doc_remove};
pub use lock::{lineage_lock_acquire, lineage_lock_release, lineage_lock_status, lineage_lock_status_all};
pub use medium::Database;
pub use overlay::{lineage_overlay_add, lineage_overlay_list, lineage_overlay_remove};

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match cli::Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return output::clap(&error),
    };
    match commands::run(&Sys::os(), cli.command) {
        Ok((said, done)) => output::said(said, done),
        Err(error) => output::error(&error),
    }
}
