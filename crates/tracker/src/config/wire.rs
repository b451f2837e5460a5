//! Problems of a configuration as programs read them.

use schemars::JsonSchema;
use serde::Serialize;

use super::problem;

/// A problem.
#[derive(Serialize, JsonSchema)]
pub struct Problem {
    /// What kind of problem it is.
    pub code: &'static str,
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The key.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub fix: Option<String>,
}

impl From<&problem::Problem> for Problem {
    fn from(problem: &problem::Problem) -> Self {
        Self {
            code: problem.fault.kind.code(),
            path: problem.path.to_string_lossy().into_owned(),
            line: problem.line,
            key: problem.key.clone(),
            message: problem.fault.what.clone(),
            fix: problem.fault.fix.clone(),
        }
    }
}

/// Problems as programs read them.
#[must_use]
pub fn problems(problems: &[problem::Problem]) -> Vec<Problem> {
    problems.iter().map(Problem::from).collect()
}
