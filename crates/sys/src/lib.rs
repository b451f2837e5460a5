//! The operating system as everything above sees it: clocks, files, locks, processes, entropy.
//!
//! Nothing outside this crate touches the real thing. Every trait has two implementations: [`os`], and
//! behind the feature `sim` a twin that loses, reorders, delays and kills whatever a real machine may.
//! Media and doors get a [`Sys`] as a parameter, so every line of them runs on both.
#![warn(missing_docs)]

pub mod clock;
pub mod command;
pub mod entropy;
pub mod files;
pub mod flock;
pub mod os;
pub mod process;
#[cfg(feature = "sim")]
pub mod sim;

mod error;

use std::sync::Arc;

pub use clock::Clock;
pub use entropy::Entropy;
pub use error::{Error, Result};
pub use files::{Files, Folder, Handle, Identity, Kind, LockMode, Open, Stat, Times};
pub use flock::{Guard, Section};
pub use process::{Ancestor, Liveness, Locker, ProcessId, Processes, Watched};

/// One process's view of its machine.
#[derive(Clone)]
pub struct Sys {
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// Its files.
    pub files: Arc<dyn Files>,
    /// Itself and the processes around it.
    pub processes: Arc<dyn Processes>,
    /// Its source of what nobody can guess.
    pub entropy: Arc<dyn Entropy>,
}

impl Sys {
    /// The real machine.
    #[must_use]
    pub fn os() -> Self {
        Self {
            clock: Arc::new(os::OsClock::new()),
            files: Arc::new(os::OsFiles),
            processes: Arc::new(os::OsProcesses),
            entropy: Arc::new(os::OsEntropy),
        }
    }
}
