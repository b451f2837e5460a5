//! The test command: every step with its name, its time and its result. One failure stops nothing, so that one run
//! tells everything there is to tell.

pub(crate) mod memory;
mod readme;
mod steps;
pub(crate) mod tally;
mod together;
mod transcript;

use std::path::Path;
use std::time::Instant;

use crate::report::{Outcome, Report, Row};
use crate::{child, fuzz, tidy, tools};

/// How much of everything that can go on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Random seeds of the simulator.
    pub(crate) seeds: u32,
    /// Cases of each property; none leaves it to the property.
    pub(crate) cases: Option<u32>,
    /// Seconds of each fuzz target; none where the tests that change the same seeds have to do.
    pub(crate) seconds: Option<u32>,
    /// What tests look for in the environment to do more of what they do.
    pub(crate) widened: &'static [(&'static str, &'static str)],
    /// Races of many tabs for each kind of browser.
    pub(crate) rounds: u32,
}

/// Everything that takes too long for every day: all runs of three at once, and every round of the stress.
const WIDENED: [(&str, &str); 5] = [
    ("HOLDFAST_IC_ROUNDS", "2000"),
    ("HOLDFAST_IC_SCHEDULES", "18446744073709551615"),
    ("HOLDFAST_SEEDS", "20000"),
    ("HOLDFAST_KC_DEATHS", "2000"),
    ("HOLDFAST_KC_TAKEOVERS", "200"),
];

impl Length {
    /// What fits into a quarter of an hour, or a night's worth of it.
    #[must_use]
    pub const fn new(long: bool) -> Self {
        if long {
            Self {
                seeds: 1_000_000,
                cases: Some(20_000),
                seconds: Some(900),
                widened: &WIDENED,
                rounds: 1_000,
            }
        } else {
            Self { seeds: 10_000, cases: None, seconds: None, widened: &[], rounds: 20 }
        }
    }
}

type Step = (&'static str, fn(&Path, Length) -> Outcome);

/// What is shown as it happens, in turn: the checks that fail fastest come first.
const STEPS: [Step; 9] = [
    ("tools", |root, _| tools::check(root)),
    ("format", |root, _| steps::format(root)),
    ("tidy", |root, _| tidy::step(root)),
    ("shell scripts", |root, _| steps::shell_scripts(root)),
    ("lints and links", |root, _| steps::lints(root)),
    ("tests", steps::tests),
    ("simulation", steps::simulation),
    ("commands in the docs", |root, _| readme::run(root, None)),
    ("licences", |root, _| steps::licences(root)),
];

/// What runs beside the lints and the tests, and prints what it has to say when it ends. Browsers wait more than they work:
/// for clocks, for pages that are frozen, for leases that run out. The first three need nothing of what the lints build;
/// whatever asks for a program later waits until cargo has built it.
const BESIDE: [Step; 9] = [
    ("project lock", |root, _| steps::project_lock(root)),
    ("dashboard", |root, _| steps::dashboard(root)),
    ("fuzzing", |root, length| fuzz::step(root, length.seconds)),
    ("project lock in Chromium", steps::project_lock_in_chromium),
    ("project lock in Firefox", steps::project_lock_in_firefox),
    ("project lock in WebKit", steps::project_lock_in_webkit),
    ("project lock with bundlers", steps::project_lock_with_bundlers),
    ("clients of jit mcp", steps::protocol_clients),
    ("dashboard in browsers", |root, _| steps::dashboard_in_browsers(root)),
];

/// Runs the commands of the documentation, or of the pages with this in their path.
#[must_use]
pub fn pages(root: &Path, name: Option<&str>) -> bool {
    let mut report = Report::default();
    let start = Instant::now();
    let outcome = readme::run(root, name);
    report.add(("commands in the docs", start.elapsed(), outcome));
    println!("\n{}\n{}", report.table(start.elapsed()), report.last_line());
    report.is_good()
}

/// Runs everything and says what became of it.
#[must_use]
pub fn run(root: &Path, length: Length) -> bool {
    let start = Instant::now();
    let (first, rest) = STEPS.split_at(1);
    let mut report = Report::default();
    // Everything else needs what this installs.
    first.iter().for_each(|step| report.add(turn(step, root, length)));
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| {
            child::keep_output();
            BESIDE.iter().map(|step| turn(step, root, length)).collect::<Vec<Row>>()
        });
        rest.iter().for_each(|step| report.add(turn(step, root, length)));
        match beside.join() {
            Ok(rows) => rows.into_iter().for_each(|row| report.add(row)),
            Err(_) => report.add(("what runs beside", start.elapsed(), Outcome::one(false, "it panicked"))),
        }
    });
    println!("\n{}\n{}", report.table(start.elapsed()), report.last_line());
    report.is_good()
}

/// Runs one step, with its name above what it prints and its result below.
fn turn((name, step): &Step, root: &Path, length: Length) -> Row {
    let start = Instant::now();
    child::say(&format!("\n=== {name}"));
    let outcome = step(root, length);
    let took = start.elapsed();
    child::say(&format!("=== {name}: {} after {:.1} s", outcome.word(), took.as_secs_f64()));
    child::show_kept();
    (name, took, outcome)
}
