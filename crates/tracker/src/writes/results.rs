//! What came of an issue's gates: `gates/results/<ID>/<gate>.json`, a file for each gate, so that two branches that
//! judge different gates do not meet. A gate that nobody has judged has none. Earlier versions kept all of them in
//! `gates/results/<ID>.json`; that is read, and moved over when it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::texts;
use crate::ids::IssueId;
use crate::json;

/// What somebody or some program made of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is passed.
    Passed,
    /// It is not.
    Failed,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
        }
    }
}

/// The last judgement of one gate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// What it was.
    pub status: Verdict,
    /// The moment of the judgement.
    pub at: String,
    /// Who judged, or had a program judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The exit code of the program, if one judged and ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether it took too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The end of what it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The tree that was judged, without the tracker's own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// The judgements of one issue's gates, by key.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results(pub BTreeMap<String, GateResult>);

/// One judgement, as its file has it.
#[derive(Serialize, Deserialize)]
struct File {
    issue_id: String,
    gate: String,
    #[serde(flatten)]
    result: GateResult,
}

/// All judgements, as one file had them.
#[derive(Deserialize)]
struct OldFile {
    issue_id: String,
    results: BTreeMap<String, GateResult>,
}

/// The directory of an issue's judgements, below `.jit/`.
pub(super) fn folder(id: IssueId) -> String {
    format!("gates/results/{id}")
}

/// The file of one judgement, below `.jit/`.
pub(super) fn file(id: IssueId, key: &str) -> String {
    format!("{}/{key}.json", folder(id))
}

/// Where earlier versions kept all of them, below `.jit/`.
pub(super) fn old_file(id: IssueId) -> String {
    format!("gates/results/{id}.json")
}

/// Whether a key can be the name of a file. An issue that somebody else wrote may name anything as its gate, also what
/// leads out of the directory; such a gate is never judged, and stays open.
pub(super) fn can_be_file(key: &str) -> bool {
    texts::key(key).is_ok()
}

impl GateResult {
    /// The judgement in the file of a gate.
    ///
    /// # Errors
    /// Why it holds none.
    pub(super) fn read(id: IssueId, key: &str, bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| format!("it holds no result of a gate: {error}"))?;
        if file.issue_id == id.to_string() && file.gate == key {
            Ok(file.result)
        } else {
            Err(format!("it says that it is about the gate {} of {}", file.gate, file.issue_id))
        }
    }

    /// The bytes of its file.
    pub(super) fn bytes(&self, id: IssueId, key: &str) -> Vec<u8> {
        json::file(&File { issue_id: id.to_string(), gate: key.to_owned(), result: self.clone() })
    }
}

impl Results {
    /// The judgements in a file of an earlier version.
    ///
    /// # Errors
    /// Why it holds none.
    pub(super) fn read_old(id: IssueId, bytes: &[u8]) -> Result<Self, String> {
        let file: OldFile = serde_json::from_slice(bytes)
            .map_err(|error| format!("it holds no results of gates: {error}"))?;
        if file.issue_id == id.to_string() {
            Ok(Self(file.results))
        } else {
            Err(format!("it says that it is about {}", file.issue_id))
        }
    }

    /// The files of all judgements: the key of the gate, and the bytes.
    pub(super) fn files(&self, id: IssueId) -> BTreeMap<String, Vec<u8>> {
        let named = self.0.iter().filter(|(key, _)| can_be_file(key));
        named.map(|(key, result)| (key.clone(), result.bytes(id, key))).collect()
    }

    /// Takes over what another copy knows better, which is the later judgement.
    pub(super) fn merge(&mut self, key: String, theirs: GateResult) {
        match self.0.get(&key) {
            Some(ours) if ours.at >= theirs.at => {}
            _ => drop(self.0.insert(key, theirs)),
        }
    }

    /// Whether a gate is passed.
    #[must_use]
    pub fn passed(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|result| result.status == Verdict::Passed)
    }
}
