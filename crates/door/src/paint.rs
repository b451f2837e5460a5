//! Colours for people: they never reach a pipe, nor a terminal that does not want them.

use std::io::{self, IsTerminal as _};

use holdfast_sys::os;

use crate::text::Clean;

/// What a text is painted with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    Plain,
    /// What stands out.
    Bold,
    /// What is over.
    Dim,
    /// What can be done.
    Green,
    /// What somebody is at.
    Yellow,
    /// What waits for a judgement.
    Magenta,
    /// Who has it.
    Cyan,
    /// What is urgent or wrong.
    Red,
}

impl Colour {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\x1b[1m",
            Self::Dim => "\x1b[2m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
            Self::Magenta => "\x1b[35m",
            Self::Cyan => "\x1b[36m",
            Self::Red => "\x1b[1;31m",
        }
    }
}

/// What can be shown: whether there are colours, and how wide a table may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint {
    colours: bool,
    pub(crate) width: Option<usize>,
}

impl Paint {
    /// Colours, if `on`.
    #[must_use]
    pub const fn new(on: bool) -> Self {
        Self { colours: on, width: None }
    }

    /// The colours that are wanted, if it goes to a terminal.
    #[must_use]
    pub fn on(is_terminal: bool) -> Self {
        Self::new(is_terminal && are_colours_wanted())
    }

    /// What can be shown on standard output.
    #[must_use]
    pub fn of_answers() -> Self {
        Self::on(io::stdout().is_terminal()).within(os::columns())
    }

    /// These colours, on a terminal with so many columns.
    #[must_use]
    pub const fn within(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Whether there are colours.
    #[must_use]
    pub const fn has_colours(self) -> bool {
        self.colours
    }

    /// How many columns there are, if that is known.
    #[must_use]
    pub const fn width(self) -> Option<usize> {
        self.width
    }

    /// The text, painted.
    #[must_use]
    pub fn paint(self, colour: Colour, text: impl Into<Clean>) -> Clean {
        let text = text.into();
        if self.colours && colour != Colour::Plain && !text.is_empty() {
            text.within(colour.code(), "\x1b[0m")
        } else {
            text
        }
    }

    /// The text in one line, painted.
    #[must_use]
    pub fn show(self, colour: Colour, text: &str) -> Clean {
        self.paint(colour, Clean::line(text))
    }
}

#[expect(clippy::disallowed_methods, reason = "what is wanted on a terminal is the terminal's business")]
fn are_colours_wanted() -> bool {
    !is_dumb() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether the terminal does nothing but print.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "what a terminal can do is the terminal's business")]
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind == "dumb")
}
