//! The small files that the door keeps beside the locks: who holds what in which order, and who waits. They
//! are derived and never decide who has a lock; whoever deletes them loses only warnings.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use holdfast_store::{Patience, directory};
use holdfast_sys::{Guard, Kind, LockMode, Open, Section, Sys};
use serde::Serialize;

use crate::error::Result;
use crate::patience::Limit;

const MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;
/// More than any of these files can have.
const LONGEST: usize = 4 << 20;

/// The files, and the guard that whoever changes them takes.
pub(crate) struct SideFiles {
    sys: Sys,
    dir: PathBuf,
    limit: Limit,
}

impl SideFiles {
    pub(crate) fn new(sys: &Sys, root: &Path, limit: &Limit) -> Self {
        Self { sys: sys.clone(), dir: root.join(directory::BESIDE), limit: limit.clone() }
    }

    /// Runs `act` while nobody else changes these files.
    pub(crate) fn alone<T>(&self, act: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.dir.join("guard");
        let mut guard = match Guard::open(&self.sys, &path, MODE) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_folder("")?;
                Guard::open(&self.sys, &path, MODE)?
            }
            guard => guard?,
        };
        let mut rest = || self.limit.rest(&self.sys, &path);
        let _section: Section<'_> = guard.enter_with(&self.sys, LockMode::Exclusive, &mut rest)?;
        act()
    }

    /// What a file holds; nothing if there is none, or something that is no file of ours.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.dir.join(name);
        match self.sys.files.stat(&path) {
            Ok(stat) if stat.kind == Kind::File => {}
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => return Ok(None),
        }
        match self.sys.files.open(&path, Open::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            file => Ok(Some(file?.read_from(0, LONGEST)?)),
        }
    }

    /// Puts a file with these bytes in the place of another, under the guard. Readers see either. Unlike
    /// [`holdfast_store::whole`] this flushes nothing: whoever loses these files loses only warnings.
    pub(crate) fn write(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let folder_path = self.dir.join(folder);
        let fresh = folder_path.join(".fresh");
        let file = match self.sys.files.open(&fresh, Open::Create { mode: MODE }) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.make_folder(folder)?;
                self.sys.files.open(&fresh, Open::Create { mode: MODE })?
            }
            file => file?,
        };
        file.truncate(0)?;
        file.write_all_at(bytes, 0)?;
        Ok(self.sys.files.rename(&fresh, &folder_path.join(name))?)
    }

    pub(crate) fn remove(&self, folder: &str, name: &str) -> Result<()> {
        match self.sys.files.remove_file(&self.dir.join(folder).join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The names of the files in a folder.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<String>> {
        match self.sys.files.list(&self.dir.join(folder)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            names => {
                let names = names?.into_iter().filter_map(|name| name.into_string().ok());
                Ok(names.filter(|name| !name.starts_with('.')).collect())
            }
        }
    }

    /// Makes a folder and the one above it.
    fn make_folder(&self, folder: &str) -> Result<()> {
        for path in [self.dir.clone(), self.dir.join(folder)] {
            match self.sys.files.create_dir(&path, DIRECTORY_MODE) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The bytes of a value of ours.
pub(crate) fn written(value: &impl Serialize) -> Vec<u8> {
    #[expect(
        clippy::expect_used,
        reason = "types of ours, whose keys are text: they always have a JSON form"
    )]
    serde_json::to_vec(value).expect("a JSON form")
}
