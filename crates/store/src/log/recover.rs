//! Repair, only when asked for: says what is wrong, and puts right what can be. Whatever is taken out of
//! the log's way is kept beside it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_kernel::{Fence, Policy, Table};
use holdfast_sys::{Kind, Open};

use super::Log;
use super::append::Writer;
use super::history::follows;
use super::index;
use super::salvage::{Salvage, Source, Sources, is_about};
use super::scan::Cursor;
use super::segment::Header;
use super::state::{State, not_a_file};
use crate::{Checked, CounterId, Error, Finding, Projected, Record, Recovery, Result};

/// How far the counter is moved on when records are lost: nobody can tell any more which numbers they had.
const LEAP: u64 = 1 << 32;

impl Log {
    /// Looks for what is wrong, and puts it right if `repair` is set.
    ///
    /// # Errors
    /// When the system fails, or nothing can be read at all.
    pub fn recover(&self, policy: &Policy, repair: bool) -> Result<Recovery> {
        self.recover_with(policy, &Projected::default(), repair)
    }

    /// As [`Log::recover`], with what somebody else kept of the journal.
    ///
    /// # Errors
    /// When the system fails, or nothing can be read at all.
    pub fn recover_with(&self, policy: &Policy, elsewhere: &Projected, repair: bool) -> Result<Recovery> {
        self.exclusively(|writer| {
            let recovery = writer.recover(policy, elsewhere, repair)?;
            if repair {
                writer.tell(&[]);
            }
            Ok(recovery)
        })
    }

