//! What the tests of the shared medium have in common: a server beside the clone, and clones of it.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod scripted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Fence, Holder, KindRule, Lease, LeaseId, Limits, Millis, Mode, Name,
    Policy, Request, Tags, TtlRange,
};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Trust;
use holdfast_remote::simulated::{Calm, Faults, ReadFault, Rough, Simulated, SwapFault};
use holdfast_remote::{Settings, Shared};
use holdfast_store::conformance::{Planted, garbage};
use holdfast_store::{CounterId, Error, Medium, Result, Trouble};
use holdfast_sys::Sys;

pub(crate) const COUNTER: CounterId = CounterId::new(LeaseId::new(7));

/// Everything that may come between a clone and a server that forgets nothing.
pub(crate) fn rough() -> Rough {
    Rough {
        percent: 25,
        swaps: vec![
            SwapFault::Lost,
            SwapFault::UnknownDone,
            SwapFault::UnknownNot,
            SwapFault::Later,
            SwapFault::Doubled,
        ],
        reads: vec![ReadFault::Unreachable, ReadFault::Stale],
    }
}

pub(crate) fn settings() -> Settings {
    Settings { max_age: Millis::ZERO, pause: Millis::new(1), tries: 12, ..Settings::default() }
}

/// A server's directory beside the clone's.
pub(crate) fn server(dir: &Path) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_os_string();
    name.push(".server");
    dir.with_file_name(name)
}

pub(crate) fn register(sys: &Sys, server: &Path, faults: Arc<dyn Faults>) -> Simulated {
    Simulated::new(sys, server, faults)
}

/// A clone in `dir` of the register at `server`, which is made if it is not there.
pub(crate) fn clone(
    sys: &Sys,
    dir: &Path,
    server: &Path,
    faults: Arc<dyn Faults>,
    settings: Settings,
) -> Shared {
    let calm = register(sys, server, Arc::new(Calm));
    let is_made = |calm: &Simulated| holdfast_remote::Register::read(calm).is_ok_and(|found| found.is_some());
    if sys.files.stat(&server.join("head.json")).is_err() && calm.start().is_ok() && !is_made(&calm) {
        let maker = Local::new(server.to_path_buf(), 0o600);
        // Another process may make it at the same time, and a crash may come in between.
        let _ = Shared::new(sys.clone(), Box::new(calm), maker, settings.clone()).make(COUNTER, Fence::FIRST);
    }
    let local = Local::new(dir.to_path_buf(), 0o600);
    Shared::new(sys.clone(), Box::new(register(sys, server, faults)), local, settings)
}

pub(crate) fn open_calm(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(clone(sys, dir, &server(dir), Arc::new(Calm), settings()))
}

pub(crate) fn open_rough(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(clone(sys, dir, &server(dir), Arc::new(rough()), settings()))
}

pub(crate) fn trusting() -> Settings {
    Settings { trust: Trust::Clocks, ..settings() }
}

/// A clone's memory that cannot be read stops everything. What it has seen last is not among it: that can be had again.
pub(crate) fn hostile(dir: &Path) -> Vec<Planted> {
    let files = ["intent.json", "clone.json"].map(|name| dir.join(name));
    let everywhere =
        |path: PathBuf| garbage().into_iter().map(|bytes| (path.clone(), bytes)).collect::<Vec<_>>();
    files.into_iter().flat_map(everywhere).collect()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn policy() -> Policy {
    let span = Millis::from_secs;
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: TtlRange { min: Millis::new(1), max: span(86_400) }, indefinite: false },
        kinds: BTreeMap::new(),
        skew: span(2),
        grace: span(1),
        stale_after: span(60),
        limits: Limits::NONE,
    }
}

pub(crate) fn wanted(resource: &str, who: &str) -> Command {
    Command::Acquire(Acquire {
        id: LeaseId::new(Sys::os().entropy.nonce().unwrap()),
        resource: name(resource).into(),
        holder: Holder { agent: name(who), place: name(who) },
        mode: Mode::Exclusive,
        request: Request::Finite(Millis::from_secs(600)),
        reason: None,
        tags: Tags::none(),
        dead: Vec::new(),
    })
}

pub(crate) fn granted(answer: Result<Answer>) -> Lease {
    match answer {
        Ok(Answer::Granted(lease)) => lease,
        other => panic!("a grant was due, not {other:?}"),
    }
}

pub(crate) fn trouble<T: std::fmt::Debug>(result: Result<T>) -> Trouble {
    match result {
        Err(Error::Shared { trouble, .. }) => trouble,
        other => panic!("trouble was due, not {other:?}"),
    }
}
