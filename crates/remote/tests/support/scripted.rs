//! Faults one after the other, and a place with a server and clones of it to have them in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use holdfast_remote::simulated::{Faults, ReadFault, SwapFault};
use holdfast_remote::{Settings, Shared};
use holdfast_store::JournaledMedium;
use holdfast_sys::Sys;

use super::{clone, trusting};

/// Everything that may come of a swap.
pub(crate) const SWAPS: [SwapFault; 6] = [
    SwapFault::None,
    SwapFault::Lost,
    SwapFault::UnknownDone,
    SwapFault::UnknownNot,
    SwapFault::Later,
    SwapFault::Doubled,
];

/// These faults one after the other, then none.
#[derive(Default)]
pub(crate) struct Scripted {
    pub(crate) swaps: Mutex<Vec<SwapFault>>,
    pub(crate) reads: Mutex<Vec<ReadFault>>,
}

impl Scripted {
    pub(crate) fn swaps(faults: &[SwapFault]) -> Arc<Self> {
        let swaps = Mutex::new(faults.iter().rev().copied().collect());
        Arc::new(Self { swaps, ..Self::default() })
    }
}

impl Faults for Scripted {
    fn swap(&self, _: &Sys) -> SwapFault {
        self.swaps.lock().unwrap().pop().unwrap_or(SwapFault::None)
    }

    fn read(&self, _: &Sys) -> ReadFault {
        self.reads.lock().unwrap().pop().unwrap_or(ReadFault::None)
    }
}

/// No swap is ever answered.
pub(crate) struct Silent;

impl Faults for Silent {
    fn swap(&self, _: &Sys) -> SwapFault {
        SwapFault::UnknownNot
    }

    fn read(&self, _: &Sys) -> ReadFault {
        ReadFault::None
    }
}

pub(crate) struct Place {
    scratch: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { scratch: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn server(&self) -> PathBuf {
        self.scratch.path().join("server")
    }

    pub(crate) fn dir(&self, who: &str) -> PathBuf {
        let dir = self.scratch.path().join(who);
        if !dir.exists() {
            #[expect(clippy::disallowed_methods, reason = "a test's own directory")]
            std::fs::create_dir(&dir).unwrap();
        }
        dir
    }

    pub(crate) fn clone(&self, who: &str, faults: Arc<dyn Faults>) -> Shared {
        self.with(who, faults, trusting())
    }

    pub(crate) fn with(&self, who: &str, faults: Arc<dyn Faults>, settings: Settings) -> Shared {
        clone(&Sys::os(), &self.dir(who), &self.server(), faults, settings)
    }
}

pub(crate) fn records(shared: &Shared) -> u64 {
    shared.history(&mut |_| ()).unwrap().records
}
