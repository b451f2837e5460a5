//! What is remembered of the issues in a directory, so that a list need not open every file. It is made of the files and
//! can be deleted at any time. An entry counts only where the issue's directory and each of its files is still exactly
//! what it was: the same inode, length and times, each of them asked for every time.
//!
//! A cache is of the directory that it was made of and of the boot of the machine that it was made in. With the power a
//! file may lose what was written last and keep its times; whatever was remembered of it is then not looked at.
//!
//! A file that was changed while the entry was made could look the same afterwards, if it was changed twice within one
//! tick of the clock. So nothing is remembered that was changed since the new cache was begun: its own file says when
//! that was, by the clock of the file system, and every later change has a later time.
//!
//! The names in the directory are remembered in the same way. They are still those if the directory looks as it did: who
//! adds, removes or renames something in it changes its times.

mod bytes;

use holdfast_git::ObjectId;
use holdfast_kernel::LeaseId;
use holdfast_sys::{Identity, Kind, Stat};

pub(super) use self::bytes::Looks;
use self::bytes::{Reader, Texts, Writer};
use super::glance::Glance;
use super::raw::Raw;
use super::set::Set;
use super::standing::{Finish, Standing};
use super::state::{Priority, State};
use crate::ids::IssueId;
use crate::issues::Outline;
use crate::seek::seek;

/// What the file begins with: its name, and its version.
const MAGIC: &[u8; 8] = b"jitlist4";

/// More than any number of issues needs.
pub(super) const LONGEST: usize = 1 << 30;

/// The length of the hash of everything behind it.
const HASH: usize = 32;

/// The length of a line of the table: an id, and where its entry begins.
const LINE: usize = 16 + 4;

/// Where nothing begins: the entry of a name of which no more is remembered.
const NOWHERE: u32 = 0;

/// What a second has of what times are counted in.
const NANOS: i64 = 1_000_000_000;

/// What a cache is of: a directory, and the boot of the machine that looks at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    pub(super) home: Identity,
    /// None where the machine does not tell its boots apart.
    pub(super) boot: Option<u128>,
}

/// What tells whether a file or directory is still what it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signature {
    inode: u64,
    len: u64,
    modified: i64,
    changed: i64,
}

impl Signature {
    /// The signature of a file or a directory; none where the machine does not tell enough.
    pub(super) fn of(stat: &Stat, kind: Kind) -> Option<Self> {
        let times = stat.times.filter(|_| stat.kind == kind)?;
        let (modified, changed) = (nanos(times.modified)?, nanos(times.changed)?);
        Some(Self { inode: stat.identity.inode, len: stat.len, modified, changed })
    }

    /// Whether it was last changed before then.
    pub(super) fn is_older_than(&self, then: (i64, i64)) -> bool {
        nanos(then).is_some_and(|then| self.changed < then)
    }
}

/// A time as one number; none if it is some centuries away.
fn nanos((secs, nanos): (i64, i64)) -> Option<i64> {
    secs.checked_mul(NANOS)?.checked_add(nanos)
}

/// The names of a directory that has nothing but issues, in their order, and how it looks while it has exactly these.
pub(super) struct Names {
    pub(super) looks: Signature,
    pub(super) ids: Vec<IssueId>,
}

/// An issue's directory and its files, as they were; a file that is not there has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signatures {
    pub(super) directory: Signature,
    pub(super) files: [Option<Signature>; 3],
}

impl Signatures {
    /// Whether everything was last changed before then.
    pub(super) fn are_older_than(&self, then: (i64, i64)) -> bool {
        let mut all = self.files.iter().flatten().chain([&self.directory]);
        all.all(|one| one.is_older_than(then))
    }
}

/// How much of what is remembered of an issue is needed beside the issue itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    /// Its labels.
    pub(super) labels: bool,
    /// What it depends on.
    pub(super) deps: bool,
}

