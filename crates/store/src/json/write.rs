//! Events and leases as JSON. Fields are written in a fixed order, so the same event gives the same bytes.

use std::io::Write;

use holdfast_kernel::{
    Cause, Event, Fence, Holder, Lease, LeaseId, Millis, Mode, Resource, Stamp, Standing, Table, Term,
};

use super::moment;
use super::words::Words;
use crate::hex;

/// The version of what can be said with names alone.
pub(crate) const VERSION: u64 = 1;

/// The version of what speaks of patterns, or of lines that count only together: a program that knows neither must not
/// take it for damage, nor believe a part of what was cut off.
pub(crate) const NEWEST: u64 = 2;

/// What a pattern stands under, in the place of the door's word for a resource.
pub(crate) const PATTERN: &str = "pattern";

/// What says how many lines, from this one on, count only if all of them are there.
pub(crate) const TOGETHER: &str = "together";

/// The most lines that can count together.
pub(crate) const MOST_TOGETHER: u64 = 1 << 16;

/// Where a line stands in its log.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    /// Its number.
    pub(crate) sequence: Fence,
    /// The number of the first line of the append that it is part of.
    pub(crate) batch: Fence,
    /// How many lines count together, on the first one of them.
    pub(crate) together: Option<u64>,
}

/// The version of an event's line.
pub(crate) const fn version_of(event: &Event, together: Option<u64>) -> u64 {
    match event {
        _ if together.is_some() => NEWEST,
        Event::Granted { lease } | Event::Transferred { lease, .. } if lease.resource.pattern().is_some() => {
            NEWEST
        }
        _ => VERSION,
    }
}

/// The version of an object with all leases of a table.
pub(crate) fn version_of_all(table: &Table) -> u64 {
    let patterns = table.iter().any(|lease| lease.resource.pattern().is_some());
    if patterns { NEWEST } else { VERSION }
}

