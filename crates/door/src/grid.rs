//! Tables for people. Columns are as wide as a terminal shows them, and nothing from outside gets through that
//! a terminal would act on.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::paint::{Colour, Paint};
use crate::text::Clean;

/// What is between two columns.
const GAP: usize = 2;

/// A column that is narrower says nothing.
const NARROWEST: usize = 12;

/// A cell of a table: one line of text that a terminal can show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    text: Clean,
    colour: Colour,
    /// How many columns of a terminal it takes.
    width: usize,
}

impl Cell {
    /// A text from outside.
    #[must_use]
    pub fn new(text: &str, colour: Colour) -> Self {
        let text = Clean::line(text);
        let width = width(text.as_str());
        Self { text, colour, width }
    }

    /// A text from outside, as it is.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::new(text, Colour::Plain)
    }

    /// The cell in so many columns, with a sign that there is more.
    fn cut(mut self, columns: usize) -> Self {
        if self.width > columns {
            let mut shown = 0;
            let is_too_far = |(_, c): &(usize, char)| {
                shown += c.width().unwrap_or(0);
                shown >= columns
            };
            let text = self.text.as_str();
            let end = text.char_indices().find(is_too_far).map_or(text.len(), |(at, _)| at);
            self.text.truncate(end);
            self.text += "…";
            self.width = width(self.text.as_str());
        }
        self
    }
}

/// How many columns of a terminal a line of clean text takes. Nearly all of it is plain, and takes one for each byte.
fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Rows as aligned columns under a heading. A column that is empty in every row is left out; on a terminal that
/// is too narrow the widest are cut, because lines that are wrapped are no table.
#[must_use]
pub fn grid<const N: usize>(paint: Paint, heading: [&str; N], rows: Vec<[Cell; N]>) -> Clean {
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width);
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
    let mut text = Clean::default();
    for row in std::iter::once(heading).chain(rows) {
        let mut columns = widths.iter();
        let row = row.map(|cell| cell.cut(columns.next().copied().unwrap_or(usize::MAX)));
        line(&mut text, paint, &row, &widths, &used);
    }
    text
}

/// Rows as aligned columns under a heading, without colours.
#[must_use]
pub fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> Clean {
    let rows = rows.iter().map(|row| row.each_ref().map(|cell| Cell::plain(cell.as_str())));
    grid(Paint::new(false), heading, rows.collect())
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

fn line(text: &mut Clean, paint: Paint, row: &[Cell], widths: &[usize], used: &[bool]) {
    let mut missing = 0;
    for ((cell, width), _) in row.iter().zip(widths).zip(used).filter(|(_, used)| **used) {
        if cell.width > 0 {
            text.push_blanks(missing);
            if cell.colour == Colour::Plain {
                text.push(&cell.text);
            } else {
                text.push(&paint.paint(cell.colour, &cell.text));
            }
            missing = 0;
        }
        missing += width - cell.width + GAP;
    }
    text.push_end();
}

#[cfg(test)]
mod tests {
    use super::{Cell, Colour, Paint, grid, table};

    #[test]
    fn columns_are_as_wide_as_they_are_shown() {
        let rows = vec![
            [Cell::plain("日本"), Cell::plain("1")],
            [Cell::plain("e\u{301}"), Cell::plain("2")],
            [Cell::plain(""), Cell::plain("3")],
        ];
        assert_eq!(
            grid(Paint::new(false), ["A", "B"], rows).as_str(),
            "A     B\n日本  1\ne\u{301}     2\n      3\n"
        );
    }

    #[test]
    fn a_table_of_text_has_no_colours() {
        let rows = [["ä".to_owned(), "1".to_owned()], ["long".to_owned(), "2".to_owned()]];
        assert_eq!(table(["A", "B"], &rows).as_str(), "A     B\nä     1\nlong  2\n");
    }

    #[test]
    fn colours_do_not_move_columns_and_need_a_terminal() {
        let rows = || vec![[Cell::new("x", Colour::Red), Cell::plain("y")]];
        assert_eq!(grid(Paint::new(false), ["AB", "C"], rows()).as_str(), "AB  C\nx   y\n");
        assert_eq!(
            grid(Paint::new(true), ["AB", "C"], rows()).as_str(),
            "\x1b[1mAB\x1b[0m  \x1b[1mC\x1b[0m\n\x1b[1;31mx\x1b[0m   y\n"
        );
    }

    #[test]
    fn a_table_fits_the_terminal_as_far_as_it_can() {
        let rows = || vec![[Cell::plain("01K8ZZ"), Cell::plain("日本 says a long title"), Cell::plain("x")]];
        let shown = |width| grid(Paint::new(false).within(Some(width)), ["A", "TITLE", "C"], rows());
        assert_eq!(
            shown(80).as_str(),
            "A       TITLE                   C\n01K8ZZ  日本 says a long title  x\n"
        );
        assert_eq!(shown(28).as_str(), "A       TITLE              C\n01K8ZZ  日本 says a long…  x\n");
        assert!(
            shown(4).as_str().lines().all(|line| line.chars().count() <= 6 + 2 + 12 + 2 + 1),
            "{}",
            shown(4)
        );
    }

    #[test]
    fn empty_columns_are_left_out_and_hostile_text_is_harmless() {
        let rows = vec![[Cell::plain("a\x1b[2J\nb"), Cell::plain(""), Cell::plain("c")]];
        assert_eq!(
            grid(Paint::new(false), ["A", "B", "C"], rows).as_str(),
            "A        C\na\u{fffd}[2J b  c\n"
        );
    }
}