impl Extent {
    /// Everything.
    pub(super) const ALL: Self = Self { labels: true, deps: true };

    /// Which of the files are needed, in their order.
    pub(super) const fn files(self) -> [bool; 3] {
        [true, self.labels, self.deps]
    }
}

/// What is remembered of the issues in one directory.
pub(super) struct Cache {
    bytes: Vec<u8>,
    /// How the directory looked with exactly the names of the table; none if it had others.
    looks: Option<Signature>,
    table: usize,
    count: usize,
}

impl Cache {
    /// What a file remembers of this directory; none if it is another's, of an earlier boot or another version, or not
    /// whole.
    pub(super) fn read(bytes: Vec<u8>, origin: Origin) -> Option<Self> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        if reader.take(MAGIC.len())? != MAGIC {
            return None;
        }
        let hash = reader.take(HASH)?;
        if blake3::hash(bytes.get(reader.at..)?).as_bytes() != hash {
            return None;
        }
        if reader.text()? != env!("CARGO_PKG_VERSION") {
            return None;
        }
        let home = Identity { device: reader.long()?, inode: reader.long()? };
        let has_boot = reader.byte()? != 0;
        let boot = Some(u128::from_le_bytes(reader.take(16)?.try_into().ok()?)).filter(|_| has_boot);
        let looks = reader.optional_signature()?;
        let count = usize::try_from(reader.short()?).ok()?;
        let table = reader.at;
        reader.take(count.checked_mul(LINE)?)?;
        (Origin { home, boot } == origin).then_some(Self { bytes, looks, table, count })
    }

    /// Whether the directory looked so when it had the names that are remembered.
    pub(super) fn is_of(&self, looks: Signature) -> bool {
        self.looks == Some(looks)
    }

    /// The names in the directory, if it looks as it did when it had these.
    pub(super) fn names(&self, looks: Signature) -> Option<Vec<IssueId>> {
        if !self.is_of(looks) {
            return None;
        }
        let mut ids = Vec::with_capacity(self.count);
        for number in 0..self.count {
            ids.push(IssueId::new(LeaseId::new(self.line(number)?.0)));
        }
        ids.is_sorted_by(|one, next| one < next).then_some(ids)
    }

    /// What is remembered of an issue, whether that is still so or not. Whoever asks in the order of ids begins where the
    /// last one was found.
    pub(super) fn find(&self, id: IssueId, from: &mut usize) -> Option<Entry<'_>> {
        self.entry(id, self.place(id, from)?)
    }

    /// Where in the table an issue is.
    pub(super) fn place(&self, id: IssueId, from: &mut usize) -> Option<usize> {
        seek(self.count, from, id, |number| self.line(number).map(|(id, _)| id))
    }

    /// What is remembered of the issue that is there in the table.
    pub(super) fn entry(&self, id: IssueId, place: usize) -> Option<Entry<'_>> {
        let (_, at) = self.line(place).filter(|(_, at)| *at != NOWHERE)?;
        Entry::read(id, self.bytes.get(usize::try_from(at).ok()?..)?)
    }

    fn line(&self, number: usize) -> Option<(u128, u32)> {
        let mut reader = Reader { bytes: &self.bytes, at: self.table + number * LINE };
        Some((u128::from_le_bytes(reader.take(16)?.try_into().ok()?), reader.short()?))
    }
}

/// What is remembered of one issue.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    id: IssueId,
    /// How the directory and the files looked.
    pub(super) looks: Looks<'a>,
    /// The name that git gives to the issue's directory.
    pub(super) tree: ObjectId,
    /// Where it says that it stands.
    pub(super) state: State,
    bytes: &'a [u8],
    /// Where in the bytes the rest begins.
    rest: usize,
}

/// What an entry says beside how things looked.
pub(super) struct Told<'a>(Glance<'a>);

