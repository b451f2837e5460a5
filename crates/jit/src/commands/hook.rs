//! `jit hook`: what git runs. Says nothing when all is well.

use std::io::{self, Read as _};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Hook as Command;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::hooks::commit;
use holdfast_tracker::hooks::message::{self, Source};
use holdfast_tracker::hooks::push::{self, Update};

/// A hook that had nothing to object to, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct HookOutput {
    /// The hook.
    pub hook: Passed,
}

/// A hook that had nothing to object to.
#[derive(Serialize, JsonSchema)]
pub struct Passed {
    /// Its name.
    pub name: &'static str,
    /// Always true.
    pub ok: bool,
}

/// Does what git asked for.
///
/// # Errors
/// Why git must stop, or what failed.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let name = match command {
        Command::PreCommit => {
            commit::check(&context.caller)?;
            "pre-commit"
        }
        Command::PrepareCommitMsg { file, source, commit } => {
            let amends = (source.as_deref(), commit.as_deref()) == (Some("commit"), Some("HEAD"));
            name_leases(context, file, if amends { Source::Amended } else { Source::Prepared });
            "prepare-commit-msg"
        }
        Command::CommitMsg { file } => {
            name_leases(context, file, Source::Finished);
            "commit-msg"
        }
        Command::PrePush { remote, .. } => {
            push::before_push(&context.caller, remote, &told(Update::pushed)?)?;
            "pre-push"
        }
        Command::PreReceive => {
            push::before_receive(&context.caller, &told(Update::received)?)?;
            "pre-receive"
        }
    };
    let passed = || HookOutput { hook: Passed { name, ok: true } };
    // Git runs this with every commit, and never asks for a document.
    Ok(if context.printer.is_json() { Report::new("", &passed()) } else { Report::default() })
}

/// A message without trailers is better than no commit: whether it may be made was asked before.
fn name_leases(context: &Context, file: &Path, source: Source) {
    if let Err(error) = message::name_leases(&context.caller, file, source) {
        context.printer.warn(&format!("the message names no leases: {error}"));
    }
}

/// What git tells on stdin.
fn told(read: impl FnOnce(&[u8]) -> Option<Vec<Update>>) -> Result<Vec<Update>> {
    let mut input = Vec::new();
    let failed = |source: io::Error| holdfast_sys::Error::new("read", Path::new("the refs on stdin"), source);
    io::stdin().lock().read_to_end(&mut input).map_err(failed)?;
    read(&input).ok_or_else(|| Error::Usage("what is on stdin is not what git tells this hook".into()))
}
