//! The bytes that one layer holds of one issue. Buffers are used again for the next issue: a reader of a
//! hundred thousand of them must not ask for memory each time.

use holdfast_git::{ObjectId, hash};

/// The file that an issue itself is in.
pub const ISSUE: &str = "issue.json";
/// The file of an issue's labels.
pub const LABELS: &str = "labels.or-set.jsonl";
/// The file of the issues that it depends on.
pub const DEPS: &str = "deps.or-set.jsonl";

/// The files of an issue, in the order of [`Raw::parts_mut`].
pub(super) const FILES: [&str; 3] = [ISSUE, LABELS, DEPS];

/// A buffer that grew beyond this is given back.
const KEPT: usize = 64 << 10;

/// One file.
#[derive(Default)]
pub(super) struct Part {
    /// Whether there is such a file.
    pub(super) there: bool,
    /// What it holds.
    pub(super) bytes: Vec<u8>,
    /// Why it cannot be used.
    pub(super) problem: Option<String>,
}

impl Part {
    /// Makes nothing of it but a problem.
    pub(super) fn spoil(&mut self, why: String) {
        *self = Self { there: false, bytes: Vec::new(), problem: Some(why) };
    }

    /// What it holds, if there is such a file.
    pub(super) fn content(&self) -> Option<&[u8]> {
        self.there.then_some(self.bytes.as_slice())
    }

    fn clear(&mut self) {
        self.there = false;
        self.problem = None;
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        } else {
            self.bytes.clear();
        }
    }
}

/// The files of one issue in one layer.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) issue: Part,
    pub(super) labels: Part,
    pub(super) deps: Part,
}

impl Raw {
    pub(super) fn parts_mut(&mut self) -> [&mut Part; 3] {
        [&mut self.issue, &mut self.labels, &mut self.deps]
    }

    pub(super) fn parts(&self) -> [&Part; 3] {
        [&self.issue, &self.labels, &self.deps]
    }

    pub(super) fn clear(&mut self) {
        self.parts_mut().into_iter().for_each(Part::clear);
    }

    /// Whether there is nothing, not even something that cannot be read.
    pub(super) fn is_empty(&self) -> bool {
        self.parts().iter().all(|part| !part.there && part.problem.is_none())
    }

    /// Whether both hold the same and nothing is wrong with either.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Part, &Part)| a.problem.is_none() && b.problem.is_none() && a.content() == b.content();
        self.parts().into_iter().zip(other.parts()).all(same)
    }

    /// The name that git gives to a directory with exactly these files; none if something is wrong with one.
    pub(super) fn tree(&self) -> Option<ObjectId> {
        let mut files = Vec::with_capacity(FILES.len());
        for (name, part) in FILES.iter().zip(self.parts()) {
            if part.problem.is_some() {
                return None;
            }
            files.extend(part.content().map(|content| (*name, content)));
        }
        hash::directory(&files)
    }
}
