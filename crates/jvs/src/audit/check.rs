//! Reading the whole audit log and saying whether it is the one that was written. It never writes.

use std::path::PathBuf;

use super::anchor::{Anchored, NAME, SPOILT};
use super::entry::{Entry, NOTHING_BEFORE};
use super::tail::is_torn;
use super::{ANCHORED, Audit, CURRENT, LONGEST_SEGMENT};
use crate::error::{Error, Result};

/// Where the chain breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// In which file.
    pub file: PathBuf,
    /// In which line of it, counted from 1; 0 if it is about the file as a whole.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
    /// Whether it is what a crash leaves at the end, and nothing else.
    pub torn: bool,
    /// How many bytes of the file before it are good.
    pub good: u64,
}

/// What is known after reading everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// How many good lines there are.
    pub entries: u64,
    /// How many segments.
    pub segments: usize,
    /// Where the chain breaks, if it does.
    pub broken: Option<Break>,
}

impl Chain {
    /// The failure that a break is.
    ///
    /// # Errors
    /// When the chain is broken.
    pub fn whole(self) -> Result<Self> {
        let Some(found) = &self.broken else { return Ok(self) };
        let line = if found.line == 0 { String::new() } else { format!(":{}", found.line) };
        let said = format!("the audit log is broken at {}{line}: {}", found.file.display(), found.why);
        let hint = match found.torn {
            true => "a crash left it; the next entry, or `jvs doctor --repair`, sets it aside",
            false => "somebody changed it; `jvs doctor --repair` keeps the broken part aside and begins anew",
        };
        let error = Error::new(crate::error::Class::AuditChainBroken, said).hint(hint);
        Err(error.detail("file", found.file.to_string_lossy().into_owned()).detail("line", found.line))
    }
}

impl Audit {
    /// Reads every good line up to the first that is not, and says what was found.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, visit: &mut dyn FnMut(&Entry)) -> Result<Chain> {
        // Whoever writes at the same moment must not be taken for a crash.
        if self.open(crate::repo::AUDIT_GUARD)?.is_none() {
            return Ok(Chain::default());
        }
        self.alone(|| self.chain(visit))
    }

    /// As [`Audit::read`], inside the guard.
    pub(super) fn chain(&self, visit: &mut dyn FnMut(&Entry)) -> Result<Chain> {
        let anchored = self.anchored()?;
        let mut reading = Reading { chain: Chain::default(), prev: NOTHING_BEFORE.to_owned(), marked: false };
        for name in self.segments()? {
            reading.chain.segments += 1;
            self.segment(&name, &anchored, &mut reading, visit)?;
            if reading.chain.broken.is_some() {
                break;
            }
        }
        let Reading { mut chain, marked, .. } = reading;
        let torn = chain.broken.as_ref().is_none_or(|found| found.torn);
        let wrong = match &anchored {
            _ if !torn => None,
            Anchored::At(anchor) if anchor.seq > chain.entries => {
                Some((CURRENT, cut(chain.entries, anchor.seq)))
            }
            Anchored::Spoilt => Some((NAME, SPOILT.to_owned())),
            Anchored::Absent if marked => Some((NAME, "it is missing".to_owned())),
            _ if chain.entries == 0 => Some((CURRENT, "it is empty".to_owned())),
            _ => None,
        };
        if let Some((name, why)) = wrong {
            let good = chain.broken.as_ref().map_or_else(|| self.len(CURRENT), |found| Ok(found.good))?;
            chain.broken = Some(Break { file: self.file(name), line: 0, why, torn: false, good });
        }
        Ok(chain)
    }

    fn len(&self, name: &str) -> Result<u64> {
        Ok(self.open(name)?.map(|file| file.stat()).transpose()?.map_or(0, |stat| stat.len))
    }

    fn segment(
        &self,
        name: &str,
        anchored: &Anchored,
        reading: &mut Reading,
        visit: &mut dyn FnMut(&Entry),
    ) -> Result<()> {
        let Some(file) = self.open(name)? else { return Ok(()) };
        let most = usize::try_from(LONGEST_SEGMENT).unwrap_or(usize::MAX).saturating_mul(4);
        let bytes = file.read_from(0, most)?;
        let mut good = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            match reading.line(line, anchored) {
                Ok(entry) => {
                    visit(&entry);
                    good += line.len() as u64;
                }
                Err(why) => {
                    let torn = name == CURRENT && is_torn(line);
                    reading.chain.broken =
                        Some(Break { file: self.file(name), line: index + 1, why, torn, good });
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// How far the log was read.
struct Reading {
    chain: Chain,
    prev: String,
    /// Whether a line said that there is an anchor.
    marked: bool,
}

impl Reading {
    /// The entry in the next line; otherwise what is wrong with it.
    fn line(&mut self, line: &[u8], anchored: &Anchored) -> std::result::Result<Entry, String> {
        let (entry, hash) = Entry::read(line)?;
        if entry.prev != self.prev {
            return Err("it does not follow the line before it".to_owned());
        }
        let expected = self.chain.entries + 1;
        if entry.seq != expected {
            return Err(format!("it has the number {}, not {expected}", entry.seq));
        }
        if matches!(anchored, Anchored::At(anchor) if anchor.seq == entry.seq && anchor.hash != hash) {
            return Err("it is not the line that was written".to_owned());
        }
        self.marked |= entry.data.contains_key(ANCHORED);
        (self.prev, self.chain.entries) = (hash, entry.seq);
        Ok(entry)
    }
}

/// What is wrong with a log that ends too early.
pub(super) fn cut(last: u64, written: u64) -> String {
    format!("it ends with entry {last}, although {written} were written: its end was cut off")
}