impl<'a> Entry<'a> {
    fn read(id: IssueId, bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader { bytes, at: 0 };
        let (looks, tree) = (reader.looks()?, reader.tree()?);
        let state = *State::ALL.get(usize::from(reader.byte()?))?;
        Some(Self { id, looks, tree, state, bytes, rest: reader.at })
    }

    /// Which issue it is.
    pub(super) const fn id(&self) -> IssueId {
        self.id
    }

    /// The bytes of the entry, to be kept in the next cache.
    fn whole(&self) -> Option<&'a [u8]> {
        let mut reader = Reader { bytes: self.bytes, at: self.rest };
        Told::read(&mut reader, self, Extent::ALL)?;
        self.bytes.get(..reader.at)
    }

    /// What it says of the issue, before anybody has judged how its work stands. It has no labels and
    /// depends on nothing as far as that is not needed.
    pub(super) fn told(&self, extent: Extent) -> Option<Told<'a>> {
        Told::read(&mut Reader { bytes: self.bytes, at: self.rest }, self, extent)
    }
}

impl<'a> Told<'a> {
    fn read(reader: &mut Reader<'a>, entry: &Entry<'_>, extent: Extent) -> Option<Self> {
        let priority = *Priority::ALL.get(usize::from(reader.byte()?))?;
        let (has_fence, fence) = (reader.byte()? != 0, reader.long()?);
        let mut texts = reader.texts()?;
        let (title, kind, created_at, updated_at) =
            (texts.next()??, texts.next()??, texts.next()??, texts.next()??);
        let (conflict, parent, assignee, fence_log) =
            (texts.next()?, texts.next()?, texts.next()?, texts.next()?);
        let gates = texts.list()?;
        let (mut labels, mut deps) = (Vec::new(), Vec::new());
        if extent.labels {
            labels = texts.list()?;
        } else if extent.deps {
            texts.pass_list()?;
        }
        if extent.deps {
            deps = texts.list()?;
        }
        Some(Self(Glance {
            id: entry.id,
            title,
            kind,
            state: entry.state,
            priority,
            conflict,
            parent,
            assignee,
            gates,
            created_at,
            updated_at,
            fence: has_fence.then_some(fence),
            fence_log,
            labels,
            deps,
            unsure: false,
            standing: Standing::Open,
        }))
    }

    /// As much as says whether the work is finished.
    pub(super) const fn finish(&self) -> Finish<'a> {
        let Glance { state, fence, fence_log, .. } = self.0;
        Finish { state, fence, fence_log }
    }

    /// Notes how its work stands.
    pub(super) fn stand(&mut self, standing: Standing) {
        if standing == Standing::Lost {
            self.0.state = State::InProgress;
        }
        self.0.standing = standing;
    }

    /// The issue, once it was noted how its work stands.
    pub(super) const fn glance(&self) -> &Glance<'a> {
        &self.0
    }
}

/// A cache that is being made.
pub(super) struct Maker {
    entries: Vec<(IssueId, Vec<u8>)>,
}

/// An entry for what was read of an issue; none if there is anything in it that has to be looked at each time.
pub(super) fn entry(signatures: &Signatures, raw: &Raw, id: IssueId) -> Option<Vec<u8>> {
    let tree = raw.tree()?;
    let there = signatures.files.iter().map(Option::is_some);
    if !there.eq(raw.parts().iter().map(|part| part.there)) {
        return None;
    }
    let issue: Outline<'_> = serde_json::from_slice(raw.issue.content()?).ok()?;
    if IssueId::parse(&issue.id) != Some(id) {
        return None;
    }
    let (labels, deps) = (Set::read(&raw.labels.bytes).ok()?, Set::read(&raw.deps.bytes).ok()?);
    let mut into = Writer(Vec::with_capacity(512));
    into.signatures(signatures);
    into.0.push(u8::try_from(tree.as_bytes().len()).ok()?);
    into.0.extend_from_slice(tree.as_bytes());
    into.0.push(position(&State::ALL, issue.state)?);
    into.0.push(position(&Priority::ALL, issue.priority)?);
    into.0.push(u8::from(issue.fence.is_some()));
    into.long(issue.fence.unwrap_or(0));
    let mut texts = Texts::default();
    let some = [Some(&issue.title), Some(&issue.kind), Some(&issue.created_at), Some(&issue.updated_at)];
    let more = [&issue.conflict, &issue.parent, &issue.assignee, &issue.fence_log].map(Option::as_ref);
    for text in some.into_iter().chain(more) {
        texts.add(text.map(|text| &**text))?;
    }
    texts.list(issue.gates.iter().map(String::as_str))?;
    texts.list(labels.members())?;
    texts.list(deps.members())?;
    into.texts(&texts)?;
    Some(into.0)
}

