//! Events and leases from JSON. Every value passes through the kernel's types, so nothing that the rules
//! could not have produced gets into a table.

use std::borrow::Cow;

use holdfast_kernel::{
    Boot, BootId, Cause, Event, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Pattern, Resource, Stamp,
    Tags, Term, Text,
};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use super::fields::{Fields, Fill, Naming};
use super::moment;
use super::words::Words;
use super::write::{MOST_TOGETHER, NEWEST, PATTERN, VERSION, version_of};
use crate::hex;

/// What is wrong with an object, for a person.
pub(crate) type Problem = String;

/// One line of a log, its place in the chain aside.
pub(crate) struct Entry {
    /// Its number.
    pub(crate) sequence: Fence,
    /// The number of the first line of the append that it was part of.
    pub(crate) batch: Fence,
    /// What it says.
    pub(crate) event: Event,
}

/// Reads an event's line.
pub(crate) fn entry(line: &[u8], words: &Words) -> Result<Entry, Problem> {
    let mut fields = Fields::default();
    parse(line, &mut fields, Naming { words, standing: false })?;
    let version = version(fields.version)?;
    let sequence = fence(fields.sequence, "sequence")?;
    let batch = fields.batch.map_or(Ok(sequence), |batch| fence(Some(batch), "batch"))?;
    if batch > sequence {
        return Err("its batch begins after itself".into());
    }
    let op = required(fields.op.take(), "op")?;
    let event = event(&op, &mut fields, sequence)?;
    if version_of(&event, fields.together) != version {
        return Err(format!("what it says is not of format version {version}"));
    }
    // Whoever reads looks for the number there, before it reads the line.
    if fields.together != together(line) {
        return Err("`together` is not where it belongs".into());
    }
    Ok(Entry { sequence, batch, event })
}

