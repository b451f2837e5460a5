//! Reading the whole audit log and saying whether it is the one that was written. It never writes.

use std::path::PathBuf;

use super::entry::{Entry, NOTHING_BEFORE};
use super::tail::is_torn;
use super::{Audit, CURRENT, LONGEST_SEGMENT};
use crate::error::{Error, Result};

/// Where the chain breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// In which file.
    pub file: PathBuf,
    /// In which line of it, counted from 1.
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
        let said =
            format!("the audit log is broken at {}:{}: {}", found.file.display(), found.line, found.why);
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
        self.alone(|| {
            let mut chain = Chain::default();
            let mut prev = NOTHING_BEFORE.to_owned();
            for name in self.segments()? {
                chain.segments += 1;
                chain.broken = self.segment(&name, &mut chain.entries, &mut prev, visit)?;
                if chain.broken.is_some() {
                    break;
                }
            }
            Ok(chain)
        })
    }

    fn segment(
        &self,
        name: &str,
        entries: &mut u64,
        prev: &mut String,
        visit: &mut dyn FnMut(&Entry),
    ) -> Result<Option<Break>> {
        let Some(file) = self.open(name)? else { return Ok(None) };
        let most = usize::try_from(LONGEST_SEGMENT).unwrap_or(usize::MAX).saturating_mul(4);
        let bytes = file.read_from(0, most)?;
        let mut good = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let read = Entry::read(line).and_then(|(entry, hash)| {
                if entry.prev != *prev {
                    return Err("it does not follow the line before it".to_owned());
                }
                if entry.seq != *entries + 1 {
                    return Err(format!("it has the number {}, not {}", entry.seq, *entries + 1));
                }
                Ok((entry, hash))
            });
            match read {
                Ok((entry, hash)) => {
                    visit(&entry);
                    (*prev, *entries) = (hash, entry.seq);
                    good += line.len() as u64;
                }
                Err(why) => {
                    let torn = name == CURRENT && is_torn(line);
                    return Ok(Some(Break { file: self.file(name), line: index + 1, why, torn, good }));
                }
            }
        }
        Ok(None)
    }
}
