//! Tables and colours for people. Columns are as wide as a terminal shows them, colours never reach a pipe,
//! and nothing from outside gets through that a terminal would act on.

use unicode_width::UnicodeWidthStr;

use crate::issues::{Priority, State};
use crate::output::clean;

/// What a text is painted with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// As it is.
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

impl From<State> for Colour {
    fn from(state: State) -> Self {
        match state {
            State::Backlog => Self::Plain,
            State::Ready => Self::Green,
            State::InProgress => Self::Yellow,
            State::Gated => Self::Magenta,
            State::Done | State::Rejected | State::Archived => Self::Dim,
        }
    }
}

impl From<Priority> for Colour {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Critical => Self::Red,
            Priority::High => Self::Bold,
            Priority::Normal => Self::Plain,
            Priority::Low => Self::Dim,
        }
    }
}

/// Whether there are colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint(bool);

impl Paint {
    /// Colours, if `on`.
    #[must_use]
    pub const fn new(on: bool) -> Self {
        Self(on)
    }

    /// A text that was cleaned, painted.
    #[must_use]
    pub fn paint(self, colour: Colour, text: &str) -> String {
        if self.0 && colour != Colour::Plain && !text.is_empty() {
            format!("{}{text}\x1b[0m", colour.code())
        } else {
            text.to_owned()
        }
    }

    /// A text from outside, cleaned and painted.
    #[must_use]
    pub fn show(self, colour: Colour, text: &str) -> String {
        self.paint(colour, &clean(text).replace('\n', " "))
    }
}

/// A cell of a table: one line of text that a terminal can show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    text: String,
    colour: Colour,
}

impl Cell {
    /// A text from outside.
    #[must_use]
    pub fn new(text: &str, colour: Colour) -> Self {
        Self { text: clean(text).replace('\n', " "), colour }
    }

    /// A text from outside, as it is.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::new(text, Colour::Plain)
    }

    /// Where an issue stands.
    #[must_use]
    pub fn state(state: State) -> Self {
        Self { text: state.to_string(), colour: state.into() }
    }

    /// How much an issue matters.
    #[must_use]
    pub fn priority(priority: Priority) -> Self {
        Self { text: priority.to_string(), colour: priority.into() }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

/// Rows as aligned columns under a heading. A column that is empty in every row is left out.
#[must_use]
pub fn grid<const N: usize>(paint: Paint, heading: [&str; N], rows: Vec<[Cell; N]>) -> String {
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let used = widths.map(|width| width > 0 || rows.is_empty());
    for (width, name) in widths.iter_mut().zip(heading) {
        *width = (*width).max(name.width());
    }
    let heading = heading.map(|name| Cell::new(name, Colour::Bold));
    let mut text = String::new();
    for row in std::iter::once(heading).chain(rows) {
        line(&mut text, paint, &row, &widths, &used);
    }
    text
}

fn line(text: &mut String, paint: Paint, row: &[Cell], widths: &[usize], used: &[bool]) {
    let mut missing = 0;
    for ((cell, width), _) in row.iter().zip(widths).zip(used).filter(|(_, used)| **used) {
        let width_of_cell = cell.width();
        if width_of_cell > 0 {
            text.extend(std::iter::repeat_n(' ', missing));
            text.push_str(&paint.paint(cell.colour, &cell.text));
            missing = 0;
        }
        missing += width - width_of_cell + 2;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::{Cell, Colour, Paint, grid};

    #[test]
    fn columns_are_as_wide_as_they_are_shown() {
        let rows = vec![
            [Cell::plain("日本"), Cell::plain("1")],
            [Cell::plain("e\u{301}"), Cell::plain("2")],
            [Cell::plain(""), Cell::plain("3")],
        ];
        assert_eq!(grid(Paint::new(false), ["A", "B"], rows), "A     B\n日本  1\ne\u{301}     2\n      3\n");
    }

    #[test]
    fn colours_do_not_move_columns_and_need_a_terminal() {
        let rows = || vec![[Cell::new("x", Colour::Red), Cell::plain("y")]];
        assert_eq!(grid(Paint::new(false), ["AB", "C"], rows()), "AB  C\nx   y\n");
        assert_eq!(
            grid(Paint::new(true), ["AB", "C"], rows()),
            "\x1b[1mAB\x1b[0m  \x1b[1mC\x1b[0m\n\x1b[1;31mx\x1b[0m   y\n"
        );
    }

    #[test]
    fn empty_columns_are_left_out_and_hostile_text_is_harmless() {
        let rows = vec![[Cell::plain("a\x1b[2J\nb"), Cell::plain(""), Cell::plain("c")]];
        assert_eq!(grid(Paint::new(false), ["A", "B", "C"], rows), "A        C\na\u{fffd}[2J b  c\n");
    }
}
