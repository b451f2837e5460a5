//! Tables and colours for people. Columns are as wide as a terminal shows them, colours never reach a pipe,
//! and nothing from outside gets through that a terminal would act on.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::issues::{Priority, State};
use crate::output::clean;

/// What is between two columns.
const GAP: usize = 2;

/// A column that is narrower says nothing.
const NARROWEST: usize = 12;

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

/// What can be shown: whether there are colours, and how wide a table may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint {
    colours: bool,
    width: Option<usize>,
}

impl Paint {
    /// Colours, if `on`.
    #[must_use]
    pub const fn new(on: bool) -> Self {
        Self { colours: on, width: None }
    }

    /// These colours, on a terminal with so many columns.
    #[must_use]
    pub const fn within(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// A text that was cleaned, painted.
    #[must_use]
    pub fn paint(self, colour: Colour, text: &str) -> String {
        if self.colours && colour != Colour::Plain && !text.is_empty() {
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

    /// The cell in so many columns, with a sign that there is more.
    fn cut(mut self, columns: usize) -> Self {
        if self.width() > columns {
            let mut shown = 0;
            let is_too_far = |(_, c): &(usize, char)| {
                shown += c.width().unwrap_or(0);
                shown >= columns
            };
            let end = self.text.char_indices().find(is_too_far).map_or(self.text.len(), |(at, _)| at);
            self.text.truncate(end);
            self.text.push('…');
        }
        self
    }
}

/// Rows as aligned columns under a heading. A column that is empty in every row is left out; on a terminal that
/// is too narrow the widest are cut, because lines that are wrapped are no table.
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
    if let Some(room) = paint.width {
        squeeze(&mut widths, &used, room);
    }
    let heading = heading.map(|name| Cell::new(name, Colour::Bold));
    let mut text = String::new();
    for row in std::iter::once(heading).chain(rows) {
        let mut columns = widths.iter();
        let row = row.map(|cell| cell.cut(columns.next().copied().unwrap_or(usize::MAX)));
        line(&mut text, paint, &row, &widths, &used);
    }
    text
}

/// Makes the widest columns narrower until all fit, or none can give way any more.
fn squeeze(widths: &mut [usize], used: &[bool], room: usize) {
    loop {
        let all: usize =
            widths.iter().zip(used).filter(|(_, used)| **used).map(|(width, _)| width + GAP).sum();
        let excess = all.saturating_sub(GAP + room);
        let widest = widths.iter_mut().zip(used).filter(|(_, used)| **used).map(|(width, _)| width).max();
        match widest {
            Some(widest) if excess > 0 && *widest > NARROWEST => {
                *widest = widest.saturating_sub(excess).max(NARROWEST);
            }
            _ => return,
        }
    }
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
        missing += width - width_of_cell + GAP;
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
    fn a_table_fits_the_terminal_as_far_as_it_can() {
        let rows = || vec![[Cell::plain("01K8ZZ"), Cell::plain("日本 says a long title"), Cell::plain("x")]];
        let shown = |width| grid(Paint::new(false).within(Some(width)), ["A", "TITLE", "C"], rows());
        assert_eq!(shown(80), "A       TITLE                   C\n01K8ZZ  日本 says a long title  x\n");
        assert_eq!(shown(28), "A       TITLE              C\n01K8ZZ  日本 says a long…  x\n");
        assert!(shown(4).lines().all(|line| line.chars().count() <= 6 + 2 + 12 + 2 + 1), "{}", shown(4));
    }

    #[test]
    fn empty_columns_are_left_out_and_hostile_text_is_harmless() {
        let rows = vec![[Cell::plain("a\x1b[2J\nb"), Cell::plain(""), Cell::plain("c")]];
        assert_eq!(grid(Paint::new(false), ["A", "B", "C"], rows), "A        C\na\u{fffd}[2J b  c\n");
    }
}
