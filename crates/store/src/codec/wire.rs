//! A lease as JSON: the part that every JSON format of one shares. These types are what stands in files;
//! the rules never see them.

use std::collections::BTreeMap;
use std::fmt::Display;

use holdfast_kernel::{
    Boot, BootId, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Stamp, Tags, Term, Text,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Codec, Stored, Unreadable};
use crate::CounterId;

/// The version of the formats that are written and read.
pub(crate) const FORMAT: u64 = 1;

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeaseWire {
    id: String,
    resource: String,
    agent: String,
    place: String,
    mode: ModeWire,
    fence: u64,
    granted: StampWire,
    term: TermWire,
    skew_ms: u64,
    grace_ms: u64,
    reason: Option<String>,
    tags: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeWire {
    Exclusive,
    Shared,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum TermWire {
    Finite { ttl_ms: u64, from: StampWire },
    Indefinite { stale_after_ms: u64, beat: StampWire },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StampWire {
    wall_ms: u64,
    boot: Option<BootWire>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BootWire {
    id: String,
    ms: u64,
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

impl LeaseWire {
    pub(crate) fn of(lease: &Lease) -> Self {
        Self {
            id: lease.id.to_string(),
            resource: lease.resource.to_string(),
            agent: lease.holder.agent.to_string(),
            place: lease.holder.place.to_string(),
            mode: match lease.mode {
                Mode::Exclusive => ModeWire::Exclusive,
                Mode::Shared => ModeWire::Shared,
            },
            fence: lease.fence.get(),
            granted: StampWire::of(&lease.granted),
            term: TermWire::of(&lease.term),
            skew_ms: lease.skew.get(),
            grace_ms: lease.grace.get(),
            reason: lease.reason.as_ref().map(ToString::to_string),
            tags: lease.tags.iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect(),
        }
    }

    fn lease(&self) -> Result<Lease, String> {
        Ok(Lease {
            id: self.id.parse::<LeaseId>().map_err(in_field("id"))?,
            resource: Name::new(&self.resource).map_err(in_field("resource"))?,
            holder: Holder {
                agent: Name::new(&self.agent).map_err(in_field("agent"))?,
                place: Name::new(&self.place).map_err(in_field("place"))?,
            },
            mode: match self.mode {
                ModeWire::Exclusive => Mode::Exclusive,
                ModeWire::Shared => Mode::Shared,
            },
            fence: Fence::new(self.fence).map_err(in_field("fence"))?,
            granted: self.granted.stamp().map_err(in_field("granted"))?,
            term: self.term.term()?,
            skew: Millis::new(self.skew_ms),
            grace: Millis::new(self.grace_ms),
            reason: self.reason.as_deref().map(Text::new).transpose().map_err(in_field("reason"))?,
            tags: self.tags()?,
        })
    }

    fn tags(&self) -> Result<Tags, String> {
        self.tags.iter().try_fold(Tags::none(), |tags, (key, value)| {
            let value = Text::new(value).map_err(in_field("tags"))?;
            tags.with(key, value).map_err(in_field("tags"))
        })
    }
}

impl TermWire {
    fn of(term: &Term) -> Self {
        match term {
            Term::Finite { ttl, from } => Self::Finite { ttl_ms: ttl.get(), from: StampWire::of(from) },
            Term::Indefinite { beat, stale_after } => {
                Self::Indefinite { stale_after_ms: stale_after.get(), beat: StampWire::of(beat) }
            }
        }
    }

    fn term(&self) -> Result<Term, String> {
        Ok(match self {
            Self::Finite { ttl_ms, from } => {
                Term::Finite { ttl: Millis::new(*ttl_ms), from: from.stamp().map_err(in_field("from"))? }
            }
            Self::Indefinite { stale_after_ms, beat } => Term::Indefinite {
                stale_after: Millis::new(*stale_after_ms),
                beat: beat.stamp().map_err(in_field("beat"))?,
            },
        })
    }
}

impl StampWire {
    fn of(stamp: &Stamp) -> Self {
        let boot = stamp.boot().map(|boot| BootWire { id: boot.id.to_string(), ms: boot.ms });
        Self { wall_ms: stamp.wall_ms(), boot }
    }

    fn stamp(&self) -> Result<Stamp, String> {
        let wall = i64::try_from(self.wall_ms).map_err(in_field("wall_ms"))?;
        let boot = self.boot.as_ref().map(BootWire::boot).transpose()?;
        Stamp::new(wall, boot).map_err(|error| error.to_string())
    }
}

impl BootWire {
    fn boot(&self) -> Result<Boot, String> {
        let bits = u128::from_str_radix(&self.id, 16).map_err(in_field("boot"))?;
        Ok(Boot { id: BootId::new(bits), ms: self.ms })
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
