//! One file a command. Each gets the context and what was typed, and gives a report; none prints.

pub mod claim;
pub mod commit;
pub mod config;
pub mod demo;
pub mod dep;
pub mod doc;
pub mod export;
pub mod gate;
pub mod graph;
pub mod heartbeat;
pub mod hook;
pub mod hooks;
pub mod import;
pub mod init;
pub mod issue;
pub mod label;
pub mod merge_driver;
pub mod query;
pub mod recover;
pub mod schema;
pub mod search;
pub mod shell;
pub mod status;
pub mod validate;
pub mod worktree;

use crate::cli::{Command, Deferred};
use crate::context::Context;
use crate::error::Result;
use crate::output::Report;

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: Command) -> Result<Report> {
    match command {
        Command::Init => init::run(context),
        Command::Demo(typed) => demo::run(context, &typed),
        Command::Issue(Deferred(command)) => issue::run(context, &command),
        Command::Status => status::run(context),
        Command::Query(Deferred(command)) => query::run(context, &command),
        Command::Graph(Deferred(command)) => graph::run(context, &command),
        Command::Search(typed) => search::run(context, &typed),
        Command::Dep(Deferred(command)) => dep::run(context, &command),
        Command::Label(Deferred(command)) => label::run(context, &command),
        Command::Gate(Deferred(command)) => gate::run(context, &command),
        Command::Doc(Deferred(command)) => doc::run(context, &command),
        Command::Import(typed) => import::run(context, &typed),
        Command::Export(typed) => export::run(context, &typed),
        Command::Claim(Deferred(command)) => claim::run(context, &command),
        Command::Worktree(Deferred(command)) => worktree::run(context, &command),
        Command::Config(Deferred(command)) => config::run(context, &command),
        Command::Heartbeat(Deferred(command)) => heartbeat::run(context, &command),
        Command::Recover { dry_run } => recover::run(context, dry_run),
        Command::Validate(Deferred(command)) => validate::run(context, &command),
        Command::Hooks(Deferred(command)) => hooks::run(context, &command),
        Command::Hook(Deferred(command)) => hook::run(context, &command),
        Command::MergeDriver(files) => merge_driver::run(context, &files),
        Command::Commit(typed) => commit::run(context, &typed),
        Command::Schema(typed) => schema::run(&typed),
        Command::Completions(typed) => Ok(shell::completions(&typed)),
        Command::Man(typed) => shell::man(&typed),
    }
}