/// How many lines count together from this one on, if it is the first of several.
pub(crate) fn together(line: &[u8]) -> Option<u64> {
    let rest = digits(line.strip_prefix(br#"{"schema_version":2,"sequence":"#)?)?.1;
    let (count, _) = digits(rest.strip_prefix(br#","together":"#)?)?;
    (2..=MOST_TOGETHER).contains(&count).then_some(count)
}

fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(end)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

/// The batch of a line that may be out of its place, if it is a line of a log at all.
pub(crate) fn batch(line: &[u8], words: &Words) -> Option<u64> {
    let mut fields = Fields::default();
    parse(line, &mut fields, Naming { words, standing: false }).ok()?;
    fields.batch.or(fields.sequence)
}

fn parse<'a>(json: &'a [u8], fields: &mut Fields<'a>, naming: Naming<'_>) -> Result<(), Problem> {
    filled(std::str::from_utf8(json).map_err(|error| error.to_string())?, Fill { fields, naming })
}

/// What fills itself from the whole of a text.
fn filled<'a, S: DeserializeSeed<'a>>(json: &'a str, seed: S) -> Result<S::Value, Problem> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = seed.deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

pub(crate) fn version(version: Option<u64>) -> Result<u64, Problem> {
    match required(version, "schema_version")? {
        known @ VERSION..=NEWEST => Ok(known),
        other => Err(format!("its format version is {other}, not {VERSION} to {NEWEST}")),
    }
}

fn event(op: &str, fields: &mut Fields<'_>, sequence: Fence) -> Result<Event, Problem> {
    match op {
        "acquire" => Ok(Event::Granted { lease: granted(fields, sequence)? }),
        "transfer" => {
            let from = lease_id(fields.from_lease.take(), "from_lease_id")?;
            let why = words_of(fields.transfer_reason.take(), "transfer_reason")?;
            Ok(Event::Transferred { from, lease: granted(fields, sequence)?, why })
        }
        _ => {
            let lease = lease_id(fields.lease.take(), "lease_id")?;
            let at = stamp(fields.at.take(), fields.boot.take(), fields.boot_ms)?;
            later(op, fields, lease, at)
        }
    }
}

/// An event of a lease that was granted by an earlier one.
fn later(op: &str, fields: &mut Fields<'_>, lease: LeaseId, at: Stamp) -> Result<Event, Problem> {
    match op {
        "renew" => {
            let ttl = required(fields.ttl, "ttl_secs")?;
            expires(fields.expires.as_deref(), Some(at.plus(ttl)))?;
            Ok(Event::Renewed { lease, ttl, at })
        }
        "heartbeat" => Ok(Event::Beaten { lease, at }),
        "release" => Ok(Event::Released { lease, at }),
        "auto-evict" => match fields.reason.as_deref() {
            Some("expired") => Ok(Event::Evicted { lease, at, cause: Cause::Expired }),
            Some("dead") => Ok(Event::Evicted { lease, at, cause: Cause::Dead }),
            _ => Err("`reason` is neither `expired` nor `dead`".into()),
        },
        "force-evict" => {
            let by = Holder {
                agent: name(fields.by.take(), "by")?,
                place: name(fields.by_place.take(), "the evictor's place")?,
            };
            let reason = words_of(fields.reason.take(), "reason")?;
            Ok(Event::Evicted { lease, at, cause: Cause::Forced { by, reason } })
        }
        unknown => Err(format!("`{}` is no operation", unknown.escape_debug())),
    }
}

/// The lease that a grant's line describes.
fn granted(fields: &mut Fields<'_>, fence: Fence) -> Result<Lease, Problem> {
    let granted = stamp(fields.at.take(), fields.boot.take(), fields.boot_ms)?;
    let deadline = fields.expires.take();
    let lease = terms(fields, fence, granted, granted)?;
    expires(deadline.as_deref(), lease.deadline())?;
    Ok(lease)
}

/// The lease that an object describes as it stands.
pub(crate) fn standing(json: &[u8], words: &Words) -> Result<Lease, Problem> {
    let mut fields = Fields::default();
    parse(json, &mut fields, Naming { words, standing: true })?;
    kept(fields)
}

/// The leases that an array describes, each as it stands.
pub(crate) fn all_standing(json: &str, words: &Words) -> Result<Vec<Lease>, Problem> {
    filled(json, AllStanding(words))
}

struct AllStanding<'w>(&'w Words);

impl<'de> DeserializeSeed<'de> for AllStanding<'_> {
    type Value = Vec<Lease>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Lease>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AllStanding<'_> {
    type Value = Vec<Lease>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of leases")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Vec<Lease>, A::Error> {
        let naming = Naming { words: self.0, standing: true };
        let mut leases = Vec::new();
        loop {
            let mut fields = Fields::default();
            if array.next_element_seed(Fill { fields: &mut fields, naming })?.is_none() {
                return Ok(leases);
            }
            leases.push(kept(fields).map_err(A::Error::custom)?);
        }
    }
}

/// A lease as it stands, in the kernel's own words, as a part of another object.
pub(crate) struct Standing<'a>(Fields<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Standing<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::default();
        let naming = Naming { words: &Words::PLAIN, standing: true };
        Fill { fields: &mut fields, naming }.deserialize(deserializer)?;
        Ok(Self(fields))
    }
}

impl Standing<'_> {
    /// The lease that it describes.
    pub(crate) fn lease(self) -> Result<Lease, Problem> {
        kept(self.0)
    }
}

fn kept(mut fields: Fields<'_>) -> Result<Lease, Problem> {
    let is_renewed =
        (&fields.last, &fields.last_boot, fields.last_boot_ms) != (&fields.at, &fields.boot, fields.boot_ms);
    let granted = stamp(fields.at.take(), fields.boot.take(), fields.boot_ms)?;
    let last = match is_renewed {
        true => stamp(fields.last.take(), fields.last_boot.take(), fields.last_boot_ms)?,
        false => granted,
    };
    let deadline = fields.expires.take();
    let fence = fence(fields.fence, "fence")?;
    let lease = terms(&mut fields, fence, granted, last)?;
    expires(deadline.as_deref(), lease.deadline())?;
    Ok(lease)
}

