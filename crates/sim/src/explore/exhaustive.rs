//! Every run of a small plan: whoever can go on does, whoever can die does, whatever can be lost is, at every
//! call. A run is a list of answers; each state that was not seen before is left once by every answer that
//! there is. What survives a power loss is bounded: nothing lost, or everything between two points.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_sys::sim::{Choice, Choices, Moment, Remnant, Step};

use super::cover::Cover;
use super::sites::{Sites, site};
use crate::check::Property;
use crate::plan::Plan;
use crate::run::run;
use crate::shrink::Failing;
use crate::subject::Subject;

/// What an exploration went through.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many runs there were.
    pub schedules: u64,
    /// How many of them came to a state that had been seen.
    pub recognised: u64,
    /// How many different states were left in every possible way.
    pub states: usize,
    /// How many different moments somebody was killed at.
    pub kills: u64,
    /// How many different moments the power went at.
    pub power_losses: u64,
    /// How many different ways a disk came out of a power loss or a failed sync.
    pub remnants: u64,
    /// The counts of all sites.
    pub sites: Sites,
    /// The run that broke what was looked for.
    pub found: Option<Failing>,
    /// Whether there was nothing left to try.
    pub complete: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedules, states, kills, power_losses, remnants, .. } = self;
        write!(f, "{schedules} schedules, {states} states, {kills} kills, {power_losses} power losses, ")?;
        write!(f, "{remnants} remnants, ")?;
        match &self.found {
            Some(failing) => write!(f, "BROKEN {}", failing.violation),
            None if self.complete => f.write_str("nothing breaks"),
            None => f.write_str("nothing broke before it was cut off"),
        }
    }
}

/// Tries every run of a plan, at most `most` of them, until one breaks something.
#[must_use]
pub fn explore(subject: &Subject, plan: &Plan, most: u64) -> Report {
    explore_until(subject, plan, most, |_| true)
}

/// Tries every run of a plan, at most `most` of them, until one breaks what is looked for.
#[must_use]
pub fn explore_until(subject: &Subject, plan: &Plan, most: u64, wanted: impl Fn(Property) -> bool) -> Report {
    let (mut report, found) = every_run(most, |walker| {
        let outcome = run(subject, plan, walker);
        let broken = outcome.violations.into_iter().find(|violation| wanted(violation.property));
        Once { stopped: outcome.stopped, broken }
    });
    report.found = found.map(|(answers, violation)| Failing { plan: plan.clone(), answers, violation });
    report
}

/// What came of one run.
#[derive(Clone, Debug)]
pub struct Once<B> {
    /// Whether it came to a state that had been seen.
    pub stopped: bool,
    /// What broke.
    pub broken: Option<B>,
}

/// Tries every run that there is, at most `most` of them, until one breaks: `once` runs the same thing again
/// and again, each time with the choices that it is given. Says also which answers broke it.
pub fn every_run<B>(most: u64, once: impl FnMut(Walker) -> Once<B>) -> (Report, Option<(Vec<usize>, B)>) {
    search(most, None, once)
}

/// As [`every_run`], but others are not tried between steps that they can neither feel nor disturb: of the runs
/// that differ only there one is tried. `once` must have [`Config::steps`](holdfast_sys::sim::Config::steps) on.
pub fn every_order<B>(most: u64, once: impl FnMut(Walker) -> Once<B>) -> (Report, Option<(Vec<usize>, B)>) {
    search(most, Some(Cover::default()), once)
}

fn search<B>(
    most: u64,
    cover: Option<Cover>,
    mut once: impl FnMut(Walker) -> Once<B>,
) -> (Report, Option<(Vec<usize>, B)>) {
    let map = Arc::new(Mutex::new(Map { cover, ..Map::default() }));
    let mut report = Report::default();
    let mut todo: Vec<Vec<u16>> = vec![Vec::new()];
    while let Some(prefix) = todo.pop() {
        if report.schedules == most {
            return (finish(report, &map), None);
        }
        let from = prefix.len();
        let Once { stopped, broken } = once(Walker { prefix, asked: 0, open: None, map: Arc::clone(&map) });
        report.schedules += 1;
        report.recognised += u64::from(stopped);
        let points = std::mem::take(&mut locked(&map).points);
        if let Some(broken) = broken {
            let answers = points.iter().map(|point| usize::from(point.answer)).collect();
            return (finish(report, &map), Some((answers, broken)));
        }
        let mut map = locked(&map);
        if std::mem::take(&mut map.mistaken) {
            // What was skipped so far was skipped for a reason that does not hold.
            map.seen.clear();
            todo = vec![Vec::new()];
            continue;
        }
        branch(&points, from, map.cover.as_ref(), &mut todo);
    }
    report.complete = true;
    (finish(report, &map), None)
}

fn finish(mut report: Report, map: &Mutex<Map>) -> Report {
    let map = locked(map);
    report.states = map.seen.len();
    report.sites = map.sites.clone();
    (report.kills, report.power_losses, report.remnants) = (map.kills, map.power_losses, map.remnants);
    report
}

