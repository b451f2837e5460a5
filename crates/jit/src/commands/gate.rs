//! `jit gate`: what must be passed before an issue is done.

pub mod check;
pub mod define;

use holdfast_door::{Clean, table};

use crate::cli::{Gate as Command, ReportGate, Said};
use crate::context::Context;
use crate::output::Report;
use holdfast_tracker::Session;
use holdfast_tracker::answers::gates::{self, CHANGING, GateOutput, absent, allowed, check_judge};
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::gates::Registry;
use holdfast_tracker::issues::{Issue, Issues, State};
use holdfast_tracker::writes::{self, Changed, Draft, Finished, GateResult, Results, Verdict, Writer};

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
    Ok(report(&writer.issues, &Changed { value: (), draft, written: true }))
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

fn judge(session: &Session, id: &str, key: &str, verdict: Verdict, note: Option<&str>) -> Result<Report> {
    let writer = Writer::open(session)?;
    let changed = gates::judge(&writer, id, key, verdict, note)?;
    Ok(report(&writer.issues, &changed))
}

fn change(session: &Session, id: &str, act: impl FnMut(&mut Draft) -> Result<()>) -> Result<Report> {
    let writer = Writer::open(session)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, CHANGING, act)?;
    Ok(report(&writer.issues, &changed))
}

/// How the gates stand after a change.
fn report<T>(issues: &Issues<'_>, changed: &Changed<T>) -> Report {
    let draft = &changed.draft;
    let mut text = standing(&issues.handle(draft.id()), draft.issue(), draft.results());
    match draft.finished() {
        Some(Finished::Done) if changed.written => text += "every gate is passed: done\n",
        Some(Finished::Gated(open)) => text += format!("gated: {} open\n", open.join(", ")),
        _ => {}
    }
    let document = GateOutput::new(issues, changed);
    Report::new(text, &document).brief(draft.open_gates().join("\n"))
}

fn status(session: &Session, id: &str) -> Result<Report> {
    let issues = Issues::new(session);
    let id = issues.resolve(id)?;
    let issue = issues.read(id)?;
    let results = writes::results_of(&issues, id, &issue.gates)?;
    let document = gates::status(&issues, id)?;
    let mut text = standing(&issues.handle(id), &issue, &results);
    if issue.state == State::Gated {
        text += format!("gated: {} open\n", document.open.join(", "));
    }
    let brief = document.open.join("\n");
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
