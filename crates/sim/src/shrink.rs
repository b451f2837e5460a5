//! Makes a failing run short: fewer processes, fewer steps, fewer faults, fewer choices other than the calm
//! one, as long as the same property still breaks. What is left is what somebody has to read.

use holdfast_sys::sim::{Odds, Random, Recording, Replay};

use crate::check::{Property, Violation};
use crate::plan::{Plan, Script, Step};
use crate::run::{Outcome, run};
use crate::subject::Subject;

/// A run that breaks something.
#[derive(Clone, Debug)]
pub struct Failing {
    /// What the processes set out to do.
    pub plan: Plan,
    /// What decided everything else.
    pub answers: Vec<usize>,
    /// What it breaks.
    pub violation: Violation,
}

impl Failing {
    /// Runs it once more and writes everything down.
    #[must_use]
    pub fn traced(&self, subject: &Subject) -> Outcome {
        let mut plan = self.plan.clone();
        plan.config.trace = true;
        run(subject, &plan, Replay::new(self.answers.clone()))
    }
}

/// How many runs a smaller plan gets to fail in.
const TRIES: u64 = 60;

/// The shortest failing run that was found in at most `runs` runs.
#[must_use]
pub fn shrink(subject: &Subject, failing: Failing, runs: u64) -> Failing {
    let mut shrinker = Shrinker { subject, property: failing.violation.property, best: failing, left: runs };
    while shrinker.left > 0 && (shrinker.smaller_plan() || shrinker.fewer_choices()) {}
    shrinker.best
}

struct Shrinker<'a> {
    subject: &'a Subject,
    property: Property,
    best: Failing,
    left: u64,
}

impl Shrinker<'_> {
    /// Runs a plan with the answers of a list; keeps it if it breaks the same property.
    fn attempt(&mut self, plan: &Plan, answers: &[usize]) -> bool {
        self.left = self.left.saturating_sub(1);
        let recording = Recording::new(Replay::new(answers.to_vec()));
        self.keep(plan, recording.clone(), run(self.subject, plan, recording).violations)
    }

    /// Runs a plan with fresh answers.
    fn search(&mut self, plan: &Plan) -> bool {
        (0..TRIES.min(self.left)).any(|seed| {
            self.left = self.left.saturating_sub(1);
            let recording = Recording::new(Random::new(seed));
            let violations = run(self.subject, plan, recording.clone()).violations;
            self.keep(plan, recording, violations)
        })
    }

    fn keep<C>(&mut self, plan: &Plan, recording: Recording<C>, violations: Vec<Violation>) -> bool {
        let same = violations.into_iter().find(|violation| violation.property == self.property);
        let Some(violation) = same else { return false };
        let mut answers = recording.answers();
        let calm = answers.iter().rev().take_while(|answer| **answer == 0).count();
        answers.truncate(answers.len() - calm);
        self.best = Failing { plan: plan.clone(), answers, violation };
        true
    }

    /// Takes something out of the plan; says whether that went well.
    fn smaller_plan(&mut self) -> bool {
        let answers = self.best.answers.clone();
        let smaller = smaller(&self.best.plan);
        smaller.iter().any(|plan| self.left > 0 && (self.attempt(plan, &answers) || self.search(plan)))
    }

    /// Makes choices calm, many at once before few; says whether that went well.
    fn fewer_choices(&mut self) -> bool {
        let mut shorter = false;
        let mut size = self.best.answers.len();
        while size > 0 && self.left > 0 {
            let mut from = 0;
            while from < self.best.answers.len() && self.left > 0 {
                shorter |= self.calm(from, size);
                from += size;
            }
            size /= 2;
        }
        shorter
    }

    fn calm(&mut self, from: usize, size: usize) -> bool {
        let mut answers = self.best.answers.clone();
        answers.iter_mut().skip(from).take(size).for_each(|answer| *answer = 0);
        if answers == self.best.answers {
            return false;
        }
        let plan = self.best.plan.clone();
        let before = weight(&self.best.answers);
        let best = self.best.clone();
        if self.attempt(&plan, &answers) && weight(&self.best.answers) < before {
            return true;
        }
        self.best = best;
        false
    }
}

/// How far from calm a list of answers is.
fn weight(answers: &[usize]) -> (usize, usize) {
    (answers.iter().filter(|answer| **answer != 0).count(), answers.len())
}

/// Every plan that is one thing smaller, the smallest first.
fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    for epoch in 0..plan.epochs.len() {
        plans.extend(changed(plan, |plan| drop(plan.epochs.remove(epoch))));
    }
    for (epoch, script, steps) in scripts(plan) {
        plans.extend(changed(plan, |plan| remove_script(plan, epoch, script)));
        plans.extend(changed(plan, |plan| {
            if let Some(steps_left) = steps_of(plan, epoch, script) {
                steps_left.truncate(steps / 2);
            }
        }));
    }
    plans.extend(fewer_faults(plan));
    for (epoch, script, steps) in scripts(plan) {
        for step in 0..steps {
            plans.extend(changed(plan, |plan| {
                if let Some(steps) = steps_of(plan, epoch, script) {
                    steps.remove(step);
                }
            }));
        }
    }
    plans
}

/// Every script: its epoch, its place there, and how many steps it has.
fn scripts(plan: &Plan) -> impl Iterator<Item = (usize, usize, usize)> {
    let of_epoch = |(epoch, scripts): (usize, &Vec<Script>)| {
        let all = scripts.iter().enumerate().map(|(index, script)| (epoch, index, script.steps.len()));
        all.collect::<Vec<_>>()
    };
    plan.epochs.iter().enumerate().flat_map(of_epoch)
}

fn steps_of(plan: &mut Plan, epoch: usize, script: usize) -> Option<&mut Vec<Step>> {
    let script = plan.epochs.get_mut(epoch)?.get_mut(script)?;
    Some(&mut script.steps)
}

fn changed(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Option<Plan> {
    let mut smaller = plan.clone();
    change(&mut smaller);
    (smaller != *plan).then_some(smaller)
}

fn fewer_faults(plan: &Plan) -> Vec<Plan> {
    let mut plans = Vec::new();
    plans.extend(changed(plan, |plan| plan.lose_power = false));
    plans.extend(changed(plan, |plan| plan.config.faults.eio = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.enospc = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.eintr = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.short_io = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.wall_jump = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.pause = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.delay = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.kill = Odds::NEVER));
    plans.extend(changed(plan, |plan| plan.config.faults.power_loss = Odds::NEVER));
    plans.extend(changed(plan, one_host));
    plans
}

fn one_host(plan: &mut Plan) {
    plan.config.hosts.truncate(1);
    plan.epochs.iter_mut().flatten().for_each(|script| script.host = 0);
}

/// Takes a script out; whoever was to come after it comes at once.
fn remove_script(plan: &mut Plan, epoch: usize, index: usize) {
    let Some(scripts) = plan.epochs.get_mut(epoch) else { return };
    scripts.remove(index);
    for script in scripts {
        script.after = match script.after {
            Some(before) if before == index => None,
            Some(before) if before > index => Some(before - 1),
            before => before,
        };
    }
}
