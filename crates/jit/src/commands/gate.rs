//! `jit gate`: what must be passed before an issue is done.

pub mod check;
pub mod define;

use std::collections::BTreeMap;

use holdfast_door::{Clean, table};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli::{Gate as Command, ReportGate, Said};
use crate::commands::issue::show::Whole;
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::error::{Error, Result, WriteError};
use holdfast_tracker::gates::{Registry, outputs};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issue, Issues, State};
use holdfast_tracker::writes::{self, Changed, Draft, Finished, GateResult, Results, Verdict, Writer};

/// The gates of an issue after a change, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateOutput {
    /// The issue.
    pub issue: Whole,
    /// How each of its gates stands.
    pub gates: Vec<Standing>,
    /// Whether anything was written.
    pub changed: bool,
}

/// How the gates of an issue stand, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct GateStatusOutput {
    /// How each of them stands.
    pub gates: Vec<Standing>,
    /// How many there are.
    pub count: usize,
    /// The keys of those that are not passed.
    pub open: Vec<String>,
}

/// How a gate of an issue stands.
#[derive(Serialize, JsonSchema)]
pub struct Standing {
    /// The gate.
    pub key: String,
    /// How it stands.
    pub status: Word,
    /// When it was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Who judged, or had a program judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What there is to say about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The exit code of the program, if one judged and ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the program took too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The end of what the program wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The tree that was judged, without the tracker's own files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// How a gate stands, in a word.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Nobody has judged it.
    Open,
    /// It is passed.
    Passed,
    /// It is not.
    Failed,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    match command {
        Command::Define(typed) => define::run(context, &session, typed),
        Command::List => define::list(&session),
        Command::Show { key } => define::show(&session, key),
        Command::Add { id, keys } => add(&session, id, keys),
        Command::Remove { id, key } => {
            change(
                &session,
                id,
                |draft| {
                    if draft.remove_gate(key) { Ok(()) } else { Err(absent(draft, key)) }
                },
            )
        }
        Command::Pass { id, key, note } => judge(&session, id, key, Verdict::Passed, note.as_deref()),
        Command::Fail { id, key, note } => judge(&session, id, key, Verdict::Failed, note.as_deref()),
        Command::Report(typed) => reported(&session, typed),
        Command::Check { id, keys } => check::run(context, &session, id, keys),
        Command::Status { id } => status(&session, id),
    }
}

fn add(session: &Session, id: &str, keys: &[String]) -> Result<Report> {
    let keys = Registry::known(session, keys)?;
    change(session, id, |draft| {
        draft.edit().gates.extend(keys.iter().cloned());
        Ok(())
    })
}

/// Whether whoever asks is a machine that checks what others do: it holds nothing.
pub(super) fn is_checker(session: &Session) -> bool {
    session.known_agent().is_some_and(|agent| agent.kind() == Some("ci"))
}

/// Keeps what a check elsewhere said.
fn reported(session: &Session, typed: &ReportGate) -> Result<Report> {
    let verdict = if typed.status == Said::Passed { Verdict::Passed } else { Verdict::Failed };
    let note = typed.note.as_deref().map(writes::description).transpose()?;
    let judged = typed.judged.as_deref().map(tree).transpose()?;
    let (key, exit_code) = (typed.key.as_str(), typed.exit_code);
    let result = |draft: &Draft| {
        let judgement = draft.judgement(verdict, note.clone());
        GateResult { exit_code, judged: judged.clone(), ..judgement }
    };
    if !is_checker(session) {
        return change(session, &typed.id, |draft| {
            allowed(session, draft, key)?;
            let result = result(draft);
            draft.judge(key, result);
            Ok(())
        });
    }
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(&typed.id)?;
    check_judge(session, &writer.issues.read(id)?, key)?;
    let draft = writer.report(id, |draft| vec![(key.to_owned(), result(draft))])?;
    Ok(report(session, &writer.issues, &Changed { value: (), draft, written: true }))
}

/// The name of a tree, as git writes it.
fn tree(text: &str) -> Result<String> {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && matches!(text.len(), 40 | 64) {
        return Ok(text.to_lowercase());
    }
    let (given, why) = (text.to_owned(), "must be the whole name of a tree".to_owned());
    Err(Error::BadValue { what: "--judged", given, why })
}

/// Checks that an issue has a gate and that whoever asks may judge it.
fn allowed(session: &Session, draft: &Draft, key: &str) -> Result<()> {
    if !draft.issue().gates.contains(key) {
        return Err(absent(draft, key));
    }
    check_judge(session, draft.issue(), key)
}

