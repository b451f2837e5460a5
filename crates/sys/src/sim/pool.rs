//! Threads for simulated processes. Starting a thread costs as much as a hundred calls, so a thread that
//! has finished its process waits for the next one, of whatever world.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;

type Job = Box<dyn FnOnce() + Send>;

static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// A thread that runs one job after the other.
pub(super) struct Worker {
    jobs: Sender<Job>,
    thread: Thread,
}

impl Worker {
    /// An idle thread, or a fresh one.
    pub(super) fn hire() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(Self::spawn)
    }

    fn spawn() -> Self {
        let (jobs, queue) = channel::<Job>();
        let thread = std::thread::spawn(move || queue.iter().for_each(|job| job()));
        Self { jobs, thread: thread.thread().clone() }
    }

    /// A gate that the job on this thread waits at.
    pub(super) fn gate(&self) -> Gate {
        Gate { thread: self.thread.clone(), open: AtomicBool::new(false) }
    }

    /// Hands it a job, which must not panic.
    pub(super) fn start(&self, job: Job) {
        // A thread whose job never panics takes jobs for as long as the sender is there.
        let _ = self.jobs.send(job);
    }

    /// Gives the thread back. Its job may still be about to return; the next one queues behind it.
    pub(super) fn dismiss(self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }
}

/// Where one thread waits until another lets it pass, once.
pub(super) struct Gate {
    thread: Thread,
    open: AtomicBool,
}

impl Gate {
    /// A gate for the thread that calls this.
    pub(super) fn here() -> Self {
        Self { thread: std::thread::current(), open: AtomicBool::new(false) }
    }

    pub(super) fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.thread.unpark();
    }

    pub(super) fn wait(&self) {
        while !self.open.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }
}
