//! `jvs man`: the manual pages, made from what can be typed.

use clap::CommandFactory;
use holdfast_door::{Clean, manual};
use serde_json::json;

use crate::cli::Cli;
use crate::error::{Error, Result};
use crate::output::Report;

/// The page of a command.
pub(super) fn run(command: &[String]) -> Result<Report> {
    let page = manual(Cli::command(), command).map_err(Error::usage)?;
    Ok(Report::new(Clean::page(&page), &json!({ "page": page })))
}