/// An object that is being written; it is left open for whoever closes it.
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    pub(crate) fn close(self) {
        self.out.push(b'}');
    }

    /// Writes a field's key and gives the place where its value goes.
    pub(crate) fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        debug_assert!(is_plain(key), "a name that is written down in the program needs no escaping");
        self.next();
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    fn next(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }

    /// A field that somebody else has named.
    fn named(&mut self, key: &str, value: &str) {
        self.next();
        string(self.out, key);
        self.out.push(b':');
        string(self.out, value);
    }

    pub(crate) fn text(&mut self, key: &'static str, value: &str) {
        string(self.key(key), value);
    }

    fn id(&mut self, key: &'static str, id: LeaseId) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(&id.digits());
        out.push(b'"');
    }

    /// A value whose text needs no escaping: an identity, a hash.
    pub(crate) fn plain(&mut self, key: &'static str, value: &impl std::fmt::Display) {
        push(self.key(key), format_args!("\"{value}\""));
    }

    pub(crate) fn number(&mut self, key: &'static str, value: u64) {
        decimal(self.key(key), value);
    }

    pub(crate) fn null(&mut self, key: &'static str) {
        self.key(key).extend_from_slice(b"null");
    }

    pub(crate) fn text_or_null(&mut self, key: &'static str, value: Option<&str>) {
        match value {
            Some(value) => self.text(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn number_or_null(&mut self, key: &'static str, value: Option<u64>) {
        match value {
            Some(value) => self.number(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn date(&mut self, key: &'static str, at: &Stamp) {
        let out = self.key(key);
        out.push(b'"');
        moment::write(out, at.wall_ms());
        out.push(b'"');
    }

    /// A span in seconds, with a fraction where it is not a whole number of them.
    pub(crate) fn span(&mut self, key: &'static str, span: Millis) {
        let (secs, ms) = (span.get() / 1_000, span.get() % 1_000);
        let out = self.key(key);
        decimal(out, secs);
        if ms > 0 {
            push(out, format_args!(".{ms:03}"));
        }
    }

    fn boot(&mut self, keys: (&'static str, &'static str), at: &Stamp) {
        if let Some(boot) = at.boot() {
            let out = self.key(keys.0);
            out.push(b'"');
            out.extend_from_slice(&hex::digits(boot.id.get()));
            out.push(b'"');
            self.number(keys.1, boot.ms);
        }
    }
}

fn push(out: &mut Vec<u8>, value: std::fmt::Arguments<'_>) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(value);
}

/// An index has ten numbers for each lease, and what formats for people takes ten times as long.
fn decimal(out: &mut Vec<u8>, value: u64) {
    let (mut text, mut rest) = ([b'0'; 20], value);
    let mut from = text.len();
    for (at, digit) in text.iter_mut().enumerate().rev() {
        (*digit, rest, from) = (b'0' + u8::try_from(rest % 10).unwrap_or(0), rest / 10, at);
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// Whether a text stands in a string as it is. All bytes are looked at, which can be done many at a time.
fn is_plain(text: &str) -> bool {
    let escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    !text.bytes().fold(false, |any, byte| any | escaped(byte))
}

fn string(out: &mut Vec<u8>, value: &str) {
    if is_plain(value) {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    } else {
        // Writing a string to memory cannot fail.
        let _ = serde_json::to_writer(out, value);
    }
}

/// Writes the body of an event's line: an object that is not closed, because the chain's hash follows.
pub(crate) fn event(out: &mut Vec<u8>, words: &Words, event: &Event, spot: &Spot) {
    let mut line = Object::open(out);
    line.number("schema_version", version_of(event, spot.together));
    line.number("sequence", spot.sequence.get());
    if spot.batch != spot.sequence {
        line.number("batch", spot.batch.get());
    }
    if let Some(together) = spot.together {
        line.number(TOGETHER, together);
    }
    line.text("op", op(event));
    match event {
        Event::Granted { lease: granted } => grant(&mut line, words, granted),
        Event::Transferred { from, lease, why } => {
            line.id("from_lease_id", *from);
            grant(&mut line, words, lease);
            line.text("transfer_reason", why.as_str());
        }
        Event::Renewed { lease, ttl, at } => {
            line.id("lease_id", *lease);
            line.span("ttl_secs", *ttl);
            line.date("renewed_at", at);
            line.date("expires_at", &at.plus(*ttl));
            line.boot(BOOT, at);
        }
        Event::Beaten { lease, at } => {
            line.id("lease_id", *lease);
            line.date("at", at);
            line.boot(BOOT, at);
        }
        Event::Released { lease, at } => {
            line.id("lease_id", *lease);
            line.date("released_at", at);
            line.boot(BOOT, at);
        }
        Event::Evicted { lease, at, cause } => {
            line.id("lease_id", *lease);
            line.date("evicted_at", at);
            line.boot(BOOT, at);
            evicted(&mut line, words, cause);
        }
    }
}

const BOOT: (&str, &str) = ("boot_id", "boot_ms");
const LAST_BOOT: (&str, &str) = ("last_boot_id", "last_boot_ms");

const fn op(event: &Event) -> &'static str {
    match event {
        Event::Granted { .. } => "acquire",
        Event::Renewed { .. } => "renew",
        Event::Beaten { .. } => "heartbeat",
        Event::Released { .. } => "release",
        Event::Transferred { .. } => "transfer",
        Event::Evicted { cause: Cause::Forced { .. }, .. } => "force-evict",
        Event::Evicted { .. } => "auto-evict",
    }
}

fn evicted(line: &mut Object<'_>, words: &Words, cause: &Cause) {
    match cause {
        Cause::Expired => line.text("reason", "expired"),
        Cause::Dead => line.text("reason", "dead"),
        Cause::Forced { by, reason } => {
            line.text("by", by.agent.as_str());
            line.named(&format!("by_{}", words.place), by.place.as_str());
            line.text("reason", reason.as_str());
        }
    }
}

fn holder(line: &mut Object<'_>, words: &Words, holder: &Holder) {
    line.text(words.agent, holder.agent.as_str());
    line.text(words.place, holder.place.as_str());
}

/// The fields of a lease that do not change while it is held.
fn terms(line: &mut Object<'_>, words: &Words, lease: &Lease) {
    line.id("lease_id", lease.id);
    match &lease.resource {
        Resource::Name(name) => line.text(words.resource, name.as_str()),
        Resource::Pattern(pattern) => line.text(PATTERN, pattern.as_str()),
    }
    holder(line, words, &lease.holder);
    for (key, value) in lease.tags.iter().filter(|(key, _)| words.tags.contains(key)) {
        line.named(key, value.as_str());
    }
    if lease.tags.iter().any(|(key, _)| !words.tags.contains(&key)) {
        let mut tags = Object::open(line.key("tags"));
        for (key, value) in lease.tags.iter().filter(|(key, _)| !words.tags.contains(key)) {
            tags.named(key, value.as_str());
        }
        tags.close();
    }
    if lease.mode == Mode::Shared {
        line.text("mode", "shared");
    }
    if let Some(reason) = &lease.reason {
        line.text("reason", reason.as_str());
    }
    for (key, span) in [("skew_secs", lease.skew), ("grace_secs", lease.grace)] {
        if span != Millis::ZERO {
            line.span(key, span);
        }
    }
    match lease.term {
        Term::Finite { ttl, .. } => line.span("ttl_secs", ttl),
        Term::Indefinite { stale_after, .. } => {
            line.number("ttl_secs", 0);
            line.span("stale_secs", stale_after);
        }
    }
}

/// The fields of a lease at the moment of its grant.
fn grant(line: &mut Object<'_>, words: &Words, lease: &Lease) {
    terms(line, words, lease);
    line.date("acquired_at", &lease.granted);
    if let Some(deadline) = lease.deadline() {
        line.date("expires_at", &deadline);
    }
    line.boot(BOOT, &lease.granted);
}

/// Writes a lease as it stands. Whether it is stale depends on the moment, so only who names one is told.
pub(crate) fn lease(out: &mut Vec<u8>, words: &Words, lease: &Lease, now: Option<&Stamp>) {
    let mut line = Object::open(out);
    terms(&mut line, words, lease);
    line.number("fence", lease.fence.get());
    line.date("acquired_at", &lease.granted);
    line.boot(BOOT, &lease.granted);
    let last = lease.last_sign();
    match lease.deadline() {
        Some(deadline) => {
            line.date("renewed_at", last);
            line.date("expires_at", &deadline);
        }
        None => {
            line.date("last_beat", last);
            line.null("expires_at");
        }
    }
    line.boot(LAST_BOOT, last);
    if let Some(now) = now {
        let stale = matches!(lease.standing(now), Standing::Stale { .. });
        line.key("stale").extend_from_slice(if stale { b"true" } else { b"false" });
    }
    line.close();
}

#[cfg(test)]
mod tests {
    use super::{decimal, string};

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_as_everybody_else_does() {
        let powers = (0..20).map(|power| 10_u64.pow(power)).flat_map(|power| [power - 1, power, power + 1]);
        for number in powers.chain([42, u64::MAX - 1, u64::MAX]) {
            assert_eq!(written(|out| decimal(out, number)), number.to_string());
        }
    }

    #[test]
    fn each_byte_that_needs_it_is_escaped_wherever_it_stands() {
        for odd in ('\0'..='\u{7f}').chain(['é', '\u{2028}', '😀']) {
            for text in [format!("{odd}plain"), format!("pl{odd}ain"), format!("plain{odd}")] {
                let out = written(|out| string(out, &text));
                assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text, "{out}");
            }
        }
    }
}
