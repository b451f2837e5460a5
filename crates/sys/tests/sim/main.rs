//! The simulated machine itself: what may happen to a process happens sooner or later, and what may not
//! never does. A simulator that is too kind finds nothing; one that is too harsh finds what is not there.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use holdfast_sys::sim::{
    Choice, Choices, Config, End, Epoch, Fate, Fault, Faults, Moment, Odds, Process, Random, World,
};
use holdfast_sys::{Handle, Open, Sys};

mod clocks;
mod exclusion;
mod faults;
mod kill;
mod names;
mod power;
mod processes;
mod schedule;

/// Always.
pub(crate) const ALWAYS: u32 = 1_000_000;

/// Answers by a function.
pub(crate) struct By<F>(pub(crate) F);

impl<F: FnMut(Choice, usize, &Moment<'_>) -> usize + Send> Choices for By<F> {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        (self.0)(what, options, at)
    }
}

/// Answers that a test changes as it goes: the answer is 1 for whatever is switched on, otherwise 0.
#[derive(Clone, Default)]
pub(crate) struct Switches(Arc<Mutex<Vec<Choice>>>);

impl Switches {
    pub(crate) fn set(&self, on: &[Choice]) {
        *self.0.lock().unwrap() = on.to_vec();
    }
}

impl Choices for Switches {
    fn choose(&mut self, what: Choice, _: usize, _: &Moment<'_>) -> usize {
        usize::from(self.0.lock().unwrap().contains(&what))
    }
}

pub(crate) const EIO: Choice = Choice::Fault(Fault::Eio);

/// A calm world whose power losses are decided by a seed.
pub(crate) fn calm(seed: u64) -> World {
    World::new(Config::default(), Random::new(seed))
}

/// Runs one process to its end.
pub(crate) fn run(world: &mut World, body: impl FnOnce(Sys) + Send + 'static) {
    let epoch = world.run(vec![Process::new("only", 0, body)]);
    assert_eq!(epoch, Epoch { end: End::Done, fates: vec![Fate::Returned] });
}

pub(crate) fn create(sys: &Sys, path: &str) -> Box<dyn Handle> {
    sys.files.open(Path::new(path), Open::Create { mode: 0o600 }).unwrap()
}

/// Writes a file and makes content and name durable.
pub(crate) fn save(sys: &Sys, path: &str, content: &[u8]) {
    let handle = create(sys, path);
    handle.write_all_at(content, 0).unwrap();
    handle.sync().unwrap();
    sys.files.sync_dir(Path::new(path).parent().unwrap()).unwrap();
}

/// Everything may go wrong, more often than by default.
pub(crate) fn rough() -> Faults {
    let often = Odds::new(30_000, 6);
    Faults {
        kill: Odds::new(10_000, 1),
        pause: often,
        delay: often,
        power_loss: Odds::new(5_000, 1),
        eio: often,
        enospc: often,
        eintr: often,
        short_io: often,
        wall_jump: often,
    }
}
