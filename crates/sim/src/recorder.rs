//! Writes the history of a run while it happens. It sees true time and every clock, and what it does is no
//! call: nothing is switched, delayed or failed because somebody writes it down.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_kernel::{Millis, Stamp};
use holdfast_store::View;
use holdfast_sys::sim::Observer;
use holdfast_sys::{Clock, Sys};

use crate::history::{Actor, ActorId, Asked, CallId, History, Replayed, Told};
use crate::mix::Mix;
use crate::words;

/// Writes one history. The lock of the history is never held while the world is asked something.
pub struct Recorder {
    observer: Observer,
    hosts: usize,
    began_us: u64,
    history: Mutex<History>,
}

impl Recorder {
    /// A recorder for the world that `observer` sees.
    #[must_use]
    pub fn new(observer: Observer, hosts: usize) -> Self {
        let began_us = observer.now_us();
        Self { observer, hosts, began_us, history: Mutex::default() }
    }

    /// The history up to here.
    #[must_use]
    pub fn history(&self) -> History {
        self.book().clone()
    }

    fn book(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn true_ms(&self) -> u64 {
        (self.observer.now_us() - self.began_us) / 1_000
    }

    /// Tells states of the world apart that differ only in what the history says.
    fn note(&self, actor: ActorId, what: &str) {
        let mut mix = Mix::new();
        mix.word(actor as u64);
        mix.bytes(what.as_bytes());
        self.observer.note(mix.get());
    }

    pub(crate) fn enter(self: &Arc<Self>, actor: Actor, outlived: bool) -> Presence {
        let id = self.book().enter(actor);
        Presence { recorder: Arc::clone(self), id, call: Arc::default(), outlived }
    }

    pub(crate) fn power_lost(&self) {
        let true_ms = self.true_ms();
        self.book().power_lost(true_ms);
    }

    pub(crate) fn trouble(&self, what: String) {
        self.book().trouble(what);
    }

    pub(crate) fn replayed(&self, shown: View, replayed: View) {
        self.book().replay(Replayed { shown, replayed });
    }
}

/// One actor while it lives. If its holder dies with it, the history says when.
pub(crate) struct Presence {
    recorder: Arc<Recorder>,
    id: ActorId,
    /// The call that it is in.
    call: Arc<Mutex<Option<CallId>>>,
    /// Whether its holder lives on when it ends: somebody for whom a program runs, not the program itself.
    outlived: bool,
}

impl Presence {
    /// The machine of this actor, with a clock whose readings are written down.
    pub(crate) fn noted(&self, sys: &Sys) -> Sys {
        let clock =
            NotedClock { clock: sys.clock.clone(), recorder: self.recorder.clone(), call: self.call.clone() };
        Sys { clock: Arc::new(clock), ..sys.clone() }
    }

    pub(crate) fn begin(&self, asked: Asked) -> CallId {
        let recorder = &self.recorder;
        recorder.note(self.id, "begin");
        recorder.observer.remark(|| words::asked(&asked));
        let true_ms = recorder.true_ms();
        let call = recorder.book().begin(self.id, asked, true_ms);
        *current(&self.call) = Some(call);
        call
    }

    pub(crate) fn end(&self, call: CallId, told: Told) {
        let recorder = &self.recorder;
        recorder.note(self.id, &format!("{told:?}"));
        recorder.observer.remark(|| format!("is told: {}", words::told(&told)));
        let (true_ms, clocks) = (recorder.true_ms(), self.clocks());
        recorder.book().end(call, told, clocks, true_ms);
        *current(&self.call) = None;
    }

    /// Notes that the guarded action begins, or that it is done.
    pub(crate) fn act(&self, call: CallId) {
        self.recorder.note(self.id, "act");
        self.recorder.observer.remark(|| "(the guarded action)".to_owned());
        let true_ms = self.recorder.true_ms();
        self.recorder.book().act(call, true_ms);
    }

    fn clocks(&self) -> Vec<Stamp> {
        (0..self.recorder.hosts).filter_map(|host| self.recorder.observer.clock(host)).collect()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Whoever is killed is unwound.
        if self.outlived && !std::thread::panicking() {
            return;
        }
        let true_ms = self.recorder.true_ms();
        self.recorder.book().leave(self.id, true_ms);
    }
}

fn current(call: &Mutex<Option<CallId>>) -> MutexGuard<'_, Option<CallId>> {
    call.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock whose readings go into the history.
struct NotedClock {
    clock: Arc<dyn Clock>,
    recorder: Arc<Recorder>,
    call: Arc<Mutex<Option<CallId>>>,
}

impl Clock for NotedClock {
    fn now(&self) -> holdfast_sys::Result<Stamp> {
        let stamp = self.clock.now()?;
        let true_ms = self.recorder.true_ms();
        if let Some(call) = *current(&self.call) {
            self.recorder.book().read(call, stamp, true_ms);
        }
        Ok(stamp)
    }

    fn sleep(&self, span: Millis) {
        self.clock.sleep(span);
    }
}