/// Adds every way to leave the states that this run was the first in.
fn branch(points: &[Point], from: usize, cover: Option<&Cover>, todo: &mut Vec<Vec<u16>>) {
    let is_hidden = |point: &Point| cover.zip(point.step.as_ref()).is_some_and(|(c, step)| c.hides(step));
    for (index, point) in points.iter().enumerate().skip(from).filter(|(_, point)| !is_hidden(point)) {
        for answer in alternatives(points, index, point) {
            let mut prefix: Vec<u16> = points.iter().take(index).map(|point| point.answer).collect();
            prefix.push(answer);
            todo.push(prefix);
        }
    }
}

fn alternatives(points: &[Point], index: usize, point: &Point) -> Vec<u16> {
    let all = 1..point.options;
    match point.what {
        Choice::Survive(_) if !may_lose(points, index) => Vec::new(),
        // The shortest and the longest of what may be left are where bugs are.
        Choice::Survive(Remnant::Length) => {
            let mut ends = vec![1, point.options - 1];
            ends.dedup();
            ends
        }
        _ => all.collect(),
    }
}

/// Whether the losses of the same power loss are still in one piece if this is lost as well.
fn may_lose(points: &[Point], index: usize) -> bool {
    let before = points.iter().take(index).rev().take_while(|point| matches!(point.what, Choice::Survive(_)));
    let losses: Vec<bool> = before.map(|point| point.answer != 0).collect();
    losses.first().copied().unwrap_or(true) || !losses.contains(&true)
}

/// What is known of all runs so far, and the points of the current one.
#[derive(Default)]
struct Map {
    seen: BTreeSet<u128>,
    sites: Sites,
    kills: u64,
    power_losses: u64,
    remnants: u64,
    points: Vec<Point>,
    cover: Option<Cover>,
    /// Whether something was taken for covered that is not.
    mistaken: bool,
}

/// A question and its answer, and what the process did that goes on.
struct Point {
    what: Choice,
    options: u16,
    answer: u16,
    step: Option<Step>,
}

/// Answers as the prefix says, then calmly, and stops at a state that was seen before.
pub struct Walker {
    prefix: Vec<u16>,
    asked: usize,
    /// The question whose answer is being carried out. Before the first one there is only one process.
    open: Option<Open>,
    map: Arc<Mutex<Map>>,
}

/// A step that goes on.
#[derive(Clone, Copy)]
enum Open {
    /// The one that a question was asked about.
    Asked(usize),
    /// One that nobody was asked about, because only one could go on.
    Unasked,
}

fn locked(map: &Mutex<Map>) -> MutexGuard<'_, Map> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Walker {
    fn is_recognised(&self) -> bool {
        self.asked == usize::MAX
    }
}

impl Choices for Walker {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        if self.is_recognised() {
            return 0;
        }
        let mut map = locked(&self.map);
        let answer = self.prefix.get(self.asked).copied();
        if answer.is_none() && !map.seen.insert(at.fingerprint()) {
            self.asked = usize::MAX;
            return 0;
        }
        self.asked += 1;
        let options = u16::try_from(options).unwrap_or(u16::MAX);
        let answer = answer.unwrap_or(0).min(options.saturating_sub(1));
        // The last answer of a prefix is the one that no run gave at this place before.
        if self.asked == self.prefix.len() {
            map.count(what, answer, at);
        }
        map.ask(what);
        self.open = Some(Open::Asked(map.points.len()));
        map.points.push(Point { what, options, answer, step: None });
        usize::from(answer)
    }

    fn stepped(&mut self, step: &Step) {
        let Some(open) = self.open.filter(|_| !self.is_recognised()) else { return };
        self.open = Some(Open::Unasked);
        let mut map = locked(&self.map);
        let Some(cover) = &mut map.cover else { return };
        let kept = cover.learn(step);
        map.mistaken |= !kept;
        if let Open::Asked(index) = open
            && let Some(point) = map.points.get_mut(index)
        {
            point.step = Some(step.clone());
        }
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        if let Some(site) = site(at) {
            locked(&self.map).sites.at(site).calls += 1;
        }
        !self.is_recognised()
    }
}

impl Map {
    /// Dying and failing are steps that no process takes by itself, and others do feel them.
    fn ask(&mut self, what: Choice) {
        if what != Choice::Schedule && self.cover.take().is_some() {
            self.mistaken = true;
        }
    }

    fn count(&mut self, what: Choice, answer: u16, at: &Moment<'_>) {
        match what {
            _ if answer == 0 => return,
            Choice::Kill => self.kills += 1,
            Choice::PowerLoss => self.power_losses += 1,
            Choice::Survive(_) => self.remnants += 1,
            _ => {}
        }
        if let Some(site) = site(at) {
            self.sites.at(site).count(what, usize::from(answer));
        }
    }
}

#[cfg(test)]
mod tests {
    use holdfast_sys::sim::{Choice, Remnant};

    use super::{Point, may_lose};

    fn losses(answers: &[u16]) -> Vec<Point> {
        let point = |answer: &u16| Point {
            what: Choice::Survive(Remnant::Sector),
            options: 2,
            answer: *answer,
            step: None,
        };
        answers.iter().map(point).collect()
    }

    #[test]
    fn losses_stay_in_one_piece() {
        for (before, may) in [(&[][..], true), (&[0, 0], true), (&[0, 1], true), (&[1, 0], false)] {
            assert_eq!(may_lose(&losses(before), before.len()), may, "{before:?}");
        }
    }
}
