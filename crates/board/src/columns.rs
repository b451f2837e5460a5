//! *Board*, as columns: as many as there is room for, the chosen one always among them.

use holdfast_door::Colour;
use holdfast_tracker::issues::{Priority, State};
use ratatui_core::layout::Rect;

use crate::draw::Painter;
use crate::lanes::{colour, word};
use crate::model::{Model, Spot};
use crate::row::Row;
use crate::stand::Card;

/// A column is not narrower than this, unless the screen is.
const NARROWEST: u16 = 26;

/// Draws the columns.
pub(crate) fn draw(painter: &mut Painter<'_>, area: Rect, model: &mut Model) {
    let Some(stand) = &model.stand else { return };
    let states = stand.states();
    let chosen = model.state.and_then(|state| states.iter().position(|one| *one == state)).unwrap_or(0);
    let fit = usize::from((area.width / NARROWEST).max(1)).min(states.len());
    let first = (chosen + 1).saturating_sub(fit).min(states.len() - fit);
    let (width, mut x) = (area.width / u16::try_from(fit).unwrap_or(1), area.x);
    for (at, state) in states.iter().enumerate().skip(first).take(fit) {
        let last = at + 1 == first + fit;
        let width = if last { area.right() - x } else { width };
        let arrows = (at == first && first > 0, last && at + 1 < states.len());
        // A column is parted from the next one by a blank.
        let inner = if last { width } else { width.saturating_sub(1) };
        column(painter, Rect { x, width: inner, ..area }, model, *state, arrows);
        x += width;
    }
    model.room = usize::from(area.height.saturating_sub(1));
}

fn column(painter: &mut Painter<'_>, area: Rect, model: &mut Model, state: State, arrows: (bool, bool)) {
    let cards: Vec<Card> = model.column(state).into_iter().cloned().collect();
    let is_chosen = model.state == Some(state);
    let heading = Row::default()
        .then(Colour::Dim, if arrows.0 { "< " } else { "" })
        .then(if is_chosen { Colour::Bold } else { colour(state) }, word(state))
        .then(Colour::Dim, &format!(" {}", cards.len()))
        .then(Colour::Dim, if arrows.1 { " >" } else { "" });
    painter.line(Rect { height: 1, ..area }, &heading, is_chosen && model.chosen.is_none());
    painter.spots.push((area, Spot::Column(state)));
    let room = usize::from(area.height.saturating_sub(1));
    let at = model.chosen.as_ref().and_then(|id| cards.iter().position(|card| card.id == *id));
    let top = model.tops.entry(state).or_default();
    *top = scrolled(*top, at, room, cards.len());
    for (card, y) in cards.iter().skip(*top).take(room).zip(area.y + 1..) {
        let place = Rect { y, height: 1, ..area };
        painter.line(place, &line(card), model.chosen.as_ref() == Some(&card.id));
        painter.spots.push((place, Spot::Issue(card.id.clone())));
    }
}

/// The first line that is shown, so that the chosen one is seen and no room is wasted.
pub(crate) fn scrolled(top: usize, chosen: Option<usize>, room: usize, lines: usize) -> usize {
    let top = match chosen {
        Some(at) if at < top => at,
        Some(at) if at >= top + room => (at + 1).saturating_sub(room),
        _ => top,
    };
    top.min(lines.saturating_sub(room))
}

/// A card: what it is called, whether it matters, who holds it or that it waits.
pub(crate) fn line(card: &Card) -> Row {
    let (urgent, mark) = match card.priority {
        Priority::Critical => (Colour::Red, "‼"),
        Priority::High => (Colour::Yellow, "!"),
        Priority::Normal | Priority::Low => (Colour::Plain, " "),
    };
    let mut row =
        Row::of(Some(&card.id)).then(Colour::Plain, " ").then(urgent, mark).then(Colour::Bold, &card.handle);
    if let Some(holder) = &card.claimed_by {
        let name = holder.split_once(':').map_or(holder.as_str(), |(_, name)| name);
        row = row.then(Colour::Cyan, &format!(" @{name}"));
    } else if !card.blocked_by.is_empty() {
        row = row.then(Colour::Dim, " waits");
    }
    let dim = card.state.is_over() || card.priority == Priority::Low;
    row.then(if dim { Colour::Dim } else { Colour::Plain }, &format!(" {}", card.title))
}

#[cfg(test)]
mod tests {
    use super::scrolled;

    #[test]
    fn what_is_chosen_is_seen_and_no_room_is_wasted() {
        assert_eq!(scrolled(0, Some(0), 10, 100), 0);
        assert_eq!(scrolled(0, Some(10), 10, 100), 1);
        assert_eq!(scrolled(50, Some(3), 10, 100), 3);
        assert_eq!(scrolled(95, None, 10, 100), 90);
        assert_eq!(scrolled(7, None, 10, 5), 0);
        assert_eq!(scrolled(3, Some(2), 0, 5), 2);
    }
}
