//! Signs of life while a command runs under a lock: for those who cannot watch its holder, in another pid namespace, and
//! would take the lock over when it is old.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::error::{Error, Result};

/// Does `work`, and calls `beat` every so often meanwhile. What goes wrong is told once; a lock that is lost needs no
/// more signs.
pub(crate) fn while_it_lasts<T>(
    every: Duration,
    beat: impl Fn() -> Result<()> + Send,
    tell: impl Fn(&Error) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut is_told = false;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(every) {
                match beat() {
                    Ok(()) => is_told = false,
                    Err(error) => {
                        if !is_told {
                            tell(&error);
                        }
                        is_told = true;
                        if matches!(error, Error::Refused(_)) {
                            return;
                        }
                    }
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}
