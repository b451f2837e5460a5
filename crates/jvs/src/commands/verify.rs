//! `jvs verify`: whether snapshots and audit are what was published. The exit code is the verdict.

use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::names::OpId;
use crate::output::Report;
use crate::payload::Progress;
use crate::repo::Repo;
use crate::verify;

/// Checks what was typed.
pub(super) fn run(context: &Context, id: Option<&str>, all: bool) -> Result<Report> {
    let repo = context.repo()?;
    let ids = chosen(context, &repo, id, all)?;
    let progress = Progress::default();
    let mut wrong: Vec<(String, Error)> = Vec::new();
    let audited = match verify::audit(&repo) {
        Ok(audited) => Some(audited),
        Err(error) => {
            wrong.push(("audit".to_owned(), error));
            None
        }
    };
    for id in &ids {
        let expected = audited.as_ref().map(|audited| &audited.expected);
        let check = || verify::snapshot(&repo, expected, *id, &progress);
        if let Err(error) = context.printer.watch("hashing", &progress, check) {
            wrong.push((id.to_string(), error));
        }
    }
    wrong.extend(audited.into_iter().flat_map(verify::Audited::wrong));
    Ok(report(ids.len(), &wrong))
}

fn chosen(context: &Context, repo: &Repo, id: Option<&str>, all: bool) -> Result<Vec<OpId>> {
    match id {
        Some(id) => Ok(vec![OpId::typed(id)?]),
        None if all => repo.ids("snapshots"),
        None => Ok(context.worktree(repo, None)?.head.into_iter().collect()),
    }
}

fn report(checked: usize, wrong: &[(String, Error)]) -> Report {
    let Some((_, first)) = wrong.first() else {
        let json = json!({ "ok": true, "checked": checked, "audit": "ok", "failed": [] });
        return Report::new(format!("{checked} snapshots and the audit log are what was published\n"), &json);
    };
    let lines: Vec<String> =
        wrong.iter().map(|(what, error)| format!("{what}: {} ({})\n", error, error.class().code())).collect();
    let failed: Vec<Value> = wrong
        .iter()
        .map(|(what, error)| json!({ "what": what, "error": error.class().code(), "message": error.to_string() }))
        .collect();
    let audit = if wrong.iter().any(|(what, _)| what == "audit") { "broken" } else { "ok" };
    let mut json = first.document();
    if let Some(fields) = json.as_object_mut() {
        fields.insert("ok".to_owned(), json!(false));
        fields.insert("checked".to_owned(), json!(checked));
        fields.insert("audit".to_owned(), json!(audit));
        fields.insert("failed".to_owned(), json!(failed));
    }
    Report::new(lines.concat(), &json).exit(1)
}
