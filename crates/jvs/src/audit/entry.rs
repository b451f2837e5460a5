//! One line of the audit log: an entry and its hash. The entry holds the hash of the one before, and the
//! hash is over the bytes of the entry as they stand, so a line can be checked by itself and in its chain.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What the first line has in the place of the hash before it.
pub(super) const NOTHING_BEFORE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Something that was about to happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its number; the first one is 1.
    pub seq: u64,
    /// The hash of the entry before it.
    pub prev: String,
    pub at: String,
    /// Who did it: `host:user:pid:start_time` of the shell.
    pub actor: String,
    /// What: `lock.acquired`, `snapshot.published`, …
    pub event: String,
    /// On which worktree, if on one.
    pub worktree_id: Option<String>,
    /// The rest.
    pub data: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    entry: &'a RawValue,
    hash: String,
}

impl Entry {
    /// The line for it, and its hash.
    pub(super) fn line(&self) -> serde_json::Result<(Vec<u8>, String)> {
        let entry = serde_json::to_string(self)?;
        let hash = blake3::hash(entry.as_bytes()).to_hex().to_string();
        Ok((framed(&entry, &hash), hash))
    }

    /// What a line says, with its hash; otherwise what is wrong with it.
    pub(super) fn read(line: &[u8]) -> Result<(Self, String), String> {
        let parsed: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let raw = parsed.entry.get();
        if blake3::hash(raw.as_bytes()).to_hex().as_str() != parsed.hash {
            return Err("its hash is not that of its entry".to_owned());
        }
        if framed(raw, &parsed.hash) != line {
            return Err("it is not written the way this program writes it".to_owned());
        }
        let entry = serde_json::from_str(raw).map_err(|error| error.to_string())?;
        Ok((entry, parsed.hash))
    }
}

fn framed(entry: &str, hash: &str) -> Vec<u8> {
    format!("{{\"entry\":{entry},\"hash\":\"{hash}\"}}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            seq: 7,
            prev: NOTHING_BEFORE.into(),
            at: "2026-01-01T00:00:00.000Z".into(),
            actor: "h:u:1:2".into(),
            event: "lock.acquired".into(),
            worktree_id: Some("w".into()),
            data: Map::from_iter([("note".to_owned(), Value::from("a\nb"))]),
        }
    }

    #[test]
    fn a_line_reads_back_and_every_flipped_bit_is_noticed() {
        let (line, hash) = entry().line().unwrap();
        assert_eq!(Entry::read(&line).unwrap(), (entry(), hash));
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Entry::read(&flipped).is_err(), "bit {bit}");
        }
    }
}
