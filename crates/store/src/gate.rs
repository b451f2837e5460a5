//! The way into a medium's section: its guard file, opened when it is first needed and kept open.

use std::path::PathBuf;

use holdfast_sys::{Guard, LockMode, Section, Sys};

use crate::Result;

/// A guard file that may not be there yet.
pub(crate) struct Gate {
    path: PathBuf,
    mode: u32,
    guard: Option<Guard>,
}

impl Gate {
    /// The gate whose guard file is at `path`. Nothing is opened yet.
    pub(crate) const fn new(path: PathBuf, mode: u32) -> Self {
        Self { path, mode, guard: None }
    }

    /// Whether somebody has made the guard file.
    pub(crate) fn is_made(&mut self, sys: &Sys) -> Result<bool> {
        if !self.guard.as_ref().is_some_and(Guard::is_for_writing) {
            self.guard = Guard::open_made(sys, &self.path, self.mode)?;
        }
        Ok(self.guard.is_some())
    }

    /// Enters alone, making the guard file if it is not there.
    pub(crate) fn alone(&mut self, sys: &Sys) -> Result<Section<'_>> {
        self.alone_or_note(sys, &mut || {})
    }

    /// As [`Gate::alone`], but calls `busy` once if others have to be waited for.
    pub(crate) fn alone_or_note(&mut self, sys: &Sys, busy: &mut dyn FnMut()) -> Result<Section<'_>> {
        Ok(self.for_writing(sys)?.enter_or_note(sys, LockMode::Exclusive, busy)?)
    }

    /// Enters together with others who want nothing to change, making the guard file if it is not there.
    pub(crate) fn together(&mut self, sys: &Sys) -> Result<Section<'_>> {
        Ok(self.for_writing(sys)?.enter(sys, LockMode::Shared)?)
    }

    fn for_writing(&mut self, sys: &Sys) -> Result<&mut Guard> {
        let guard = match self.guard.take() {
            Some(guard) if guard.is_for_writing() => guard,
            _ => Guard::open(sys, &self.path, self.mode)?,
        };
        Ok(self.guard.insert(guard))
    }

    /// Runs `look`, which only reads, while nothing changes. Writes nothing, not even the guard file: where
    /// there is none, nobody has written, because every writer makes it first. So if there is still none
    /// afterwards, nobody came in between; and if there is one by then, `look` runs again.
    pub(crate) fn looking<T>(&mut self, sys: &Sys, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            if let Some(guard) = &mut self.guard {
                let _section = guard.enter(sys, LockMode::Shared)?;
                return look();
            }
            self.guard = Guard::open_existing(sys, &self.path, self.mode)?;
            if self.guard.is_none() {
                let seen = look();
                self.guard = Guard::open_existing(sys, &self.path, self.mode)?;
                if self.guard.is_none() {
                    return seen;
                }
            }
        }
    }
}