    /// The number of an archived segment of this log that goes further than the log itself.
    fn later_segment(&self, path: &Path, cursor: &Cursor) -> Result<Option<u64>> {
        match self.walk(path, &mut Checked::default(), &mut |_| {}) {
            Ok(walked) if walked.end.log == cursor.log && walked.end.sequence > cursor.sequence => {
                Ok(Some(walked.end.segment))
            }
            Ok(_) | Err(Error::Damaged { .. } | Error::Newer { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a file is the log itself, under the name that a cut which was interrupted gave it.
    fn is_log(&self, path: &Path) -> Result<bool> {
        let files = &self.sys.files;
        Ok(files.stat(path)?.identity == files.stat(&self.paths.log)?.identity)
    }
}

impl Writer<'_> {
    fn recover(&mut self, policy: &Policy, elsewhere: &Projected, repair: bool) -> Result<Recovery> {
        let mut findings = self.leftovers(repair)?;
        let archived = self.log.archived()?;
        let odd_index = self.odd_index(repair)?;
        let is_in_the_way = odd_index.is_some() && !repair;
        findings.extend(odd_index);
        let log = self.log;
        let loaded = match is_in_the_way {
            true => State::rebuild(&log.sys, &log.paths, &log.settings),
            false => log.current(None, self.index),
        };
        let damage = match loaded {
            Ok(None) if elsewhere.events.is_empty() => {
                return Ok(Recovery { findings, repaired: repair, kept: None });
            }
            Ok(None) => Some("it is gone, but other files record what happened".to_owned()),
            Ok(state) => {
                self.state = state;
                self.contradiction(&archived, elsewhere)?
            }
            Err(Error::Damaged { damage, .. }) => Some(damage.to_string()),
            Err(error) => return Err(error),
        };
        let Some(what) = damage else {
            findings.extend(self.unfit(&archived, repair)?);
            findings.extend(self.blemishes(policy, repair)?);
            return Ok(Recovery { findings, repaired: repair, kept: None });
        };
        let salvage = self.salvage(&archived, elsewhere)?;
        findings.push(Finding::Damage { what, leases: salvage.leases.len() });
        if salvage.missing > 0 {
            findings.push(Finding::Missing { records: salvage.missing });
        }
        findings.extend(salvage.lost.iter().cloned().map(Finding::Lost));
        let mut kept = None;
        if repair {
            kept = self.start_over(salvage, &archived, policy)?;
            findings.extend(self.unfit(&archived, repair)?);
        }
        Ok(Recovery { findings, repaired: repair, kept })
    }

    /// Something else in the place of the index.
    fn odd_index(&self, repair: bool) -> Result<Option<Finding>> {
        let (sys, path) = (&self.log.sys, &self.log.paths.index);
        let Some(Error::Damaged { damage, .. }) = not_a_file(sys, path)? else { return Ok(None) };
        if repair {
            let mut aside = path.clone().into_os_string();
            aside.push(format!(".aside-{:032x}", sys.entropy.nonce()?));
            sys.files.rename_new(path, Path::new(&aside))?;
        }
        Ok(Some(Finding::Odd { path: path.clone(), what: damage.what }))
    }

    /// What speaks against a log that can be read to its end: a line that the index made nobody read, a later segment,
    /// or what somebody else kept of it.
    fn contradiction(
        &mut self,
        archived: &BTreeMap<u64, PathBuf>,
        elsewhere: &Projected,
    ) -> Result<Option<String>> {
        let log = self.log;
        let cursor = &self.opened()?.cursor;
        let mut known = BTreeMap::new();
        let mut note = |record: &Record| {
            known.insert(record.sequence.get(), record.event.lease());
        };
        match log.walk(&log.paths.log, &mut Checked::default(), &mut note) {
            Ok(walked) if (walked.end.sequence, &walked.end.table) == (cursor.sequence, &cursor.table) => {}
            Ok(_) => return Ok(Some("replaying it does not give what the index says".to_owned())),
            Err(Error::Damaged { damage, .. }) => return Ok(Some(damage.to_string())),
            Err(error) => return Err(error),
        }
        for path in archived.range(cursor.segment..).map(|(_, path)| path) {
            if let Some(later) = log.later_segment(path, cursor)? {
                return Ok(Some(format!("it is segment {}, but there is segment {later}", cursor.segment)));
            }
        }
        let is_its_own = is_about(elsewhere, cursor.log, &known);
        let recorded = elsewhere.events.iter().map(|(number, _)| number.get()).max().filter(|_| is_its_own);
        Ok(recorded.filter(|known| *known > cursor.sequence).map(|known| {
            let from = cursor.sequence;
            format!("it ends after sequence {from}, but other files record what happened up to {known}")
        }))
    }

    /// Archived segments that do not belong before the log, or before one that does: damaged ones, ones in a wrong
    /// place, ones of another log.
    fn unfit(&mut self, archived: &BTreeMap<u64, PathBuf>, repair: bool) -> Result<Vec<Finding>> {
        let log = self.log;
        let own = log.walk(&log.paths.log, &mut Checked::default(), &mut |_| {})?;
        let mut next = (own.start, own.before);
        let mut findings = Vec::new();
        for (number, path) in archived.iter().rev() {
            let what = match log.walk(path, &mut Checked::default(), &mut |_| {}) {
                Err(Error::Damaged { damage, .. }) => damage.to_string(),
                Err(Error::Newer { version, .. }) => format!("its format version is {version}"),
                Err(error) => return Err(error),
                Ok(_) if *number >= own.end.segment && log.is_log(path)? => continue,
                Ok(walked) => {
                    let (start, link) = &next;
                    if walked.end.segment != *number {
                        format!("it is segment {}", walked.end.segment)
                    } else if *number >= start.segment {
                        "it does not come before the log".to_owned()
                    } else if !follows(&walked.end, start, *link) {
                        let which = if walked.end.log == start.log { "the one after it" } else { "this log" };
                        format!("it does not lead to {which}")
                    } else {
                        next = (walked.start, walked.before);
                        continue;
                    }
                }
            };
            if repair {
                let aside = log.paths.beside(&format!(".aside-{:032x}", log.sys.entropy.nonce()?));
                log.sys.files.rename_new(path, &aside)?;
            }
            findings.push(Finding::Segment { path: path.clone(), what });
        }
        if repair && !findings.is_empty() {
            log.sys.files.sync_dir(log.paths.directory())?;
        }
        Ok(findings)
    }

    /// What is wrong with a log that can be read to its end.
    fn blemishes(&mut self, policy: &Policy, repair: bool) -> Result<Vec<Finding>> {
        let log = self.log;
        let mut findings = Vec::new();
        let state = self.opened()?;
        if let Some(len) = state.torn {
            findings.push(Finding::TornTail { bytes: len - state.cursor.len });
        }
        if !index::vouches(&log.sys, &log.paths.index, &state.cursor) {
            findings.push(Finding::Index);
        }
        if repair && !findings.is_empty() {
            self.set_torn_tail_aside()?;
            self.settle()?;
            self.write_index(policy, 0, &log.sys.clock.now()?)?;
        }
        Ok(findings)
    }

    /// Files that an interrupted operation left beside the log.
    fn leftovers(&self, repair: bool) -> Result<Vec<Finding>> {
        let paths = &self.log.paths;
        let prefix = paths.beside(".new-");
        let mut findings = Vec::new();
        for name in self.log.sys.files.list(paths.directory())? {
            let path = paths.directory().join(&name);
            if path.as_os_str().as_encoded_bytes().starts_with(prefix.as_os_str().as_encoded_bytes()) {
                if repair {
                    self.log.sys.files.remove_file(&path)?;
                }
                findings.push(Finding::Leftover { path });
            }
        }
        Ok(findings)
    }

    /// Everything that any source still tells of.
    fn salvage(&self, archived: &BTreeMap<u64, PathBuf>, elsewhere: &Projected) -> Result<Salvage> {
        let (sys, paths, words) = (&self.log.sys, &self.log.paths, &self.log.settings.words);
        let read = |path: &Path| -> Result<Source> {
            let bytes = match sys.files.open(path, Open::Read) {
                Ok(handle) if handle.stat()?.kind == Kind::File => handle.read_from(0, usize::MAX)?,
                Ok(_) => Vec::new(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => match not_a_file(sys, path)? {
                    Some(_) => Vec::new(),
                    None => return Err(error.into()),
                },
            };
            Ok(Source::read(path, &bytes, words))
        };
        let segments = archived.values().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        let index = index::read(sys, &paths.index, words);
        Ok(Sources::new(read(&paths.log)?, segments, index, elsewhere).salvage(&sys.clock.now()?))
    }

    /// Keeps the damaged log under another name and goes on with what was salvaged; says where it is kept. A log that
    /// nothing names goes on as another one: its fences mean nothing any more.
    fn start_over(
        &mut self,
        salvage: Salvage,
        archived: &BTreeMap<u64, PathBuf>,
        policy: &Policy,
    ) -> Result<Option<PathBuf>> {
        let sys = &self.log.sys;
        let now = sys.clock.now()?;
        let fresh = || Ok::<_, Error>(CounterId::new(sys.entropy.lease_id(&now)?));
        let last = archived.keys().next_back().copied().unwrap_or(0);
        let header = Header {
            log: salvage.log.map_or_else(fresh, Ok)?,
            // Whatever is archived does not lead to it: the damaged one lies in between.
            segment: salvage.segment.max(last.saturating_add(1)).saturating_add(1).min(Fence::LAST.get()),
            sequence: salvage.sequence.saturating_add(LEAP).min(Fence::LAST.get() - 1),
            before: salvage.link,
            table: Table::restore(salvage.leases.into_values())
                .map_err(|error| Error::damaged(&self.log.paths.log, "what is left of it", error))?,
        };
        let next = self.write_segment(&header, &now)?;
        let kept = self.log.paths.beside(&format!(".damaged-{:032x}", sys.entropy.nonce()?));
        let path = &self.log.paths.log;
        let kept_there = match not_a_file(sys, path)? {
            None => sys.files.link(path, &kept),
            Some(_) => sys.files.rename_new(path, &kept),
        };
        let kept = match kept_there {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            linked => linked.map(|()| Some(kept))?,
        };
        self.replace_log(&next, policy, &now)?;
        Ok(kept)
    }
}
