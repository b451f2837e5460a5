//! `jit schema`: the form of what `--json` prints, made from the types that are printed. Whoever adds a command
//! adds it to [`OUTPUTS`]; a test fails for a command that is missing there, and holds real output of each to
//! what is said here.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema as Form};
use serde::Serialize;

use crate::cli::Schema;
use crate::commands;
use crate::commands::config::output as config;
use crate::commands::demo;
use crate::commands::gate::{check, define};
use crate::commands::issue::delete;
use crate::commands::{
    claim, commit, decide, dep, dispatch, doc, doctor, engine, export, guardian, heartbeat, hook, hooks,
    import, init, issue, label, log, mcp, merge_driver, prime, recover, reserve, setup, shell, split, status,
    validate, watch, whoami, work, worktree,
};
use crate::output::Report;
use holdfast_tracker::answers::{
    approvals, board, claims, create, gates, notes, pools, serve, show, update, worktrees,
};
use holdfast_tracker::claims::lease::{
    ClaimEvictOutput, ClaimHeartbeatOutput, ClaimListOutput, ClaimOutput, ClaimReleaseOutput,
    ClaimRenewOutput, ClaimTransferOutput,
};
use holdfast_tracker::error::{Error, ErrorOutput, Result};
use holdfast_tracker::queries::item::IssueListOutput;
use holdfast_tracker::queries::{graph, search};

