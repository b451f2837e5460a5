//! A state as one line of text, for the media of this crate. No name holds a tab or a line break, so these
//! separate; a sum at the end tells a whole line from a torn one.

use std::fmt::Write as _;

use holdfast_kernel::{
    Boot, BootId, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Stamp, Table, Tags, Term, Text,
};

use crate::mix::Mix;
use crate::scaffold::State;

/// The line for a state, with its end.
pub(crate) fn line(state: &State) -> Vec<u8> {
    let mut text = state.next.get().to_string();
    for lease in state.table.iter() {
        write_lease(&mut text, lease);
    }
    let sum = sum(&text);
    let _ = writeln!(text, "\t{sum:016x}");
    text.into_bytes()
}

/// The state of a line, if the line is whole.
pub(crate) fn state(line: &[u8]) -> Option<State> {
    let text = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (text, told) = text.rsplit_once('\t')?;
    if u64::from_str_radix(told, 16).ok()? != sum(text) {
        return None;
    }
    let mut words = text.split('\t');
    let next = Fence::new(words.next()?.parse().ok()?).ok()?;
    let mut leases = Vec::new();
    while let Some(id) = words.next() {
        leases.push(read_lease(id, &mut words)?);
    }
    Some(State { table: Table::restore(leases).ok()?, next })
}

/// The state of the last whole line.
pub(crate) fn last(lines: &[u8]) -> Option<State> {
    lines.split_inclusive(|byte| *byte == b'\n').rev().find_map(state)
}

fn sum(text: &str) -> u64 {
    let mut mix = Mix::new();
    mix.bytes(text.as_bytes());
    mix.get()
}

fn write_lease(text: &mut String, lease: &Lease) {
    let (kind, span, sign) = match &lease.term {
        Term::Finite { ttl, from } => ("finite", *ttl, from),
        Term::Indefinite { beat, stale_after } => ("indefinite", *stale_after, beat),
    };
    let reason = lease.reason.as_ref().map_or("", Text::as_str);
    let mode = if lease.mode == Mode::Shared { "shared" } else { "exclusive" };
    let (granted, sign) = (stamp_words(&lease.granted), stamp_words(sign));
    let _ = write!(
        text,
        "\t{}\t{}\t{}\t{}\t{mode}\t{}\t{granted}\t{kind}\t{}\t{sign}\t{}\t{}\t{reason}\t{}",
        lease.id,
        lease.resource,
        lease.holder.agent,
        lease.holder.place,
        lease.fence,
        span.get(),
        lease.skew.get(),
        lease.grace.get(),
        lease.tags.iter().count(),
    );
    for (key, value) in lease.tags.iter() {
        let _ = write!(text, "\t{key}\t{value}");
    }
}

fn read_lease<'a>(id: &str, words: &mut impl Iterator<Item = &'a str>) -> Option<Lease> {
    let id: LeaseId = id.parse().ok()?;
    let resource = Name::new(words.next()?).ok()?.into();
    let holder = Holder { agent: Name::new(words.next()?).ok()?, place: Name::new(words.next()?).ok()? };
    let mode = if words.next()? == "shared" { Mode::Shared } else { Mode::Exclusive };
    let fence = Fence::new(words.next()?.parse().ok()?).ok()?;
    let granted = read_stamp(words.next()?)?;
    let kind = words.next()?;
    let span = Millis::new(words.next()?.parse().ok()?);
    let sign = read_stamp(words.next()?)?;
    let term = match kind {
        "finite" => Term::Finite { ttl: span, from: sign },
        _ => Term::Indefinite { beat: sign, stale_after: span },
    };
    let skew = Millis::new(words.next()?.parse().ok()?);
    let grace = Millis::new(words.next()?.parse().ok()?);
    let reason = Text::new(words.next()?).ok();
    let mut tags = Tags::none();
    for _ in 0..words.next()?.parse().ok()? {
        tags = tags.with(words.next()?, Text::new(words.next()?).ok()?).ok()?;
    }
    Some(Lease { id, resource, holder, mode, fence, granted, term, skew, grace, reason, tags })
}

fn stamp_words(stamp: &Stamp) -> String {
    match stamp.boot() {
        None => stamp.wall_ms().to_string(),
        Some(boot) => format!("{} {} {}", stamp.wall_ms(), boot.id.get(), boot.ms),
    }
}

fn read_stamp(text: &str) -> Option<Stamp> {
    let mut words = text.split(' ');
    let wall = words.next()?.parse().ok()?;
    let boot = match words.next() {
        None => None,
        Some(id) => Some(Boot { id: BootId::new(id.parse().ok()?), ms: words.next()?.parse().ok()? }),
    };
    Stamp::new(wall, boot).ok()
}
