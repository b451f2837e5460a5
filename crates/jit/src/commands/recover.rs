//! `jit recover`: says what a crash or a bad disk left behind, and puts it right.

use holdfast_store::log::Finding;
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::AgentId;
use crate::claims::{Claims, queue};
use crate::code::Exit;
use crate::context::Context;
use crate::durable;
use crate::error::Result;
use crate::output::Report;
use crate::workspace::Workspace;
use crate::writes;

/// What was found and done, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// What was found and done.
    pub recovery: Recovery,
}

/// What was found and done.
#[derive(Default, Serialize, JsonSchema)]
pub struct Recovery {
    /// Whether anything was put right.
    pub repaired: bool,
    /// What was wrong.
    pub findings: Vec<Found>,
    /// Where a damaged log is kept.
    pub kept: Option<String>,
}

/// Something that was wrong.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Found {
    /// The end of the log, which nobody was told of.
    TornTail {
        /// How long it is.
        bytes: u64,
    },
    /// An index that is missing, behind or of no use.
    Index,
    /// A log that cannot be read to its end.
    Damage {
        /// What is wrong with it.
        what: String,
        /// How many leases can be carried over.
        leases: usize,
    },
    /// A file that an interrupted operation left.
    Leftover {
        /// Where it is.
        path: String,
    },
    /// A place in line that nobody waits in.
    DeadTicket {
        /// Where it is.
        path: String,
    },
    /// Changes of issues that were made and are in no event log.
    Untold {
        /// How many events are missing.
        events: usize,
    },
}

/// Looks for what is wrong, and puts it right unless this is a dry run.
///
/// # Errors
/// When nothing can be read at all, or something cannot be written.
pub fn run(context: &Context, dry_run: bool) -> Result<Report> {
    let workspace = Workspace::open(context)?;
    if !durable::is_dir(&context.sys, &workspace.control.join("locks"))? {
        let nothing = Document { recovery: Recovery::default() };
        return Ok(Report::new("nothing has been claimed yet\n", &nothing));
    }
    let claims = if dry_run {
        Claims::to_read(context, &workspace)
    } else {
        let agent = context.known_agent().map_or_else(|| AgentId::new("system:jit"), Ok)?;
        Claims::to_write(context, &workspace, &agent)?
    };
    let recovery = claims.log.recover(&claims.policy, !dry_run)?;
    let mut findings: Vec<(Found, String)> = recovery.findings.iter().map(described).collect();
    for ticket in queue::dead(&context.sys, &workspace.control, !dry_run)? {
        let text = format!("a place in line that nobody waits in: {}", ticket.display());
        findings.push((Found::DeadTicket { path: ticket.to_string_lossy().into_owned() }, text));
    }
    // Without a worktree there is no event log.
    let untold = if workspace.root.is_some() { writes::untold(context, &workspace, !dry_run)? } else { 0 };
    if untold > 0 {
        let text = format!("{untold} changes of issues that no event tells of");
        findings.push((Found::Untold { events: untold }, text));
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
    let findings = findings.into_iter().map(|(found, _)| found).collect();
    let recovery = Recovery { repaired: wrong && !dry_run, findings, kept };
    let exit = if wrong && dry_run { Exit::Problems } else { Exit::Ok };
    Ok(Report::new(text, &Document { recovery }).exit(exit))
}

fn described(finding: &Finding) -> (Found, String) {
    match finding {
        Finding::TornTail { bytes } => {
            let text = format!("{bytes} bytes at the end of the log that nobody was told of");
            (Found::TornTail { bytes: *bytes }, text)
        }
        Finding::Index => (Found::Index, "an index that is missing, behind or of no use".into()),
        Finding::Damage { what, leases } => {
            let text = format!("damage: {what}; {leases} leases can be carried over");
            (Found::Damage { what: what.clone(), leases: *leases }, text)
        }
        Finding::Leftover { path } => {
            let text = format!("a file that an interrupted operation left: {}", path.display());
            (Found::Leftover { path: path.to_string_lossy().into_owned() }, text)
        }
    }
}
