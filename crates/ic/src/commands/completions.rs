//! `ic completions`: what makes a shell complete these commands.

use clap::CommandFactory;
use clap_complete::Shell;
use holdfast_door::Clean;
use serde_json::json;

use crate::cli::Cli;
use crate::output::Report;

pub(super) fn run(shell: Shell) -> Report {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ic", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({ "shell": shell.to_string(), "script": script });
    Report::answer(Clean::page(&script), json)
}
