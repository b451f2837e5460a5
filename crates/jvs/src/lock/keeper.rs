//! Keeps a lock alive while something long goes on. It stops at the first failure: a holder whose renewal
//! failed must not write any more, and must not be told otherwise.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Lock;
use super::session::Session;
use crate::error::{Class, Error, Result};

/// A thread that renews a lock.
pub struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Keeper {
    /// Renews the lock of a session every so many milliseconds, and calls `lost` if that fails.
    pub fn start(
        lock: Lock,
        session: Session,
        every_ms: u64,
        lost: impl FnOnce(&Error) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            loop {
                match stopped.recv_timeout(Duration::from_millis(every_ms)) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                match lock.renew(&session) {
                    Ok(_) => {}
                    // Somebody is inside the guard for too long: nothing was changed, and as long as the lease
                    // lasts it can be tried again.
                    Err(error) if error.class() == Class::Busy && lock.check(&session).is_ok() => {}
                    Err(error) => {
                        lost(&error);
                        return Err(error);
                    }
                }
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the renewal failed with, if it did.
    pub fn stop(mut self) -> Result<()> {
        drop(self.stop.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(done)) => done,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}
