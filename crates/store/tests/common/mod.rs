//! What the tests of media have in common: a scratch directory, a clock that is told what time it is, and
//! the words to ask with.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name, Policy,
    Request, Tags, Text, TtlRange,
};
use holdfast_store::conformance::ManualClock;
use holdfast_store::{Error, Medium, Result};
use holdfast_sys::Sys;

/// The real machine, but time goes by only when somebody sleeps.
pub(crate) fn sys() -> Sys {
    let sys = Sys::os();
    let now = sys.clock.now().unwrap();
    Sys { clock: Arc::new(ManualClock::new(now)), ..sys }
}

pub(crate) fn policy() -> Policy {
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: TtlRange { min: Millis::new(1), max: Millis::LONGEST }, indefinite: true },
        kinds: BTreeMap::new(),
        skew: Millis::new(2_000),
        grace: Millis::new(1_000),
        stale_after: Millis::new(60_000),
        limits: Limits::NONE,
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn text(words: &str) -> Text {
    Text::new(words).unwrap()
}

pub(crate) fn holder(who: &str) -> Holder {
    Holder { agent: name(who), place: name("a place") }
}

pub(crate) fn wanted(sys: &Sys, resource: &str, who: &str) -> Acquire {
    Acquire {
        id: LeaseId::new(sys.entropy.nonce().unwrap()),
        resource: name(resource).into(),
        holder: holder(who),
        mode: Mode::Exclusive,
        request: Request::Finite(Millis::new(30_000)),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    }
}

pub(crate) fn acquire(sys: &Sys, medium: &dyn Medium, resource: &str, who: &str) -> Result<Answer> {
    medium.transact(&policy(), &Command::Acquire(wanted(sys, resource, who)))
}

pub(crate) fn grant(sys: &Sys, medium: &dyn Medium, resource: &str, who: &str) -> Lease {
    match acquire(sys, medium, resource, who) {
        Ok(Answer::Granted(lease)) => lease,
        other => panic!("a grant was due, not {other:?}"),
    }
}

pub(crate) fn release(medium: &dyn Medium, lease: &Lease) -> Result<Answer> {
    medium.transact(&policy(), &Command::Release { lease: lease.id, holder: lease.holder.clone() })
}

pub(crate) fn evict(medium: &dyn Medium, lease: &Lease) -> Result<Answer> {
    let reason = text("because");
    medium.transact(&policy(), &Command::Evict { lease: lease.id, by: holder("a warden"), reason })
}

/// The file that a named error is about, and what it says.
pub(crate) fn damage<T: std::fmt::Debug>(result: Result<T>) -> (PathBuf, String) {
    match result {
        Err(Error::Damaged { path, damage }) => (path, damage.to_string()),
        other => panic!("damage was due, not {other:?}"),
    }
}

/// The names in a directory.
pub(crate) fn names(sys: &Sys, dir: &Path) -> Vec<String> {
    sys.files.list(dir).unwrap().into_iter().map(|name| name.to_string_lossy().into_owned()).collect()
}
