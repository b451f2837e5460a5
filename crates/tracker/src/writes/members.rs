//! The sets beside an issue, while they are changed. Copies of one set are never compared: their lines are
//! put together, because a line counts once wherever it stands.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Change, Issues, Line, Set};

/// The file of an issue's labels.
pub(super) const LABELS: &str = "labels.or-set.jsonl";
/// The file of the issues that it depends on.
pub(super) const DEPS: &str = "deps.or-set.jsonl";

/// A set while it is changed: what its file holds, and what comes behind that.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    pub(super) bytes: Vec<u8>,
    /// How much of that was there before it was changed.
    known: usize,
    set: Set,
    pub(super) added: BTreeSet<String>,
    pub(super) removed: BTreeSet<String>,
}

impl Members {
    /// The set that the copies of a file make.
    pub(super) fn read(issues: &Issues<'_>, id: IssueId, file: &str) -> Result<Self> {
        let relative = format!("issues/{id}/{file}");
        let mut bytes = Vec::new();
        for copy in issues.copies(&relative)? {
            bytes = union(bytes, &copy);
        }
        let set = Set::read(&bytes)
            .map_err(|bad| Error::BadFile { path: PathBuf::from(relative), why: bad.to_string() })?;
        Ok(Self { known: bytes.len(), bytes, set, ..Self::default() })
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.set.members().map(ToOwned::to_owned).collect()
    }

    /// The lines that the change adds.
    pub(super) fn fresh_lines(&self) -> &[u8] {
        self.bytes.get(self.known..).unwrap_or_default()
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.added.is_empty() || !self.removed.is_empty()
    }

    /// Adds a member, if it is not there.
    pub(super) fn add(&mut self, value: &str, line: impl FnOnce(Change) -> Result<Line>) -> Result<bool> {
        let Some(change) = self.set.adding(value) else { return Ok(false) };
        self.append(&line(change)?);
        if !self.removed.remove(value) {
            self.added.insert(value.to_owned());
        }
        Ok(true)
    }

    /// Removes a member, if it is there.
    pub(super) fn remove(&mut self, value: &str, line: impl FnOnce(Change) -> Result<Line>) -> Result<bool> {
        let Some(change) = self.set.removing(value) else { return Ok(false) };
        self.append(&line(change)?);
        if !self.added.remove(value) {
            self.removed.insert(value.to_owned());
        }
        Ok(true)
    }

    /// Adds a line to the file and to the set that it makes. Reading the file again for each line would make many lines
    /// cost the square of their number.
    fn append(&mut self, line: &Line) {
        end_line(&mut self.bytes);
        self.bytes.extend(line.bytes());
        self.set.apply(line);
    }
}

/// The lines of both, each once, the first ones first.
pub(super) fn union(mut ours: Vec<u8>, theirs: &[u8]) -> Vec<u8> {
    if ours.is_empty() {
        return theirs.to_vec();
    }
    let lines = |bytes: &[u8]| -> BTreeSet<Vec<u8>> {
        bytes.split(|byte| *byte == b'\n').map(|line| line.trim_ascii().to_vec()).collect()
    };
    let known = lines(&ours);
    for line in theirs.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if !line.is_empty() && !known.contains(line) {
            end_line(&mut ours);
            ours.extend_from_slice(line);
            ours.push(b'\n');
        }
    }
    ours
}

/// A file that somebody edited by hand may end in the middle of a line.
fn end_line(bytes: &mut Vec<u8>) {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
}

/// The labels of an issue, from all its copies.
///
/// # Errors
/// When they cannot be read.
pub fn labels_of(issues: &Issues<'_>, id: IssueId) -> Result<Set> {
    Ok(Members::read(issues, id, LABELS)?.set)
}

/// The issues that an issue depends on, from all its copies.
///
/// # Errors
/// When they cannot be read.
pub fn deps_of(issues: &Issues<'_>, id: IssueId) -> Result<Set> {
    Ok(Members::read(issues, id, DEPS)?.set)
}

#[cfg(test)]
mod tests {
    use super::union;

    #[test]
    fn copies_are_put_together_line_by_line() {
        assert_eq!(union(b"a\nb".to_vec(), b"b\nc\n\n"), b"a\nb\nc\n");
        assert_eq!(union(Vec::new(), b"x\n"), b"x\n");
        assert_eq!(union(b"a\n".to_vec(), b""), b"a\n");
    }
}
