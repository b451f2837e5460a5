//! How things stand, printed once: the same lines as on a screen, for a terminal that only prints and for a pipe.

use holdfast_door::{Clean, Paint};
use holdfast_kernel::Stamp;

use crate::columns;
use crate::lanes::{self, Form, SIGNS};
use crate::row::Row;
use crate::stand::Stand;

/// How many columns a pipe has.
const COLUMNS: usize = 100;
/// How many issues of a column are printed.
const MOST: usize = 20;

/// How things stand.
pub(crate) fn text(stand: &Stand, now: &Stamp, paint: Paint) -> Clean {
    let columns = paint.width().unwrap_or(COLUMNS);
    let mut rows = lanes::rows(stand, &Form { columns, now, bar: SIGNS });
    for state in stand.states() {
        let cards = stand.cards(state);
        rows.push(Row::default());
        let heading = Row::default().then(holdfast_door::Colour::Bold, lanes::word(state));
        rows.push(heading.then(holdfast_door::Colour::Dim, &format!(" {}", cards.len())));
        if state.is_over() {
            continue;
        }
        rows.extend(cards.iter().take(MOST).map(|card| columns::line(card).cut(columns)));
        if cards.len() > MOST {
            let more = format!("  and {} more", cards.len() - MOST);
            rows.push(Row::default().then(holdfast_door::Colour::Dim, &more));
        }
    }
    let line = |row: &Row| {
        let pieces = row.pieces.iter().map(|(colour, text)| paint.show(*colour, text));
        let line: Clean = pieces.collect();
        // Blanks at the end of a line are of no use to anybody.
        if paint.has_colours() { line + "\n" } else { Clean::line(line.as_str().trim_end()) + "\n" }
    };
    rows.iter().map(line).collect()
}
