//! Draws everything on a screen of any size, and notes what can be pointed at.

use holdfast_door::Colour;
use holdfast_kernel::Stamp;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Color, Modifier, Style};

use crate::columns::{self, scrolled};
use crate::keys;
use crate::lanes::{self, BLOCKS, Form};
use crate::model::{Model, Prompt, Said, Spot, View};
use crate::row::{Row, cut, wrap};

/// Draws lines.
pub(crate) struct Painter<'a> {
    buffer: &'a mut Buffer,
    has_colours: bool,
    pub(crate) spots: Vec<(Rect, Spot)>,
}

impl Painter<'_> {
    /// Draws a line; one that is chosen stands out without colours, too.
    pub(crate) fn line(&mut self, area: Rect, row: &Row, is_chosen: bool) {
        if area.is_empty() {
            return;
        }
        let mut x = area.x;
        let row = row.clone().cut(usize::from(area.width));
        for (colour, text) in &row.pieces {
            let left = usize::from(area.right().saturating_sub(x));
            let style = if is_chosen { Style::new() } else { style(*colour, self.has_colours) };
            x = self.buffer.set_stringn(x, area.y, text, left, style).0;
        }
        if is_chosen {
            self.buffer.set_style(Rect { height: 1, ..area }, Style::new().add_modifier(Modifier::REVERSED));
            if let Some(cell) =
                self.buffer.cell_mut(Position::new(area.x, area.y)).filter(|cell| cell.symbol() == " ")
            {
                cell.set_symbol(">");
            }
        }
    }
}

/// What a colour is on this screen.
const fn style(colour: Colour, has_colours: bool) -> Style {
    let plain = Style::new();
    match colour {
        Colour::Plain => plain,
        Colour::Bold => plain.add_modifier(Modifier::BOLD),
        Colour::Dim => plain.add_modifier(Modifier::DIM),
        Colour::Red if !has_colours => plain.add_modifier(Modifier::BOLD),
        _ if !has_colours => plain,
        Colour::Green => plain.fg(Color::Green),
        Colour::Yellow => plain.fg(Color::Yellow),
        Colour::Magenta => plain.fg(Color::Magenta),
        Colour::Cyan => plain.fg(Color::Cyan),
        Colour::Red => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
    }
}

/// Draws everything. Says where the cursor is, if something is typed.
pub(crate) fn draw(
    buffer: &mut Buffer,
    model: &mut Model,
    now: &Stamp,
    has_colours: bool,
) -> Option<Position> {
    let area = *buffer.area();
    let mut painter = Painter { buffer, has_colours, spots: Vec::new() };
    let line = |y: u16| Rect { y, height: 1, ..area };
    if area.height < 4 {
        body(&mut painter, area, model, now);
        model.spots = painter.spots;
        return None;
    }
    head(&mut painter, line(area.y), model);
    let mut top = area.y + 1;
    if let Some(why) = &model.trouble {
        let text = format!("The repository cannot be read: {why} What you see is how it was before.");
        for text in wrap(&text, usize::from(area.width)).into_iter().take(3) {
            painter.line(line(top), &Row::default().then(Colour::Red, &text), false);
            top += 1;
        }
    }
    let bottom = area.bottom() - 1;
    body(&mut painter, Rect { y: top, height: (bottom - 1).saturating_sub(top), ..area }, model, now);
    let cursor = foot(&mut painter, line(bottom - 1), model);
    keys_line(&mut painter, line(bottom), model);
    model.spots = painter.spots;
    cursor
}

fn head(painter: &mut Painter<'_>, area: Rect, model: &Model) {
    let mut x = area.x;
    for (view, text) in [(View::Now, " 1 Now "), (View::Board, " 2 Board ")] {
        let shown = if matches!(model.view, View::Issue | View::Keys) { model.behind } else { model.view };
        let width = u16::try_from(text.len()).unwrap_or(0).min(area.right().saturating_sub(x));
        let place = Rect { x, width, ..area };
        painter.line(place, &Row::default().then(Colour::Bold, text), view == shown);
        painter.spots.push((place, Spot::View(view)));
        x += width;
    }
    let Some(stand) = &model.stand else { return };
    let agent = stand.agent.as_deref().unwrap_or_default();
    let busy = if model.is_busy { " …" } else { "" };
    let text = Row::default()
        .then(Colour::Bold, &format!(" {}", stand.name))
        .then(Colour::Dim, &format!(" as {agent}{busy}"));
    painter.line(Rect { x, width: area.right() - x, ..area }, &text, false);
}

