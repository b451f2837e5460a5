//! Runs of large plans at random, one for every seed. A seed is all that is needed to have the same run
//! again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use holdfast_sys::sim::{Random, Recording};

use crate::check::Violation;
use crate::plan::generate::plan;
use crate::run::{Outcome, run};
use crate::shrink::Failing;
use crate::subject::Subject;

/// Which seeds are tried on what.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// What is tried; every seed on each of them.
    pub subjects: Vec<Subject>,
    /// The first seed.
    pub start: u64,
    /// How many seeds.
    pub seeds: u64,
    /// How many threads.
    pub threads: usize,
}

/// What came of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many runs there were.
    pub runs: u64,
    /// How many calls there were in all of them.
    pub calls: u64,
    /// The seeds that broke something, on what, and what they broke.
    pub broken: Vec<(u64, &'static str, Violation)>,
}

/// Runs the plan of a seed.
#[must_use]
pub fn run_seed(subject: &Subject, seed: u64) -> Outcome {
    run(subject, &plan(subject, seed), Random::new(seed))
}

/// Runs a campaign; `tell` hears how it goes, a line at a time.
pub fn campaign(campaign: &Campaign, tell: &(dyn Fn(&str) + Sync)) -> Summary {
    let next = AtomicU64::new(campaign.start);
    let summary = Mutex::new(Summary::default());
    std::thread::scope(|scope| {
        for _ in 0..campaign.threads {
            scope.spawn(|| work(campaign, &next, &summary, tell));
        }
    });
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.broken.sort_by_key(|(seed, subject, _)| (*seed, *subject));
    summary
}

fn work(campaign: &Campaign, next: &AtomicU64, summary: &Mutex<Summary>, tell: &(dyn Fn(&str) + Sync)) {
    let end = campaign.start.saturating_add(campaign.seeds);
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return;
        }
        for subject in &campaign.subjects {
            let outcome = run_seed(subject, seed);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.runs += 1;
            summary.calls += outcome.calls;
            for violation in outcome.violations {
                tell(&format!("seed {seed} {}: {violation}", subject.name()));
                summary.broken.push((seed, subject.name(), violation));
            }
        }
        if (seed + 1).is_multiple_of(1_000) {
            let Summary { runs, calls, broken } = &*summary.lock().unwrap_or_else(PoisonError::into_inner);
            tell(&format!("seed {seed} reached: {runs} runs, {calls} calls, {} violations", broken.len()));
        }
    }
}

/// The run of this seed, if it breaks something.
#[must_use]
pub fn failing(subject: &Subject, seed: u64) -> Option<Failing> {
    let plan = plan(subject, seed);
    let recording = Recording::new(Random::new(seed));
    let outcome = run(subject, &plan, recording.clone());
    let violation = outcome.violations.into_iter().next()?;
    Some(Failing { plan, answers: recording.answers(), violation })
}
