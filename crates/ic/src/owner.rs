//! Who holds a lock: a name, and the process by whose life the lock is judged. Unless told otherwise that is
//! the calling shell and not this program, so that a second call from the same shell can release.

use holdfast_kernel::{Holder, Name, Tags};
use holdfast_store::liveness;
use holdfast_sys::{ProcessId, Sys};

use crate::error::{Error, Result};

/// Where a holder works. An owner's name alone says whose a lock is, so that another process can release it.
const PLACE: &str = "ic";

/// Who holds a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// What it is called.
    pub name: Name,
    /// The process whose end is the end of the lock, if it can be told.
    pub process: Option<ProcessId>,
    /// Owners of locks around this one: they wait for this one to be done.
    pub within: Vec<String>,
}

/// What was said about the owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said<'a> {
    /// Its name.
    pub name: Option<&'a str>,
    /// The process.
    pub pid: Option<u32>,
    /// Owners of locks around this one.
    pub within: &'a [String],
}

/// The nearest process above this one that does more than start another one.
fn lasting(sys: &Sys) -> Option<ProcessId> {
    let above = sys.processes.ancestors().ok()?;
    above.into_iter().find(|one| !one.is_passing()).map(|one| one.process)
}

impl Owner {
    /// The owner that was said, otherwise the process that started this one, or the one above it if that only starts
    /// others: a lock of `timeout` would end with it, at once.
    ///
    /// # Errors
    /// When there is no such process, or the name cannot be used.
    pub fn calling(sys: &Sys, said: Said<'_>) -> Result<Self> {
        let process = match said.pid {
            Some(pid) => Some(sys.processes.find(pid).map_err(|_| no_process(pid))?),
            // A shell in another pid namespace has no number here, and one that is gone is nobody's.
            None => {
                lasting(sys).or_else(|| sys.processes.parent().and_then(|pid| sys.processes.find(pid)).ok())
            }
        };
        Self::of(process, said)
    }

    /// The owner that was said, otherwise this process itself.
    ///
    /// # Errors
    /// When the system cannot tell, or the name cannot be used.
    pub fn this_process(sys: &Sys, said: Said<'_>) -> Result<Self> {
        Self::of(Some(sys.processes.me()?), said)
    }

    /// This process and all those above it, the nearest first: what each of them is called as an owner. This one counts
    /// because a shell that took a lock becomes this program with `exec`, as bash does with the last command of `bash -c`.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn above(sys: &Sys) -> Result<Vec<Self>> {
        let above = sys.processes.ancestors()?.into_iter().map(|ancestor| ancestor.process);
        let all = std::iter::once(sys.processes.me()?).chain(above);
        all.map(|process| Self::of(Some(process), Said::default())).collect()
    }

    fn of(process: Option<ProcessId>, said: Said<'_>) -> Result<Self> {
        let name = match (said.name, &process) {
            (Some(name), _) => name.to_owned(),
            (None, Some(process)) => format!("{}:{}", process.pid, process.host),
            (None, None) => return Err(Error::NoCaller),
        };
        Ok(Self { name: named(&name)?, process, within: said.within.to_vec() })
    }

    /// The holder that the rules know.
    #[must_use]
    pub fn holder(&self) -> Holder {
        holder(&self.name)
    }

    /// What the lock says about the process.
    #[must_use]
    pub fn tags(&self) -> Tags {
        let described = self.process.as_ref().and_then(|process| liveness::describe(process, Tags::none()));
        // Without room for them only age counts, as for everybody who cannot be watched.
        described.unwrap_or_else(Tags::none)
    }

    /// Everybody who waits while this one waits.
    pub fn parties(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.within.iter().map(String::as_str))
    }
}

/// The holder with this name.
#[must_use]
pub fn holder(name: &Name) -> Holder {
    #[expect(clippy::expect_used, reason = "a constant that is a name")]
    let place = Name::new(PLACE).expect("a name");
    Holder { agent: name.clone(), place }
}

/// A name that was typed after `--owner`.
///
/// # Errors
/// When it cannot be used.
pub fn named(text: &str) -> Result<Name> {
    let why = "an owner is 1 to 512 bytes without control characters";
    Name::new(text).map_err(|_| Error::BadValue { what: "--owner", given: text.to_owned(), why })
}

fn no_process(pid: u32) -> Error {
    Error::BadValue { what: "--pid", given: pid.to_string(), why: "there is no such process" }
}
