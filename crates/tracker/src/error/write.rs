//! What keeps a change from being made, as the person who typed it reads it.

use holdfast_kernel::Lease;
use serde_json::{Value, json};

use crate::code::Code;
use crate::times;

/// What keeps a change from being made.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The caller has no lease on the issue.
    #[error("{what} {issue} without holding its claim{}", held_by(held.as_deref()))]
    LeaseRequired {
        /// What was to be done.
        what: &'static str,
        /// The issue.
        issue: String,
        /// Whose it is.
        held: Option<Box<Lease>>,
    },
    /// The issue waits for others.
    #[error("{issue} is blocked by {}", by.join(", "))]
    Blocked {
        /// The issue.
        issue: String,
        /// What it waits for.
        by: Vec<String>,
    },
    /// The issue cannot be done while a gate is open.
    #[error("{issue} has open gates: {}", gates.join(", "))]
    GatesOpen {
        /// The issue.
        issue: String,
        /// The gates.
        gates: Vec<String>,
    },
    /// The dependency would close a circle.
    #[error("that would close a cycle of {} issues: {}", path.len().saturating_sub(1), drawn(path))]
    Cycle {
        /// The circle, from the issue that would depend on another back to itself.
        path: Vec<String>,
    },
    /// There is no such gate.
    #[error("there is no gate '{0}'")]
    NoGate(String),
    /// There is such a gate, and it is another one.
    #[error("the gate '{0}' is defined already, and differently")]
    GateExists(String),
    /// The issue does not have such a gate.
    #[error("{issue} has no gate '{key}'")]
    NotGated {
        /// The issue.
        issue: String,
        /// The gate.
        key: String,
    },
    /// Somebody else judges the gate.
    #[error("{agent} cannot judge the gate '{gate}': {why}")]
    NotJudge {
        /// The gate.
        gate: String,
        /// Who wanted to.
        agent: String,
        /// Why not.
        why: String,
    },
    /// The issue does not have such a document.
    #[error("{issue} has no document {path}")]
    NoDocument {
        /// The issue.
        issue: String,
        /// The document.
        path: String,
    },
    /// A line that cannot be imported.
    #[error("line {number} cannot be imported: {why}")]
    BadLine {
        /// Which, from 1 on.
        number: usize,
        /// Why not.
        why: String,
    },
    /// An issue that is there already.
    #[error("there is an issue {0} already")]
    Exists(String),
}

/// How many issues of a cycle are listed: a chain of ten thousand helps nobody.
const MOST_LISTED: usize = 100;

/// How many are drawn at each end of a long one.
const DRAWN: usize = 4;

/// A cycle, with its middle left out if it is long.
fn drawn(path: &[String]) -> String {
    match (path.get(..DRAWN), path.len().checked_sub(DRAWN).and_then(|from| path.get(from..))) {
        (Some(first), Some(last)) if path.len() > 2 * DRAWN + 1 => {
            let left = path.len() - 2 * DRAWN;
            format!("{} -> … {left} more … -> {}", first.join(" -> "), last.join(" -> "))
        }
        _ => path.join(" -> "),
    }
}

fn held_by(lease: Option<&Lease>) -> String {
    let Some(lease) = lease else { return String::new() };
    let until = lease.deadline().map(|at| format!(" until {}", times::rfc3339(&at))).unwrap_or_default();
    format!("; {} holds it{until}", lease.holder)
}

impl WriteError {
    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::LeaseRequired { .. } => Code::LeaseRequired,
            Self::Blocked { .. } => Code::Blocked,
            Self::GatesOpen { .. } => Code::GatesOpen,
            Self::Cycle { .. } => Code::Cycle,
            Self::NoGate(_) => Code::GateNotFound,
            Self::GateExists(_) => Code::GateExists,
            Self::NotGated { .. } => Code::GateNotOnIssue,
            Self::NotJudge { .. } => Code::NotJudge,
            Self::NoDocument { .. } => Code::DocumentNotFound,
            Self::BadLine { .. } => Code::BadLine,
            Self::Exists(_) => Code::IssueExists,
        }
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::LeaseRequired { issue, held: None, .. } => Some(format!("jit claim acquire {issue}")),
            Self::LeaseRequired { issue, .. } => Some(format!("jit claim acquire {issue} --wait 600")),
            Self::Blocked { by, .. } => by.first().map(|id| format!("jit issue show {id}")),
            Self::GatesOpen { issue, .. } => Some(format!("jit gate check {issue}")),
            Self::Cycle { path } => match path.as_slice() {
                [.., from, to] => Some(format!("jit dep rm {from} {to}")),
                _ => None,
            },
            Self::NoGate(key) => Some(format!("jit gate define {key} --manual, or jit gate list")),
            Self::GateExists(key) => Some(format!("jit gate show {key}, or add --replace")),
            Self::NotGated { issue, .. } => Some(format!("jit gate status {issue}")),
            Self::NotJudge { gate, .. } => Some(format!("jit gate show {gate} says who may")),
            Self::NoDocument { issue, .. } => Some(format!("jit doc list {issue}")),
            Self::Exists(issue) => Some(format!("jit issue show {issue}")),
            Self::BadLine { .. } => None,
        }
    }

    /// What a program can go on with.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::LeaseRequired { issue, held, .. } => {
                json!({ "issue_id": issue, "held_by": held.as_deref().map(super::shown) })
            }
            Self::Blocked { issue, by } => json!({ "issue_id": issue, "blocked_by": by }),
            Self::GatesOpen { issue, gates } => json!({ "issue_id": issue, "gates": gates }),
            Self::Cycle { path } => {
                json!({ "cycle": path.iter().take(MOST_LISTED).collect::<Vec<_>>(), "length": path.len() })
            }
            Self::BadLine { number, .. } => json!({ "line": number }),
            _ => json!({}),
        }
    }
}
