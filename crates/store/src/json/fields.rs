//! The fields of one JSON object of a log or an index, borrowed from its bytes. What is unknown, doubled
//! or of the wrong type is an error: a reader that guesses would hand out somebody's lease twice.

use std::borrow::Cow;
use std::fmt;

use holdfast_kernel::Millis;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::words::Words;
use super::write::{PATTERN, TOGETHER};

/// A string, borrowed where it needs no unescaping.
#[derive(Deserialize)]
struct Str<'a>(#[serde(borrow)] Cow<'a, str>);

/// A span that is written in seconds.
struct Secs(Millis);

impl<'de> Deserialize<'de> for Secs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecsVisitor)
    }
}

struct SecsVisitor;

impl Visitor<'_> for SecsVisitor {
    type Value = Secs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds")
    }

    fn visit_u64<E: Error>(self, secs: u64) -> Result<Secs, E> {
        let ms = secs.checked_mul(1_000).ok_or_else(|| E::custom("too many seconds"))?;
        Ok(Secs(Millis::new(ms)))
    }

    fn visit_f64<E: Error>(self, secs: f64) -> Result<Secs, E> {
        let ms = (secs * 1_000.0).round();
        if !(0.0..9.0e15).contains(&ms) {
            return Err(E::custom("no number of seconds that a span can have"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked above"
        )]
        Ok(Secs(Millis::new(ms as u64)))
    }
}

/// All fields that an object may have. Which of them it must have is up to its kind.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    pub(crate) version: Option<u64>,
    pub(crate) sequence: Option<u64>,
    pub(crate) batch: Option<u64>,
    pub(crate) together: Option<u64>,
    pub(crate) op: Option<Cow<'a, str>>,
    pub(crate) lease: Option<Cow<'a, str>>,
    pub(crate) from_lease: Option<Cow<'a, str>>,
    pub(crate) resource: Option<Cow<'a, str>>,
    pub(crate) pattern: Option<Cow<'a, str>>,
    pub(crate) agent: Option<Cow<'a, str>>,
    pub(crate) place: Option<Cow<'a, str>>,
    pub(crate) tags: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) mode: Option<Cow<'a, str>>,
    pub(crate) reason: Option<Cow<'a, str>>,
    pub(crate) transfer_reason: Option<Cow<'a, str>>,
    pub(crate) by: Option<Cow<'a, str>>,
    pub(crate) by_place: Option<Cow<'a, str>>,
    pub(crate) ttl: Option<Millis>,
    pub(crate) skew: Option<Millis>,
    pub(crate) grace: Option<Millis>,
    pub(crate) stale_after: Option<Millis>,
    pub(crate) fence: Option<u64>,
    /// When it happened, whatever the kind of event calls that.
    pub(crate) at: Option<Cow<'a, str>>,
    /// The last renewal or beat of a lease that is kept as it stands.
    pub(crate) last: Option<Cow<'a, str>>,
    pub(crate) expires: Option<Cow<'a, str>>,
    pub(crate) boot: Option<Cow<'a, str>>,
    pub(crate) boot_ms: Option<u64>,
    pub(crate) last_boot: Option<Cow<'a, str>>,
    pub(crate) last_boot_ms: Option<u64>,
}

/// How an object's fields are called.
#[derive(Clone, Copy)]
pub(crate) struct Naming<'w> {
    pub(crate) words: &'w Words,
    /// Whether it is a lease as it stands: there, `renewed_at` is no event's time.
    pub(crate) standing: bool,
}

/// Fills in the fields of an object. They are filled in place, because there are many and a rebuild reads
/// a million objects.
pub(crate) struct Fill<'f, 'a, 'w> {
    pub(crate) fields: &'f mut Fields<'a>,
    pub(crate) naming: Naming<'w>,
}

impl<'de> DeserializeSeed<'de> for Fill<'_, 'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_, 'de, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Str(key)) = map.next_key()? {
            self.naming.field(self.fields, key, &mut map)?;
        }
        Ok(())
    }
}

