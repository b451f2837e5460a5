//! Repair, only when asked for: says what is wrong, and puts right what can be. Whatever is taken out of
//! the log's way is kept beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use holdfast_kernel::{Event, Fence, Lease, LeaseId, Policy, Table, Term};
use holdfast_sys::Open;

use super::Log;
use super::append::Writer;
use super::chain::Link;
use super::index;
use super::scan::Cursor;
use super::segment::Header;
use crate::json::Words;
use crate::json::read;
use crate::{CounterId, Error, Finding, Recovery, Result};

/// How far the counter is moved on when records are lost: nobody can tell any more which numbers they had.
const LEAP: u64 = 1 << 32;

impl Log {
    /// Looks for what is wrong, and puts it right if `repair` is set.
    ///
    /// # Errors
    /// When the system fails, or nothing can be read at all.
    pub fn recover(&self, policy: &Policy, repair: bool) -> Result<Recovery> {
        self.exclusively(|writer| {
            let recovery = writer.recover(policy, repair)?;
            if repair {
                writer.tell(&[]);
            }
            Ok(recovery)
        })
    }
}

impl Writer<'_> {
    fn recover(&mut self, policy: &Policy, repair: bool) -> Result<Recovery> {
        let mut findings = self.leftovers(repair)?;
        match self.log.current(None) {
            Ok(None) => Ok(Recovery { findings, repaired: repair, kept: None }),
            Ok(state) => {
                self.state = state;
                findings.extend(self.blemishes(policy, repair)?);
                Ok(Recovery { findings, repaired: repair, kept: None })
            }
            Err(Error::Damaged { damage, .. }) => {
                let salvage = self.salvage()?;
                findings.push(Finding::Damage { what: damage.to_string(), leases: salvage.leases.len() });
                let kept = if repair { Some(self.start_over(salvage, policy)?) } else { None };
                Ok(Recovery { findings, repaired: repair, kept })
            }
            Err(error) => Err(error),
        }
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

    /// Everything that can still be read: the index's leases or the first line's, and every later line
    /// that is one, whether or not what precedes it is intact.
    fn salvage(&self) -> Result<Salvage> {
        let (paths, words) = (&self.log.paths, &self.log.settings.words);
        let handle = match self.log.sys.files.open(&paths.log, Open::Read) {
            Ok(handle) => Some(handle),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let bytes = match handle {
            Some(handle) => handle.read_from(0, usize::MAX)?,
            None => Vec::new(),
        };
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header = Header::read(&paths.log, first, words).ok().map(|(header, _)| Salvage::from(header));
        let index = index::read(&self.log.sys, &paths.index, words).map(Salvage::from);
        let mut salvage = match (header, index) {
            (Some(header), Some(index)) if index.sequence < header.sequence => header,
            (_, Some(index)) => index,
            (Some(header), None) => header,
            (None, None) => self.nothing()?,
        };
        for line in bytes.split(|byte| *byte == b'\n') {
            salvage.take_in(line, words);
        }
        Ok(salvage)
    }

    /// A log of which nothing is left goes on as another one: its fences mean nothing any more.
    fn nothing(&self) -> Result<Salvage> {
        let now = self.log.sys.clock.now()?;
        let log = CounterId::new(self.log.sys.entropy.lease_id(&now)?);
        Ok(Salvage { log, segment: 1, sequence: 0, link: Link::START, leases: BTreeMap::new() })
    }

    /// Keeps the damaged log under another name and goes on with what was salvaged.
    fn start_over(&mut self, salvage: Salvage, policy: &Policy) -> Result<PathBuf> {
        let sys = &self.log.sys;
        let now = sys.clock.now()?;
        let kept = self.log.paths.beside(&format!(".damaged-{:032x}", sys.entropy.nonce()?));
        let header = Header {
            log: salvage.log,
            segment: salvage.segment + 1,
            sequence: (salvage.sequence + LEAP).min(Fence::LAST.get() - 1),
            before: salvage.link,
            table: Table::restore(salvage.leases.into_values())
                .map_err(|error| Error::damaged(&self.log.paths.log, "what is left of it", error))?,
        };
        let next = self.write_segment(&header, &now)?;
        match sys.files.link(&self.log.paths.log, &kept) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            linked => linked?,
        }
        self.replace_log(&next, policy, &now)?;
        Ok(kept)
    }
}

/// What is left of a damaged log.
struct Salvage {
    log: CounterId,
    segment: u64,
    sequence: u64,
    link: Link,
    leases: BTreeMap<LeaseId, Lease>,
}

impl Salvage {
    /// Takes a line in as far as it can still be understood. Lines before it may be lost, so a grant shows
    /// that whatever stood in its way had ended, and a line about a lost grant says nothing.
    fn take_in(&mut self, line: &[u8], words: &Words) {
        let Ok(entry) = read::entry(line, words) else { return };
        if entry.sequence.get() <= self.sequence || entry.sequence == Fence::LAST {
            return;
        }
        self.sequence = entry.sequence.get();
        match entry.event {
            Event::Granted { lease } => self.grant(lease),
            Event::Transferred { from, lease, .. } => {
                self.leases.remove(&from);
                self.grant(lease);
            }
            Event::Renewed { lease, ttl, at } => self.change(lease, Term::Finite { ttl, from: at }),
            Event::Beaten { lease, at } => {
                if let Some(Term::Indefinite { stale_after, .. }) =
                    self.leases.get(&lease).map(|held| &held.term)
                {
                    self.change(lease, Term::Indefinite { beat: at, stale_after: *stale_after });
                }
            }
            Event::Released { lease, .. } | Event::Evicted { lease, .. } => drop(self.leases.remove(&lease)),
        }
    }

    /// A line that is no longer held in place by its hash may say what no policy grants.
    fn grant(&mut self, lease: Lease) {
        if !can_stand(&lease) {
            return;
        }
        self.leases.retain(|_, other| {
            other.resource != lease.resource
                || (other.mode.admits(lease.mode) && other.holder != lease.holder)
        });
        self.leases.insert(lease.id, lease);
    }

    fn change(&mut self, id: LeaseId, term: Term) {
        let changed = self.leases.get(&id).map(|lease| Lease { term, ..lease.clone() });
        if let Some(changed) = changed.filter(can_stand) {
            self.leases.insert(id, changed);
        }
    }
}

/// Whether a table can hold this lease at all.
fn can_stand(lease: &Lease) -> bool {
    Table::restore([lease.clone()]).is_ok()
}

fn by_id(table: &Table) -> BTreeMap<LeaseId, Lease> {
    table.iter().map(|lease| (lease.id, lease.clone())).collect()
}

impl From<Header> for Salvage {
    fn from(header: Header) -> Self {
        let Header { log, segment, sequence, before, table } = header;
        Self { log, segment, sequence, link: before, leases: by_id(&table) }
    }
}

impl From<Cursor> for Salvage {
    fn from(cursor: Cursor) -> Self {
        let Cursor { log, segment, sequence, link, table, .. } = cursor;
        Self { log, segment, sequence, link, leases: by_id(&table) }
    }
}
