//! One run: a plan, a subject and the choices that decide everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_sys::sim::{Choice, Choices, End, Epoch, Fate, Line, Moment, Process, World};

use crate::actor::{PROTECTED, Stage};
use crate::check::{Property, Violation, check};
use crate::history::History;
use crate::inspect;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::scaffold::ROOT;
use crate::subject::Subject;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What everybody was told.
    pub history: History,
    /// What does not hold of it. Nothing is checked of a run that was stopped.
    pub violations: Vec<Violation>,
    /// What happened, if that was asked for.
    pub trace: Vec<Line>,
    /// How many calls there were.
    pub calls: u64,
    /// Whether whoever made the choices had seen enough.
    pub stopped: bool,
}

/// Runs a plan.
pub fn run(subject: &Subject, plan: &Plan, choices: impl Choices + 'static) -> Outcome {
    let calm = Arc::new(AtomicBool::new(false));
    let choices = Calmed { choices, calm: Arc::clone(&calm) };
    let mut world = World::new(plan.config.clone(), choices);
    for directory in [ROOT, PROTECTED] {
        if let Err(error) = world.create_dir_all(directory) {
            return Outcome::impossible(&error.to_string());
        }
    }
    let recorder = Arc::new(Recorder::new(world.observer(), plan.config.hosts.len()));
    let stage = Stage { subject: subject.clone(), plan: plan.clone(), recorder };
    let mut course = Course { world, stage: Arc::new(stage), calm, processes: 0 };
    let stopped = course.run_all();
    course.outcome(stopped)
}

/// A run on its way.
struct Course {
    world: World,
    stage: Arc<Stage>,
    calm: Arc<AtomicBool>,
    /// How many processes there were.
    processes: usize,
}

impl Course {
    /// Runs everything; says whether it was stopped.
    fn run_all(&mut self) -> bool {
        let stage = Arc::clone(&self.stage);
        for (number, scripts) in stage.plan.epochs.iter().enumerate() {
            if number > 0 {
                self.inspect(inspect::look);
            }
            let processes = scripts.iter().enumerate().map(|(index, script)| {
                let process = self.process(number, index);
                match script.after {
                    Some(before) => process.after(before),
                    None => process,
                }
            });
            let processes = processes.collect();
            self.processes += scripts.len();
            if self.epoch(processes) == End::Stopped {
                return true;
            }
        }
        if stage.plan.lose_power {
            self.world.lose_power();
            stage.recorder.power_lost();
        }
        self.inspect(inspect::take_everything);
        false
    }

    fn process(&self, epoch: usize, index: usize) -> Process {
        let (stage, unique) = (Arc::clone(&self.stage), self.processes + index);
        let name = format!("p{epoch}.{index}");
        let script = stage.plan.epochs.get(epoch).and_then(|scripts| scripts.get(index)).cloned();
        let host = script.as_ref().map_or(0, |script| script.host);
        Process::new(name.clone(), host, move |sys| {
            if let Some(script) = script {
                stage.play(&sys, &script, name, unique);
            }
        })
    }

    /// Has somebody look who is alone, in a world where nothing fails.
    fn inspect(&mut self, look: fn(&Stage, &holdfast_sys::Sys, usize)) {
        let (stage, number) = (Arc::clone(&self.stage), self.processes);
        self.processes += 1;
        self.calm.store(true, Ordering::Relaxed);
        self.epoch(vec![Process::new("inspector", 0, move |sys| look(&stage, &sys, number))]);
        self.calm.store(false, Ordering::Relaxed);
    }

    fn epoch(&mut self, processes: Vec<Process>) -> End {
        let Epoch { end, fates } = self.world.run(processes);
        let recorder = &self.stage.recorder;
        match end {
            End::PowerLoss => recorder.power_lost(),
            End::Deadlock | End::TooManyCalls => recorder.trouble(format!("{end:?}")),
            End::Done | End::Stopped => {}
        }
        for fate in fates {
            if let Fate::Panicked(said) = fate {
                recorder.trouble(format!("a process panicked: {said}"));
            }
        }
        end
    }

    fn outcome(self, stopped: bool) -> Outcome {
        let mut history = self.stage.recorder.history();
        let far_away = self.stage.subject.is_far_away();
        if far_away {
            history.is_of_something_far_away();
        }
        let mut violations = if stopped { Vec::new() } else { check(&history, &self.stage.plan.policy) };
        // From afar nobody is kept out while a guarded write is made; what it publishes is checked again.
        violations.retain(|violation| !far_away || violation.property != Property::Writes);
        if self.stage.subject.has_wrong_clocks() {
            // What the kernel alone would answer rests on clocks that are right.
            violations.retain(|violation| violation.property != Property::Linearizable);
        }
        let observer = self.world.observer();
        Outcome { history, violations, trace: self.world.trace(), calls: observer.calls(), stopped }
    }
}

impl Outcome {
    fn impossible(why: &str) -> Self {
        let mut history = History::default();
        history.trouble(why.to_owned());
        let violations = check(&history, &crate::plan::policy());
        Self { history, violations, trace: Vec::new(), calls: 0, stopped: false }
    }
}

/// Answers 0 to everything while an inspector is at work, without using up any choice.
struct Calmed<C> {
    choices: C,
    calm: Arc<AtomicBool>,
}

impl<C: Choices> Choices for Calmed<C> {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        if self.calm.load(Ordering::Relaxed) { 0 } else { self.choices.choose(what, options, at) }
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        self.calm.load(Ordering::Relaxed) || self.choices.go_on(at)
    }
}
