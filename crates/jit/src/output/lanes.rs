//! What happens to several who work at once, drawn as it happens: a lane for each, time goes down. Where the lanes do
//! not fit, or nobody looks on, each line says whose it is.

use std::io::{self, IsTerminal as _};

use holdfast_door::{Clean, Colour};
use holdfast_kernel::Stamp;
use holdfast_sys::os;

use super::Printer;

const WIDTH: usize = 21;

/// The drawing.
pub struct Lanes {
    printer: Printer,
    start: Stamp,
    names: Vec<String>,
    is_drawn: bool,
    room: usize,
}

impl Lanes {
    /// Begins a drawing with a heading.
    #[must_use]
    pub fn new(printer: Printer, start: Stamp, names: Vec<String>) -> Self {
        let room = os::columns().unwrap_or(100);
        let is_drawn = io::stdout().is_terminal() && names.len() * WIDTH + 8 <= room;
        let lanes = Self { printer, start, names, is_drawn, room };
        if is_drawn {
            let names: String = lanes.names.iter().map(|name| format!("{name:<WIDTH$}")).collect();
            let names = lanes.printer.paint().paint(Colour::Bold, names.trim_end());
            lanes.printer.live(Clean::from(format!("{:>7}  ", "")) + names);
        }
        lanes
    }

    /// Draws into the lane with this number; of `more` is said what there is room for.
    pub fn draw(&self, now: &Stamp, lane: usize, colour: Colour, text: &str, more: &str) {
        let passed = now.since(&self.start).forward().get();
        let when = format!("{:>4}.{:02}s ", passed / 1_000, passed % 1_000 / 10);
        let (before, text) = if self.is_drawn {
            let before = " ".repeat(lane * WIDTH + 1);
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
    use super::cut;

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(cut(": the command ended with 3\nand more", 40), ": the command ended with 3");
        assert_eq!(cut(": größer als alles", 9), ": größer…");
        assert_eq!(cut(": x", 1), "");
        assert_eq!(cut(": x", 0), "");
    }
}
