//! What is left of a damaged log: every lease and every number that any source still tells of.
//!
//! The sources are the log and its archived segments, whose first lines carry leases and whose other lines tell what
//! happened to them; the index; and what somebody else kept of the journal. A first line and an index carry a hash of
//! their own, so what they say is certain. Of the lines after the latest of them, those that stand where they were
//! written come first, then what somebody else kept, then lines that can be read although their hash is wrong.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use holdfast_kernel::{Event, Fence, Lease, LeaseId, Millis, Stamp, Table, Term};

use super::chain::{self, Link};
use super::scan::Cursor;
use super::segment::Header;
use crate::json::Words;
use crate::json::read;
use crate::{CounterId, Lost, Projected};

/// What is left of a damaged log.
pub(super) struct Salvage {
    /// Which log it was; none if nothing says so, or nothing agrees.
    pub(super) log: Option<CounterId>,
    /// The highest segment that anything tells of.
    pub(super) segment: u64,
    /// The highest number that anything tells of.
    pub(super) sequence: u64,
    pub(super) link: Link,
    pub(super) leases: BTreeMap<LeaseId, Lease>,
    /// The leases that are known to have been there and cannot be carried over.
    pub(super) lost: Vec<Lost>,
    /// How many records nobody tells of.
    pub(super) missing: u64,
}

/// The leases at one number, which are certain.
#[derive(Clone)]
struct Snapshot {
    log: CounterId,
    segment: u64,
    sequence: u64,
    link: Link,
    leases: BTreeMap<LeaseId, Lease>,
}

/// What a file with lines of a log tells.
pub(super) struct Source {
    opening: Option<Snapshot>,
    /// What happened, by its number, and whether it stands where it was written.
    events: BTreeMap<u64, (Event, bool)>,
}

/// Everything that still tells of a log.
pub(super) struct Sources<'a> {
    /// The log itself.
    pub(super) log: Source,
    /// Its archived segments.
    pub(super) archived: Vec<Source>,
    index: Option<Snapshot>,
    elsewhere: &'a Projected,
}

impl Source {
    /// What these bytes tell.
    pub(super) fn read(path: &std::path::Path, bytes: &[u8], words: &Words) -> Self {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let opening = Header::read(path, first, words).ok();
        let mut before = opening.as_ref().map(|(_, link)| *link).or_else(|| chain::claimed(first));
        let mut expected = opening.as_ref().map(|(header, _)| header.sequence);
        let mut events = BTreeMap::new();
        for line in lines {
            let sure = before.is_some_and(|before| chain::verify(line, before).is_some());
            before = chain::claimed(line);
            expected = expected.map(|number| number.saturating_add(1));
            let Ok(entry) = read::entry(line, words) else { continue };
            let number = entry.sequence.get();
            // A line whose hash is wrong may have the wrong number as well: numbers have no gaps.
            if number < Fence::LAST.get() && (sure || expected.is_none_or(|expected| expected == number)) {
                expected = Some(number);
                events.insert(number, (entry.event, sure));
            }
        }
        Self { opening: opening.map(|(header, _)| header.into()), events }
    }

