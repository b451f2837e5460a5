//! What happens to several who work at once, drawn as it happens: a lane for each, time goes down. Where the lanes do
//! not fit, or nobody looks on, each line says whose it is.

use std::io::{self, IsTerminal as _};

use holdfast_door::{Clean, Colour};
use holdfast_kernel::Stamp;
use holdfast_sys::os;

use super::Printer;

/// How wide a lane is where there is room, and how much the last one needs at least.
const WIDEST: usize = 21;
const LAST: usize = 30;

/// How wide the time is that each line begins with.
const TIME: usize = 10;

/// The drawing.
pub struct Lanes {
    printer: Printer,
    start: Stamp,
    names: Vec<String>,
    /// How wide a lane is; none if there are no lanes.
    width: Option<usize>,
    room: usize,
}

impl Lanes {
    /// Begins a drawing with a heading.
    #[must_use]
    pub fn new(printer: Printer, start: Stamp, names: Vec<String>) -> Self {
        let room = os::columns().unwrap_or(100);
        let width = width(room, &names).filter(|_| io::stdout().is_terminal());
        let lanes = Self { printer, start, names, width, room };
        if let Some(width) = width {
            let names: String = lanes.names.iter().map(|name| format!("{name:<width$}")).collect();
            let names = lanes.printer.paint().paint(Colour::Bold, names.trim_end());
            lanes.printer.live(Clean::from(" ".repeat(TIME)) + names);
        }
        lanes
    }

    /// Draws into the lane with this number; of `more` is said what there is room for.
    pub fn draw(&self, now: &Stamp, lane: usize, colour: Colour, text: &str, more: &str) {
        let passed = now.since(&self.start).forward().get();
        let when = format!("{:>5}.{}s  ", passed / 1_000, passed % 1_000 / 100);
        let (before, text) = if let Some(width) = self.width {
            let before = " ".repeat(lane * width);
            let taken = when.len() + before.len() + text.chars().count();
            (before, format!("{text}{}", cut(more, self.room.saturating_sub(taken))))
        } else {
            let name = self.names.get(lane).map_or("", String::as_str);
            (format!("{name}: "), format!("{text}{more}"))
        };
        let paint = self.printer.paint();
        self.printer.live(Clean::from(when) + Clean::from(before) + paint.paint(colour, text));
    }

    /// Says something that is in no lane.
    pub fn say(&self, text: &str) {
        self.printer.live(text);
    }
}

/// How wide a lane is. A line has one lane only, so what happens in it may reach into those behind it; the last one
/// has nobody behind it. None where names would run into each other.
fn width(room: usize, names: &[String]) -> Option<usize> {
    let needed = names.iter().map(|name| name.chars().count() + 2).max()?;
    let behind = room.checked_sub(TIME + LAST)?;
    let width = behind.checked_div(names.len() - 1).unwrap_or(WIDEST).min(WIDEST);
    (width >= needed).then_some(width)
}

/// The beginning of a text, as much as fits.
fn cut(text: &str, room: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= room {
        return line.to_owned();
    }
    let kept: String = line.chars().take(room.saturating_sub(1)).collect();
    if kept.is_empty() { kept } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::{cut, width};

    #[test]
    fn lanes_are_as_wide_as_there_is_room() {
        let names = |count: usize| (1..=count).map(|number| format!("pool-{number}")).collect::<Vec<_>>();
        assert_eq!(width(80, &names(1)), Some(21));
        assert_eq!(width(80, &names(4)), Some(13));
        assert_eq!(width(120, &names(4)), Some(21));
        assert_eq!(width(80, &names(6)), Some(8));
        assert_eq!(width(80, &names(7)), None, "names would run into each other");
        assert_eq!(width(30, &names(2)), None);
        assert_eq!(width(80, &[]), None);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(cut(": the command ended with 3\nand more", 40), ": the command ended with 3");
        assert_eq!(cut(": größer als alles", 9), ": größer…");
        assert_eq!(cut(": x", 1), "");
        assert_eq!(cut(": x", 0), "");
    }
}
