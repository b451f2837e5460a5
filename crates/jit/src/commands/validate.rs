//! `jit validate`: looks for problems and changes nothing. The exit code is the verdict.

use holdfast_tracker::error::Result;
use holdfast_tracker::validate::{self, Check};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Validate as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::code::Exit;

/// What was looked at, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ValidateOutput {
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// Does what was typed.
///
/// # Errors
/// When it cannot be looked at.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let checks = match command {
        Command::Leases => validate::leases(&context.session()?)?,
        Command::Config => vec![validate::config(&context.caller)?],
        Command::Divergence => vec![validate::divergence(&context.session()?)?],
        Command::All => validate::all(&context.caller)?,
    };
    let (text, exit) = judged(&checks);
    Ok(Report::new(text, &ValidateOutput { checks }).exit(exit))
}

/// What was looked at in words, and how the program ends.
pub(super) fn judged(checks: &[Check]) -> (String, Exit) {
    let mut text = String::new();
    for check in checks {
        text.push_str(&format!("{}: {}\n", check.name, if check.ok { "ok" } else { "problems" }));
        for problem in check.problems.iter().chain(&check.notes) {
            text.push_str(&format!("  {problem}\n"));
        }
    }
    (text, if checks.iter().all(|check| check.ok) { Exit::Ok } else { Exit::Problems })
}
