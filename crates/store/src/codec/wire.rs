//! A lease as JSON: the part that every JSON format of one shares. These types are what stands in files;
//! the rules never see them.

use std::borrow::Cow;

use holdfast_kernel::Lease;
use serde::Deserialize;

use super::{Codec, Stored, Unreadable};
use crate::CounterId;
use crate::json::Words;
use crate::json::read::Standing;
use crate::json::write::{self, Object};

/// The version of the formats that are written and read.
pub(crate) const FORMAT: u64 = 1;

/// More bytes than nearly every lease needs, so that writing one asks for memory once.
const TYPICAL: usize = 1_024;

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    counter: Cow<'a, str>,
    #[serde(borrow)]
    lease: Standing<'a>,
}

/// One line with an object that has the format's version, whatever `fields` adds, and the lease as it stands.
pub(crate) fn line(lease: &Lease, fields: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(TYPICAL);
    let mut object = Object::open(&mut out);
    object.number("format", FORMAT);
    fields(&mut object);
    write::lease(object.key("lease"), &Words::PLAIN, lease, None);
    object.close();
    out.push(b'\n');
    out
}

/// What the bytes say, if `codec` would have written just them. That catches what a parser lets pass: unknown
/// and doubled keys, other spellings of a number, fields that contradict each other.
pub(crate) fn stored(bytes: &[u8], codec: &dyn Codec) -> Result<Stored, Unreadable> {
    let (lease, counter) = parts(bytes).map_err(|what| unreadable(bytes, what))?;
    if codec.write(&lease, counter) != bytes {
        return Err(unreadable(bytes, "it is not written the way this program writes it".into()));
    }
    Ok(Stored { lease, counter: Some(counter) })
}

/// What a line is believed for; everything else in it follows from that.
fn parts(bytes: &[u8]) -> Result<(Lease, CounterId), String> {
    let Parts { counter, lease } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let counter = counter.parse().map_err(|error| format!("counter: {error}"))?;
    Ok((lease.lease()?, counter))
}

/// Why these bytes cannot be read: what is wrong with them, unless they are of a later version.
fn unreadable(bytes: &[u8], what: String) -> Unreadable {
    match serde_json::from_slice(bytes) {
        Ok(Versioned { format }) if format > FORMAT => Unreadable::Newer(format),
        _ => Unreadable::Damaged(what),
    }
}

/// Leases of every shape, for the tests of formats.
#[cfg(test)]
pub(crate) mod samples {
    use holdfast_kernel::{
        Boot, BootId, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Stamp, Tags, Term, Text,
    };

    use crate::CounterId;

    pub(crate) fn counter() -> CounterId {
        CounterId::new(LeaseId::new(u128::MAX))
    }

    fn text(text: &str) -> Text {
        Text::new(text).unwrap()
    }

    fn finite() -> Lease {
        let granted = Stamp::new(1_700_000_000_000, Some(Boot { id: BootId::new(0xb007), ms: 5 })).unwrap();
        let process = [("boot", "b007"), ("host", "box"), ("namespace", "3"), ("pid", "1"), ("start", "9")];
        let tags = |tags: Tags, (key, value)| tags.with(key, text(value)).unwrap();
        Lease {
            id: LeaseId::new(1),
            resource: Name::new("sprint/1").unwrap().into(),
            holder: Holder { agent: Name::new("jvs:a").unwrap(), place: Name::new("här \"\\").unwrap() },
            mode: Mode::Exclusive,
            fence: Fence::new(7).unwrap(),
            granted,
            term: Term::Finite { ttl: Millis::new(30_000), from: granted.plus(Millis::new(10)) },
            skew: Millis::new(2_000),
            grace: Millis::new(1_000),
            reason: None,
            tags: process.into_iter().fold(Tags::none(), tags),
        }
    }

    pub(crate) fn leases() -> Vec<Lease> {
        let without_boot = Stamp::new(0, None).unwrap();
        let indefinite = Lease {
            mode: Mode::Shared,
            fence: Fence::LAST,
            granted: without_boot,
            term: Term::Indefinite { beat: without_boot, stale_after: Millis::LONGEST },
            reason: Some(text("a long story")),
            tags: Tags::none(),
            ..finite()
        };
        let crowded = (0..16).fold(Tags::none(), |tags, n| {
            tags.with(&format!("{n}{}", "\"".repeat(250)), text(&"\\".repeat(1_024))).unwrap()
        });
        vec![finite(), indefinite, Lease { tags: crowded, ..finite() }]
    }
}
