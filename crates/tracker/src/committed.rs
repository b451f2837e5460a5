//! The issues that a commit has: the id of each and git's name for its directory, in the order of ids. They are kept as the
//! bytes that are written down of them, because ten thousand of them are looked up in less time than it takes to copy them.

use std::sync::Arc;

use holdfast_git::ObjectId;
use holdfast_kernel::LeaseId;

use crate::ids::IssueId;
use crate::seek::seek;

/// The length of an id.
const ID: usize = 16;

/// The issues that a commit has.
#[derive(Clone)]
pub(crate) struct Committed {
    bytes: Arc<Vec<u8>>,
    /// Where the first line begins.
    begin: usize,
    /// How long git's names are.
    width: usize,
}

impl Committed {
    /// These issues, in the order of their ids, behind so many bytes that are for others to fill; none if a name is not as
    /// long as that.
    pub(crate) fn new(begin: usize, width: usize, issues: &[(IssueId, ObjectId)]) -> Option<Self> {
        let mut bytes = Vec::with_capacity(begin + issues.len() * (ID + width));
        bytes.resize(begin, 0);
        for (id, tree) in issues {
            let tree = Some(tree.as_bytes()).filter(|tree| tree.len() == width)?;
            bytes.extend_from_slice(&id.bits().to_le_bytes());
            bytes.extend_from_slice(tree);
        }
        Some(Self { bytes: Arc::new(bytes), begin, width })
    }

    /// The issues whose lines begin there; none if there is anything else, or they are not in their order, each once.
    pub(crate) fn read(bytes: Vec<u8>, begin: usize, width: usize) -> Option<Self> {
        let lines = bytes.len().checked_sub(begin)?;
        let read = Self { bytes: Arc::new(bytes), begin, width };
        let is_whole = lines.is_multiple_of(ID + width) && matches!(width, 20 | 32);
        (is_whole && read.ids().is_sorted_by(|one, next| one < next)).then_some(read)
    }

    /// All of it, what stands before the lines too.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.lines().len() / (ID + self.width)
    }

    fn lines(&self) -> &[u8] {
        self.bytes.get(self.begin..).unwrap_or_default()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = IssueId> {
        self.lines()
            .chunks_exact(ID + self.width)
            .filter_map(|line| Some(IssueId::new(LeaseId::new(id(line)?))))
    }

    /// Git's name for the directory of an issue. Whoever asks in the order of ids begins where the last one was found.
    pub(crate) fn tree(&self, wanted: IssueId, from: &mut usize) -> Option<ObjectId> {
        let (lines, step) = (self.lines(), ID + self.width);
        let found = seek(self.len(), from, wanted, |number| id(lines.get(number * step..)?))?;
        ObjectId::from_bytes(lines.get(found * step + ID..(found + 1) * step)?)
    }
}

fn id(line: &[u8]) -> Option<u128> {
    line.first_chunk().map(|bits| u128::from_le_bytes(*bits))
}
