//! Calling a wait off: a token for whoever uses the library, set by signals in the program. It must never end
//! the process by itself, because whoever waits has to leave nothing behind.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::{Error, Result};

const CALLED_OFF: usize = usize::MAX;

/// A token that ends a wait. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicUsize>);

impl Cancel {
    /// A token that nobody has used yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that SIGINT, SIGTERM and SIGHUP use from here on, instead of ending the process.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn on_signals() -> Result<Self> {
        let token = Self::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or(CALLED_OFF);
            signal_hook::flag::register_usize(signal, Arc::clone(&token.0), number)
                .map_err(|error| holdfast_sys::Error::new("listen for", Path::new("signals"), error))?;
        }
        Ok(token)
    }

    /// Ends the wait.
    pub fn cancel(&self) {
        self.0.store(CALLED_OFF, Ordering::SeqCst);
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// When a signal came, or somebody called it off.
    pub fn check(&self) -> Result<()> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            CALLED_OFF => Err(Error::CalledOff),
            signal => Err(Error::Interrupted(u8::try_from(signal).unwrap_or(u8::MAX))),
        }
    }
}
