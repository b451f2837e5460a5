//! Everything that ever happened, as far as segments are still there, and the check that all of it fits
//! together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_sys::Open;

use super::Log;
use super::chain::Link;
use super::scan::{Cursor, Source, Tail};
use super::state::State;
use crate::{Checked, Error, Record, Result};

impl Log {
    /// Shows every record to `visit`, oldest first, and checks numbers, hashes and rules on the way.
    ///
    /// # Errors
    /// When something cannot be read, or does not fit what precedes it.
    pub fn history(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        self.looking(|state| match state {
            Some(State { cursor, .. }) => self.replay(cursor, visit),
            None => Ok(Checked::default()),
        })
    }

    /// Shows every record up to `current` to `visit`. Must run in a section.
    pub(super) fn replay(&self, current: &Cursor, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        let mut checked = Checked::default();
        let mut before: Option<Cursor> = None;
        let archived = self.archived()?;
        let archived = archived.range(..current.segment).map(|(_, path)| path);
        for path in archived.chain([&self.paths.log]) {
            let walked = self.walk(path, &mut checked, visit)?;
            if before.is_some_and(|before| !follows(&before, &walked.start, walked.before)) {
                let what = "it does not go on where the segment before ends";
                return Err(Error::damaged(path, "the first line", what));
            }
            before = Some(walked.end);
        }
        let replayed =
            before.is_some_and(|last| (last.sequence, &last.table) == (current.sequence, &current.table));
        if !replayed {
            let what = "replaying it does not give what the index says";
            return Err(Error::damaged(&self.paths.log, "the whole of it", what));
        }
        Ok(checked)
    }

    /// The archived segments that are there. They are looked for by name, because the number in the log's first line
    /// is only as honest as whoever wrote it.
    pub(super) fn archived(&self) -> Result<BTreeMap<u64, PathBuf>> {
        let mut archived: BTreeMap<u64, PathBuf> = BTreeMap::new();
        for name in self.sys.files.list(self.paths.directory())? {
            let number = name
                .to_str()
                .and_then(|name| name.rsplit_once('.'))
                .and_then(|(_, end)| end.parse::<u64>().ok());
            let path = self.paths.directory().join(&name);
            if let Some(number) = number
                && path == self.paths.beside(&format!(".{number}"))
            {
                archived.insert(number, path);
            }
        }
        Ok(archived)
    }

    /// Goes through one segment from its first line to its last.
    pub(super) fn walk(
        &self,
        path: &Path,
        checked: &mut Checked,
        visit: &mut dyn FnMut(&Record),
    ) -> Result<Walked> {
        let handle = self.sys.files.open(path, Open::Read)?;
        let source = Source { path, handle: &*handle, words: &self.settings.words };
        let (start, before) = Cursor::at_start(&source)?;
        let mut end = start.clone();
        let tail = end.run(&source, &mut |entry, table| {
            if let Some(record) = Record::of(entry.sequence, &entry.event, table) {
                checked.records += 1;
                visit(&record);
            }
        })?;
        if let Tail::Torn { len } = tail {
            checked.torn_bytes += len - end.len;
        }
        checked.segments += 1;
        Ok(Walked { start, before, end })
    }
}

/// A segment that was gone through.
pub(super) struct Walked {
    /// Its first line.
    pub(super) start: Cursor,
    /// The hash of the line before that.
    pub(super) before: Link,
    /// Its last line.
    pub(super) end: Cursor,
}

/// Whether a segment begins where the one before it ended. If some in between were taken away, only the
/// log must be the same, and the numbers later ones.
pub(super) fn follows(before: &Cursor, segment: &Cursor, link: Link) -> bool {
    let adjacent = before.segment + 1 == segment.segment;
    let seamless =
        before.sequence == segment.sequence && before.link == link && before.table == segment.table;
    let later = before.segment < segment.segment && before.sequence <= segment.sequence;
    before.log == segment.log && later && (seamless || !adjacent)
}
