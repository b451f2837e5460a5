//! A world from outside: start processes in it, end it, look at its disk and put things there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::choice::Choices;
use super::config::Config;
use super::disk::View;
use super::epoch::{End, Epoch, Fate, Process};
use super::hash::Mix;
use super::kernel::Kernel;
use super::machine;
use super::observer::Observer;
use super::state::{Proc, State, Status};
use super::strand::Strand;
use super::trace::Line;
use crate::{Error, Result};

/// Machines, a disk, and whatever runs there.
pub struct World {
    kernel: Arc<Kernel>,
}

impl World {
    /// A world with nothing in it but an empty root directory.
    #[must_use]
    pub fn new(config: Config, choices: impl Choices + 'static) -> Self {
        Self { kernel: Arc::new(Kernel::new(State::new(config), Box::new(choices))) }
    }

    /// Runs processes until all are gone or the power is. The same world can then run others: on the same
    /// boot if the power stayed, otherwise after a reboot, on what is left on the disk.
    ///
    /// # Panics
    /// When a process is on a host that there is not, or is to start after one that is not before it; and
    /// with what the choices panicked.
    pub fn run(&mut self, processes: Vec<Process>) -> Epoch {
        let first = self.kernel.lock().state.processes.len();
        let mut strands = Vec::new();
        for (index, process) in processes.into_iter().enumerate() {
            assert!(process.after.is_none_or(|other| other < index), "a process starts after an earlier one");
            strands.push(self.admit(process, first));
        }
        self.start(first);
        while let Some(next) = self.next_of(first, &mut strands) {
            next.go_on();
        }
        strands.into_iter().for_each(Strand::dismiss);
        if let Some(payload) = self.kernel.lock().broken.take() {
            std::panic::resume_unwind(payload);
        }
        self.epoch()
    }

    /// Whoever has been handed the baton.
    fn next_of<'a>(&self, first: usize, strands: &'a mut [Strand]) -> Option<&'a mut Strand> {
        let next = self.kernel.lock().baton.take()?;
        strands.get_mut(next.checked_sub(first)?)
    }

    /// Gives a process a stack, where it waits for the baton.
    fn admit(&self, process: Process, first: usize) -> Strand {
        let mut inner = self.kernel.lock();
        let me = inner.state.processes.len();
        assert!(process.host < inner.state.hosts.len(), "a process runs on a host that there is");
        inner.state.processes.push(Proc {
            name: process.name,
            host: process.host,
            pid: 0,
            start: 0,
            status: process.after.map_or(Status::Ready, |index| Status::After(first + index)),
            fate: None,
            knows: Mix::new(me as u64),
            nonces: 0,
            verb: "",
            path: PathBuf::new(),
            struck: false,
        });
        drop(inner);
        let (kernel, body) = (Arc::clone(&self.kernel), process.body);
        Strand::new(move || {
            let sys = machine::sys(&kernel, me);
            kernel.live(me, move || body(sys));
        })
    }

    fn start(&self, first: usize) {
        let mut inner = self.kernel.lock();
        let state = &mut inner.state;
        state.first = first;
        state.running = first;
        state.end = End::Done;
        // What filled the disk is gone by the time that somebody else comes.
        state.disk.full = 0;
        state.last_call = state.calls.saturating_add(state.config.max_calls);
        let ready: Vec<usize> =
            state.current().filter(|(_, p)| p.status == Status::Ready).map(|(i, _)| i).collect();
        ready.into_iter().for_each(|me| state.begin(me));
        inner.baton = None;
        inner.first();
    }

    fn epoch(&self) -> Epoch {
        let inner = self.kernel.lock();
        let fates = inner.state.current().map(|(_, proc)| proc.fate.clone().unwrap_or(Fate::Cut)).collect();
        Epoch { end: inner.state.end, fates }
    }

    /// The power goes while nothing runs: what was not made durable is kept or lost, then all hosts boot.
    pub fn lose_power(&mut self) {
        self.kernel.lock().lose_power();
    }

    /// An orderly restart of all hosts: nothing is lost.
    pub fn reboot(&mut self) {
        let mut inner = self.kernel.lock();
        inner.state.disk.flush();
        inner.state.reboot();
    }

    /// Lets true time go by.
    pub fn advance(&mut self, ms: u64) {
        self.kernel.lock().state.now_us += ms.saturating_mul(1_000);
    }

    /// A look at the world that also bodies may have.
    #[must_use]
    pub fn observer(&self) -> Observer {
        Observer { kernel: Arc::clone(&self.kernel) }
    }

    /// What happened, if the trace is on.
    #[must_use]
    pub fn trace(&self) -> Vec<Line> {
        self.observer().trace()
    }

    /// A hash of everything that the future depends on.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.kernel.lock().state.fingerprint(None)
    }

    /// Puts a file there, durably, with the directories above it; in the place of a file that is there.
    ///
    /// # Errors
    /// When something else is in the way.
    pub fn write_file(&mut self, path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let path = path.as_ref();
        self.plant(path, |disk, now| disk.plant_file(path, bytes, now))
    }

    /// Puts a directory there, durably, with the directories above it, unless it is there.
    ///
    /// # Errors
    /// When something else is in the way.
    pub fn create_dir_all(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.plant(path, |disk, now| disk.plant_dir(path, now))
    }

    /// Puts a symbolic link there, durably, with the directories above it.
    ///
    /// # Errors
    /// When something is in the way.
    pub fn symlink(&mut self, target: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<()> {
        let (target, path) = (target.as_ref(), path.as_ref());
        self.plant(path, |disk, now| disk.plant_symlink(target, path, now))
    }

    /// Removes a name of a file, durably.
    ///
    /// # Errors
    /// When there is none.
    pub fn remove_file(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.plant(path, |disk, now| disk.uproot(path, now))
    }

    fn plant(
        &self,
        path: &Path,
        act: impl FnOnce(&mut super::disk::Disk, i64) -> rustix::io::Result<()>,
    ) -> Result<()> {
        let mut inner = self.kernel.lock();
        let now_ms = i64::try_from(inner.state.now_us / 1_000).unwrap_or(i64::MAX);
        act(&mut inner.state.disk, now_ms).map_err(|error| Error::new("put", path, error))
    }

    /// What everybody reads in a file; none if there is no such file.
    #[must_use]
    pub fn read_file(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.kernel.lock().state.disk.peek(path.as_ref(), View::Visible)
    }

    /// What would be in a file if the power went and everything were lost that can be.
    #[must_use]
    pub fn durable_file(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.kernel.lock().state.disk.peek(path.as_ref(), View::Durable)
    }

    /// The paths of all files and links that everybody sees, sorted.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.kernel.lock().state.disk.paths()
    }
}
