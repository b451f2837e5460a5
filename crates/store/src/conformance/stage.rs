//! Where a clause plays: a medium in a directory of its own, a clock, and the words to ask with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name, Policy,
    Refusal, Request, Resource, Tags, Text, TtlRange,
};
use holdfast_sys::{Kind, Open, Sys};

use super::Subject;
use crate::{Error, Medium, Result, View};

/// How long the leases of the suite last.
pub(super) const TTL: Millis = Millis::new(30_000);
/// How far clocks may be apart.
pub(super) const SKEW: Millis = Millis::new(2_000);
/// How long others wait on top of it.
pub(super) const GRACE: Millis = Millis::new(1_000);
/// How long an indefinite lease may be silent.
pub(super) const STALE: Millis = Millis::new(60_000);

/// A medium in a directory of its own.
pub struct Stage {
    pub(super) subject: Subject,
    pub(super) sys: Sys,
    pub(super) dir: PathBuf,
}

impl Stage {
    /// The subject in `dir`, which is there and empty.
    #[must_use]
    pub const fn new(subject: Subject, sys: Sys, dir: PathBuf) -> Self {
        Self { subject, sys, dir }
    }

    /// Another handle on the medium.
    #[must_use]
    pub fn open(&self) -> Box<dyn Medium> {
        (self.subject.open)(&self.sys, &self.dir)
    }

    /// Lets time go by.
    pub(super) fn pass(&self, span: Millis) {
        self.sys.clock.sleep(span);
    }

    /// An id that nobody had.
    pub(super) fn id(&self) -> LeaseId {
        LeaseId::new(self.sys.entropy.nonce().expect("randomness"))
    }

    /// The first resource.
    pub(super) fn resource(&self) -> Resource {
        name(self.subject.resources.first().expect("a resource")).into()
    }

    /// What `who` asks for to get the first resource.
    pub(super) fn wanted(&self, who: &str) -> Acquire {
        Acquire {
            id: self.id(),
            resource: self.resource(),
            holder: holder(who),
            mode: Mode::Exclusive,
            request: Request::Finite(TTL),
            reason: None,
            tags: Tags::none().with("of", text(who)).expect("room for a tag"),
            dead: Vec::new(),
        }
    }

    /// `who` asks for the first resource.
    pub(super) fn acquire(&self, medium: &dyn Medium, who: &str) -> Result<Answer> {
        medium.transact(&policy(), &Command::Acquire(self.wanted(who)))
    }

    /// `who` gets the first resource.
    pub(super) fn grant(&self, medium: &dyn Medium, who: &str) -> Lease {
        granted(self.acquire(medium, who))
    }

    /// Every file in the medium's directory with its bytes, and every directory without.
    pub(super) fn bytes(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        self.collect(&self.dir, &mut found);
        found
    }

    fn collect(&self, dir: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
        for entry in self.sys.files.list(dir).expect("a directory") {
            let path = dir.join(entry);
            if self.sys.files.stat(&path).expect("something").kind == Kind::Directory {
                self.collect(&path, found);
                found.insert(path, None);
            } else {
                let file = self.sys.files.open(&path, Open::Read).expect("a file");
                found.insert(path, Some(file.read_from(0, usize::MAX).expect("its bytes")));
            }
        }
    }

    /// Puts these bytes into a file.
    pub(super) fn put(&self, path: &Path, bytes: &[u8]) {
        let file = self.sys.files.open(path, Open::Create { mode: 0o600 }).expect("a file");
        file.truncate(0).expect("an empty file");
        file.write_all_at(bytes, 0).expect("a written file");
    }
}

/// A policy under which everything is allowed that a subject can keep.
pub(super) fn policy() -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule {
            ttl: TtlRange { min: Millis::new(1), max: Millis::from_secs(86_400) },
            indefinite: true,
        },
        kinds: BTreeMap::new(),
        skew: SKEW,
        grace: GRACE,
        stale_after: STALE,
        limits: Limits::NONE,
    }
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

pub(super) fn text(words: &str) -> Text {
    Text::new(words).expect("a text")
}

/// The holder called `who`.
pub(super) fn holder(who: &str) -> Holder {
    Holder { agent: name(who), place: name("a place") }
}

pub(super) fn releasing(lease: &Lease) -> Command {
    Command::Release { lease: lease.id, holder: lease.holder.clone() }
}

pub(super) fn renewing(lease: &Lease) -> Command {
    Command::Renew { lease: lease.id, holder: lease.holder.clone(), ttl: None }
}

pub(super) fn evicting(lease: &Lease) -> Command {
    Command::Evict { lease: lease.id, by: holder("a warden"), reason: text("because") }
}

/// The lease that was granted.
pub(super) fn granted(answer: Result<Answer>) -> Lease {
    match answer {
        Ok(Answer::Granted(lease)) => lease,
        other => panic!("a grant was due, not {other:?}"),
    }
}

/// Why it was refused.
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("a refusal was due, not {other:?}"),
    }
}

/// The only lease there is.
pub(super) fn only(view: &View) -> Lease {
    let mut leases = view.table.iter();
    match (leases.next(), leases.next()) {
        (Some(lease), None) => lease.clone(),
        _ => panic!("one lease was due, not {:?}", view.table),
    }
}

/// What a medium holds.
pub(super) fn view(medium: &dyn Medium) -> View {
    medium.view().expect("a view")
}
