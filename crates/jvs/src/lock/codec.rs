//! The lock record as it stands on disk: the fourteen fields that the format promises, the counter that the
//! token was drawn from, and the boot-time clock of both moments.
//!
//! It must never accept what it would not write: a lenient reader would hand out somebody's lock twice.

use holdfast_kernel::{Boot, BootId, Fence, Holder, Lease, Millis, Mode, Name, Stamp, Tags, Term, Text};
use holdfast_store::{Codec, CounterId, Stored, Unreadable, rfc3339, wall_ms};
use serde::{Deserialize, Serialize};

use crate::holder::HOLDER_ID;
use crate::repo::{FORMAT, line};

/// The tag that says how often the holder means to renew.
pub const RENEW_INTERVAL: &str = "renew_interval_ms";

/// The format of a lock file.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockCodec;

/// A reading of the boot-time clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootWire {
    id: String,
    ms: u64,
}

/// A lock record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockRecord {
    format: u64,
    counter: String,
    /// The id of the grant.
    pub lock_id: String,
    /// Which worktree is locked.
    pub worktree_id: String,
    /// Who holds it: `host:user:pid:start_time`.
    pub holder_id: String,
    holder_nonce: String,
    /// The session of the holder.
    pub session_id: String,
    /// Rises with every grant. It is drawn from the same counter as the token.
    pub acquire_seq: u64,
    /// When it was granted.
    pub created_at: String,
    /// When it was granted or last renewed.
    pub last_renewed_at: String,
    /// How long it lasts from then on.
    pub lease_duration_ms: u64,
    /// How often the holder means to renew.
    pub renew_interval_ms: u64,
    /// How far clocks may be apart.
    pub max_clock_skew_ms: u64,
    /// How long others wait on top of that.
    pub steal_grace_ms: u64,
    /// When it is over, by the wall clock.
    pub lease_expires_at: String,
    /// The number of the grant.
    pub fencing_token: u64,
    created_boot: Option<BootWire>,
    renewed_boot: Option<BootWire>,
}

impl LockRecord {
    /// The record of a lease.
    #[must_use]
    pub fn of(lease: &Lease, counter: CounterId) -> Self {
        let tag = |key| lease.tags.get(key).map_or("", Text::as_str);
        let ttl = match lease.term {
            Term::Finite { ttl, .. } => ttl.get(),
            Term::Indefinite { .. } => 0,
        };
        let renewed = lease.last_sign();
        Self {
            format: FORMAT,
            counter: counter.to_string(),
            lock_id: lease.id.to_string(),
            worktree_id: lease.resource.to_string(),
            holder_id: tag(HOLDER_ID).to_owned(),
            holder_nonce: lease.holder.agent.to_string(),
            session_id: lease.holder.place.to_string(),
            acquire_seq: lease.fence.get(),
            created_at: rfc3339(&lease.granted),
            last_renewed_at: rfc3339(renewed),
            lease_duration_ms: ttl,
            renew_interval_ms: tag(RENEW_INTERVAL).parse().unwrap_or(0),
            max_clock_skew_ms: lease.skew.get(),
            steal_grace_ms: lease.grace.get(),
            lease_expires_at: rfc3339(&renewed.plus(Millis::new(ttl))),
            fencing_token: lease.fence.get(),
            created_boot: boot_wire(&lease.granted),
            renewed_boot: boot_wire(renewed),
        }
    }

    fn stored(&self) -> Option<Stored> {
        let interval = Text::new(&self.renew_interval_ms.to_string()).ok()?;
        let tags = Tags::none().with(HOLDER_ID, Text::new(&self.holder_id).ok()?).ok()?;
        let tags = tags.with(RENEW_INTERVAL, interval).ok()?;
        let ttl = Millis::new(self.lease_duration_ms);
        let lease = Lease {
            id: self.lock_id.parse().ok()?,
            resource: Name::new(&self.worktree_id).ok()?.into(),
            holder: Holder {
                agent: Name::new(&self.holder_nonce).ok()?,
                place: Name::new(&self.session_id).ok()?,
            },
            mode: Mode::Exclusive,
            fence: Fence::new(self.fencing_token).ok()?,
            granted: stamp(&self.created_at, self.created_boot.as_ref())?,
            term: Term::Finite { ttl, from: stamp(&self.last_renewed_at, self.renewed_boot.as_ref())? },
            skew: Millis::new(self.max_clock_skew_ms),
            grace: Millis::new(self.steal_grace_ms),
            reason: None,
            tags,
        };
        Some(Stored { lease, counter: self.counter.parse().ok() })
    }
}

fn boot_wire(stamp: &Stamp) -> Option<BootWire> {
    stamp.boot().map(|boot| BootWire { id: boot.id.to_string(), ms: boot.ms })
}