fn body(painter: &mut Painter<'_>, area: Rect, model: &mut Model, now: &Stamp) {
    if model.stand.is_none() {
        return painter.line(Rect { height: area.height.min(1), ..area }, &Row::plain("Looking…"), false);
    }
    match model.view {
        View::Board => columns::draw(painter, area, model),
        View::Now => {
            let rows = now_rows(model, usize::from(area.width), now);
            let at = model.chosen.as_ref();
            let at = rows.iter().position(|row| row.issue.is_some() && row.issue.as_ref() == at);
            list(painter, area, model, &rows, at);
        }
        View::Issue => {
            let rows = model.issue.clone().unwrap_or_else(|| vec![Row::plain("Looking…")]);
            list(painter, area, model, &rows, None);
        }
        View::Keys => list(painter, area, model, &keys::help(), None),
    }
}

/// The lines of *Now*.
pub(crate) fn now_rows(model: &Model, columns: usize, now: &Stamp) -> Vec<Row> {
    model
        .stand
        .as_ref()
        .map_or_else(Vec::new, |stand| lanes::rows(stand, &Form { columns, now, bar: BLOCKS }))
}

/// Draws lines, from the first one that is shown on.
fn list(painter: &mut Painter<'_>, area: Rect, model: &mut Model, rows: &[Row], at: Option<usize>) {
    model.room = usize::from(area.height);
    // Whoever is at the first that can be chosen sees what stands above it.
    let first = rows.iter().position(|row| row.issue.is_some());
    let at =
        if at.is_some() && at == first { Some(0).filter(|_| first < Some(model.room)).or(at) } else { at };
    model.top = scrolled(model.top, at, model.room, rows.len());
    for (row, y) in rows.iter().skip(model.top).zip(area.y..area.bottom()) {
        let place = Rect { y, height: 1, ..area };
        let is_chosen = row.issue.is_some() && row.issue == model.chosen && model.view == View::Now;
        painter.line(place, row, is_chosen);
        if let Some(issue) = &row.issue {
            painter.spots.push((place, Spot::Issue(issue.clone())));
        }
    }
}

/// The line above the keys: what is typed, what was said, or what is chosen.
fn foot(painter: &mut Painter<'_>, area: Rect, model: &Model) -> Option<Position> {
    let row = match (&model.prompt, &model.said) {
        (Some((prompt, typed)), _) => {
            let ask = match prompt {
                Prompt::Find => "find: ".to_owned(),
                Prompt::Note { handle, .. } => format!("note on {handle}: "),
                Prompt::Release { handle, .. } => format!("release {handle}? y/n "),
            };
            // The end of what is typed is what one wants to see.
            let room = usize::from(area.width).saturating_sub(2);
            let mut shown: String = format!("{ask}{typed}");
            while Row::plain(&shown).width() > room {
                shown.remove(0);
            }
            painter.line(area, &Row::default().then(Colour::Bold, &shown), false);
            let x = u16::try_from(Row::plain(&shown).width()).unwrap_or(0);
            return Some(Position::new(area.x + x.min(area.width.saturating_sub(1)), area.y));
        }
        (None, Some(Said::Done(text))) => Row::default().then(Colour::Green, text),
        (None, Some(Said::Failed(text))) => Row::default().then(Colour::Red, text),
        (None, None) => detail(model),
    };
    painter.line(area, &row, false);
    None
}

/// What is chosen, in one line.
fn detail(model: &Model) -> Row {
    let Some(card) = model.card() else {
        let words = model.words.join(" ");
        return if words.is_empty() { Row::default() } else { Row::plain(&format!("found: {words}")) };
    };
    let mut row = Row::default().then(Colour::Bold, &card.handle);
    if let Some(holder) = &card.claimed_by {
        row = row.then(Colour::Cyan, &format!(" held by {holder}"));
    }
    if !card.blocked_by.is_empty() {
        row = row.then(Colour::Yellow, &format!(" waits for {}", card.blocked_by.join(", ")));
    }
    let labels = if card.labels.is_empty() { String::new() } else { format!("  [{}]", card.labels) };
    row.then(Colour::Plain, &format!(" {}", card.title)).then(Colour::Dim, &labels)
}

/// The keys that can be pressed, as many as there is room for; each can be pointed at.
fn keys_line(painter: &mut Painter<'_>, area: Rect, model: &Model) {
    let mut x = area.x;
    for (key, text) in keys::shown(model) {
        let text = if text.is_empty() { String::new() } else { format!(" {text}") };
        let row = Row::default().then(Colour::Bold, key.1).then(Colour::Dim, &cut(&text, 20));
        let width = u16::try_from(row.width()).unwrap_or(u16::MAX);
        if x + width > area.right() {
            return;
        }
        let place = Rect { x, width, ..area };
        painter.line(place, &row, false);
        if let Some(press) = key.0 {
            painter.spots.push((place, Spot::Key(press)));
        }
        x += width + 2;
    }
}
