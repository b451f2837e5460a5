//! `jvs completions`: a script for the shell, made from what can be typed.

use clap::CommandFactory;
use holdfast_door::Clean;
use serde_json::json;

use crate::cli::Cli;
use crate::output::Report;

/// The completion script for a shell.
pub(super) fn run(shell: clap_complete::Shell) -> Report {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "jvs", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({ "shell": shell.to_string(), "script": script });
    Report::new(Clean::page(&script), &json)
}
