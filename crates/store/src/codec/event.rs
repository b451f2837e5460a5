//! An event as JSON, for media that keep a history but not a chained log: the log's line without its chain.
//! It must never carry less than the event, nor accept what it would not write itself.

use holdfast_kernel::{Event, Fence, Lease};

use crate::json::write::{self, Spot};
use crate::json::{Words, read};

/// More bytes than nearly every event needs, so that writing one asks for memory once.
const TYPICAL: usize = 512;

/// The event that had this number, as one JSON object.
#[must_use]
pub fn write_event(event: &Event, sequence: Fence) -> Vec<u8> {
    let mut out = Vec::with_capacity(TYPICAL);
    write::event(&mut out, &Words::PLAIN, event, &Spot { sequence, batch: sequence, together: None });
    out.push(b'}');
    out
}

/// The event that the bytes are, and its number.
///
/// # Errors
/// What is wrong with them, when [`write_event`] cannot have written them.
pub fn read_event(bytes: &[u8]) -> Result<(Fence, Event), String> {
    let read::Entry { sequence, event, .. } = read::entry(bytes, &Words::PLAIN)?;
    if write_event(&event, sequence) == bytes {
        Ok((sequence, event))
    } else {
        Err("it is not written the way this program writes it".into())
    }
}

/// A lease as it stands, as one JSON object.
#[must_use]
pub fn write_lease(lease: &Lease) -> Vec<u8> {
    let mut out = Vec::with_capacity(TYPICAL);
    write::lease(&mut out, &Words::PLAIN, lease, None);
    out
}

/// The lease that the bytes are.
///
/// # Errors
/// What is wrong with them, when [`write_lease`] cannot have written them.
pub fn read_lease(bytes: &[u8]) -> Result<Lease, String> {
    let lease = read::standing(bytes, &Words::PLAIN)?;
    if write_lease(&lease) == bytes {
        Ok(lease)
    } else {
        Err("it is not written the way this program writes it".into())
    }
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Cause, Event, Fence, Holder, LeaseId, Millis, Name, Text};

    use super::{read_event, read_lease, write_event, write_lease};
    use crate::codec::wire::samples;

    fn events() -> Vec<Event> {
        let lease = samples::leases().remove(0);
        let (id, at) = (lease.id, lease.granted);
        let granted = holdfast_kernel::Lease {
            term: holdfast_kernel::Term::Finite { ttl: Millis::new(30_000), from: at },
            ..lease
        };
        let by = Holder { agent: Name::new("root").unwrap(), place: Name::new("here").unwrap() };
        let why = Text::new("because \"of\" \\ it").unwrap();
        let evicted = |cause| Event::Evicted { lease: id, at, cause };
        vec![
            Event::Granted { lease: granted.clone() },
            Event::Renewed { lease: id, ttl: Millis::new(7), at },
            Event::Beaten { lease: id, at },
            Event::Released { lease: id, at },
            Event::Transferred { from: LeaseId::new(9), lease: granted, why: why.clone() },
            evicted(Cause::Expired),
            evicted(Cause::Dead),
            evicted(Cause::Forced { by, reason: why }),
        ]
    }

    #[test]
    fn every_kind_of_event_reads_back_as_it_was() {
        let seven = Fence::new(7).unwrap();
        for event in events() {
            let bytes = write_event(&event, seven);
            assert_eq!(read_event(&bytes), Ok((seven, event)), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_lease_reads_back_as_it_was_and_a_cut_one_not_at_all() {
        for lease in samples::leases() {
            let bytes = write_lease(&lease);
            assert_eq!(read_lease(&bytes), Ok(lease));
            for cut in 0..bytes.len().min(600) {
                assert!(read_lease(&bytes[..cut]).is_err());
            }
        }
        assert!(read_lease(b"{}").is_err());
    }

    #[test]
    fn a_cut_or_changed_event_is_refused_or_means_what_it_says() {
        for event in events() {
            let bytes = write_event(&event, Fence::new(7).unwrap());
            for cut in 0..bytes.len() {
                assert!(read_event(&bytes[..cut]).is_err());
            }
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                if let Ok((sequence, event)) = read_event(&changed) {
                    assert_eq!(write_event(&event, sequence), changed);
                }
            }
        }
        let hashed = br#"{"schema_version":1,"sequence":7,"op":"release","lease_id":"00000000000000000000000001","released_at":"2023-11-14T22:13:20.000Z","hash":"00"}"#;
        assert!(read_event(hashed).is_err(), "a line of a log is not a record of a history");
    }
}
