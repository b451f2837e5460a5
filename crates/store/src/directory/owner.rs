//! `owner.json`: what people and scripts look for (`pid`, `host`, `owner`, `created`) beside everything
//! that the lease is. The former is read off the lease and never believed on its own.

use holdfast_kernel::Lease;
use serde::{Deserialize, Serialize};

use crate::codec::wire::{self, FORMAT, LeaseWire};
use crate::{Codec, CounterId, Stored, Unreadable, liveness};

/// The default format of `owner.json`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u64,
    pid: Option<u32>,
    host: Option<String>,
    owner: String,
    created: u64,
    start: Option<u64>,
    boot: Option<String>,
    namespace: Option<u64>,
    fence: u64,
    counter: String,
    lease: LeaseWire,
}

impl Codec for Owner {
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8> {
        let process = liveness::process(lease);
        wire::line(&File {
            format: FORMAT,
            pid: process.as_ref().map(|process| process.pid),
            host: process.as_ref().map(|process| process.host.clone()),
            owner: lease.holder.agent.to_string(),
            created: lease.granted.wall_ms() / 1_000,
            start: process.as_ref().map(|process| process.start),
            boot: process.as_ref().and_then(|process| process.boot).map(|boot| boot.to_string()),
            namespace: process.as_ref().map(|process| process.namespace),
            fence: lease.fence.get(),
            counter: counter.to_string(),
            lease: LeaseWire::of(lease),
        })
    }

    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable> {
        let file: File = wire::parse(bytes)?;
        wire::stored(bytes, &file.counter, &file.lease, self)
    }
}

#[cfg(test)]
mod tests {
    use super::Owner;
    use crate::codec::wire::samples;
    use crate::{Codec, Stored, Unreadable};

    #[test]
    fn every_kind_of_lease_reads_back_as_it_was() {
        for lease in samples::leases() {
            let bytes = Owner.write(&lease, samples::counter());
            assert_eq!(Owner.read(&bytes), Ok(Stored { lease, counter: Some(samples::counter()) }));
        }
    }

    #[test]
    fn the_process_stands_where_scripts_look_for_it() {
        let lease = samples::leases().remove(0);
        let bytes = Owner.write(&lease, samples::counter());
        let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(file["pid"], 1);
        assert_eq!(file["host"], "box");
        assert_eq!(file["owner"], "jvs:a");
        assert_eq!(file["created"], 1_700_000_000);
        assert_eq!(file["fence"], 7);
    }

    #[test]
    fn what_contradicts_the_lease_is_damage() {
        let lease = samples::leases().remove(0);
        let good = String::from_utf8(Owner.write(&lease, samples::counter())).unwrap();
        for (from, to) in [
            ("\"pid\":1,", "\"pid\":2,"),
            ("\"pid\":1,", ""),
            ("\"pid\":1,", "\"pid\":99999999999,"),
            ("\"owner\":\"jvs:a\"", "\"owner\":\"somebody\""),
            ("\"created\":1700000000", "\"created\":1"),
            ("\"fence\":7,\"counter\"", "\"fence\":8,\"counter\""),
        ] {
            assert!(good.contains(from), "{from} is not in {good}");
            let read = Owner.read(good.replacen(from, to, 1).as_bytes());
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{read:?}");
        }
    }
}
