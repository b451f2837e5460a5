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

    /// Enters alone, making the guard file if it is not there.
    pub(crate) fn alone(&mut self, sys: &Sys) -> Result<Section<'_>> {
        let guard = match self.guard.take() {
            Some(guard) if guard.is_for_writing() => guard,
            _ => Guard::open(sys, &self.path, self.mode)?,
        };
        Ok(self.guard.insert(guard).enter(sys, LockMode::Exclusive)?)
    }

    /// Enters together with others who only read. Writes nothing: where there is no guard file, nobody has
    /// written, so there is nobody to keep out.
    pub(crate) fn together(&mut self, sys: &Sys) -> Result<Option<Section<'_>>> {
        if self.guard.is_none() {
            self.guard = Guard::open_existing(sys, &self.path, self.mode)?;
        }
        let guard = self.guard.as_mut();
        Ok(guard.map(|guard| guard.enter(sys, LockMode::Shared)).transpose()?)
    }
}
