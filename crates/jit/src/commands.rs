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

use crate::cli::Command;
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
        Command::Issue(command) => issue::run(context, &command),
        Command::Status => status::run(context),
        Command::Query(command) => query::run(context, &command),
        Command::Graph(command) => graph::run(context, &command),
        Command::Search(typed) => search::run(context, &typed),
        Command::Dep(command) => dep::run(context, &command),
        Command::Label(command) => label::run(context, &command),
        Command::Gate(command) => gate::run(context, &command),
        Command::Doc(command) => doc::run(context, &command),
        Command::Import(typed) => import::run(context, &typed),
        Command::Export(typed) => export::run(context, &typed),
        Command::Claim(command) => claim::run(context, &command),
        Command::Worktree(command) => worktree::run(context, &command),
        Command::Config(command) => config::run(context, &command),
        Command::Heartbeat(command) => heartbeat::run(context, &command),
        Command::Recover { dry_run } => recover::run(context, dry_run),
        Command::Validate(command) => validate::run(context, &command),
        Command::Hooks(command) => hooks::run(context, &command),
        Command::Hook(command) => hook::run(context, &command),
        Command::MergeDriver(files) => merge_driver::run(context, &files),
        Command::Commit(typed) => commit::run(context, &typed),
        Command::Schema(typed) => schema::run(&typed),
        Command::Completions(typed) => Ok(shell::completions(&typed)),
        Command::Man(typed) => shell::man(&typed),
    }
}
