//! One file a command. Each gets the context and what was typed, and gives a report; none prints.

pub mod beside;
pub mod board;
pub mod claim;
pub mod commit;
pub mod config;
pub mod decide;
pub mod demo;
pub mod dep;
pub mod dispatch;
pub mod doc;
pub mod doctor;
pub mod edit;
pub mod engine;
pub mod export;
pub mod gate;
pub mod graph;
pub mod guardian;
pub mod heartbeat;
pub mod hook;
pub mod hooks;
pub mod import;
pub mod init;
pub mod issue;
pub mod label;
pub mod log;
pub mod mcp;
pub mod merge_driver;
pub mod note;
pub mod prime;
pub mod query;
pub mod recover;
pub mod reserve;
pub mod run;
pub mod schema;
pub mod search;
pub mod serve;
pub mod setup;
pub mod shell;
pub mod split;
pub mod status;
pub mod validate;
pub mod watch;
pub mod whoami;
pub mod work;
pub mod worktree;

use crate::cli::{self, Command, Deferred, Typed};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::error::Result;

/// Does what was typed, or what git asks for.
pub fn run(context: &Context, command: Command) -> Result<Report> {
    match command {
        Command::Hook(Deferred(command)) => hook::run(context, &command),
        Command::Typed(command) => typed(context, command),
    }
}

/// Apart from what every commit waits for, which would have to make room for all of this.
#[inline(never)]
fn typed(context: &Context, command: Typed) -> Result<Report> {
    match command {
        Typed::Init => init::run(context),
        Typed::Prime(Deferred(typed)) => prime::run(context, &typed),
        Typed::Setup(Deferred(typed)) => setup::run(context, &typed),
        Typed::Mcp(Deferred(typed)) => mcp::run(context, run, &typed),
        Typed::Demo(Deferred(typed)) => demo::run(context, &typed),
        Typed::Start(Deferred(typed)) => work::start(context, &typed),
        Typed::Finish(Deferred(typed)) => work::finish(context, &typed),
        Typed::Drop(Deferred(typed)) => work::give_back(context, &typed),
        Typed::Note(Deferred(typed)) => note::run(context, &typed),
        Typed::Reopen(Deferred(typed)) => decide::reopen(context, &typed),
        Typed::Close(Deferred(typed)) => decide::close(context, &typed),
        Typed::Land(Deferred(typed)) => work::land(context, &typed),
        Typed::Run(Deferred(typed)) => run::run(context, &typed),
        Typed::Guardian(Deferred(typed)) => guardian::run(context, &typed),
        Typed::Dispatch(Deferred(typed)) => dispatch::run(context, &typed),
        Typed::Serve(Deferred(typed)) => serve::run(context, &typed),
        Typed::Board(Deferred(typed)) => board::run(context, &typed),
        Typed::Split(Deferred(typed)) => split::run(context, &typed),
        Typed::Watch(Deferred(typed)) => watch::run(context, &typed),
        Typed::Push => work::push(context),
        Typed::Whoami => whoami::run(context),
        Typed::Sync => work::sync(context),
        Typed::List(Deferred(filters)) => issue::run(context, &cli::Issue::List(filters)),
        Typed::Show { id } => issue::run(context, &cli::Issue::Show { id }),
        Typed::Create(Deferred(typed)) => {
            issue::run(context, &cli::Issue::Create { issue: typed, claim: false })
        }
        Typed::Ready(Deferred(filters)) => query::run(context, &cli::Query::Available(filters)),
        Typed::Next(Deferred(filters)) => query::next(context, &filters),
        Typed::Edit { id } => edit::run(context, &id),
        Typed::Log(Deferred(typed)) => log::run(context, &typed),
        Typed::Help { command } => shell::help(&command),
        Typed::Issue(Deferred(command)) => issue::run(context, &command),
        Typed::Status { claims } => status::run(context, claims),
        Typed::Doctor => doctor::run(context),
        Typed::Query(Deferred(command)) => query::run(context, &command),
        Typed::Graph(Deferred(command)) => graph::run(context, &command),
        Typed::Search(Deferred(typed)) => search::run(context, &typed),
        Typed::Dep(Deferred(command)) => dep::run(context, &command),
        Typed::Label(Deferred(command)) => label::run(context, &command),
        Typed::Gate(Deferred(command)) => gate::run(context, &command),
        Typed::Doc(Deferred(command)) => doc::run(context, &command),
        Typed::Import(Deferred(typed)) => import::run(context, &typed),
        Typed::Export(Deferred(typed)) => export::run(context, &typed),
        Typed::Claim(Deferred(command)) => claim::run(context, &command),
        Typed::Reserve(Deferred(command)) => reserve::run(context, &command),
        Typed::Worktree(Deferred(command)) => worktree::run(context, &command),
        Typed::Engine(Deferred(command)) => engine::run(context, &command),
        Typed::Config(Deferred(command)) => config::run(context, &command),
        Typed::Heartbeat(Deferred(command)) => heartbeat::run(context, &command),
        Typed::Recover { dry_run } => recover::run(context, dry_run),
        Typed::Validate(Deferred(command)) => validate::run(context, &command),
        Typed::Hooks(Deferred(command)) => hooks::run(context, &command),
        Typed::MergeDriver(Deferred(files)) => merge_driver::run(context, &files),
        Typed::Commit(Deferred(typed)) => commit::run(context, &typed),
        Typed::Schema(Deferred(typed)) => schema::run(&typed),
        Typed::Completions(Deferred(typed)) => Ok(shell::completions(&typed)),
        Typed::Man(Deferred(typed)) => shell::man(&typed),
    }
}
