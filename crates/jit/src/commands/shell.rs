//! `jit completions`, `jit man` and `jit help`: made from the definitions of the commands, so that they cannot lag behind.

use clap::CommandFactory;
use holdfast_door::Clean;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Cli, Man, Shell};
use crate::output::Report;
use holdfast_tracker::error::{Error, Result};

/// A page, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ScriptOutput {
    /// What it says.
    pub text: String,
}

/// The completions of a shell.
#[must_use]
pub fn completions(typed: &Shell) -> Report {
    let mut bytes = Vec::new();
    clap_complete::generate(typed.shell, &mut Cli::command(), "jit", &mut bytes);
    page(&bytes)
}

/// The help of a command.
///
/// # Errors
/// When there is no such command.
pub fn help(words: &[String]) -> Result<Report> {
    let text = find(words)?.render_long_help().to_string();
    Ok(page(text.as_bytes()))
}

/// The command that these words name.
fn find(words: &[String]) -> Result<clap::Command> {
    let mut command = Cli::command();
    command.build();
    let mut name = "jit".to_owned();
    for word in words {
        let Some(below) = command.find_subcommand(word).cloned() else {
            return Err(Error::Usage(format!("there is no command '{name} {word}'")));
        };
        name = format!("{name} {word}");
        command = below;
    }
    Ok(command)
}

/// The manual page of a command.
///
/// # Errors
/// When there is no such command.
pub fn man(typed: &Man) -> Result<Report> {
    let command = find(&typed.command)?;
    let mut bytes = Vec::new();
    let written = clap_mangen::Man::new(command).render(&mut bytes);
    written.map_err(|error| Error::Internal(format!("the manual page cannot be written: {error}")))?;
    Ok(page(&bytes))
}

fn page(bytes: &[u8]) -> Report {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let page = Clean::page(&text);
    Report::new(&page, &ScriptOutput { text }).brief(page)
}
