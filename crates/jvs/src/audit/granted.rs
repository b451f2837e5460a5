//! The last grant of a worktree that the audit has heard of, found from the end of the log. It never writes.
//!
//! A grant is in the log before its token is in the counter. Whoever dies in between leaves a line about a token that
//! the counter would give to the next one, and two lines with one token would look like two holders.

use serde_json::Value;

use super::entry::Entry;
use super::{Audit, LONGEST_SEGMENT};
use crate::error::Result;
use crate::repo::AUDIT_GUARD;

/// How much of the end of a segment is looked at first.
const WINDOW: u64 = 64 * 1_024;

/// The lines that tell of a grant.
const GRANTS: [&str; 2] = ["lock.acquired", "lock.stolen"];

impl Audit {
    /// The token of the last grant in a worktree that has a line here, whether or not it came to be. Each is larger than
    /// the one before it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn last_grant(&self, worktree_id: &str) -> Result<Option<u64>> {
        if self.open(AUDIT_GUARD)?.is_none() {
            return Ok(None);
        }
        self.alone(|| {
            for name in self.segments()?.into_iter().rev() {
                if let Some(token) = self.last_grant_in(&name, worktree_id)? {
                    return Ok(Some(token));
                }
            }
            Ok(None)
        })
    }

    fn last_grant_in(&self, name: &str, worktree_id: &str) -> Result<Option<u64>> {
        let Some(file) = self.open(name)? else { return Ok(None) };
        let near = file.stat()?.len.saturating_sub(WINDOW);
        let most = usize::try_from(4 * LONGEST_SEGMENT).unwrap_or(usize::MAX);
        for start in [near, 0] {
            // The window begins in the middle of a line, which is no entry, unless it begins with the file.
            let bytes = file.read_from(start, most)?;
            let found = bytes.rsplit(|byte| *byte == b'\n').find_map(|line| token(line, worktree_id));
            if found.is_some() || start == 0 {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// The token in a line about a grant in this worktree. What is wrong with any other line is not asked here: nothing is
/// added to a broken log.
fn token(line: &[u8], worktree_id: &str) -> Option<u64> {
    let has = |text: &str| line.windows(text.len()).any(|window| window == text.as_bytes());
    if !has(worktree_id) || !GRANTS.iter().any(|event| has(event)) {
        return None;
    }
    let (entry, _) = Entry::read(&[line, b"\n"].concat()).ok()?;
    let is_meant =
        entry.worktree_id.as_deref() == Some(worktree_id) && GRANTS.contains(&entry.event.as_str());
    entry.data.get("fencing_token").and_then(Value::as_u64).filter(|_| is_meant)
}
