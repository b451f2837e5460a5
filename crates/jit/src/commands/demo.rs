//! `jit demo`: four agents in four worktrees of a repository that is thrown away afterwards. The agents are
//! processes of their own; one is really killed and one is really stopped and goes on later. Nothing is
//! staged but the order of events, and the log has the last word.

mod agent;
mod audit;
mod director;
mod ground;
mod lanes;

pub use audit::{Story, Turn};
pub use director::{DemoOutput, Verdict};
use holdfast_tracker::error::Result;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::Demo;
use crate::context::Context;
use crate::output::Report;

/// Who takes part.
const CAST: [&str; 4] = ["anna", "bert", "cora", "dirk"];

/// How long a claim lasts here, in seconds: short, so that nobody has to wait long for a dead agent.
const TTL_SECS: u64 = 2;

/// Shows it, or plays one of the agents in it.
pub fn run(context: &Context, typed: &Demo) -> Result<Report> {
    match &typed.act {
        Some(wanted) => agent::run(context, wanted),
        None => director::run(context, typed.keep),
    }
}

/// A text in a document of ours; empty if it is not there.
fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A list in a document of ours; empty if it is not there.
fn list<'a>(document: &'a Value, pointer: &str) -> &'a [Value] {
    document.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What an agent tells the director, a line each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum AgentReport {
    /// It holds an issue.
    Claimed {
        /// The issue.
        issue: String,
        /// The number of the grant.
        fence: u64,
    },
    /// It asked for an issue that somebody else holds.
    Lost {
        /// The issue.
        issue: String,
        /// Who holds it.
        holder: String,
    },
    /// It finished an issue and gave it back.
    Done {
        /// The issue.
        issue: String,
    },
    /// Its write was refused.
    Refused {
        /// The issue.
        issue: String,
        /// The code of the refusal.
        code: String,
    },
}