impl Naming<'_> {
    fn field<'de, A: MapAccess<'de>>(
        self,
        fields: &mut Fields<'de>,
        key: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match &*key {
            "schema_version" => once(&mut fields.version, &key, map),
            "sequence" => once(&mut fields.sequence, &key, map),
            "batch" => once(&mut fields.batch, &key, map),
            TOGETHER => once(&mut fields.together, &key, map),
            "op" => text(&mut fields.op, &key, map),
            "lease_id" => text(&mut fields.lease, &key, map),
            "from_lease_id" => text(&mut fields.from_lease, &key, map),
            PATTERN => text(&mut fields.pattern, &key, map),
            "mode" => text(&mut fields.mode, &key, map),
            "reason" => text(&mut fields.reason, &key, map),
            "transfer_reason" => text(&mut fields.transfer_reason, &key, map),
            "by" => text(&mut fields.by, &key, map),
            "ttl_secs" => span(&mut fields.ttl, &key, map),
            "skew_secs" => span(&mut fields.skew, &key, map),
            "grace_secs" => span(&mut fields.grace, &key, map),
            "stale_secs" => span(&mut fields.stale_after, &key, map),
            "fence" => once(&mut fields.fence, &key, map),
            "boot_id" => text(&mut fields.boot, &key, map),
            "boot_ms" => once(&mut fields.boot_ms, &key, map),
            "last_boot_id" => text(&mut fields.last_boot, &key, map),
            "last_boot_ms" => once(&mut fields.last_boot_ms, &key, map),
            "tags" => more_tags(fields, map),
            "hash" | "stale" => map.next_value::<serde::de::IgnoredAny>().map(drop),
            _ => self.date_or_word(fields, key, map),
        }
    }

    fn date_or_word<'de, A: MapAccess<'de>>(
        self,
        fields: &mut Fields<'de>,
        key: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match &*key {
            "renewed_at" | "last_beat" if self.standing => text(&mut fields.last, &key, map),
            "acquired_at" | "renewed_at" | "released_at" | "evicted_at" | "at" => {
                text(&mut fields.at, &key, map)
            }
            "expires_at" => {
                let value: Option<Str<'de>> = map.next_value()?;
                fields.expires = value.map(|Str(text)| text);
                Ok(())
            }
            word if word == self.words.resource => text(&mut fields.resource, &key, map),
            word if word == self.words.agent => text(&mut fields.agent, &key, map),
            word if word == self.words.place => text(&mut fields.place, &key, map),
            word if word.strip_prefix("by_") == Some(self.words.place) => {
                text(&mut fields.by_place, &key, map)
            }
            word if self.words.tags.contains(&word) => {
                let Str(value) = map.next_value()?;
                fields.tags.push((key, value));
                Ok(())
            }
            unknown => Err(A::Error::custom(format_args!("unknown field `{}`", unknown.escape_debug()))),
        }
    }
}

fn once<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    slot: &mut Option<T>,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    let value = map.next_value()?;
    if slot.replace(value).is_some() {
        return Err(A::Error::custom(format_args!("the field `{}` stands there twice", key.escape_debug())));
    }
    Ok(())
}

fn text<'de, A: MapAccess<'de>>(
    slot: &mut Option<Cow<'de, str>>,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    let mut value = None;
    once::<A, Str<'de>>(&mut value, key, map)?;
    if slot.is_some() {
        return Err(A::Error::custom(format_args!("the field `{}` stands there twice", key.escape_debug())));
    }
    *slot = value.map(|Str(text)| text);
    Ok(())
}

fn span<'de, A: MapAccess<'de>>(slot: &mut Option<Millis>, key: &str, map: &mut A) -> Result<(), A::Error> {
    let mut value = slot.take().map(Secs);
    once(&mut value, key, map)?;
    *slot = value.map(|Secs(span)| span);
    Ok(())
}

fn more_tags<'de, A: MapAccess<'de>>(fields: &mut Fields<'de>, map: &mut A) -> Result<(), A::Error> {
    let tags: std::collections::BTreeMap<Cow<'de, str>, Cow<'de, str>> = map.next_value()?;
    fields.tags.extend(tags);
    Ok(())
}
