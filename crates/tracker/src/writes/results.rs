//! What came of an issue's gates: `gates/results/<ID>.json`. A gate that nobody has judged is not in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// When.
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
    /// Everything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// The judgements of one issue's gates, by key.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results(pub BTreeMap<String, GateResult>);

#[derive(Serialize, Deserialize)]
struct File {
    issue_id: String,
    results: BTreeMap<String, GateResult>,
}

impl Results {
    /// The judgements in a file.
    ///
    /// # Errors
    /// Why it holds none.
    pub fn read(id: IssueId, bytes: &[u8]) -> Result<Self, String> {
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| format!("it holds no results of gates: {error}"))?;
        if file.issue_id == id.to_string() {
            Ok(Self(file.results))
        } else {
            Err(format!("it says that it is about {}", file.issue_id))
        }
    }

    /// The bytes of its file.
    #[must_use]
    pub fn bytes(&self, id: IssueId) -> Vec<u8> {
        let file = File { issue_id: id.to_string(), results: self.0.clone() };
        json::file(&file)
    }

    /// Takes over what another copy knows better, which is the later judgement.
    pub fn merge(&mut self, other: Self) {
        for (key, theirs) in other.0 {
            match self.0.get(&key) {
                Some(ours) if ours.at >= theirs.at => {}
                _ => drop(self.0.insert(key, theirs)),
            }
        }
    }

    /// Whether a gate is passed.
    #[must_use]
    pub fn passed(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|result| result.status == Verdict::Passed)
    }
}