    fn is_of(&self, log: CounterId) -> bool {
        self.opening.as_ref().is_none_or(|opening| opening.log == log)
    }
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        log: Source,
        archived: Vec<Source>,
        index: Option<Cursor>,
        elsewhere: &'a Projected,
    ) -> Self {
        Self { log, archived, index: index.map(Snapshot::from), elsewhere }
    }

    /// Everything that can be carried over at `now`.
    pub(super) fn salvage(&self, now: &Stamp) -> Salvage {
        let opening = self.log.opening.as_ref().map(|opening| opening.log);
        let index = self.index.as_ref().map(|index| index.log);
        let others = || {
            let archived = self.archived.iter().filter_map(|source| source.opening.as_ref());
            archived.map(|opening| opening.log).chain(self.elsewhere.counter)
        };
        let votes = |log: CounterId| others().filter(|other| *other == log).count();
        let mut salvage = match (opening, index) {
            (Some(log), Some(other)) if log != other => {
                let (one, two) = (self.of(Some(log), now), self.of(Some(other), now));
                match votes(log).cmp(&votes(other)) {
                    Ordering::Greater => one.joined(two),
                    Ordering::Less => two.joined(one),
                    // Nobody can tell whose numbers they are, so they go on under another name.
                    Ordering::Equal => Salvage { log: None, ..one.joined(two) },
                }
            }
            (Some(log), _) | (None, Some(log)) => self.of(Some(log), now),
            (None, None) => self.of(others().max_by_key(|log| votes(*log)), now),
        };
        salvage.segment = salvage.segment.max(self.highest_segment());
        salvage
    }

    fn highest_segment(&self) -> u64 {
        let sources = self.archived.iter().chain([&self.log]).filter_map(|source| source.opening.as_ref());
        sources.chain(&self.index).map(|snapshot| snapshot.segment).max().unwrap_or(0)
    }

    /// What is left of one log.
    fn of(&self, log: Option<CounterId>, now: &Stamp) -> Salvage {
        let is_it = |id: CounterId| log.is_none_or(|log| log == id);
        let files: Vec<&Source> = self
            .archived
            .iter()
            .chain([&self.log])
            .filter(|file| log.is_none_or(|log| file.is_of(log)))
            .collect();
        let openings = files.iter().filter_map(|file| file.opening.as_ref());
        let snapshots = openings.chain(&self.index).filter(|snapshot| is_it(snapshot.log));
        let base = snapshots.max_by_key(|snapshot| snapshot.sequence).cloned();
        let events = self.events(&files, log);
        Folded::new(log, base, now).run(&events)
    }

    /// What happened, by its number, each told by the best source that there is.
    fn events(&self, files: &[&Source], log: Option<CounterId>) -> BTreeMap<u64, Event> {
        let lines = || files.iter().flat_map(|file| &file.events);
        let certain = |sure: bool| lines().filter(move |(_, (_, it_is))| *it_is == sure);
        let mut events: BTreeMap<u64, Event> =
            certain(false).map(|(number, (event, _))| (*number, event.clone())).collect();
        let known: BTreeMap<u64, &Event> =
            certain(true).map(|(number, (event, _))| (*number, event)).collect();
        let subjects = known.iter().map(|(number, event)| (*number, event.lease())).collect();
        if log.is_none_or(|log| is_about(self.elsewhere, log, &subjects)) {
            let told = self.elsewhere.events.iter().filter(|(number, _)| *number < Fence::LAST);
            events.extend(told.map(|(number, event)| (number.get(), event.clone())));
        }
        events.extend(known.into_iter().map(|(number, event)| (number, event.clone())));
        events
    }
}

/// Whether what somebody else kept is about this log, by what it says itself or else by the leases that lines of which
/// the numbers are certain are about.
pub(super) fn is_about(elsewhere: &Projected, log: CounterId, known: &BTreeMap<u64, LeaseId>) -> bool {
    if let Some(counter) = elsewhere.counter {
        return counter == log;
    }
    let both =
        elsewhere.events.iter().filter_map(|(number, event)| Some((event, *known.get(&number.get())?)));
    let (same, other): (Vec<_>, Vec<_>) = both.partition(|(told, lease)| told.lease() == *lease);
    same.len() >= other.len()
}

/// Events applied to the leases that are certain. Some are missing, so nothing is believed strictly.
struct Folded<'n> {
    salvage: Salvage,
    now: &'n Stamp,
    /// Leases that cannot be carried over, because nobody tells how they began or because no policy grants them, and
    /// until when they last.
    unsaved: BTreeMap<LeaseId, (Lost, Option<Stamp>)>,
    ended: BTreeSet<LeaseId>,
}

impl<'n> Folded<'n> {
    fn new(log: Option<CounterId>, base: Option<Snapshot>, now: &'n Stamp) -> Self {
        let salvage = match base {
            Some(Snapshot { log, segment, sequence, link, leases }) => {
                Salvage { log: Some(log), segment, sequence, link, leases, lost: Vec::new(), missing: 0 }
            }
            None => Salvage {
                log,
                segment: 0,
                sequence: 0,
                link: Link::START,
                leases: BTreeMap::new(),
                lost: Vec::new(),
                missing: 0,
            },
        };
        Self { salvage, now, unsaved: BTreeMap::new(), ended: BTreeSet::new() }
    }

    fn run(mut self, events: &BTreeMap<u64, Event>) -> Salvage {
        let now = self.now;
        for (number, event) in events.range(self.salvage.sequence.saturating_add(1)..) {
            self.salvage.missing += number - self.salvage.sequence - 1;
            self.salvage.sequence = *number;
            self.take_in(event);
        }
        let is_over =
            |until: &Option<Stamp>| until.is_some_and(|until| now.since(&until).forward() > Millis::ZERO);
        let lost = self.unsaved.into_values().filter(|(_, until)| !is_over(until));
        self.salvage.lost.extend(lost.map(|(lost, _)| lost));
        self.salvage
    }

