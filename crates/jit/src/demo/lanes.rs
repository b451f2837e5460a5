//! What happens, drawn as it happens: a lane for each agent, time goes down.

use holdfast_kernel::{Millis, Stamp};

use super::{CAST, Told};
use crate::output::{Paint, Printer};

const WIDTH: usize = 21;

/// The drawing.
pub(super) struct Lanes {
    printer: Printer,
    start: Stamp,
    titles: Vec<(String, String)>,
}

/// What is drawn into a lane.
pub(super) enum Mark<'a> {
    /// What an agent told.
    Told(&'a Told),
    /// What was done to it.
    Fate(&'a str),
}

impl Lanes {
    pub(super) fn new(printer: Printer, start: Stamp, titles: Vec<(String, String)>) -> Self {
        let lanes = Self { printer, start, titles };
        let names = CAST.map(|name| format!("{name:<WIDTH$}"));
        lanes.printer.live(&format!("{:>6}  {}", "", lanes.printer.paint(Paint::Bold, names.concat().trim_end())));
        lanes
    }

    /// Says something about the whole.
    pub(super) fn say(&self, text: &str) {
        self.printer.live(&format!("\n{:>6}  {}", "", self.printer.paint(Paint::Bold, text)));
    }

    /// Draws into the lane of the agent with this number.
    pub(super) fn draw(&self, now: &Stamp, agent: usize, mark: &Mark<'_>) {
        let (paint, text) = match mark {
            Mark::Told(told) => self.words(told),
            Mark::Fate(text) => (Paint::Red, (*text).to_owned()),
        };
        let passed = now.since(&self.start).unwrap_or(Millis::ZERO).get();
        let lane = " ".repeat(agent * WIDTH);
        let text = self.printer.paint(paint, &text);
        self.printer.live(&format!("{:>3}.{:02}s {lane} {text}", passed / 1_000, passed % 1_000 / 10));
    }

    fn words(&self, told: &Told) -> (Paint, String) {
        match told {
            Told::Claimed { issue, fence } => (Paint::Yellow, format!("claims {} (fence {fence})", self.short(issue))),
            Told::Lost { issue, holder } => {
                let holder = holder.strip_prefix("agent:").unwrap_or(holder);
                (Paint::Plain, format!("{} is {holder}'s", self.short(issue)))
            }
            Told::Done { issue } => (Paint::Green, format!("done: {}", self.short(issue))),
            Told::Refused { issue, code } => (Paint::Red, format!("REFUSED {}: {code}", self.short(issue))),
        }
    }

    /// The number that an issue has in the list at the beginning.
    fn short(&self, issue: &str) -> String {
        let place = self.titles.iter().position(|(id, _)| id == issue);
        place.map_or_else(|| issue.to_owned(), |place| format!("#{}", place + 1))
    }
}
