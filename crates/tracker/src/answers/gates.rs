//! The gates of an issue: how they stand, and judging one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::show::Whole;
use crate::error::{Error, Result, WriteError};
use crate::gates::{Registry, outputs};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues};
use crate::session::Session;
use crate::writes::{self, Changed, Draft, GateResult, Results, Verdict, Writer};

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

impl GateOutput {
    /// How the gates stand after a change.
    #[must_use]
    pub fn new<T>(issues: &Issues<'_>, changed: &Changed<T>) -> Self {
        let draft = &changed.draft;
        Self {
            issue: Whole::new(issues, draft),
            gates: standings(issues.session(), draft.id(), draft.issue(), draft.results()),
            changed: changed.written,
        }
    }
}

/// How the gates of an issue stand.
///
/// # Errors
/// When it or their judgements cannot be read.
pub fn status(issues: &Issues<'_>, id: IssueId) -> Result<GateStatusOutput> {
    let issue = issues.read(id)?;
    let results = writes::results_of(issues, id, &issue.gates)?;
    let open: Vec<_> = issue.gates.iter().filter(|key| !results.passed(key)).cloned().collect();
    let gates = standings(issues.session(), id, &issue, &results);
    Ok(GateStatusOutput { count: gates.len(), gates, open })
}

/// Judges a gate of an issue; needs a claim on it.
///
/// # Errors
/// What went wrong.
pub fn judge(
    writer: &Writer<'_>,
    id: &str,
    key: &str,
    verdict: Verdict,
    note: Option<&str>,
) -> Result<Changed<()>> {
    let note = note.map(writes::description).transpose()?;
    let id = writer.issues.resolve(id)?;
    writer.change(id, CHANGING, |draft| {
        allowed(writer.issues.session(), draft, key)?;
        let judgement = draft.judgement(verdict, note.clone());
        draft.judge(key, judgement);
        Ok(())
    })
}

/// What is refused to whoever does not hold an issue.
pub const CHANGING: &str = "changing a gate of";

/// Checks that an issue has a gate and that whoever asks may judge it.
///
/// # Errors
/// When it has none, or may not.
pub fn allowed(session: &Session, draft: &Draft, key: &str) -> Result<()> {
    if !draft.issue().gates.contains(key) {
        return Err(absent(draft, key));
    }
    check_judge(session, draft.issue(), key)
}

/// Checks that whoever asks may judge a gate of an issue.
///
/// # Errors
/// When it may not.
pub fn check_judge(session: &Session, issue: &Issue, key: &str) -> Result<()> {
    let registry = Registry::load(session)?;
    match (registry.gates.get(key), session.known_agent()) {
        (Some(gate), Some(agent)) => gate.may_judge(key, agent, issue.assignee.as_deref()),
        _ => Ok(()),
    }
}

/// That an issue does not have a gate.
#[must_use]
pub fn absent(draft: &Draft, key: &str) -> Error {
    WriteError::NotGated { issue: draft.issue().id.clone(), key: key.to_owned() }.into()
}

/// How each gate of an issue stands, as programs read it.
#[must_use]
pub fn standings(session: &Session, id: IssueId, issue: &Issue, results: &Results) -> Vec<Standing> {
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
