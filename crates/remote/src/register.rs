//! The contract of a register: a value that all machines read, and that is replaced only if it is still the one that
//! was seen. It knows bytes, never leases.

use std::fmt;
use std::path::PathBuf;

use holdfast_kernel::Millis;

/// Which value of a register: the token of a swap and nothing else. A value that was replaced never comes back under
/// the same version.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version(pub String);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Which one.
    pub version: Version,
    /// Its bytes.
    pub value: Vec<u8>,
}

/// What a swap puts in the place of a value, and what it adds to the history.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// How many steps there were before, this one not counted.
    pub height: u64,
    /// The hash over the whole history with this step.
    pub chain: &'a str,
    /// The value.
    pub head: &'a [u8],
    /// What happened.
    pub step: &'a [u8],
    /// What happened, for people who look with other tools.
    pub title: &'a str,
}

/// A ref of the same server that a step moves with it, or not at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Along {
    /// The ref.
    pub name: String,
    /// The commit that it is on; none if it is not there.
    pub expected: Option<String>,
    /// The commit that it moves to.
    pub to: String,
}

/// What came of a swap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Swap {
    /// It is done, as far as the register says.
    Swapped(Version),
    /// It is not done, as far as the register says, with its own words if it has any.
    Lost(Option<String>),
    /// Nobody said: it may be done, may never be, may be done later.
    Unknown(String),
}

/// Where a machine has got to in the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The value that it saw last.
    pub version: Version,
    /// How many steps led there.
    pub height: u64,
    /// The hash over them.
    pub chain: String,
}

/// The history that a register still has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Past {
    /// The value that it begins with.
    pub first: Vec<u8>,
    /// What happened after that, in order.
    pub steps: Vec<Vec<u8>>,
}

/// The register could not be asked. Nothing was changed by asking.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);

/// A place that all machines reach.
pub trait Register: Send + Sync {
    /// What people call it. It carries no credentials.
    fn name(&self) -> String;

    /// Where somebody would look for its value.
    fn place(&self) -> PathBuf;

    /// The value; none if nobody made one. Linearizable: whatever a swap was answered for before this began is in it.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn read(&self) -> Result<Option<Found>, Unreachable>;

    /// Whether the way that swaps take shows this version too (none: no value), so that it is no stale copy.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn confirms(&self, version: Option<&Version>) -> Result<bool, Unreachable>;

    /// Whether the history of `now` goes through `seen`, which has fewer steps.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn descends(&self, now: &Found, seen: &Mark) -> Result<bool, Unreachable>;

    /// Whether a value that was found comes from where another one was seen. A server in the place of another one may
    /// have the same value, and both may go on from there.
    fn is_same_place(&self, seen: &Version, found: &Version) -> bool {
        let _ = (seen, found);
        true
    }

    /// Replaces the value if it is still `expected` (none: there is no value), with all of `next` or nothing.
    fn swap(&self, expected: Option<&Version>, next: &Next<'_>) -> Swap;

    /// As [`Register::swap`], and moves these refs of the same server in the same step: all of it or nothing, as far as
    /// the server keeps that.
    fn swap_along(&self, expected: Option<&Version>, next: &Next<'_>, along: &[Along]) -> Swap {
        match along {
            [] => self.swap(expected, next),
            _ => Swap::Lost(Some("this register is not where branches are".into())),
        }
    }

    /// Hands over what a step is going to move refs to, so that the step itself is small. A failure is no matter: then
    /// the step has to carry it.
    fn stage(&self, along: &[Along]) {
        let _ = along;
    }

    /// Where refs of the same server are, in that order; none for one that is not there.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn refs(&self, names: &[&str]) -> Result<Vec<Option<String>>, Unreachable> {
        let _ = names;
        Err(Unreachable("this register is not where branches are".into()))
    }

    /// Whether the value is still this one, without fetching it.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn is_at(&self, version: &Version) -> Result<bool, Unreachable> {
        Ok(self.read()?.is_some_and(|found| found.version == *version))
    }

    /// The history that led to `now`.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn past(&self, now: &Found) -> Result<Past, Unreachable>;

    /// What the register says of itself that whoever keeps it should look at; none if it says nothing.
    fn health(&self) -> Option<String> {
        None
    }

    /// Whether an answered swap has to be looked at once more: servers are known that answer and forget.
    fn must_be_checked(&self) -> bool;

    /// Whether the history of so many steps, of which so many were cut off, is to be cut again, so that nobody has to fetch
    /// all of it.
    fn wants_cut(&self, height: u64, cut: u64) -> bool {
        let _ = (height, cut);
        false
    }

    /// Waits until the value is another than `version`, at most that long; says whether it is.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn wait(&self, version: &Version, most: Millis) -> Result<bool, Unreachable>;
}
