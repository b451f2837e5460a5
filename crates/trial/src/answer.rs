//! What a program answered.

use std::fmt;
use std::process::Output;

use serde_json::Value;

/// What a program answered, and how it ended.
#[derive(Debug)]
pub struct Answer {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
}

impl From<Output> for Answer {
    /// The answer of a program of ours, which speaks UTF-8.
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Answer {
    /// The answer of any program.
    #[must_use]
    pub fn of_any(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The document that it printed.
    ///
    /// # Panics
    /// If it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self}"))
    }

    /// The one line that it printed.
    #[must_use]
    pub fn line(&self) -> &str {
        self.stdout.trim()
    }

    /// This answer, if it ended well.
    ///
    /// # Panics
    /// If it did not.
    pub fn ok(self) -> Self {
        self.fails(0)
    }

    /// This answer, if it ended with this code.
    ///
    /// # Panics
    /// If it did not.
    pub fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// This answer, if it is a failure that says all of this.
    ///
    /// # Panics
    /// If it is not.
    pub fn refused(self, words: &[&str]) -> Self {
        assert_ne!(self.code, Some(0), "{self}");
        self.says(words)
    }

    /// This answer, if it says all of this.
    ///
    /// # Panics
    /// If it does not.
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            let is_said =
                self.stderr.contains(word) || handle(word).is_some_and(|it| self.stderr.contains(&it));
            assert!(is_said, "{word:?} is not in\n{self}");
        }
        self
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {:?}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
    }
}

/// What an issue with this id is called where people read, unless another one is called so too.
fn handle(id: &str) -> Option<String> {
    let is_id = id.len() == 26 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id.then(|| id.get(10..14).unwrap_or_default().to_lowercase())
}
