//! `jvs audit`: the audit log, and whether it is the one that was written.

use std::collections::VecDeque;

use holdfast_door::table;
use serde_json::{Value, json};

use crate::audit::{Audit, Entry};
use crate::cli;
use crate::context::Context;
use crate::error::Result;
use crate::output::Report;
use crate::verify;

/// Shows or checks the log.
pub(super) fn run(context: &Context, command: Option<&cli::Audit>, limit: Option<usize>) -> Result<Report> {
    let repo = context.repo()?;
    if let Some(cli::Audit::Verify) = command {
        let audited = verify::audit(&repo)?;
        let chain = audited.chain.clone();
        if let Some((_, error)) = audited.wrong().into_iter().next() {
            return Err(error);
        }
        let text =
            format!("{} entries in {} segments, every one in its place\n", chain.entries, chain.segments);
        let json = json!({ "ok": true, "entries": chain.entries, "segments": chain.segments });
        return Ok(Report::new(text, &json));
    }
    let most = limit.unwrap_or(usize::MAX);
    let mut kept: VecDeque<Entry> = VecDeque::new();
    let chain = Audit::of(&repo).read(&mut |entry| {
        kept.push_back(entry.clone());
        if kept.len() > most {
            kept.pop_front();
        }
    })?;
    if let Err(error) = chain.clone().whole() {
        context.printer.warn(&error.to_string());
    }
    let rows: Vec<[String; 5]> = kept.iter().map(row).collect();
    let json = json!({ "entries": kept, "total": chain.entries, "broken": chain.broken.is_some() });
    Ok(Report::new(table(["SEQ", "AT", "EVENT", "BY", "DATA"], &rows), &json))
}

fn row(entry: &Entry) -> [String; 5] {
    let data = Value::Object(entry.data.clone()).to_string();
    [entry.seq.to_string(), entry.at.clone(), entry.event.clone(), entry.actor.clone(), data]
}
