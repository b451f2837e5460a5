//! What a handle knows of its log, and how it finds out. Everything here runs inside a section of the
//! guard; nothing here writes.

use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{Handle, Identity, Kind, Open, Stat, Sys};

use super::Settings;
use super::chain::{self, ENDING};
use super::index::{self, IndexFile};
use super::scan::{Cursor, Source, Tail};
use crate::json::Words;
use crate::whole::called;
use crate::{Error, Result};

/// Fewer bytes of the log than this are read in less time than any index: it has a few lines.
const FAR: u64 = 2_048;

/// Where the files of a log are.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The log itself.
    pub log: PathBuf,
    /// Its index.
    pub index: PathBuf,
    /// The guard file.
    pub guard: PathBuf,
}

impl Paths {
    /// The directory of the log.
    pub(super) fn directory(&self) -> &Path {
        self.log.parent().unwrap_or(Path::new("."))
    }

    /// A file beside the log whose name begins with the log's.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.log.clone().into_os_string();
        name.push(ending);
        name.into()
    }
}

/// A log that is open and read to its end.
pub(super) struct State {
    pub(super) handle: Box<dyn Handle>,
    identity: Identity,
    pub(super) cursor: Cursor,
    /// The length of the file where it goes on behind the last good line.
    pub(super) torn: Option<u64>,
    /// Why it can only be read, if it cannot be written.
    pub(super) unwritable: Option<holdfast_sys::Error>,
    /// What was known before it was taken from the index: in a crowd some hundred pieces of memory, which nobody has to wait for.
    before: Option<Cursor>,
}

impl State {
    /// Opens the log and reads it; none if there never was one.
    pub(super) fn load(sys: &Sys, paths: &Paths, settings: &Settings) -> Result<Option<Self>> {
        let claimed = index::read(sys, &paths.index, &settings.words);
        if claimed.is_none()
            && let Some(error) = not_a_file(sys, &paths.index)?
        {
            // Nobody could keep it, and every operation would read the whole log.
            return Err(error);
        }
        Self::read(sys, paths, settings, claimed)
    }

    /// As [`State::load`], where the index speaks of a log that is not there any more.
    pub(super) fn rebuild(sys: &Sys, paths: &Paths, settings: &Settings) -> Result<Option<Self>> {
        Self::read(sys, paths, settings, None)
    }

    fn read(sys: &Sys, paths: &Paths, settings: &Settings, claimed: Option<Cursor>) -> Result<Option<Self>> {
        let Some(Opened { handle, unwritable }) = open(sys, paths, settings.witness)? else {
            return Ok(None);
        };
        let words = &settings.words;
        let stat = handle.stat()?;
        let source = Source { path: &paths.log, handle: &*handle, words };
        let (cursor, tail) = match &claimed {
            Some(claimed) if is_true_of(claimed, &*handle, &stat)? => {
                let mut cursor = claimed.clone();
                let tail = cursor.run(&source, &mut |_, _| {})?;
                (cursor, tail)
            }
            _ => {
                let (mut cursor, _) = Cursor::at_start(&source)?;
                let tail = cursor.rebuild(&source)?;
                (cursor, tail)
            }
        };
        if let Some(claimed) = claimed {
            never_less(&paths.log, &claimed, &cursor)?;
        }
        let torn = length(&tail);
        Ok(Some(Self { identity: stat.identity, torn, cursor, handle, unwritable, before: None }))
    }

    /// Reads what others have added since; false if the log is another file by now, or if nothing of what
    /// is known holds any more.
    pub(super) fn catch_up(
        &mut self,
        sys: &Sys,
        paths: &Paths,
        words: &Words,
        index: &IndexFile,
    ) -> Result<bool> {
        let stat = match sys.files.stat(&paths.log) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if stat.identity != self.identity || stat.len < self.cursor.len {
            return Ok(false);
        }
        if stat.len == self.cursor.len {
            self.torn = None;
            return Ok(true);
        }
        let added = stat.len - self.cursor.len;
        // A byte of the index is read in two thirds of the time that a byte of the log takes.
        let worth = added.saturating_add(added / 2);
        if added > FAR && self.leap(index.read_up_to(sys, &paths.index, words, worth), &stat)? {
            return Ok(true);
        }
        let before = self.cursor.len;
        let source = Source { path: &paths.log, handle: &*self.handle, words };
        self.torn = length(&self.cursor.run(&source, &mut |_, _| {})?);
        if self.cursor.len > before && index::vouches(sys, &paths.index, &self.cursor) {
            self.cursor.doubtful = None;
        }
        Ok(true)
    }

