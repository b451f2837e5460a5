//! The default format: one JSON object with everything that a lease is. It must never carry less than the
//! lease, nor accept what it would not write itself.

use holdfast_kernel::Lease;

use super::wire;
use super::{Codec, Stored, Unreadable};
use crate::CounterId;

/// Everything that a lease is, as one line of JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Codec for Json {
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8> {
        wire::line(lease, |file| file.plain("counter", &counter))
    }

    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable> {
        wire::stored(bytes, self)
    }
}

#[cfg(test)]
mod tests {
    use super::Json;
    use crate::codec::{Codec, Stored, Unreadable, wire::samples};

    fn damage(bytes: &[u8]) -> String {
        match Json.read(bytes) {
            Err(Unreadable::Damaged(what)) => what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_lease_reads_back_as_it_was() {
        for lease in samples::leases() {
            let bytes = Json.write(&lease, samples::counter());
            let stored = Stored { lease, counter: Some(samples::counter()) };
            assert_eq!(Json.read(&bytes), Ok(stored), "{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn a_later_format_is_named_whatever_else_it_says() {
        assert_eq!(Json.read(br#"{"format":2,"something":"else"}"#), Err(Unreadable::Newer(2)));
        let good = String::from_utf8(Json.write(&samples::leases().remove(0), samples::counter())).unwrap();
        let later = good.replacen("\"format\":1", "\"format\":2", 1);
        assert_eq!(Json.read(later.as_bytes()), Err(Unreadable::Newer(2)), "it only looks the same");
    }

    #[test]
    fn a_truncated_file_is_damage_and_a_flipped_bit_is_noticed_or_means_what_it_says() {
        for lease in samples::leases().into_iter().take(2) {
            let bytes = Json.write(&lease, samples::counter());
            for cut in 0..bytes.len() {
                damage(&bytes[..cut]);
            }
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                // A flip inside a text or a number is another text or number; then it is the lease that
                // the bytes say, and only that one.
                if let Ok(stored) = Json.read(&flipped) {
                    assert_eq!(Json.write(&stored.lease, stored.counter.unwrap()), flipped);
                }
            }
        }
    }

    #[test]
    fn what_a_lenient_reader_would_let_pass_is_damage() {
        let lease = samples::leases().remove(0);
        let good = String::from_utf8(Json.write(&lease, samples::counter())).unwrap();
        for (from, to) in [
            ("{\"format\"", "{\"extra\":1,\"format\""),
            ("{\"format\":1", "{\"format\":1,\"format\":1"),
            ("\"format\":1", "\"format\":1.0"),
            ("\"format\":1", "\"format\":0"),
            ("\"format\":1", "\"format\":\"1\""),
            ("\"fence\":7", "\"fence\":18446744073709551616"),
            ("\"fence\":7", "\"fence\":9007199254740992"),
            ("\"fence\":7", "\"fence\":0"),
            ("\"fence\":7", "\"fence\":-7"),
            ("\"fence\":7", "\"fence\":7e0"),
            ("\"fence\":7", "\"fence\":1e999"),
            ("\"ttl_secs\":30", "\"mode\":\"both\",\"ttl_secs\":30"),
            ("2023-11-14T22:13:20.000Z", "10000-01-01T00:00:00.000Z"),
            ("2023-11-14T22:13:20.000Z", "2023-11-14T22:13:20Z"),
            ("\"ttl_secs\":30", "\"ttl_secs\":true"),
            ("\"ttl_secs\":30", "\"ttl_secs\":30.000"),
            ("\"grace_secs\":1", "\"grace_secs\":1,\"stale\":false"),
            ("\"agent\":\"jvs:a\"", "\"agent\":\"\""),
            ("\"agent\":\"jvs:a\"", "\"agent\":\"a\\u0007\""),
            ("\"agent\":\"jvs:a\"", "\"agent\":\"jvs\\u003aa\""),
            ("\"pid\":\"1\"", "\"pid\":\"1\",\"pid\":\"1\""),
            ("}\n", "} \n"),
            ("}\n", "}\n\n"),
            ("}\n", "}"),
            ("}\n", "}\n{}"),
        ] {
            assert!(good.contains(from), "{from} is not in {good}");
            damage(good.replacen(from, to, 1).as_bytes());
        }
        for hostile in [&b""[..], b"\n", b"null", b"[]", b"{}", b"\xff\xfe", b"\0", &[b'['; 60_000]] {
            damage(hostile);
        }
    }
}