/// A command and the form of its answer.
pub type Output = (&'static str, fn() -> Form);

/// Every command, and `error` for what goes wrong.
pub const OUTPUTS: &[Output] = &[
    ("board", of::<board::BoardOutput<board::Card<'static>>>),
    ("claim acquire", of::<claim::AcquireOutput>),
    ("claim adopt", of::<claim::ClaimAdoptOutput>),
    ("claim approve", of::<approvals::ClaimApproveOutput>),
    ("claim create", of::<claim::ClaimCreateOutput>),
    ("claim force-evict", of::<ClaimEvictOutput>),
    ("claim heartbeat", of::<ClaimHeartbeatOutput>),
    ("claim history", of::<claims::ClaimHistoryOutput>),
    ("claim list", of::<ClaimListOutput>),
    ("claim next", of::<ClaimOutput>),
    ("claim release", of::<ClaimReleaseOutput>),
    ("claim renew", of::<ClaimRenewOutput>),
    ("claim requests", of::<approvals::ClaimRequestsOutput>),
    ("claim status", of::<ClaimListOutput>),
    ("claim transfer", of::<ClaimTransferOutput>),
    ("close", of::<decide::DecideOutput>),
    ("commit", of::<commit::CommitOutput>),
    ("completions", of::<shell::ScriptOutput>),
    ("config get", of::<config::ConfigGetOutput>),
    ("config reset", of::<config::ConfigSetOutput>),
    ("config set", of::<config::ConfigSetOutput>),
    ("config show", of::<config::ConfigShowOutput>),
    ("config show-hierarchy", of::<config::HierarchyOutput>),
    ("config validate", of::<config::ConfigValidateOutput>),
    ("create", of::<create::CreateOutput>),
    ("demo", of::<demo::DemoOutput>),
    ("dep add", of::<dep::DepOutput>),
    ("dep rm", of::<dep::DepOutput>),
    ("dispatch", of::<dispatch::DispatchOutput>),
    ("dispatch logs", of::<dispatch::LogsOutput>),
    ("dispatch status", of::<pools::StatusOutput>),
    ("dispatch stop", of::<dispatch::StopOutput>),
    ("doc add", of::<doc::DocAddOutput>),
    ("doc history", of::<doc::DocHistoryOutput>),
    ("doc list", of::<doc::DocListOutput>),
    ("doc remove", of::<issue::IssueOutput>),
    ("doc show", of::<doc::DocShowOutput>),
    ("doctor", of::<doctor::DoctorOutput>),
    ("drop", of::<work::DropOutput>),
    ("edit", of::<issue::IssueOutput>),
    ("engine check", of::<engine::EngineCheckOutput>),
    ("engine init etcd", of::<engine::EngineInitOutput>),
    ("engine init git", of::<engine::EngineInitOutput>),
    ("engine join", of::<engine::EngineJoinOutput>),
    ("engine migrate", of::<engine::EngineMigrateOutput>),
    ("engine recover", of::<engine::EngineRecoverOutput>),
    ("engine status", of::<engine::EngineOutput>),
    ("error", of::<ErrorOutput>),
    ("export", of::<export::ExportOutput>),
    ("finish", of::<work::FinishOutput>),
    ("gate add", of::<gates::GateOutput>),
    ("gate check", of::<check::GateCheckOutput>),
    ("gate define", of::<define::GateDefineOutput>),
    ("gate fail", of::<gates::GateOutput>),
    ("gate list", of::<define::GateListOutput>),
    ("gate pass", of::<gates::GateOutput>),
    ("gate remove", of::<gates::GateOutput>),
    ("gate report", of::<gates::GateOutput>),
    ("gate show", of::<define::GateShowOutput>),
    ("gate status", of::<gates::GateStatusOutput>),
    ("graph downstream", of::<graph::GraphOutput>),
    ("graph export", of::<graph::GraphOutput>),
    ("graph roots", of::<graph::GraphOutput>),
    ("graph show", of::<graph::GraphOutput>),
    ("guardian", of::<guardian::GuardianOutput>),
    ("heartbeat run", of::<heartbeat::HeartbeatRunOutput>),
    ("heartbeat status", of::<heartbeat::HeartbeatStatusOutput>),
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
    ("issue list", of::<IssueListOutput<'static>>),
    ("issue show", of::<show::ShowOutput>),
    ("issue update", of::<update::UpdateOutput>),
    ("label add", of::<label::LabelOutput>),
    ("label rm", of::<label::LabelOutput>),
    ("land", of::<work::LandOutput>),
    ("list", of::<IssueListOutput<'static>>),
    ("log", of::<log::LogOutput>),
    ("man", of::<shell::ScriptOutput>),
    ("mcp", of::<mcp::McpOutput>),
    ("merge-driver", of::<merge_driver::MergeDriverOutput>),
    ("next", of::<IssueListOutput<'static>>),
    ("note", of::<notes::NoteOutput>),
    ("prime", of::<prime::PrimeOutput>),
    ("push", of::<work::PushOutput>),
    ("query all", of::<IssueListOutput<'static>>),
    ("query available", of::<IssueListOutput<'static>>),
    ("query blocked", of::<IssueListOutput<'static>>),
    ("ready", of::<IssueListOutput<'static>>),
    ("recover", of::<recover::RecoverOutput>),
    ("reopen", of::<decide::DecideOutput>),
    ("reserve add", of::<reserve::ReserveAddOutput>),
    ("reserve check", of::<reserve::ReserveCheckOutput>),
    ("reserve list", of::<reserve::ReserveListOutput>),
    ("reserve release", of::<reserve::ReserveReleaseOutput>),
    ("run", of::<commands::run::RunOutput>),
    ("schema", of::<SchemaListOutput>),
    ("search", of::<search::SearchOutput>),
    ("serve", of::<serve::ServeOutput>),
    ("setup", of::<setup::SetupOutput>),
    ("show", of::<show::ShowOutput>),
    ("split", of::<split::SplitOutput>),
    ("start", of::<work::StartOutput>),
    ("status", of::<status::StatusOutput>),
    ("sync", of::<work::SyncOutput>),
    ("validate all", of::<validate::ValidateOutput>),
    ("validate config", of::<validate::ValidateOutput>),
    ("validate divergence", of::<validate::ValidateOutput>),
    ("validate leases", of::<validate::ValidateOutput>),
    ("watch", of::<watch::WatchOutput>),
    ("whoami", of::<whoami::WhoamiOutput>),
    ("worktree add", of::<worktree::AddOutput>),
    ("worktree info", of::<worktree::WorktreeOutput>),
    ("worktree init", of::<worktree::WorktreeOutput>),
    ("worktree list", of::<worktrees::WorktreeListOutput>),
    ("worktree prune", of::<worktree::PruneOutput>),
    ("worktree remove", of::<worktree::RemoveOutput>),
];

/// The forms of all answers, as one JSON object. The form of one answer is printed bare, as other programs
/// take it.
#[derive(Serialize, JsonSchema)]
pub struct SchemaListOutput {
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
        return Ok(page(&SchemaListOutput {
            schemas: OUTPUTS.iter().map(|(name, form)| (*name, form())).collect(),
        }));
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
