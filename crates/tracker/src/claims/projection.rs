//! `events/control.jsonl`: the log of claims once more, in the envelope that all events share.
//!
//! It is derived, so it is not flushed with every line. A small file beside it says up to which record and
//! which byte it is complete. Whatever lies behind that byte was written by a process that died, and is
//! written again; after another boot only what was flushed is believed. So no event is missing or doubled,
//! once somebody has written after the crash.

use std::path::{Path, PathBuf};

use holdfast_store::log::Recorded;
use holdfast_store::{CounterId, Record};
use holdfast_sys::{Handle, Open, Sys};
use serde::{Deserialize, Serialize};

use super::events;
use crate::config::keys;
use crate::durable;
use crate::json;

/// How much may be lost with the power and has to be written again.
const UNFLUSHED: u64 = 64 << 10;

/// How much is gathered before it is written.
const CHUNK: usize = 1 << 20;

/// The place's file is written in place and always has this length.
const LENGTH: usize = 512;

type Result<T> = std::result::Result<T, holdfast_store::Error>;

/// The event log.
pub(super) struct Projection {
    sys: Sys,
    log: PathBuf,
    place: PathBuf,
    style: keys::Events,
    mode: u32,
}

/// How far something goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Extent {
    sequence: u64,
    length: u64,
}

/// How far the event log is complete, and under which circumstances.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Place {
    log_id: String,
    boot_id: Option<String>,
    sequences: bool,
    envelope: bool,
    complete: Extent,
    durable: Extent,
}

impl Projection {
    pub(super) fn new(sys: &Sys, control: &Path, style: keys::Events, mode: u32) -> Self {
        let events = control.join("events");
        let (log, place) = (events.join("control.jsonl"), events.join("control.place"));
        Self { sys: sys.clone(), log, place, style, mode }
    }

    /// Writes what is missing. Runs inside the log's exclusive section.
    pub(super) fn catch_up(&self, recorded: &Recorded<'_>) -> Result<()> {
        let Some(last) = recorded.last() else { return Ok(()) };
        let fresh = self.fresh(recorded)?;
        let known = self.known(&fresh)?;
        let handle = self.sys.files.open(&self.log, Open::Create { mode: self.mode })?;
        let length = handle.stat()?.len;
        let place = known.filter(|place| place.complete.length <= length).unwrap_or(fresh);
        if length > place.complete.length {
            handle.truncate(place.complete.length)?;
        }
        if place.complete.sequence == last.get() {
            return Ok(());
        }
        let complete = self.append(&*handle, place.complete, recorded)?;
        let durable = if complete.length - place.durable.length > UNFLUSHED {
            handle.sync()?;
            complete
        } else {
            place.durable
        };
        self.note(&Place { complete, durable, ..place })
    }

    /// The place before the first event.
    fn fresh(&self, recorded: &Recorded<'_>) -> Result<Place> {
        let boot = self.sys.clock.now()?.boot();
        Ok(Place {
            log_id: recorded.counter().to_string(),
            boot_id: boot.map(|boot| boot.id.to_string()),
            sequences: self.style.enable_sequences,
            envelope: self.style.use_unified_envelope,
            complete: Extent::default(),
            durable: Extent::default(),
        })
    }

    /// The place that was noted, if it still holds.
    fn known(&self, fresh: &Place) -> Result<Option<Place>> {
        let Some(noted) = durable::read(&self.sys, &self.place, LENGTH * 2)?.and_then(|bytes| parse(&bytes))
        else {
            return Ok(None);
        };
        let same = noted.log_id == fresh.log_id
            && (noted.sequences, noted.envelope) == (fresh.sequences, fresh.envelope);
        let believed = if noted.boot_id == fresh.boot_id { noted.complete } else { noted.durable };
        Ok(same.then(|| Place { complete: believed, boot_id: fresh.boot_id.clone(), ..noted }))
    }

    /// Writes every record after `from`.
    fn append(&self, handle: &dyn Handle, from: Extent, recorded: &Recorded<'_>) -> Result<Extent> {
        let mut writer =
            Writer { handle, style: &self.style, reached: from, pending: Vec::new(), failed: None };
        let first = recorded.records.first().map(|record| record.sequence.get());
        if first == Some(from.sequence + 1) {
            recorded.records.iter().for_each(|record| writer.add(record));
        } else {
            recorded.replay(&mut |record| writer.add(record))?;
        }
        writer.finish()
    }

    /// Notes how far the event log is complete.
    fn note(&self, place: &Place) -> Result<()> {
        let body = json::text(place);
        let mut text = format!("{body} {}", digest(&body)).into_bytes();
        text.resize(LENGTH.max(text.len() + 1), b' ');
        if let Some(end) = text.last_mut() {
            *end = b'\n';
        }
        let file = self.sys.files.open(&self.place, Open::Create { mode: self.mode })?;
        Ok(file.write_all_at(&text, 0)?)
    }
}

/// The counter of the log that the event log of a control plane was written from, if that is noted.
pub(super) fn counter(sys: &Sys, control: &Path) -> Option<CounterId> {
    let noted = durable::read(sys, &control.join("events/control.place"), LENGTH * 2);
    parse(&noted.ok()??)?.log_id.parse().ok()
}

/// Reads a place, unless it is half-written.
fn parse(bytes: &[u8]) -> Option<Place> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end();
    let (body, hash) = text.rsplit_once(' ')?;
    if digest(body) != hash {
        return None;
    }
    serde_json::from_str(body).ok()
}

fn digest(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex().chars().take(32).collect()
}

/// Gathers lines and writes them in large pieces.
struct Writer<'a> {
    handle: &'a dyn Handle,
    style: &'a keys::Events,
    reached: Extent,
    pending: Vec<u8>,
    failed: Option<holdfast_sys::Error>,
}

impl Writer<'_> {
    fn add(&mut self, record: &Record) {
        if record.sequence.get() <= self.reached.sequence || self.failed.is_some() {
            return;
        }
        self.pending.extend(events::line(record, self.style));
        self.reached.sequence = record.sequence.get();
        if self.pending.len() >= CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        match self.handle.write_all_at(&self.pending, self.reached.length) {
            Ok(()) => self.reached.length += self.pending.len() as u64,
            Err(error) => self.failed = Some(error),
        }
        self.pending.clear();
    }

    fn finish(mut self) -> Result<Extent> {
        if !self.pending.is_empty() {
            self.flush();
        }
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(self.reached),
        }
    }
}
