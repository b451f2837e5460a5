//! Standard error: what went wrong, what to do about it, and what is going on.

use std::io::{self, IsTerminal as _, Write as _};

use crate::paint::{Colour, Paint, is_dumb};
use crate::text::clean;

/// Notes for whoever is there to read them.
#[derive(Clone, Copy, Debug)]
pub struct Notes {
    is_terminal: bool,
    paint: Paint,
}

impl Notes {
    /// As the environment and the terminal say.
    #[must_use]
    pub fn new() -> Self {
        let is_terminal = io::stderr().is_terminal();
        Self { is_terminal, paint: Paint::on(is_terminal) }
    }

    /// Whether somebody looks on.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        self.is_terminal
    }

    /// Whether a line that is there can be written again.
    #[must_use]
    pub fn can_rewrite(self) -> bool {
        self.is_terminal && !is_dumb()
    }

    pub fn error(self, text: &str) {
        self.say(Colour::Red, "error", text);
    }

    /// What is behind it.
    pub fn cause(self, text: &str) {
        self.say(Colour::Bold, "cause", text);
    }

    /// What to do about it.
    pub fn hint(self, text: &str) {
        self.say(Colour::Bold, "hint", text);
    }

    /// What may go wrong.
    pub fn warning(self, text: &str) {
        self.say(Colour::Yellow, "warning", text);
    }

    /// What is going on.
    pub fn note(self, text: &str) {
        self.say(Colour::Bold, "note", text);
    }

    fn say(self, colour: Colour, kind: &str, text: &str) {
        let kind = self.paint.paint(colour, format!("{kind}:"));
        // There is nobody to tell that nobody can be told anything.
        let _ = writeln!(io::stderr(), "{kind} {}", clean(text));
    }
}

impl Default for Notes {
    fn default() -> Self {
        Self::new()
    }
}
