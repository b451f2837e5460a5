//! Who is running, told apart from whoever gets the same number later.

use holdfast_kernel::BootId;

use crate::{Identity, Result};

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

/// The number of the process that started all the others and takes in those whose parents have ended.
pub const FIRST: u32 = 1;

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

/// A process above another one: the one that started it, the one that started that, and so on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ancestor {
    /// Which process.
    pub process: ProcessId,
    /// The name of its program, as the system shows it; empty if it does not.
    pub name: String,
    /// Whether it is known to be a copy of the process above it that has started no program of its own, as a
    /// subshell is.
    pub is_copy: bool,
}

/// Programs that start another one, wait for it and end with it.
const PASSING: [&str; 9] =
    ["timeout", "time", "strace", "ltrace", "sudo", "doas", "setsid", "script", "unbuffer"];

impl Ancestor {
    /// Whether its program only starts another one and ends with it: what belonged to it would be gone at once.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        PASSING.contains(&self.name.as_str())
    }
}

/// A process that has a lock on a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locker {
    /// Its number.
    pub pid: u32,
    /// What it runs; empty if the system does not tell.
    pub command: String,
    /// For how long it has been running.
    pub running_ms: Option<u64>,
    /// Whether somebody has stopped it.
    pub is_stopped: bool,
}

/// A process that is watched. Whoever gets its number later is not taken for it.
pub trait Watched: Send + Sync {
    /// Whether it has ended.
    fn is_gone(&self) -> bool;
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

    /// Whether the process that started this one has ended already, so that another one has taken its place, as far
    /// as that can be told. The first process of a machine starts nothing by itself that anybody works for.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn is_orphan(&self) -> Result<bool> {
        Ok(self.parent()? <= FIRST)
    }

    /// Watches the process with this number from now on.
    ///
    /// # Errors
    /// When the system cannot tell, `NotFound` if there is none.
    fn watch(&self, pid: u32) -> Result<Box<dyn Watched + '_>>;

    /// The processes above this one, the one that started it first. A machine that knows no better names that
    /// one alone.
    ///
    /// # Errors
    /// When the system cannot tell.
    fn ancestors(&self) -> Result<Vec<Ancestor>> {
        let process = self.find(self.parent()?)?;
        Ok(vec![Ancestor { process, name: String::new(), is_copy: false }])
    }

    /// Who has a lock on a file, as far as that can be told: for messages only.
    fn lockers(&self, file: Identity) -> Vec<Locker> {
        let _ = file;
        Vec::new()
    }

    /// Whether that process is still there.
    fn liveness(&self, process: &ProcessId) -> Liveness;

    /// How many threads of this process can run at once. A process that knows no better has one.
    fn threads(&self) -> usize {
        1
    }

    /// Tells apart who takes turns on one thread, as simulated processes do. A real process has its threads to itself.
    fn strand(&self) -> usize {
        0
    }
}
