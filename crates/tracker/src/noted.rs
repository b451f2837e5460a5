//! A process as notes name it that others read: whoever finds one can tell whether it is still there.

use holdfast_kernel::BootId;
use holdfast_sys::{Liveness, ProcessId, Sys};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// A process that somebody wrote down.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Noted {
    host: String,
    boot: Option<String>,
    namespace: u64,
    pid: u32,
    start: u64,
}

impl Noted {
    /// This process.
    ///
    /// # Errors
    /// When this machine cannot tell processes apart.
    pub(crate) fn me(sys: &Sys) -> Result<Self> {
        let ProcessId { host, boot, namespace, pid, start } = sys.processes.me()?;
        Ok(Self { host, boot: boot.map(|boot| boot.to_string()), namespace, pid, start })
    }

    /// Whether it is known to be gone. One that cannot be judged from here is not.
    pub(crate) fn is_dead(&self, sys: &Sys) -> bool {
        let boot = self.boot.as_ref().map(|boot| u128::from_str_radix(boot, 16).map(BootId::new));
        let Ok(boot) = boot.transpose() else { return false };
        let Self { host, namespace, pid, start, .. } = self.clone();
        sys.processes.liveness(&ProcessId { host, boot, namespace, pid, start }) == Liveness::Dead
    }
}
