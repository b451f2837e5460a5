//! Where the audit log ends, kept beside it, so that a log that was cut off at its end is noticed whatever the
//! lines were about. A chain of hashes alone cannot tell: every beginning of it is a good chain.
//!
//! The file holds two lines of one length that are written in turn, in place and without a flush: the log itself
//! is flushed before, so an anchor that the power took back is behind the log and never ahead of it, and a
//! write that was cut off spoils one line of the two. With the number and the hash of the last line stands the time
//! of both clocks, so that a wall clock that was moved since can be told.

use holdfast_kernel::{Boot, BootId, Stamp};
use holdfast_store::whole;
use holdfast_sys::Open;

use super::Audit;
use super::entry::NOTHING_BEFORE;
use crate::error::Result;

/// The file of the anchor.
pub(super) const NAME: &str = "audit.anchor";

/// What is wrong with an anchor that says nothing.
pub(super) const SPOILT: &str = "neither of its two lines can be read";

/// The length of a line: number, hash, wall clock, boot id, boot-time clock, checksum.
const LINE: usize = 20 + 1 + 64 + 1 + 20 + 1 + 32 + 1 + 20 + 1 + 16 + 1;

/// What stands in the place of a boot id where there is none.
const NO_BOOT: &str = "--------------------------------";

/// Where the log ended when something was last written to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The number of the last line.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// When it was written.
    pub at: Stamp,
}

/// What is there of an anchor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Anchored {
    /// There is none: the log was written by an earlier version, or somebody removed it.
    Absent,
    /// Neither of its lines can be read.
    Spoilt,
    /// The later of its lines.
    At(Anchor),
}

impl Anchor {
    fn line(&self) -> String {
        let Self { seq, hash, at } = self;
        let (boot, boot_ms) = match at.boot() {
            Some(boot) => (boot.id.to_string(), boot.ms),
            None => (NO_BOOT.to_owned(), 0),
        };
        let text = format!("{seq:020} {hash} {:020} {boot} {boot_ms:020}", at.wall_ms());
        format!("{text} {}\n", checksum(&text))
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let (text, sum) = line.rsplit_once(' ')?;
        (checksum(text) == sum).then_some(())?;
        let mut fields = text.split(' ');
        let (seq, hash) = (fields.next()?.parse().ok()?, fields.next()?.to_owned());
        let wall_ms = fields.next()?.parse().ok()?;
        let (boot, boot_ms) = (fields.next()?, fields.next()?.parse().ok()?);
        let boot = match boot {
            NO_BOOT => None,
            id => Some(Boot { id: BootId::new(u128::from_str_radix(id, 16).ok()?), ms: boot_ms }),
        };
        Some(Self { seq, hash, at: Stamp::new(wall_ms, boot).ok()? })
    }
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect()
}

impl Audit {
    /// Where the log ended when something was last written to it; none if that cannot be told.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn last_written(&self) -> Result<Option<Anchor>> {
        match self.anchored()? {
            Anchored::At(anchor) => Ok(Some(anchor)),
            Anchored::Absent | Anchored::Spoilt => Ok(None),
        }
    }

    pub(super) fn anchored(&self) -> Result<Anchored> {
        let Some(file) = self.open(NAME)? else { return Ok(Anchored::Absent) };
        let bytes = file.read_from(0, 2 * LINE)?;
        let later = bytes.chunks(LINE).filter_map(Anchor::parse).max_by_key(|anchor| anchor.seq);
        Ok(later.map_or(Anchored::Spoilt, Anchored::At))
    }

    /// Says where the log ends, behind a line that was just made durable.
    pub(super) fn anchor_at(&self, seq: u64, hash: String) -> Result<()> {
        let anchor = Anchor { seq, hash, at: self.sys.clock.now()? };
        let file = match self.sys.files.open(&self.file(NAME), Open::Write) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return self.anchor_anew(&anchor),
            file => file?,
        };
        Ok(file.write_all_at(anchor.line().as_bytes(), (seq % 2) * LINE as u64)?)
    }

    /// Forgets where the log ended before, durably.
    pub(super) fn anchor_anew(&self, anchor: &Anchor) -> Result<()> {
        let other = Anchor { seq: 0, hash: NOTHING_BEFORE.to_owned(), at: anchor.at };
        let lines = if anchor.seq.is_multiple_of(2) { [anchor, &other] } else { [&other, anchor] };
        let bytes: String = lines.iter().map(|anchor| anchor.line()).collect();
        Ok(whole::replace(&self.sys, &self.file(NAME), bytes.as_bytes(), 0o600)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_length_reads_back_and_every_flipped_bit_is_noticed() {
        for boot in [None, Some(Boot { id: BootId::new(0xb007), ms: 4_711 })] {
            let anchor =
                Anchor { seq: 7, hash: "a".repeat(64), at: Stamp::new(1_700_000_000_000, boot).unwrap() };
            let line = anchor.line().into_bytes();
            assert_eq!(line.len(), LINE);
            assert_eq!(Anchor::parse(&line), Some(anchor));
            for bit in 0..line.len() * 8 {
                let mut flipped = line.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Anchor::parse(&flipped), None, "bit {bit}");
            }
        }
    }
}
