//! `jit recover`: says what a crash or a bad disk left behind, and puts it right.

use holdfast_store::log::Finding;
use serde_json::{Value, json};

use crate::agent::AgentId;
use crate::claims::{Claims, queue};
use crate::context::Context;
use crate::durable;
use crate::error::{Exit, Result};
use crate::output::Report;
use crate::workspace::Workspace;

/// Looks for what is wrong, and puts it right unless this is a dry run.
///
/// # Errors
/// When nothing can be read at all, or something cannot be written.
pub fn run(context: &Context, dry_run: bool) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    if !durable::is_dir(&context.sys, &workspace.control.join("locks"))? {
        let json = json!({ "recovery": { "repaired": false, "findings": [] } });
        return Ok(Report::new("nothing has been claimed yet\n", &json));
    }
    let claims = if dry_run {
        Claims::to_read(context, &workspace)
    } else {
        let agent = context.known_agent().map_or_else(|| AgentId::new("system:jit"), Ok)?;
        Claims::to_write(context, &workspace, &agent)?
    };
    let recovery = claims.log.recover(&claims.policy, !dry_run)?;
    let mut findings: Vec<(Value, String)> = recovery.findings.iter().map(described).collect();
    for ticket in queue::dead(&context.sys, &workspace.control, !dry_run)? {
        let text = format!("a place in line that nobody waits in: {}", ticket.display());
        findings.push((json!({ "kind": "dead_ticket", "path": ticket.to_string_lossy() }), text));
    }
    let kept = recovery.kept.as_ref().map(|path| path.to_string_lossy().into_owned());
    let mut text: String = findings.iter().map(|(_, text)| format!("found {text}\n")).collect();
    text.push_str(match (findings.is_empty(), dry_run) {
        (true, _) => "nothing is wrong\n",
        (false, true) => "nothing was changed\n",
        (false, false) => "everything was put right\n",
    });
    if let Some(kept) = &kept {
        text.push_str(&format!("the damaged log is kept as {kept}\n"));
    }
    let wrong = !findings.is_empty();
    let findings: Vec<_> = findings.into_iter().map(|(json, _)| json).collect();
    let json = json!({ "recovery": { "repaired": wrong && !dry_run, "findings": findings, "kept": kept } });
    let exit = if wrong && dry_run { Exit::Problems } else { Exit::Ok };
    Ok(Report::new(text, &json).exit(exit))
}

fn described(finding: &Finding) -> (Value, String) {
    match finding {
        Finding::TornTail { bytes } => {
            let text = format!("{bytes} bytes at the end of the log that nobody was told of");
            (json!({ "kind": "torn_tail", "bytes": bytes }), text)
        }
        Finding::Index => {
            (json!({ "kind": "index" }), "an index that is missing, behind or of no use".into())
        }
        Finding::Damage { what, leases } => {
            let text = format!("damage: {what}; {leases} leases can be carried over");
            (json!({ "kind": "damage", "what": what, "leases": leases }), text)
        }
        Finding::Leftover { path } => {
            let text = format!("a file that an interrupted operation left: {}", path.display());
            (json!({ "kind": "leftover", "path": path.to_string_lossy() }), text)
        }
    }
}
