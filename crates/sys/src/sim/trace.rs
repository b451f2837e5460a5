//! What happened, one line a call. Nothing is kept while it is switched off: a run that failed is replayed
//! with it on.

use std::fmt;

use super::choice::Made;

/// One call, or one thing that happened to the world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The true time, in microseconds since the world began.
    pub at_us: u64,
    /// The process, or the world itself.
    pub who: String,
    /// The call with its arguments and its result.
    pub what: String,
    /// The choices on the way there.
    pub choices: Vec<Made>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12} µs  {:<8} {}", self.at_us, self.who, self.what)?;
        for made in self.choices.iter().filter(|made| made.answer != 0) {
            write!(f, "  [{made}]")?;
        }
        Ok(())
    }
}

pub(super) struct Trace {
    on: bool,
    lines: Vec<Line>,
    /// The choices since the last line.
    made: Vec<Made>,
}

impl Trace {
    pub(super) const fn new(on: bool) -> Self {
        Self { on, lines: Vec::new(), made: Vec::new() }
    }

    pub(super) fn made(&mut self, made: Made) {
        if self.on {
            self.made.push(made);
        }
    }

    /// Writes a line; `what` is only called when somebody wants to read it.
    pub(super) fn line(&mut self, at_us: u64, who: &str, what: impl FnOnce() -> String) {
        if self.on {
            let choices = std::mem::take(&mut self.made);
            self.lines.push(Line { at_us, who: who.to_owned(), what: what(), choices });
        }
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }
}
