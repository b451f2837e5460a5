//! What happens, drawn as it happens: a lane for each agent, time goes down.

use holdfast_door::{Clean, Colour};
use holdfast_kernel::Stamp;

use super::{AgentReport, CAST};
use crate::output::Printer;

const WIDTH: usize = 21;

/// The drawing.
pub(super) struct Lanes {
    printer: Printer,
    start: Stamp,
    titles: Vec<(String, String)>,
}

/// What is drawn into a lane.
pub(super) enum Mark<'a> {
    /// What an agent reports.
    Report(&'a AgentReport),
    /// What was done to it.
    Fate(&'a str),
}

impl Lanes {
    pub(super) fn new(printer: Printer, start: Stamp, titles: Vec<(String, String)>) -> Self {
        let lanes = Self { printer, start, titles };
        let names = CAST.map(|name| format!("{name:<WIDTH$}"));
        let names = lanes.printer.paint().paint(Colour::Bold, names.concat().trim_end());
        lanes.printer.live(Clean::from(format!("{:>6}  ", "")) + names);
        lanes
    }

    /// Draws into the lane of the agent with this number.
    pub(super) fn draw(&self, now: &Stamp, agent: usize, mark: &Mark<'_>) {
        let (paint, text) = match mark {
            Mark::Report(report) => self.words(report),
            Mark::Fate(text) => (Colour::Red, (*text).to_owned()),
        };
        let passed = now.since(&self.start).forward().get();
        let lane = " ".repeat(agent * WIDTH);
        let when = format!("{:>3}.{:02}s {lane} ", passed / 1_000, passed % 1_000 / 10);
        self.printer.live(Clean::from(when) + self.printer.paint().paint(paint, text));
    }

    fn words(&self, report: &AgentReport) -> (Colour, String) {
        match report {
            AgentReport::Claimed { issue, fence } => {
                (Colour::Yellow, format!("claims {} (fence {fence})", self.short(issue)))
            }
            AgentReport::Lost { issue, holder } => {
                let holder = holder.strip_prefix("agent:").unwrap_or(holder);
                (Colour::Plain, format!("{} is {holder}'s", self.short(issue)))
            }
            AgentReport::Done { issue } => (Colour::Green, format!("done: {}", self.short(issue))),
            AgentReport::Refused { issue, code } => {
                (Colour::Red, format!("REFUSED {}: {code}", self.short(issue)))
            }
        }
    }

    /// The number that an issue has in the list at the beginning.
    fn short(&self, issue: &str) -> String {
        let place = self.titles.iter().position(|(id, _)| id == issue);
        place.map_or_else(|| issue.to_owned(), |place| format!("#{}", place + 1))
    }
}
