//! Whatever could go two ways is asked here, and nowhere else. Answer 0 is always the calm one: the same
//! process goes on, nothing fails, nothing is lost. So a run is a list of numbers, and replacing numbers by
//! 0 or cutting the list makes it simpler.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::hash::splitmix;
use super::state::State;
use super::touch::Step;

/// What a fault does to a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// The disk fails; where there are more than two options, some of them after a part was done.
    Eio,
    /// The disk is full, at once or after a part was written.
    Enospc,
    /// A signal came.
    Eintr,
    /// A part is read or written.
    Short,
}

/// What a power loss or a failed sync may leave or take.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Remnant {
    /// One operation on names.
    Name,
    /// The length of a file: the last one, or one of those before it.
    Length,
    /// One sector of a file.
    Sector,
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// Which process goes on; 0 is the one that runs, if it can.
    Schedule,
    /// Whether a process dies: 1 is the one that runs, the others are waiting.
    Kill,
    /// Whether the process stands still, and how long.
    Pause,
    /// Whether everything stands still, and how long.
    Delay,
    /// Whether the wall clock of this host jumps or stops.
    WallJump,
    /// Whether the power goes.
    PowerLoss,
    /// Whether the call fails.
    Fault(Fault),
    /// What survives: 0 is all of it.
    Survive(Remnant),
}

/// The world at the moment of a choice.
pub struct Moment<'a> {
    pub(super) state: &'a State,
    pub(super) what: Choice,
    pub(super) options: usize,
    pub(super) ppm: u32,
}

impl Moment<'_> {
    /// How likely an answer other than 0 is meant to be, in millionths.
    #[must_use]
    pub const fn ppm(&self) -> u32 {
        self.ppm
    }

    /// A hash of everything that the future depends on, this question included. Two moments with the same
    /// one have the same futures, as long as processes depend on nothing but what calls told them.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.state.fingerprint(Some((self.what, self.options)))
    }

    /// How many calls there were before.
    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.state.calls
    }

    /// The true time, in microseconds since 1970.
    #[must_use]
    pub const fn now_us(&self) -> u64 {
        self.state.now_us
    }

    /// The call that the process is about to make or in the middle of: its verb and its path.
    #[must_use]
    pub fn call(&self) -> (&'static str, &Path) {
        match self.state.processes.get(self.state.running) {
            Some(proc) => (proc.verb, &proc.path),
            None => ("", Path::new("")),
        }
    }

    /// The process that the choice is about, counted over all epochs.
    #[must_use]
    pub const fn process(&self) -> usize {
        self.state.running
    }
}

/// Who answers.
pub trait Choices: Send {
    /// Picks one of `options` (two or more); an answer beyond counts as the last one. The world is locked
    /// meanwhile: ask `at`, never an [`Observer`](super::Observer).
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize;

    /// Asked once before every call that others can see: whether anybody still wants to know how this run
    /// goes on. If not, everybody in it is cut off. An explorer says so when it recognises a state.
    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        let _ = at;
        true
    }

    /// Told after every step what it touched, if [`Config::steps`](super::Config::steps) says so. A step goes
    /// from one question who goes on to the next one; the question is not asked where only one can.
    fn stepped(&mut self, step: &Step) {
        let _ = step;
    }
}

impl Choices for Box<dyn Choices> {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        self.as_mut().choose(what, options, at)
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        (**self).go_on(at)
    }

    fn stepped(&mut self, step: &Step) {
        (**self).stepped(step);
    }
}

/// Answers at random, with the likelihoods of the [`Config`](super::Config).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The answers that belong to a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(splitmix(&mut self.0)) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }
}

impl Choices for Random {
    fn choose(&mut self, _: Choice, options: usize, at: &Moment<'_>) -> usize {
        if self.below(1_000_000) >= u64::from(at.ppm()) {
            return 0;
        }
        1 + usize::try_from(self.below(options.saturating_sub(1) as u64)).unwrap_or(0)
    }
}

/// Gives the answers of a list, then 0 for ever.
#[derive(Clone, Debug)]
pub struct Replay(std::vec::IntoIter<usize>);

impl Replay {
    /// These answers.
    #[must_use]
    pub fn new(answers: Vec<usize>) -> Self {
        Self(answers.into_iter())
    }
}

impl Choices for Replay {
    fn choose(&mut self, _: Choice, _: usize, _: &Moment<'_>) -> usize {
        self.0.next().unwrap_or(0)
    }
}

/// A question and its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// What was asked.
    pub what: Choice,
    /// How many answers there were.
    pub options: usize,
    /// The answer.
    pub answer: usize,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}/{}", self.what, self.answer, self.options)
    }
}

/// Writes down what another one answers. A clone shares the list.
#[derive(Clone)]
pub struct Recording<C> {
    inner: C,
    made: Arc<Mutex<Vec<Made>>>,
}

impl<C> Recording<C> {
    /// Writes down what `inner` answers.
    pub fn new(inner: C) -> Self {
        Self { inner, made: Arc::default() }
    }

    /// What was asked and answered up to here.
    #[must_use]
    pub fn made(&self) -> Vec<Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The answers up to here, for a [`Replay`].
    #[must_use]
    pub fn answers(&self) -> Vec<usize> {
        self.made().iter().map(|made| made.answer).collect()
    }
}

impl<C: Choices> Choices for Recording<C> {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        let answer = self.inner.choose(what, options, at).min(options.saturating_sub(1));
        let made = Made { what, options, answer };
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(made);
        answer
    }

    fn go_on(&mut self, at: &Moment<'_>) -> bool {
        self.inner.go_on(at)
    }

    fn stepped(&mut self, step: &Step) {
        self.inner.stepped(step);
    }
}
