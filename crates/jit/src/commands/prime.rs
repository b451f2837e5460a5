//! `jit prime`: what a coding agent must know now. A question: it writes nothing, and where no issues are tracked it
//! says nothing, because it stands in hooks that run everywhere.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{HookOf, Prime};
use crate::context::Context;
use crate::output::Report;
use crate::prime::{self, Facts, Held};
use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::left;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::{Issues, Sets, Whose};
use holdfast_tracker::land;
use holdfast_tracker::queries::{Board, Claimed, Filter, Keep};
use holdfast_tracker::reserve;

/// What an agent must know, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct PrimeOutput {
    /// The text; none where no issues are tracked.
    pub prime: Option<String>,
}

/// Says what an agent must know now.
///
/// # Errors
/// When issues are tracked here and cannot be read.
pub fn run(context: &Context, typed: &Prime) -> Result<Report> {
    let session = match Session::open(&context.caller) {
        Err(Error::NotInitialised(_) | Error::NotInGit(_)) => {
            return Ok(Report::new("", &PrimeOutput { prime: None }));
        }
        session => session?,
    };
    let text = prime::text(&facts(&session)?);
    let wrapped = match typed.hook {
        Some(client) => wrapped(client, &text),
        None => text.clone(),
    };
    Ok(Report::new(wrapped.as_str(), &PrimeOutput { prime: Some(text) }).brief(wrapped))
}

/// What is known here.
fn facts(session: &Session) -> Result<Facts> {
    let issues = Issues::new(session);
    let (claimed, sets) = (Claimed::load(session)?, Sets { labels: Whose::Nobody, deps: Whose::Open });
    let board: Board = Board::to_be_done(&issues, claimed, &Filter::default(), Keep::Nothing, sets)?;
    let agent = session.known_agent();
    let mut held = Vec::new();
    if agent.is_some() && session.has_identity()? {
        for (id, lease) in land::held_here(session)? {
            let title = board.find(id).map(|node| node.title().to_owned()).unwrap_or_default();
            held.push(Held { handle: board.handles.of(id), title, left: left(&lease, &board.claimed.now) });
        }
    }
    let (mut reserved, mut reserved_by_others) = (Vec::new(), 0);
    let own = if agent.is_some() && session.has_identity()? { Some(session.holder()?) } else { None };
    for lease in reserve::list(session)?.0 {
        match own {
            Some(holder) if lease.holder == *holder => reserved.push(lease.resource.to_string()),
            _ => reserved_by_others += 1,
        }
    }
    Ok(Facts {
        reserved,
        reserved_by_others,
        agent: agent.map(ToString::to_string),
        place: session.root().map(|root| root.display().to_string()).unwrap_or_default(),
        branch: session.branch()?,
        available: board.available().len(),
        blocked: board.count_blocked(),
        others: board.claimed.iter().count().saturating_sub(held.len()),
        held,
    })
}

/// The text as the hooks of a client want it.
fn wrapped(client: HookOf, text: &str) -> String {
    let document: Value = match client {
        // Whatever these print at the start of a session is given to the model as it is.
        HookOf::Claude | HookOf::Codex => return text.to_owned(),
        HookOf::Cursor => json!({ "additional_context": text }),
        HookOf::Copilot => json!({ "additionalContext": text }),
        HookOf::Gemini | HookOf::Antigravity => {
            json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } })
        }
    };
    format!("{document}\n")
}
