//! Rebuilding a table from a long log. Most grants of a history have ended long ago, so only what a line
//! does to which lease is noted; the grants that are left at the end are read in full, and must fit
//! together. The complete check of every line is [`Log::history`](super::Log::history)'s.

use std::collections::BTreeMap;

use holdfast_kernel::{Event, Lease, LeaseId, Table, Term};

use super::scan::Source;
use crate::json::Words;
use crate::json::read::{self, Entry, Problem};
use crate::{Error, Result};

/// Where a line is in the file.
#[derive(Clone, Copy)]
struct Span {
    offset: u64,
    len: usize,
}

/// A lease that no line has ended yet.
struct Live {
    began: Began,
    /// The last renewal or beat.
    last: Option<Span>,
}

enum Began {
    /// Before this segment.
    Carried(Box<Lease>),
    /// With this line.
    At(Span),
}

pub(super) struct Fold<'w> {
    words: &'w Words,
    live: BTreeMap<LeaseId, Live>,
}

impl<'w> Fold<'w> {
    pub(super) fn new(carried: Table, words: &'w Words) -> Self {
        let live = carried
            .iter()
            .map(|lease| (lease.id, Live { began: Began::Carried(Box::new(lease.clone())), last: None }));
        Self { words, live: live.collect() }
    }

    /// Notes what a line does; tells its number and its batch.
    pub(super) fn take_in(&mut self, line: &[u8], offset: u64) -> std::result::Result<(u64, u64), Problem> {
        let span = Span { offset, len: line.len() };
        let effect = match glance(line) {
            Some(effect) => effect,
            None => Effect::of(&read::entry(line, self.words)?),
        };
        let known = match effect.does {
            Does::Begin(lease) => {
                self.live.insert(lease, Live { began: Began::At(span), last: None }).is_none()
            }
            Does::HandOver(from, lease) => {
                let live = Live { began: Began::At(span), last: None };
                self.live.remove(&from).is_some() && self.live.insert(lease, live).is_none()
            }
            Does::GoOn(lease) => self.live.get_mut(&lease).map(|live| live.last = Some(span)).is_some(),
            Does::End(lease) => self.live.remove(&lease).is_some(),
        };
        if known {
            Ok((effect.sequence, effect.batch))
        } else {
            Err("it does not fit the lines before it".into())
        }
    }

    /// The table of the leases that are left.
    pub(super) fn finish(self, source: &Source<'_>) -> Result<Table> {
        let leases = self.live.into_values().map(|live| live.lease(source)).collect::<Result<Vec<_>>>()?;
        let misfit = |error| Error::damaged(source.path, "the leases that are left", error);
        Table::restore(leases).map_err(misfit)
    }
}

impl Live {
    fn lease(self, source: &Source<'_>) -> Result<Lease> {
        let mut lease = match self.began {
            Began::Carried(lease) => *lease,
            Began::At(span) => match entry(source, span)?.event {
                Event::Granted { lease } | Event::Transferred { lease, .. } => lease,
                _ => return Err(misread(source, span)),
            },
        };
        let Some(span) = self.last else { return Ok(lease) };
        lease.term = match (entry(source, span)?.event, lease.term) {
            (Event::Renewed { ttl, at, .. }, Term::Finite { .. }) => Term::Finite { ttl, from: at },
            (Event::Beaten { at, .. }, Term::Indefinite { stale_after, .. }) => {
                Term::Indefinite { beat: at, stale_after }
            }
            _ => return Err(misread(source, span)),
        };
        Ok(lease)
    }
}

fn entry(source: &Source<'_>, span: Span) -> Result<Entry> {
    let line = source.handle.read_from(span.offset, span.len)?;
    let place = || format!("the line at byte {}", span.offset);
    read::entry(&line, source.words).map_err(|problem| Error::damaged(source.path, place(), problem))
}

fn misread(source: &Source<'_>, span: Span) -> Error {
    Error::damaged(source.path, format!("the line at byte {}", span.offset), "it does not fit its lease")
}

/// What a line does.
struct Effect {
    sequence: u64,
    batch: u64,
    does: Does,
}

enum Does {
    Begin(LeaseId),
    HandOver(LeaseId, LeaseId),
    GoOn(LeaseId),
    End(LeaseId),
}

impl Effect {
    fn of(entry: &Entry) -> Self {
        let does = match &entry.event {
            Event::Granted { lease } => Does::Begin(lease.id),
            Event::Transferred { from, lease, .. } => Does::HandOver(*from, lease.id),
            Event::Renewed { lease, .. } | Event::Beaten { lease, .. } => Does::GoOn(*lease),
            Event::Released { lease, .. } | Event::Evicted { lease, .. } => Does::End(*lease),
        };
        Self { sequence: entry.sequence.get(), batch: entry.batch.get(), does }
    }
}

/// What a line does, from its first fields, if they are those and in the order that this program writes.
/// Whoever orders them differently is read in full.
fn glance(line: &[u8]) -> Option<Effect> {
    let rest = line.strip_prefix(br#"{"schema_version":1,"sequence":"#)?;
    let (sequence, rest) = number(rest)?;
    let (batch, rest) = match rest.strip_prefix(br#","batch":"#) {
        Some(rest) => number(rest).filter(|(batch, _)| *batch <= sequence)?,
        None => (sequence, rest),
    };
    let rest = rest.strip_prefix(br#","op":""#)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let (op, rest) = rest.split_at_checked(end)?;
    let does = match op {
        b"acquire" => Does::Begin(lease(rest)?),
        b"renew" | b"heartbeat" => Does::GoOn(lease(rest)?),
        b"release" | b"auto-evict" | b"force-evict" => Does::End(lease(rest)?),
        _ => return None,
    };
    Some(Effect { sequence, batch, does })
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

fn lease(rest: &[u8]) -> Option<LeaseId> {
    let id = rest.strip_prefix(br#"","lease_id":""#)?.get(..26)?;
    std::str::from_utf8(id).ok()?.parse().ok()
}
