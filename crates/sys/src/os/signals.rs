//! Signals to this process, for doors that run a command: kept from ending it from the first moment on, and told
//! one by one, each with whether the terminal sent it.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use holdfast_kernel::Millis;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::{Error, Result};

/// The numbers of signals.
pub mod signal {
    pub use signal_hook::consts::signal::{
        SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    };
}

/// A signal that came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caught {
    /// Its number.
    pub number: i32,
    /// Whether the terminal sent it, and so to every process in its foreground, and not some process to this one.
    pub from_terminal: bool,
}

/// Signals that are listened for. Once this is dropped they do nothing at all, until somebody listens again.
pub struct Signals {
    delivery: SignalDelivery<UnixStream, WithOrigin>,
    end: UnixStream,
}

impl Signals {
    /// Listens from here on.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn listen(numbers: &[i32]) -> Result<Self> {
        let listen = || {
            let (read, write) = UnixStream::pair()?;
            let end = write.try_clone()?;
            Ok(Self {
                delivery: SignalDelivery::with_pipe(read, write, WithOrigin::default(), numbers)?,
                end,
            })
        };
        listen().map_err(failed)
    }

    /// What wakes whoever waits, from another thread.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn waker(&self) -> Result<Waker> {
        self.end.try_clone().map(Waker).map_err(failed)
    }

    /// Waits for a signal, for so long at most, and says which have come, also before. It may be woken for nothing.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub fn wait(&mut self, most: Option<Millis>) -> Result<Vec<Caught>> {
        let most = most.map(|most| Timespec {
            tv_sec: i64::try_from(most.get() / 1_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(most.get() % 1_000 * 1_000_000).unwrap_or(0),
        });
        match poll(&mut [PollFd::new(self.delivery.get_read(), PollFlags::IN)], most.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
        let caught = |origin: signal_hook::low_level::siginfo::Origin| Caught {
            number: origin.signal,
            from_terminal: matches!(origin.cause, Cause::Kernel),
        };
        Ok(self.delivery.pending().map(caught).collect())
    }
}

/// Wakes whoever waits for signals.
pub struct Waker(UnixStream);

impl Waker {
    /// Does so.
    pub fn wake(&self) {
        // A pipe that is full wakes as well.
        let _ = (&self.0).write(&[0]);
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::new("listen for", Path::new("signals"), error)
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::Millis;
    use rustix::process::{Signal, getpid, kill_process};

    use super::{Caught, Signals, signal};

    #[test]
    fn a_signal_that_came_before_is_told_and_one_from_a_process_is_not_the_terminal_s() {
        let mut signals = Signals::listen(&[signal::SIGUSR2]).unwrap();
        kill_process(getpid(), Signal::USR2).unwrap();
        let caught = signals.wait(None).unwrap();
        assert_eq!(caught, [Caught { number: signal::SIGUSR2, from_terminal: false }]);
    }

    #[test]
    fn a_wait_ends_when_its_time_is_over_or_somebody_wakes_it() {
        let mut signals = Signals::listen(&[signal::SIGUSR1]).unwrap();
        assert_eq!(signals.wait(Some(Millis::new(1))).unwrap(), []);
        let waker = signals.waker().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| waker.wake());
            assert_eq!(signals.wait(None).unwrap(), []);
        });
    }
}
