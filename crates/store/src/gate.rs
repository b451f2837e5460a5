//! The way into a medium's section: its guard file, opened when it is first needed and kept open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_sys::{Guard, LockMode, Section, Sys};

use crate::Result;

/// How somebody waits who may not wait for ever.
pub trait Patience: Send + Sync {
    /// Rests a moment, because others are in the section that the guard keeps.
    ///
    /// # Errors
    /// When it is time to give up.
    fn rest(&self, sys: &Sys, guard: &Path) -> holdfast_sys::Result<()>;
}

/// A guard file that may not be there yet.
pub(crate) struct Gate {
    path: PathBuf,
    mode: u32,
    guard: Option<Guard>,
    patience: Option<Arc<dyn Patience>>,
}

impl Gate {
    /// The gate whose guard file is at `path`. Nothing is opened yet.
    pub(crate) const fn new(path: PathBuf, mode: u32) -> Self {
        Self { path, mode, guard: None, patience: None }
    }

    /// The same gate, for whoever may not wait for ever.
    pub(crate) fn patience(self, patience: Option<Arc<dyn Patience>>) -> Self {
        Self { patience, ..self }
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
        match self.patience.clone() {
            None => self.alone_or_note(sys, &mut || {}),
            patience => enter(sys, self.for_writing(sys)?, LockMode::Exclusive, patience.as_deref()),
        }
    }

    /// As [`Gate::alone`], but calls `busy` once if others have to be waited for.
    pub(crate) fn alone_or_note(&mut self, sys: &Sys, busy: &mut dyn FnMut()) -> Result<Section<'_>> {
        Ok(self.for_writing(sys)?.enter_or_note(sys, LockMode::Exclusive, busy)?)
    }

    /// Enters together with others who want nothing to change, making the guard file if it is not there.
    pub(crate) fn together(&mut self, sys: &Sys) -> Result<Section<'_>> {
        let patience = self.patience.clone();
        enter(sys, self.for_writing(sys)?, LockMode::Shared, patience.as_deref())
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
                let _section = enter(sys, guard, LockMode::Shared, self.patience.as_deref())?;
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

fn enter<'a>(
    sys: &Sys,
    guard: &'a mut Guard,
    mode: LockMode,
    patience: Option<&dyn Patience>,
) -> Result<Section<'a>> {
    let Some(patience) = patience else { return Ok(guard.enter(sys, mode)?) };
    let path = guard.path().to_path_buf();
    Ok(guard.enter_with(sys, mode, &mut || patience.rest(sys, &path))?)
}
