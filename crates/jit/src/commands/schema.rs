//! `jit schema`: the form of what `--json` prints, made from the types that are printed. Whoever adds a command
//! adds it to [`OUTPUTS`]; a test fails for a command that is missing there, and holds real output of each to
//! what is said here.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema as Form};
use serde::Serialize;

use crate::cli::Schema;
use crate::commands;
use crate::commands::config::told as config;
use crate::commands::demo;
use crate::commands::gate::{check, define};
use crate::commands::issue::{create, delete, show, update};
use crate::commands::{
    claim, commit, dep, dispatch, doc, export, gate, guardian, heartbeat, hook, hooks, import, init, issue,
    mcp, merge_driver, prime, recover, setup, shell, status, validate, work, worktree,
};
use crate::output::Report;
use holdfast_tracker::claims::lease::{Beaten, Evicted, Many, One, Released, Renewed, Transferred};
use holdfast_tracker::error::{Error, ErrorDocument, Result};
use holdfast_tracker::queries::item::Items;
use holdfast_tracker::queries::{graph, search};

/// A command and the form of its answer.
pub type Output = (&'static str, fn() -> Form);

/// Every command, and `error` for what goes wrong.
pub const OUTPUTS: &[Output] = &[
    ("claim acquire", of::<One>),
    ("claim create", of::<claim::Created>),
    ("claim force-evict", of::<Evicted>),
    ("claim heartbeat", of::<Beaten>),
    ("claim history", of::<claim::History>),
    ("claim list", of::<Many>),
    ("claim next", of::<One>),
    ("claim release", of::<Released>),
    ("claim renew", of::<Renewed>),
    ("claim status", of::<Many>),
    ("claim transfer", of::<Transferred>),
    ("commit", of::<commit::CommitOutput>),
    ("completions", of::<shell::Page>),
    ("config get", of::<config::One>),
    ("config reset", of::<config::Changed>),
    ("config set", of::<config::Changed>),
    ("config show", of::<config::Many>),
    ("config show-hierarchy", of::<config::Hierarchy>),
    ("config validate", of::<config::Validated>),
    ("create", of::<create::CreateOutput>),
    ("demo", of::<demo::DemoOutput>),
    ("dep add", of::<dep::DepOutput>),
    ("dep rm", of::<dep::DepOutput>),
    ("dispatch", of::<dispatch::DispatchOutput>),
    ("dispatch logs", of::<dispatch::LogsOutput>),
    ("dispatch status", of::<dispatch::StatusOutput>),
    ("dispatch stop", of::<dispatch::StopOutput>),
    ("doc add", of::<doc::Added>),
    ("doc history", of::<doc::History>),
    ("doc list", of::<doc::Many>),
    ("doc remove", of::<issue::Written>),
    ("doc show", of::<doc::Shown>),
    ("drop", of::<work::DropOutput>),
    ("error", of::<ErrorDocument>),
    ("export", of::<export::ExportOutput>),
    ("finish", of::<work::FinishOutput>),
    ("gate add", of::<gate::Written>),
    ("gate check", of::<check::GateCheckOutput>),
    ("gate define", of::<define::Written>),
    ("gate fail", of::<gate::Written>),
    ("gate list", of::<define::Many>),
    ("gate pass", of::<gate::Written>),
    ("gate remove", of::<gate::Written>),
    ("gate show", of::<define::One>),
    ("gate status", of::<gate::Status>),
    ("graph downstream", of::<graph::GraphOutput>),
    ("graph export", of::<graph::GraphOutput>),
    ("graph roots", of::<graph::GraphOutput>),
    ("graph show", of::<graph::GraphOutput>),
    ("guardian", of::<guardian::GuardianOutput>),
    ("heartbeat run", of::<heartbeat::Ended>),
    ("heartbeat status", of::<heartbeat::Beats>),
    ("hook commit-msg", of::<hook::HookOutput>),
    ("hook pre-commit", of::<hook::HookOutput>),
    ("hook pre-push", of::<hook::HookOutput>),
    ("hook pre-receive", of::<hook::HookOutput>),
    ("hook prepare-commit-msg", of::<hook::HookOutput>),
    ("hooks install", of::<hooks::HooksOutput>),
    ("hooks status", of::<hooks::HooksOutput>),
    ("hooks uninstall", of::<hooks::HooksOutput>),
    ("import", of::<import::ImportOutput>),
    ("init", of::<init::InitOutput>),
    ("issue create", of::<create::CreateOutput>),
    ("issue delete", of::<delete::DeleteOutput>),
    ("issue list", of::<Items<'static>>),
    ("issue show", of::<show::ShowOutput>),
    ("issue update", of::<update::UpdateOutput>),
    ("label add", of::<issue::Written>),
    ("label rm", of::<issue::Written>),
    ("land", of::<work::LandOutput>),
    ("list", of::<Items<'static>>),
    ("man", of::<shell::Page>),
    ("mcp", of::<mcp::McpOutput>),
    ("merge-driver", of::<merge_driver::MergeDriverOutput>),
    ("prime", of::<prime::PrimeOutput>),
    ("query all", of::<Items<'static>>),
    ("query available", of::<Items<'static>>),
    ("query blocked", of::<Items<'static>>),
    ("ready", of::<Items<'static>>),
    ("recover", of::<recover::RecoverOutput>),
    ("run", of::<commands::run::RunOutput>),
    ("schema", of::<All>),
    ("search", of::<search::Results>),
    ("setup", of::<setup::SetupOutput>),
    ("show", of::<show::ShowOutput>),
    ("start", of::<work::StartOutput>),
    ("status", of::<status::StatusOutput>),
    ("sync", of::<work::SyncOutput>),
    ("validate all", of::<validate::ValidateOutput>),
    ("validate config", of::<validate::ValidateOutput>),
    ("validate divergence", of::<validate::ValidateOutput>),
    ("validate leases", of::<validate::ValidateOutput>),
    ("worktree info", of::<worktree::One>),
    ("worktree init", of::<worktree::One>),
    ("worktree list", of::<worktree::Many>),
];

/// The forms of all answers, as one JSON object. The form of one answer is printed bare, as other programs
/// take it.
#[derive(Serialize, JsonSchema)]
pub struct All {
    /// The forms, by command.
    pub schemas: BTreeMap<&'static str, Form>,
}

/// What is always printed is required: a program need not ask whether it is there.
fn of<T: JsonSchema>() -> Form {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Prints the form of one answer, or of all.
///
/// # Errors
/// When there is no such command.
pub fn run(typed: &Schema) -> Result<Report> {
    let name = typed.command.join(" ");
    if name.is_empty() {
        return Ok(page(&All { schemas: OUTPUTS.iter().map(|(name, form)| (*name, form())).collect() }));
    }
    let found = OUTPUTS.iter().find(|(known, _)| *known == name);
    let names: Vec<&str> = OUTPUTS.iter().map(|(name, _)| *name).collect();
    let unknown = || Error::BadValue {
        what: "a command with a schema",
        given: name.clone(),
        why: format!("it is one of {}", names.join(", ")),
    };
    Ok(page(&found.ok_or_else(unknown)?.1()))
}

/// For people too it is a document, only indented.
fn page(document: &impl Serialize) -> Report {
    let mut report = Report::new("", document);
    report.text = format!("{:#}", report.json).into();
    let brief = report.text.clone();
    report.brief(brief)
}