fn position<T: PartialEq>(all: &[T], one: T) -> Option<u8> {
    all.iter().position(|each| *each == one).and_then(|at| u8::try_from(at).ok())
}

impl Maker {
    /// A cache without entries.
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Keeps what an earlier cache has.
    pub(super) fn keep(&mut self, entry: &Entry<'_>) {
        self.entries.extend(entry.whole().map(|bytes| (entry.id, bytes.to_vec())));
    }

    /// Adds entries that were made.
    pub(super) fn add(&mut self, entries: Vec<(IssueId, Vec<u8>)>) {
        self.entries.extend(entries);
    }

    /// The file; none if it would be too long for its numbers. Where the names of the directory can be remembered, it has
    /// exactly those.
    pub(super) fn file(mut self, origin: Origin, names: Option<Names>) -> Option<Vec<u8>> {
        self.entries.sort_unstable_by_key(|(id, _)| *id);
        self.entries.dedup_by_key(|(id, _)| *id);
        let looks = names.as_ref().map(|names| names.looks);
        if let Some(Names { ids, .. }) = names {
            self.name(ids);
        }
        let mut into = Writer(MAGIC.to_vec());
        into.0.extend_from_slice(&[0; HASH]);
        into.text(env!("CARGO_PKG_VERSION"))?;
        into.0.extend_from_slice(&origin.home.device.to_le_bytes());
        into.0.extend_from_slice(&origin.home.inode.to_le_bytes());
        into.0.push(u8::from(origin.boot.is_some()));
        into.0.extend_from_slice(&origin.boot.unwrap_or(0).to_le_bytes());
        into.optional_signature(looks.as_ref());
        into.0.extend_from_slice(&u32::try_from(self.entries.len()).ok()?.to_le_bytes());
        let mut at = into.0.len() + self.entries.len() * LINE;
        for (id, bytes) in &self.entries {
            let begins = if bytes.is_empty() { NOWHERE } else { u32::try_from(at).ok()? };
            into.0.extend_from_slice(&id.bits().to_le_bytes());
            into.0.extend_from_slice(&begins.to_le_bytes());
            at += bytes.len();
        }
        into.0.reserve(at - into.0.len());
        for (_, bytes) in &self.entries {
            into.0.extend_from_slice(bytes);
        }
        let start = MAGIC.len() + HASH;
        let hash = blake3::hash(into.0.get(start..)?);
        into.0.get_mut(MAGIC.len()..start)?.copy_from_slice(hash.as_bytes());
        Some(into.0).filter(|bytes| bytes.len() <= LONGEST)
    }

    /// Has an entry for each of the names and for nothing else; an empty one where no more is known. Both are in order.
    fn name(&mut self, ids: Vec<IssueId>) {
        let mut known = std::mem::take(&mut self.entries).into_iter().peekable();
        self.entries = ids
            .into_iter()
            .map(|id| {
                while known.next_if(|(one, _)| *one < id).is_some() {}
                (id, known.next_if(|(one, _)| *one == id).map(|(_, bytes)| bytes).unwrap_or_default())
            })
            .collect();
    }
}

#[cfg(test)]
mod tests;
