//! Who is running, told apart from whoever gets the same number later.

use holdfast_kernel::BootId;

use crate::Result;

/// One process, for good: a number alone is given out again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProcessId {
    /// The name of its machine.
    pub host: String,
    /// The boot it belongs to.
    pub boot: Option<BootId>,
    /// The namespace that its number and its start time belong to.
    pub namespace: u64,
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start: u64,
}

/// Whether a process is still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Liveness {
    /// It is.
    Alive,
    /// It is not, and never will be again.
    Dead,
    /// It cannot be told from here: another machine, or another pid namespace.
    Unknown,
}

/// The processes of a machine.
pub trait Processes: Send + Sync {
    /// This process.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn me(&self) -> Result<ProcessId>;

    /// The process with this number on this machine, as long as there is one.
    ///
    /// # Errors
    /// When the system cannot tell, `NotFound` if there is none.
    fn find(&self, pid: u32) -> Result<ProcessId>;

    /// The number of the process that started this one.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn parent(&self) -> Result<u32>;

    /// Whether that process is still there.
    fn liveness(&self, process: &ProcessId) -> Liveness;

    /// How many threads of this process can run at once. A process that knows no better has one.
    fn threads(&self) -> usize {
        1
    }
}