/// Checks that whoever asks may judge a gate of an issue.
pub(super) fn check_judge(session: &Session, issue: &Issue, key: &str) -> Result<()> {
    let registry = Registry::load(session)?;
    match (registry.gates.get(key), session.known_agent()) {
        (Some(gate), Some(agent)) => gate.may_judge(key, agent, issue.assignee.as_deref()),
        _ => Ok(()),
    }
}

fn judge(session: &Session, id: &str, key: &str, verdict: Verdict, note: Option<&str>) -> Result<Report> {
    let note = note.map(writes::description).transpose()?;
    change(session, id, |draft| {
        allowed(session, draft, key)?;
        let judgement = draft.judgement(verdict, note.clone());
        draft.judge(key, judgement);
        Ok(())
    })
}

fn absent(draft: &Draft, key: &str) -> Error {
    WriteError::NotGated { issue: draft.issue().id.clone(), key: key.to_owned() }.into()
}

fn change(session: &Session, id: &str, act: impl FnMut(&mut Draft) -> Result<()>) -> Result<Report> {
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, "changing a gate of", act)?;
    Ok(report(session, &writer.issues, &changed))
}

/// How the gates stand after a change.
fn report<T>(session: &Session, issues: &Issues<'_>, changed: &Changed<T>) -> Report {
    let draft = &changed.draft;
    let mut text = standing(&issues.handle(draft.id()), draft.issue(), draft.results());
    match draft.finished() {
        Some(Finished::Done) if changed.written => text += "every gate is passed: done\n",
        Some(Finished::Gated(open)) => text += format!("gated: {} open\n", open.join(", ")),
        _ => {}
    }
    let document = GateOutput {
        issue: Whole::new(issues, draft),
        gates: standings(session, draft.id(), draft.issue(), draft.results()),
        changed: changed.written,
    };
    Report::new(text, &document).brief(draft.open_gates().join("\n"))
}

fn status(session: &Session, id: &str) -> Result<Report> {
    let issues = Issues::new(session);
    let id = issues.resolve(id)?;
    let issue = issues.read(id)?;
    let results = writes::results_of(&issues, id, &issue.gates)?;
    let open: Vec<_> = issue.gates.iter().filter(|key| !results.passed(key)).cloned().collect();
    let mut text = standing(&issues.handle(id), &issue, &results);
    if issue.state == State::Gated {
        text += format!("gated: {} open\n", open.join(", "));
    }
    let brief = open.join("\n");
    let document =
        GateStatusOutput { gates: standings(session, id, &issue, &results), count: issue.gates.len(), open };
    Ok(Report::new(text, &document).brief(brief))
}

/// How each gate of an issue stands, as a table.
fn standing(handle: &str, issue: &Issue, results: &Results) -> Clean {
    if issue.gates.is_empty() {
        return format!("{handle} has no gates\n").into();
    }
    let rows: Vec<_> = issue
        .gates
        .iter()
        .map(|key| match results.0.get(key) {
            None => [key.clone(), "open".to_owned(), String::new(), String::new(), String::new()],
            Some(result) => [
                key.clone(),
                result.status.word().to_owned(),
                result.at.clone(),
                result.agent_id.clone().unwrap_or_default(),
                result.note.clone().unwrap_or_default(),
            ],
        })
        .collect();
    table(["GATE", "STATUS", "WHEN", "BY", "NOTE"], &rows)
}

/// How each gate of an issue stands, as programs read it.
fn standings(session: &Session, id: IssueId, issue: &Issue, results: &Results) -> Vec<Standing> {
    let one = |key: &String| {
        let standing = Standing::new(key, results.0.get(key).cloned());
        let output = standing.output.or_else(|| outputs::last(session, id, key));
        Standing { output: output.filter(|_| standing.at.is_some()), ..standing }
    };
    issue.gates.iter().map(one).collect()
}

impl Standing {
    fn new(key: &str, judged: Option<GateResult>) -> Self {
        let status = match &judged {
            None => Word::Open,
            Some(GateResult { status: Verdict::Passed, .. }) => Word::Passed,
            Some(GateResult { status: Verdict::Failed, .. }) => Word::Failed,
        };
        let key = key.to_owned();
        match judged {
            None => Self {
                key,
                status,
                at: None,
                agent_id: None,
                note: None,
                exit_code: None,
                timed_out: false,
                output: None,
                judged: None,
                rest: BTreeMap::new(),
            },
            Some(GateResult {
                status: _,
                at,
                agent_id,
                note,
                exit_code,
                timed_out,
                output,
                judged,
                rest,
            }) => {
                Self { key, status, at: Some(at), agent_id, note, exit_code, timed_out, output, judged, rest }
            }
        }
    }
}
