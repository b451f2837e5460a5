//! `jit gate`: what must be passed before an issue is done.

mod check;
mod define;

use serde_json::{Value, json};

use crate::cli::Gate as Command;
use crate::context::Context;
use crate::error::Result;
use crate::gates::{Gate, Registry};
use crate::issues::State;
use crate::output::{Report, clean, table};
use crate::workspace::Workspace;
use crate::writes::{self, Changed, Draft, Finished, Results, Verdict, Writer};

/// Does what was typed.
///
/// # Errors
/// What went wrong.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    match command {
        Command::Define(typed) => define::run(context, &workspace, typed),
        Command::List => define::list(context, &workspace),
        Command::Show { key } => define::show(context, &workspace, key),
        Command::Add { id, keys } => add(context, &workspace, id, keys),
        Command::Remove { id, key } => change(context, &workspace, id, |draft| {
            if draft.remove_gate(key) { Ok(()) } else { Err(absent(draft, key)) }
        }),
        Command::Pass { id, key, note } => {
            judge(context, &workspace, id, key, Verdict::Passed, note.as_deref())
        }
        Command::Fail { id, key, note } => {
            judge(context, &workspace, id, key, Verdict::Failed, note.as_deref())
        }
        Command::Check { id, keys } => check::run(context, &workspace, id, keys),
        Command::Status { id } => status(context, &workspace, id),
    }
}

fn add(context: &Context, workspace: &Workspace, id: &str, keys: &[String]) -> Result<Report> {
    let keys = Registry::known(context, workspace, keys)?;
    change(context, workspace, id, |draft| {
        draft.edit().gates.extend(keys.iter().cloned());
        Ok(())
    })
}

fn judge(
    context: &Context,
    workspace: &Workspace,
    id: &str,
    key: &str,
    verdict: Verdict,
    note: Option<&str>,
) -> Result<Report> {
    let note = note.map(writes::description).transpose()?;
    change(context, workspace, id, |draft| {
        if !draft.issue().gates.contains(key) {
            return Err(absent(draft, key));
        }
        let judgement = draft.judgement(verdict, note.clone());
        draft.judge(key, judgement);
        Ok(())
    })
}

fn absent(draft: &Draft, key: &str) -> crate::error::Error {
    writes::Error::NotGated { issue: draft.issue().id.clone(), key: key.to_owned() }.into()
}

fn change(
    context: &Context,
    workspace: &Workspace,
    id: &str,
    act: impl FnMut(&mut Draft) -> Result<()>,
) -> Result<Report> {
    let writer = Writer::open(context, workspace)?;
    let id = writer.issues.resolve(id)?;
    let changed = writer.change(id, "change a gate of", act)?;
    Ok(report(&changed))
}

/// How the gates stand after a change.
fn report<T>(changed: &Changed<T>) -> Report {
    let draft = &changed.draft;
    let mut text = standing(draft.issue(), draft.results());
    match draft.finished() {
        Some(Finished::Done) if changed.written => text.push_str("every gate is passed: done\n"),
        Some(Finished::Gated(open)) => text.push_str(&format!("gated: {} open\n", open.join(", "))),
        _ => {}
    }
    let json = json!({
        "issue": super::issue::shown(draft),
        "gates": told(draft.issue(), draft.results()),
        "changed": changed.written,
    });
    Report::new(clean(&text), &json).brief(draft.open_gates().join("\n"))
}

fn status(context: &Context, workspace: &Workspace, id: &str) -> Result<Report> {
    let issues = crate::issues::Issues::new(context, workspace);
    let id = issues.resolve(id)?;
    let (issue, results) = (issues.read(id)?, writes::results_of(&issues, id)?);
    let open: Vec<_> = issue.gates.iter().filter(|key| !results.passed(key)).cloned().collect();
    let mut text = standing(&issue, &results);
    if issue.state == State::Gated {
        text.push_str(&format!("gated: {} open\n", open.join(", ")));
    }
    let json = json!({ "gates": told(&issue, &results), "count": issue.gates.len(), "open": open });
    Ok(Report::new(clean(&text), &json).brief(open.join("\n")))
}

/// How each gate of an issue stands, as a table.
fn standing(issue: &crate::issues::Issue, results: &Results) -> String {
    if issue.gates.is_empty() {
        return format!("{} has no gates\n", issue.id);
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
fn told(issue: &crate::issues::Issue, results: &Results) -> Vec<Value> {
    let one = |key: &String| match results.0.get(key) {
        None => json!({ "key": key, "status": "open" }),
        Some(result) => {
            let mut told = json!(result);
            if let Some(fields) = told.as_object_mut() {
                fields.insert("key".into(), json!(key));
            }
            told
        }
    };
    issue.gates.iter().map(one).collect()
}

/// A definition, as programs read it.
fn defined(key: &str, gate: &Gate) -> Value {
    let mut told = json!(gate);
    if let Some(fields) = told.as_object_mut() {
        fields.insert("key".into(), json!(key));
    }
    told
}