    /// Takes what the index says of the whole log, as whoever opens it does, instead of reading all that others have
    /// added; false if it does not say that. In a crowd there are more lines than leases.
    fn leap(&mut self, claimed: Option<Cursor>, stat: &Stat) -> Result<bool> {
        let Some(claimed) = claimed else { return Ok(false) };
        let goes_on = claimed.log == self.cursor.log && claimed.segment == self.cursor.segment;
        let is_later = claimed.len == stat.len && claimed.sequence > self.cursor.sequence;
        if !goes_on || !is_later || !is_true_of(&claimed, &*self.handle, stat)? {
            return Ok(false);
        }
        self.before = Some(std::mem::replace(&mut self.cursor, claimed));
        self.torn = None;
        Ok(true)
    }

    /// Gives up what is not needed any more.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }
}

fn length(tail: &Tail) -> Option<u64> {
    match tail {
        Tail::Clean => None,
        Tail::Torn { len } => Some(*len),
    }
}

/// A log that is open, and why it can only be read if it cannot be written.
struct Opened {
    handle: Box<dyn Handle>,
    unwritable: Option<holdfast_sys::Error>,
}

/// Opens the log for writing, or for reading where it cannot be written.
fn open(sys: &Sys, paths: &Paths, witness: Option<&str>) -> Result<Option<Opened>> {
    let (opened, unwritable) = match sys.files.open(&paths.log, Open::Write) {
        Err(error) if is_read_only(error.kind()) => (sys.files.open(&paths.log, Open::Read), Some(error)),
        opened => (opened, None),
    };
    match opened {
        Ok(handle) if handle.stat()?.kind == Kind::File => Ok(Some(Opened { handle, unwritable })),
        Ok(_) => Err(not_a_file(sys, &paths.log)?.unwrap_or_else(|| vanished(paths))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => not_there(sys, paths, witness),
        Err(error) => Err(not_a_file(sys, &paths.log)?.unwrap_or_else(|| error.into())),
    }
}

fn vanished(paths: &Paths) -> Error {
    Error::damaged(&paths.log, "the whole of it", "it vanished while it was opened")
}

/// Why something is no file, if something is there that is none.
pub(super) fn not_a_file(sys: &Sys, path: &Path) -> Result<Option<Error>> {
    match sys.files.stat(path) {
        Ok(stat) if stat.kind == Kind::File => Ok(None),
        Ok(stat) => {
            let what = format!("it is {}, not a file", called(stat.kind));
            Ok(Some(Error::damaged(path, "the whole of it", what)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_read_only(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// No log means no leases only if there never was one. An index, an older segment or a witness tells otherwise.
fn not_there<T>(sys: &Sys, paths: &Paths, witness: Option<&str>) -> Result<Option<T>> {
    let witness = witness.map(|path| paths.directory().join(path));
    let witnesses = [paths.index.clone(), paths.beside(".1")];
    for witness in witnesses.into_iter().chain(witness) {
        match sys.files.stat(&witness) {
            Ok(_) => {
                let what = format!("it is gone, but {} is still there", witness.display());
                return Err(Error::damaged(&paths.log, "the whole of it", what));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Whether the log has the hash that the index claims, at the place that it claims.
fn is_true_of(claimed: &Cursor, handle: &dyn Handle, stat: &Stat) -> Result<bool> {
    let Some(from) = claimed.len.checked_sub(ENDING as u64) else { return Ok(false) };
    if claimed.len > stat.len {
        return Ok(false);
    }
    let ending = handle.read_from(from, ENDING)?;
    Ok(chain::ending(&ending) == Some(claimed.link))
}

/// An index is written after what it speaks of became durable. A log that ends before that, or another one in its
/// place, has lost something acknowledged.
fn never_less(path: &Path, claimed: &Cursor, found: &Cursor) -> Result<()> {
    if claimed.log != found.log {
        let what = format!("it is the log {}, but the index beside it speaks of {}", found.log, claimed.log);
        return Err(Error::damaged(path, "the first line", what));
    }
    if claimed.segment > found.segment {
        let what = format!("it is segment {}, but there was segment {}", found.segment, claimed.segment);
        return Err(Error::damaged(path, "the first line", what));
    }
    if claimed.segment == found.segment && found.sequence < claimed.sequence {
        let place = format!("the line after sequence {}", found.sequence);
        let what =
            format!("it is missing or broken, but everything up to {} was acknowledged", claimed.sequence);
        return Err(Error::damaged(path, place, what));
    }
    Ok(())
}