    /// Events before this one may be missing, so a grant shows that whatever stood in its way had ended.
    fn take_in(&mut self, event: &Event) {
        match event {
            Event::Granted { lease } => self.grant(lease),
            Event::Transferred { from, lease, .. } => {
                self.end(*from);
                self.grant(lease);
            }
            Event::Renewed { lease, ttl, at } => self.change(*lease, Term::Finite { ttl: *ttl, from: *at }),
            Event::Beaten { lease, at } => match self.salvage.leases.get(lease).map(|held| held.term.clone())
            {
                Some(Term::Indefinite { stale_after, .. }) => {
                    self.change(*lease, Term::Indefinite { beat: *at, stale_after });
                }
                Some(Term::Finite { .. }) => {}
                None => self.go_on(*lease, None),
            },
            Event::Released { lease, .. } | Event::Evicted { lease, .. } => self.end(*lease),
        }
    }

    /// A lease that cannot be carried over lasts until then.
    fn go_on(&mut self, lease: LeaseId, until: Option<Stamp>) {
        self.unsaved.entry(lease).or_insert_with(|| (Lost { lease, resource: None }, None)).1 = until;
    }

    fn end(&mut self, lease: LeaseId) {
        self.salvage.leases.remove(&lease);
        self.unsaved.remove(&lease);
        self.ended.insert(lease);
    }

    /// A line that is no longer held in place by its hash may say what no policy grants.
    fn grant(&mut self, lease: &Lease) {
        if !can_stand(lease) || lease.fence.get() != self.salvage.sequence || self.ended.contains(&lease.id) {
            self.unsaved.insert(lease.id, (Lost::from(lease), lease.deadline()));
            return;
        }
        self.salvage.leases.retain(|_, other| !excludes(lease, other));
        self.salvage.leases.insert(lease.id, lease.clone());
    }

    fn change(&mut self, id: LeaseId, term: Term) {
        let Some(lease) = self.salvage.leases.get(&id) else {
            if let Term::Finite { ttl, from } = term
                && !self.ended.contains(&id)
            {
                self.go_on(id, Some(from.plus(ttl)));
            }
            return;
        };
        let changed = Lease { term, ..lease.clone() };
        if can_stand(&changed) {
            self.salvage.leases.insert(id, changed);
        }
    }
}

impl Salvage {
    /// Both together under the name of the first. What cannot stand beside the first is lost.
    fn joined(mut self, other: Self) -> Self {
        for lease in other.leases.into_values() {
            if self.leases.contains_key(&lease.id) {
                continue;
            }
            let clashes = |held: &Lease| {
                excludes(&lease, held)
                    || (held.resource.overlaps(&lease.resource) && held.fence == lease.fence)
            };
            if self.leases.values().any(clashes) {
                self.lost.push(Lost::from(&lease));
            } else {
                self.leases.insert(lease.id, lease);
            }
        }
        self.lost.extend(other.lost);
        self.missing += other.missing;
        self.sequence = self.sequence.max(other.sequence);
        self
    }
}

/// Whether the grant of `lease` shows that `other` had ended.
fn excludes(lease: &Lease, other: &Lease) -> bool {
    if other.holder == lease.holder {
        return other.resource == lease.resource;
    }
    !other.mode.admits(lease.mode) && other.resource.overlaps(&lease.resource)
}

/// Whether a table can hold this lease at all.
fn can_stand(lease: &Lease) -> bool {
    Table::restore([lease.clone()]).is_ok()
}

fn by_id(table: &Table) -> BTreeMap<LeaseId, Lease> {
    table.iter().map(|lease| (lease.id, lease.clone())).collect()
}

impl From<Header> for Snapshot {
    fn from(header: Header) -> Self {
        let Header { log, segment, sequence, before, table } = header;
        Self { log, segment, sequence, link: before, leases: by_id(&table) }
    }
}

impl From<Cursor> for Snapshot {
    fn from(cursor: Cursor) -> Self {
        let Cursor { log, segment, sequence, link, table, .. } = cursor;
        Self { log, segment, sequence, link, leases: by_id(&table) }
    }
}
