//! `owner.json`: what people and scripts look for (`pid`, `host`, `owner`, `created`) beside everything
//! that the lease is. The former is read off the lease and never believed on its own.

use holdfast_kernel::Lease;

use crate::codec::wire;
use crate::{Codec, CounterId, Stored, Unreadable, liveness};

/// The default format of `owner.json`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Owner;

impl Codec for Owner {
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8> {
        let process = liveness::process(lease);
        let process = process.as_ref();
        wire::line(lease, |file| {
            file.number_or_null("pid", process.map(|process| process.pid.into()));
            file.text_or_null("host", process.map(|process| process.host.as_str()));
            file.text("owner", lease.holder.agent.as_str());
            file.number("created", lease.granted.wall_ms() / 1_000);
            file.number_or_null("start", process.map(|process| process.start));
            let boot = process.and_then(|process| process.boot).map(|boot| boot.to_string());
            file.text_or_null("boot", boot.as_deref());
            file.number_or_null("namespace", process.map(|process| process.namespace));
            file.number("fence", lease.fence.get());
            file.plain("counter", &counter);
        })
    }

    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable> {
        wire::stored(bytes, self)
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
