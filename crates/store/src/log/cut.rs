//! Cutting a log: what was written so far becomes an archived segment, and a short one goes on with the
//! leases and the counter carried over. There is no moment without a complete log under its name.

use std::io;
use std::path::PathBuf;

use holdfast_kernel::{Policy, Stamp};

use super::Log;
use super::append::Writer;
use super::index::IndexFile;
use super::segment::Header;
use super::state::State;
use crate::{Error, Result};

/// What cutting a log gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Where the lines until now are.
    pub archived: PathBuf,
    /// The number of the segment that goes on.
    pub segment: u64,
    /// How many leases it carries over.
    pub leases: usize,
}

impl Log {
    /// Cuts the log: everything until now goes to an archived segment, which may be moved away.
    ///
    /// # Errors
    /// When the system fails; the log is then cut or not, and nothing is lost either way.
    pub fn cut(&self, policy: &Policy) -> Result<Cut> {
        self.exclusively(|writer| writer.cut(policy))
    }
}

impl Writer<'_> {
    fn cut(&mut self, policy: &Policy) -> Result<Cut> {
        self.settle()?;
        self.set_torn_tail_aside()?;
        let now = self.log.sys.clock.now()?;
        let cursor = &self.opened()?.cursor;
        let (segment, leases) = (cursor.segment, cursor.table.len());
        let header = Header {
            log: cursor.log,
            segment: segment + 1,
            sequence: cursor.sequence,
            before: cursor.link,
            table: cursor.table.clone(),
        };
        let archived = self.log.paths.beside(&format!(".{segment}"));
        let next = self.write_segment(&header, &now)?;
        if let Err(error) = self.archive_as(&archived) {
            let _ = self.log.sys.files.remove_file(&next);
            return Err(error);
        }
        self.replace_log(&next, policy, &now)?;
        Ok(Cut { archived, segment: segment + 1, leases })
    }

    /// Gives the log its archive name as well. It may have it already from a cut that was interrupted.
    fn archive_as(&mut self, path: &std::path::Path) -> Result<()> {
        let files = &self.log.sys.files;
        match files.link(&self.log.paths.log, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if files.stat(path)?.identity == files.stat(&self.log.paths.log)?.identity {
                    return Ok(());
                }
                Err(Error::damaged(path, "the whole of it", "it is in the way of the segment to be archived"))
            }
            done => Ok(done?),
        }
    }

    /// Puts a complete segment in the place of the log.
    pub(super) fn replace_log(&mut self, next: &std::path::Path, policy: &Policy, now: &Stamp) -> Result<()> {
        // The old log's other name has to be durable before it loses this one: a directory may forget the
        // one and remember the other, and then nothing leads to its records any more.
        self.log.sys.files.sync_dir(self.log.paths.directory())?;
        // Until the directory is durable the old log may come back; whoever opens the new one before its
        // first record makes the directory durable again before anything is acknowledged.
        self.log.sys.files.rename(next, &self.log.paths.log)?;
        self.log.sys.files.sync_dir(self.log.paths.directory())?;
        // What the index says is about the log that was here before, so it is written whatever its size.
        *self.index = IndexFile::default();
        self.state = State::rebuild(&self.log.sys, &self.log.paths, &self.log.settings)?;
        if let Some(state) = &mut self.state {
            state.cursor.doubtful = None;
        }
        self.write_index(policy, 0, now)
    }
}
