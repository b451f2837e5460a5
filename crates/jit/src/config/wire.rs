//! Problems of a configuration as programs read them: in errors, and in what `jit config validate` prints.

use schemars::JsonSchema;
use serde::Serialize;

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

impl From<&super::Problem> for Problem {
    fn from(problem: &super::Problem) -> Self {
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
pub(crate) fn problems(problems: &[super::Problem]) -> Vec<Problem> {
    problems.iter().map(Problem::from).collect()
}
