//! The simulator at the command line. Every line that it prints names the seed that it is about.

use std::process::ExitCode;
use std::time::Instant;

use holdfast_sim::explore::random::{self, Campaign, Summary};
use holdfast_sim::explore::{exhaustive, sites::Sites, small};
use holdfast_sim::shrink::{Failing, shrink};
use holdfast_sim::subject::Subject;
use holdfast_sim::subjects;
use holdfast_sys::sim::Line;

const USAGE: &str = "usage:
  cargo sim random [--seeds 10000] [--start 0] [--medium all]
  cargo sim replay --seed n [--medium all]
  cargo sim exhaustive [--medium all]
media: all, log, record, directory; reference; broken, or one of the broken protocols by its name";

/// How many runs it may take to make a failing one short.
const SHRINKING: u64 = 15_000;

fn main() -> ExitCode {
    if cfg!(panic = "abort") {
        eprintln!("seed -: killed processes are unwound, so run it as `cargo sim`");
        return ExitCode::from(2);
    }
    match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments.obey(),
        Err(why) => {
            eprintln!("seed -: {why}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

#[derive(Debug)]
enum Verb {
    Random,
    Replay,
    Exhaustive,
}

#[derive(Debug)]
struct Arguments {
    verb: Verb,
    subjects: Vec<Subject>,
    start: u64,
    seeds: u64,
    seed: Option<u64>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let verb = match words.next().as_deref() {
            Some("random") => Verb::Random,
            Some("replay") => Verb::Replay,
            Some("exhaustive") => Verb::Exhaustive,
            other => return Err(format!("{} is nothing that can be done", other.unwrap_or("nothing"))),
        };
        let mut arguments = Self { verb, subjects: subjects::all(), start: 0, seeds: 10_000, seed: None };
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let number = || value.parse().map_err(|_| format!("{flag} needs a number, not {value}"));
            match flag.as_str() {
                "--seeds" => arguments.seeds = number()?,
                "--start" => arguments.start = number()?,
                "--seed" => arguments.seed = Some(number()?),
                "--medium" => arguments.subjects = media(&value)?,
                _ => return Err(format!("there is no {flag}")),
            }
        }
        Ok(arguments)
    }

    fn obey(self) -> ExitCode {
        match self.verb {
            Verb::Random => self.random(),
            Verb::Replay => self.replay(),
            Verb::Exhaustive => self.exhaustive(),
        }
    }

    fn random(self) -> ExitCode {
        let began = Instant::now();
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let (start, seeds) = (self.start, self.seeds);
        let campaign = Campaign { subjects: self.subjects, start, seeds, threads };
        let Summary { runs, calls, broken } = random::campaign(&campaign, &|line| println!("{line}"));
        let took = began.elapsed().as_secs();
        println!(
            "seed {start} to seed {}: {runs} runs, {calls} calls, {} violations, {took} s",
            start.saturating_add(seeds).saturating_sub(1),
            broken.len(),
        );
        let Some((seed, medium, _)) = broken.first() else { return ExitCode::SUCCESS };
        for subject in campaign.subjects.iter().filter(|subject| subject.name() == *medium) {
            explain(subject, *seed);
        }
        ExitCode::FAILURE
    }

    fn replay(self) -> ExitCode {
        let Some(seed) = self.seed else {
            eprintln!("seed -: replay needs --seed\n{USAGE}");
            return ExitCode::from(2);
        };
        let broken = self.subjects.iter().filter(|subject| explain(subject, seed)).count();
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn exhaustive(self) -> ExitCode {
        let mut broken = 0;
        for subject in &self.subjects {
            let mut sites = Sites::default();
            for small in small::all() {
                let report = exhaustive::explore(subject, &small.plan, u64::MAX);
                println!("every run of {}, {}: {report}", subject.name(), small.name);
                sites.add(&report.sites);
                broken += usize::from(report.found.is_some());
                if let Some(failing) = report.found {
                    show(subject, failing, &format!("every run of {}, {}", subject.name(), small.name));
                }
            }
            for line in sites.to_string().lines() {
                println!("every run of {}: {line}", subject.name());
            }
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn media(word: &str) -> Result<Vec<Subject>, String> {
    match word {
        "all" => Ok(subjects::all()),
        "broken" => Ok(subjects::broken()),
        name => match subjects::named(name) {
            Some(subject) => Ok(vec![subject]),
            None => Err(format!("there is no medium {name}")),
        },
    }
}

/// Prints the shortest run that breaks what the seed breaks; says whether there is one.
fn explain(subject: &Subject, seed: u64) -> bool {
    let medium = subject.name();
    let Some(failing) = random::failing(subject, seed) else {
        println!("seed {seed} {medium}: nothing breaks");
        return false;
    };
    show(subject, failing, &format!("seed {seed} {medium}"));
    println!("seed {seed} {medium}: again: cargo sim replay --medium {medium} --seed {seed}");
    true
}

/// Prints a failing run, as short as it can be made; every line begins with `label`.
fn show(subject: &Subject, failing: Failing, label: &str) {
    let failing = shrink(subject, failing, SHRINKING);
    let outcome = failing.traced(subject);
    // What the last look does call by call is of no interest; what it is told is.
    let of_interest = |line: &&Line| line.who != "inspector" || !line.what.contains(" → ");
    for line in outcome.trace.iter().filter(of_interest) {
        println!("{label}: {line}");
    }
    for violation in &outcome.violations {
        println!("{label}: {violation}");
    }
    let wild = failing.answers.iter().filter(|answer| **answer != 0).count();
    println!("{label}: {} steps, {wild} choices that are not calm", failing.plan.len());
}
