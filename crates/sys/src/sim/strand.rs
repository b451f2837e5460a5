//! Stacks of their own for simulated processes, all on the thread that runs the world: going from one to the other is a
//! few instructions, where threads would have to wake each other at every call. A stack whose process is over is kept
//! for the next one, of whatever world.

use std::sync::{Mutex, PoisonError};

use generator::{Generator, Gn};

/// Bytes of a stack, as many as a thread has; memory is taken as they are used.
const STACK: usize = 2 << 20;

static IDLE: Mutex<Vec<Strand>> = Mutex::new(Vec::new());

/// A stack, and the process that runs on it.
pub(super) struct Strand(Generator<'static, (), ()>);

impl Strand {
    /// Has a process wait on an idle stack, or on a fresh one, for the first time that it goes on. It must not panic.
    pub(super) fn new(process: impl FnOnce() + Send + 'static) -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(Self(mut strand)) => {
                strand.init_code(process);
                Self(strand)
            }
            None => Self(Gn::new_opt(STACK / size_of::<usize>(), process)),
        }
    }

    /// Lets the process go on until it stops or is over.
    pub(super) fn go_on(&mut self) {
        self.0.resume();
    }

    /// Gives the stack back. One whose process is not over is of no use to anybody, and stays as it is: what is on it may
    /// still be pointed at.
    pub(super) fn dismiss(self) {
        if self.0.is_done() {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
        } else {
            std::mem::forget(self.0);
        }
    }
}

/// Stops the process that runs, until it is let go on.
#[expect(
    deprecated,
    reason = "what takes its place has to be handed down to wherever a process makes a call"
)]
pub(super) fn stop() {
    generator::yield_with(());
}