fn stamp(text: &str, boot: Option<&BootWire>) -> Option<Stamp> {
    let boot = match boot {
        Some(boot) => Some(Boot { id: BootId::new(u128::from_str_radix(&boot.id, 16).ok()?), ms: boot.ms }),
        None => None,
    };
    Stamp::new(i64::try_from(wall_ms(text)?).ok()?, boot).ok()
}

#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

impl Codec for LockCodec {
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8> {
        // A record without bytes is none, and is not written: what is written has to read back first.
        line(&LockRecord::of(lease, counter)).unwrap_or_else(|_| Vec::new())
    }

    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable> {
        let damaged = |what: String| Unreadable::Damaged(what);
        let Versioned { format } =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if format > FORMAT {
            return Err(Unreadable::Newer(format));
        }
        let record: LockRecord = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let stored =
            record.stored().ok_or_else(|| damaged("a field holds what cannot be there".to_owned()))?;
        let counter = stored.counter.ok_or_else(|| damaged("its counter is no id".to_owned()))?;
        // That catches what a parser lets pass: doubled keys, other spellings, fields that contradict.
        if self.write(&stored.lease, counter) != bytes {
            return Err(damaged("it is not written the way this program writes it".to_owned()));
        }
        Ok(stored)
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::LeaseId;

    use super::*;

    fn lease(boot: Option<Boot>) -> Lease {
        let granted = Stamp::new(1_700_000_000_000, boot).unwrap();
        let text = |text: &str| Text::new(text).unwrap();
        Lease {
            id: LeaseId::new(7),
            resource: Name::new("01ARZ3NDEKTSV4RRFFQ69G5FAV").unwrap().into(),
            holder: Holder { agent: Name::new("00ff").unwrap(), place: Name::new("s1").unwrap() },
            mode: Mode::Exclusive,
            fence: Fence::new(9).unwrap(),
            granted,
            term: Term::Finite { ttl: Millis::new(30_000), from: granted.plus(Millis::new(10)) },
            skew: Millis::new(2_000),
            grace: Millis::new(1_000),
            reason: None,
            tags: Tags::none()
                .with(HOLDER_ID, text("box:me:12:34"))
                .and_then(|tags| tags.with(RENEW_INTERVAL, text("10000")))
                .unwrap(),
        }
    }

    fn counter() -> CounterId {
        CounterId::new(LeaseId::new(3))
    }

    #[test]
    fn a_record_has_its_fourteen_fields_and_reads_back_as_it_was() {
        for boot in [None, Some(Boot { id: BootId::new(0xb007), ms: 5 })] {
            let bytes = LockCodec.write(&lease(boot), counter());
            assert_eq!(LockCodec.read(&bytes), Ok(Stored { lease: lease(boot), counter: Some(counter()) }));
            let fields: serde_json::Map<_, _> = serde_json::from_slice(&bytes).unwrap();
            for field in [
                "lock_id",
                "worktree_id",
                "holder_id",
                "holder_nonce",
                "session_id",
                "acquire_seq",
                "created_at",
                "last_renewed_at",
                "lease_duration_ms",
                "renew_interval_ms",
                "max_clock_skew_ms",
                "steal_grace_ms",
                "lease_expires_at",
                "fencing_token",
            ] {
                assert!(fields.contains_key(field), "{field}");
            }
            assert_eq!(fields["lease_expires_at"], "2023-11-14T22:13:50.010Z");
        }
    }

    #[test]
    fn what_a_lenient_reader_would_let_pass_is_damage() {
        let good = String::from_utf8(LockCodec.write(&lease(None), counter())).unwrap();
        for (from, to) in [
            ("\"fencing_token\":9", "\"fencing_token\":9.0"),
            ("\"fencing_token\":9", "\"fencing_token\":0"),
            ("\"fencing_token\":9", "\"fencing_token\":9,\"fencing_token\":9"),
            ("\"acquire_seq\":9", "\"acquire_seq\":8"),
            ("\"renew_interval_ms\":10000", "\"renew_interval_ms\":1e4"),
            ("\"lease_duration_ms\":30000", "\"lease_duration_ms\":31000"),
            ("22:13:50.010Z", "22:13:51.010Z"),
            ("box:me:12:34", "box:me:12:\\u001b"),
            ("{\"format\"", "{\"extra\":1,\"format\""),
            ("}\n", "}"),
        ] {
            assert!(good.contains(from), "{from} is not in {good}");
            let read = LockCodec.read(good.replacen(from, to, 1).as_bytes());
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{to}: {read:?}");
        }
        assert_eq!(LockCodec.read(br#"{"format":2}"#), Err(Unreadable::Newer(2)));
        for hostile in [&b""[..], b"null", b"{}", b"\xff", &[b'['; 60_000]] {
            assert!(matches!(LockCodec.read(hostile), Err(Unreadable::Damaged(_))));
        }
    }
}
