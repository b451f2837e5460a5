//! Signals that ask the program to end, for the few commands that wait. They wake whoever waits, so that it
//! can leave nothing behind.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use holdfast_kernel::Millis;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use holdfast_tracker::Waits;
use holdfast_tracker::error::{Error, Result};

/// Signals that ask the program to end.
pub struct Interrupt {
    signals: Receiver<i32>,
}

impl Interrupt {
    /// Listens from here on, instead of ending at once.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn listen() -> Result<Self> {
        let failed = |error| holdfast_sys::Error::new("listen for", Path::new("signals"), error);
        let mut heard = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
        let (sender, signals) = channel();
        std::thread::spawn(move || heard.forever().try_for_each(|signal| sender.send(signal)));
        Ok(Self { signals })
    }
}

impl Waits for Interrupt {
    fn wait(&self, span: Millis) -> Result<()> {
        match self.signals.recv_timeout(Duration::from_millis(span.get())) {
            Ok(signal) => Err(Error::Interrupted(u8::try_from(signal).unwrap_or(u8::MAX))),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }
}
