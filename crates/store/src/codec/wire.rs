//! A lease as JSON: the part that every JSON format of one shares. These types are what stands in files;
//! the rules never see them.

use std::fmt::Display;

use holdfast_kernel::Lease;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Codec, Stored, Unreadable};
use crate::CounterId;
use crate::json::{Words, read, write};

/// The version of the formats that are written and read.
pub(crate) const FORMAT: u64 = 1;

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

/// A lease as it stands, in the form of all files of this crate.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct LeaseWire(Box<RawValue>);

impl LeaseWire {
    pub(crate) fn of(lease: &Lease) -> Self {
        let mut out = Vec::new();
        write::lease(&mut out, &Words::PLAIN, lease, None);
        // What was written is JSON in UTF-8.
        let json = String::from_utf8(out).unwrap_or_default();
        Self(RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    fn lease(&self) -> Result<Lease, String> {
        read::standing(self.0.get().as_bytes(), &Words::PLAIN)
    }
}

/// One line with this object.
pub(crate) fn line(object: &impl Serialize) -> Vec<u8> {
    // Writing numbers, texts and maps of texts to memory cannot fail.
    let mut bytes = serde_json::to_vec(object).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// The object that the bytes are, if they are of a known version.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    let Versioned { format } = serde_json::from_slice(bytes).map_err(damaged)?;
    if format > FORMAT {
        return Err(Unreadable::Newer(format));
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

/// What the parts of a parsed file say, if `codec` would have written them as these bytes. That catches
/// what a parser lets pass: doubled keys, other spellings of a number, fields that contradict each other.
pub(crate) fn stored(
    bytes: &[u8],
    counter: &str,
    lease: &LeaseWire,
    codec: &dyn Codec,
) -> Result<Stored, Unreadable> {
    let counter = counter.parse::<CounterId>().map_err(in_field("counter")).map_err(Unreadable::Damaged)?;
    let lease = lease.lease().map_err(Unreadable::Damaged)?;
    if codec.write(&lease, counter) != bytes {
        return Err(Unreadable::Damaged("it is not written the way this program writes it".into()));
    }
    Ok(Stored { lease, counter: Some(counter) })
}

fn in_field<E: Display>(field: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{field}: {error}")
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
            resource: Name::new("sprint/1").unwrap(),
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
