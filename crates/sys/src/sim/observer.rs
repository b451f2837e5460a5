//! A look at the world from outside of it. Looking is no call: it costs no time and switches nobody, so
//! bodies and checkers use it to write down what truly happened.

use std::sync::Arc;

use holdfast_kernel::Stamp;

use super::kernel::Kernel;
use super::touch::Thing;
use super::trace::Line;

/// Sees the world as it truly is. Clones see the same world.
#[derive(Clone)]
pub struct Observer {
    pub(super) kernel: Arc<Kernel>,
}

impl Observer {
    /// The true time, in microseconds since 1970.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        self.kernel.lock().state.now_us
    }

    /// What the clock of a host shows; none if there is no such host, or it shows no date.
    #[must_use]
    pub fn clock(&self, host: usize) -> Option<Stamp> {
        let inner = self.kernel.lock();
        let (host, now_us) = (inner.state.hosts.get(host)?, inner.state.now_us);
        Stamp::new(host.wall_ms(now_us), host.boot(now_us)).ok()
    }

    /// How many calls there were in this world. It rises with each call, also where the time stands still.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.kernel.lock().state.calls
    }

    /// The name of the process that runs, or that ran last.
    #[must_use]
    pub fn running(&self) -> String {
        let inner = self.kernel.lock();
        inner.state.processes.get(inner.state.running).map(|proc| proc.name.clone()).unwrap_or_default()
    }

    /// A hash of everything that the future depends on.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.kernel.lock().state.fingerprint(None)
    }

    /// Adds something to the [fingerprint](super::Moment::fingerprint): what a checker remembers and the
    /// world does not, such as who was told what, tells states apart that are otherwise the same.
    pub fn note(&self, word: u64) {
        let mut inner = self.kernel.lock();
        inner.state.disk.touched.changed(Thing::notes);
        inner.state.noted.word(word);
    }

    /// Writes a line of its own into the trace; `what` is called only if there is one.
    pub fn remark(&self, what: impl FnOnce() -> String) {
        let mut inner = self.kernel.lock();
        let state = &mut inner.state;
        let name = state.processes.get(state.running).map_or("", |proc| proc.name.as_str());
        state.trace.line(state.now_us - state.began_us, name, what);
    }

    /// What happened up to here, if the trace is on.
    #[must_use]
    pub fn trace(&self) -> Vec<Line> {
        self.kernel.lock().state.trace.lines().to_vec()
    }
}
