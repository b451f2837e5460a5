//! A line that is drawn on a screen or printed: pieces of text, each with a colour. Text that comes from outside gets in
//! only through [`clean`].

use holdfast_door::{Clean, Colour};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) pieces: Vec<(Colour, String)>,
    /// The issue that it is about.
    pub(crate) issue: Option<String>,
}

impl Row {
    pub(crate) fn of(issue: Option<&str>) -> Self {
        Self { pieces: Vec::new(), issue: issue.map(ToOwned::to_owned) }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::default().then(Colour::Plain, text)
    }

    /// The line with more text behind it.
    pub(crate) fn then(mut self, colour: Colour, text: &str) -> Self {
        if !text.is_empty() {
            self.pieces.push((colour, text.to_owned()));
        }
        self
    }

    /// The line, cut or filled so that so many columns are taken.
    pub(crate) fn filled(mut self, columns: usize) -> Self {
        self = self.cut(columns);
        let blanks = columns.saturating_sub(self.width());
        self.then(Colour::Plain, &" ".repeat(blanks))
    }

    /// The line with no more columns than these.
    pub(crate) fn cut(mut self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut left = columns;
        for (_, text) in &mut self.pieces {
            if text.width() > left {
                *text = cut(text, left);
                left = 0;
            } else {
                left -= text.width();
            }
        }
        self.pieces.retain(|(_, text)| !text.is_empty());
        self
    }

    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }
}

/// Text from outside in one line, without what a terminal would act on.
pub(crate) fn clean(text: &str) -> String {
    Clean::line(text).as_str().to_owned()
}

/// The text, with no more columns than these; a mark stands for what was cut off.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let does = width <= left;
        left = left.saturating_sub(width);
        does
    };
    let mut short: String = text.chars().take_while(fits).collect();
    if columns > 0 {
        short.push('…');
    }
    short
}

/// A text in lines of no more columns than these, broken between words where that can be done.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split(' ') {
            let mut word = word.to_owned();
            if !current.is_empty() && current.width() + 1 + word.width() > columns {
                lines.push(std::mem::take(&mut current));
            }
            while word.width() > columns {
                let mut taken = 0;
                let at = word.char_indices().find(|(_, c)| {
                    taken += c.width().unwrap_or(0);
                    taken > columns
                });
                let rest = word.split_off(at.map_or(word.len(), |(at, c)| at.max(c.len_utf8())));
                lines.push(std::mem::replace(&mut word, rest));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(&word);
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use holdfast_door::Colour;
    use unicode_width::UnicodeWidthStr as _;

    use super::{Row, clean, cut, wrap};

    #[test]
    fn a_line_takes_no_more_columns_than_it_may() {
        for text in ["plain words", "日本語の題名", "e\u{301}e\u{301}e\u{301}", ""] {
            for columns in 0..14 {
                assert!(cut(text, columns).width() <= columns, "{text} {columns}");
                let row = Row::plain(text).then(Colour::Bold, text).filled(columns);
                assert_eq!(row.width(), columns, "{text} {columns}");
                let wrapped = wrap(text, columns);
                assert!(wrapped.iter().all(|line| line.width() <= columns.max(2)), "{wrapped:?}");
                let squeezed = |text: &str| text.replace(' ', "");
                assert_eq!(squeezed(&wrapped.concat()), squeezed(text));
            }
        }
        assert_eq!(cut("too long", 5), "too …");
    }

    #[test]
    fn nothing_that_a_terminal_acts_on_gets_in() {
        assert_eq!(clean("a\x1b[31mb\nc\u{202e}d"), "a\u{fffd}[31mb c\u{fffd}d");
    }
}
