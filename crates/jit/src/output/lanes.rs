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
}

impl Lanes {
    /// Begins a drawing with a heading.
    #[must_use]
    pub fn new(printer: Printer, start: Stamp, names: Vec<String>) -> Self {
        let room = os::columns().unwrap_or(100);
        let is_drawn = io::stdout().is_terminal() && names.len() * WIDTH + 8 <= room;
        let lanes = Self { printer, start, names, is_drawn };
        if is_drawn {
            let names: String = lanes.names.iter().map(|name| format!("{name:<WIDTH$}")).collect();
            let names = lanes.printer.paint().paint(Colour::Bold, names.trim_end());
            lanes.printer.live(Clean::from(format!("{:>7}  ", "")) + names);
        }
        lanes
    }

    /// Draws into the lane with this number; `more` is what is said only where there is room for it.
    pub fn draw(&self, now: &Stamp, lane: usize, colour: Colour, text: &str, more: &str) {
        let passed = now.since(&self.start).forward().get();
        let when = format!("{:>4}.{:02}s ", passed / 1_000, passed % 1_000 / 10);
        let (before, text) = if self.is_drawn {
            (" ".repeat(lane * WIDTH + 1), text.to_owned())
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
