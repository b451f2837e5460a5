//! What a step of a process reads and changes, so that an explorer can tell which steps feel each other. It must
//! never leave out anything that another process could notice: a step that looks private and is not would hide
//! runs. What is named here has the same name in every run of the same plan.

use std::cell::RefCell;
use std::ffi::OsStr;

use super::hash::Mix;
use crate::LockMode;

/// Something that processes share. Things that were made under the same path count as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Thing(u128);

/// That a step read or changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The thing that was touched.
    pub thing: Thing,
    /// Whether it may have changed it.
    pub changed: bool,
}

/// What a process did between two questions who goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it read and changed.
    pub touched: Vec<Touch>,
    /// The locks that it had when the step began.
    pub held: Vec<(Thing, LockMode)>,
}

/// Where something was made: what it is known by in all runs.
pub(super) type Birth = u64;

impl Thing {
    /// What a name in a directory leads to.
    pub(super) fn name(dir: Birth, name: &OsStr) -> Self {
        let mut mix = Mix::new(11);
        mix.word(dir);
        mix.bytes(name.as_encoded_bytes());
        Self(mix.finish())
    }

    /// The content of a file, the names in a directory, and what `stat` tells of either.
    pub(super) fn inside(node: Birth) -> Self {
        Self::of(12, node)
    }

    /// The locks on a file.
    pub(super) fn lock(node: Birth) -> Self {
        Self::of(13, node)
    }

    /// Whether the last name or the last handle of a file is gone.
    pub(super) fn existence(node: Birth) -> Self {
        Self::of(14, node)
    }

    /// Which inode numbers are free.
    pub(super) fn numbers() -> Self {
        Self::of(15, 0)
    }

    /// Which processes are alive.
    pub(super) fn lives() -> Self {
        Self::of(16, 0)
    }

    /// What a checker notes down.
    pub(super) fn notes() -> Self {
        Self::of(17, 0)
    }

    fn of(kind: u64, word: u64) -> Self {
        let mut mix = Mix::new(kind);
        mix.word(word);
        Self(mix.finish())
    }
}

/// The birth of what is made under a name.
pub(super) fn born(dir: Birth, name: &OsStr) -> Birth {
    let mut mix = Mix::new(18);
    mix.word(dir);
    mix.bytes(name.as_encoded_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let half = mix.finish() as u64;
    half
}

/// What was touched since somebody last asked; nothing is kept while it is switched off.
pub(super) struct Touched {
    on: bool,
    log: RefCell<Vec<Touch>>,
}

impl Touched {
    pub(super) const fn new(on: bool) -> Self {
        Self { on, log: RefCell::new(Vec::new()) }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.on
    }

    pub(super) fn read(&self, thing: impl FnOnce() -> Thing) {
        self.push(thing, false);
    }

    pub(super) fn changed(&self, thing: impl FnOnce() -> Thing) {
        self.push(thing, true);
    }

    fn push(&self, thing: impl FnOnce() -> Thing, changed: bool) {
        if self.on {
            self.log.borrow_mut().push(Touch { thing: thing(), changed });
        }
    }

    pub(super) fn take(&self) -> Vec<Touch> {
        self.log.take()
    }
}