fn terms(fields: &mut Fields<'_>, fence: Fence, granted: Stamp, last: Stamp) -> Result<Lease, Problem> {
    let term = match (required(fields.ttl, "ttl_secs")?, fields.stale_after) {
        (Millis::ZERO, Some(stale_after)) => Term::Indefinite { beat: last, stale_after },
        (Millis::ZERO, None) => return Err("a lease without end has no `stale_secs`".into()),
        (ttl, None) => Term::Finite { ttl, from: last },
        (_, Some(_)) => return Err("a lease with an end has `stale_secs`".into()),
    };
    let mode = match fields.mode.as_deref() {
        None => Mode::Exclusive,
        Some("shared") => Mode::Shared,
        Some(_) => return Err("`mode` is not `shared`".into()),
    };
    Ok(Lease {
        id: lease_id(fields.lease.take(), "lease_id")?,
        resource: resource(fields)?,
        holder: Holder {
            agent: name(fields.agent.take(), "the agent")?,
            place: name(fields.place.take(), "the place")?,
        },
        mode,
        fence,
        granted,
        term,
        skew: fields.skew.unwrap_or_default(),
        grace: fields.grace.unwrap_or_default(),
        reason: fields.reason.take().map(|reason| words_of(Some(reason), "reason")).transpose()?,
        tags: tags(&fields.tags)?,
    })
}

fn resource(fields: &mut Fields<'_>) -> Result<Resource, Problem> {
    match (fields.resource.take(), fields.pattern.take()) {
        (named, None) => Ok(name(named, "the resource")?.into()),
        (None, Some(pattern)) => {
            let pattern =
                Pattern::new(&pattern).map_err(|error| format!("`{PATTERN}` cannot be used: {error}"))?;
            Ok(pattern.into())
        }
        (Some(_), Some(_)) => Err(format!("it is on a name and on a `{PATTERN}`")),
    }
}

fn tags(fields: &[(Cow<'_, str>, Cow<'_, str>)]) -> Result<Tags, Problem> {
    fields.iter().try_fold(Tags::none(), |tags, (key, value)| {
        let value = Text::new(value).map_err(|error| format!("a tag cannot be used: {error}"))?;
        tags.with(key, value).map_err(|error| error.to_string())
    })
}

fn required<T>(field: Option<T>, key: &str) -> Result<T, Problem> {
    field.ok_or_else(|| format!("`{key}` is missing"))
}

fn fence(number: Option<u64>, key: &str) -> Result<Fence, Problem> {
    Fence::new(required(number, key)?).map_err(|error| format!("`{key}`: {error}"))
}

fn lease_id(text: Option<Cow<'_, str>>, key: &str) -> Result<LeaseId, Problem> {
    required(text, key)?.parse().map_err(|error| format!("`{key}`: {error}"))
}

fn name(text: Option<Cow<'_, str>>, key: &str) -> Result<Name, Problem> {
    Name::new(&required(text, key)?).map_err(|error| format!("{key} cannot be used: {error}"))
}

fn words_of(text: Option<Cow<'_, str>>, key: &str) -> Result<Text, Problem> {
    Text::new(&required(text, key)?).map_err(|error| format!("`{key}` cannot be used: {error}"))
}

fn stamp(
    date: Option<Cow<'_, str>>,
    boot: Option<Cow<'_, str>>,
    boot_ms: Option<u64>,
) -> Result<Stamp, Problem> {
    let wall = moment::read(required(date, "its time")?.as_bytes()).ok_or("its time is no date")?;
    let boot = match (boot, boot_ms) {
        (None, None) => None,
        (Some(id), Some(ms)) => Some(Boot { id: boot_id(&id)?, ms }),
        _ => return Err("one of `boot_id` and `boot_ms` is missing".into()),
    };
    Stamp::new(wall.cast_signed(), boot).map_err(|error| error.to_string())
}

fn boot_id(text: &str) -> Result<BootId, Problem> {
    hex::number(text.as_bytes()).map(BootId::new).ok_or_else(|| "`boot_id` is not 32 hex digits".into())
}

/// The deadline is written for people; it must be the one that follows from the rest.
fn expires(written: Option<&str>, deadline: Option<Stamp>) -> Result<(), Problem> {
    let written = written.map(|text| moment::read(text.as_bytes()).ok_or("`expires_at` is no date"));
    if written.transpose()? == deadline.map(|deadline| deadline.wall_ms()) {
        Ok(())
    } else {
        Err("`expires_at` does not follow from the rest".into())
    }
}
