//! The media that are put to the test.

use std::path::Path;
use std::sync::Arc;

use holdfast_kernel::{Fence, Millis, Table, apply};
use holdfast_remote::local::Local;
use holdfast_remote::shared::Trust;
use holdfast_remote::simulated::{Calm, ReadFault, Rough, Simulated, SwapFault};
use holdfast_remote::{Settings, Shared};
use holdfast_store::directory::Directory;
use holdfast_store::log::{self, Log};
use holdfast_store::record::{self, Record};
use holdfast_store::{Error, JournaledMedium as _, Medium as _, Result, View, directory};
use holdfast_sys::Sys;

use crate::broken::register_twins::{self, Twin};
use crate::resources::named as resource_named;
use crate::scaffold::ROOT;
use crate::subject::Subject;
use crate::{broken, reference};

/// Every medium that is shipped, in every way that it can be set.
#[must_use]
pub fn all() -> Vec<Subject> {
    vec![log(), log_with_durable_index(), record(), directory()]
}

/// The log medium as it is by default; its upkeep is to cut it.
#[must_use]
pub fn log() -> Subject {
    Subject::new("log", |sys| Ok(Box::new(open_log(sys, false))))
        .replaying(replay_log)
        .kept_up(|sys, policy| open_log(sys, false).cut(policy).map(drop))
}

/// The log medium with an index that is made durable too; its upkeep is to have it repaired and cut.
#[must_use]
pub fn log_with_durable_index() -> Subject {
    Subject::new("log-with-durable-index", |sys| Ok(Box::new(open_log(sys, true))))
        .replaying(replay_log)
        .kept_up(|sys, policy| {
            let log = open_log(sys, true);
            log.recover(policy, true)?;
            log.cut(policy).map(drop)
        })
}

/// The record medium.
#[must_use]
pub fn record() -> Subject {
    Subject::new("record", |sys| Ok(Box::new(open_record(sys))))
        .kept_up(|sys, _| open_record(sys).clean().map(drop))
        .of_one_writer()
        .of_one_resource()
}

/// The directory medium.
#[must_use]
pub fn directory() -> Subject {
    Subject::new("directory", |sys| Ok(Box::new(open_directory(sys))))
        .kept_up(|sys, _| open_directory(sys).clean().map(drop))
        .of_one_writer()
}

/// Every protocol that does not work.
#[must_use]
pub fn broken() -> Vec<Subject> {
    let protocols = [
        Subject::new("shared-tmp-steal", broken::shared_tmp_steal::open),
        Subject::new("fence-in-lock", broken::fence_in_lock::open),
        Subject::new("create-then-write", broken::create_then_write::open),
        Subject::new("rename-then-mkdir", broken::rename_then_mkdir::open),
        Subject::new("trusted-index", broken::trusted_index::open).replaying(broken::trusted_index::replay),
        Subject::new("removed-guard", broken::removed_guard::open),
        Subject::new("early-acknowledgement", broken::early_acknowledgement::open),
        Subject::new("ignored-sync-failure", broken::ignored_sync_failure::open),
    ];
    protocols.map(|protocol| protocol.of_one_writer().of_one_resource()).into()
}

/// The shared medium, each host a clone of its own, over a register between which and them everything goes wrong that
/// may.
#[must_use]
pub fn shared() -> Subject {
    Subject::new("shared", |sys| Ok(Box::new(open_shared(sys)?))).replaying(replay_shared).far_away()
}

/// The shared medium over a register that does as it is told, for plans in which every run is tried.
#[must_use]
pub fn shared_and_calm() -> Subject {
    let open = |sys: &Sys| {
        on_register(sys, Trust::Clocks, Simulated::new(sys, &register_twins::server(sys)?, Arc::new(Calm)))
    };
    Subject::new("shared-and-calm", move |sys| Ok(Box::new(open(sys)?))).replaying(replay_shared).far_away()
}

/// The shared medium on hosts whose wall clocks are an hour apart, none of which believes another's.
#[must_use]
pub fn shared_and_watching() -> Subject {
    Subject::new("shared-and-watching", |sys| Ok(Box::new(open_shared_as(sys, Trust::Watch)?)))
        .far_away()
        .with_wrong_clocks()
}

/// The shared medium over a server that forgets steps which it has confirmed, or all of them.
#[must_use]
pub fn forgetful() -> Subject {
    Subject::new("forgetful", |sys| {
        let swaps = vec![SwapFault::Forgotten, SwapFault::Wiped, SwapFault::UnknownDone];
        let register = Simulated::new(
            sys,
            &register_twins::server(sys)?,
            Arc::new(Rough { percent: 8, swaps, reads: Vec::new() }),
        );
        Ok(Box::new(on_register(sys, Trust::Clocks, register.checked())?))
    })
    .far_away()
}

/// The log with patterns that overlap.
#[must_use]
pub fn log_of_patterns() -> Subject {
    log().of_patterns("log-of-patterns")
}

/// The shared medium with patterns that overlap.
#[must_use]
pub fn shared_of_patterns() -> Subject {
    shared().of_patterns("shared-of-patterns")
}

/// Every wrong way to use a register.
#[must_use]
pub fn register_twins() -> Vec<Subject> {
    let subject = |twin: Twin| {
        let open = move |sys: &Sys| register_twins::open(sys, twin);
        let subject = Subject::new(twin.name(), open).far_away().of_one_writer();
        if twin.watches() { subject.with_wrong_clocks() } else { subject }
    };
    Twin::ALL.map(subject).into()
}

/// The medium or the protocol with this name.
#[must_use]
pub fn named(name: &str) -> Option<Subject> {
    let others = [
        reference(),
        shared(),
        shared_and_calm(),
        shared_and_watching(),
        forgetful(),
        log_of_patterns(),
        shared_of_patterns(),
    ];
    let all = all().into_iter().chain(others).chain(broken()).chain(register_twins());
    all.into_iter().find(|subject| subject.name() == name)
}

/// The medium that is as simple as a correct one can be.
#[must_use]
pub fn reference() -> Subject {
    Subject::new("reference", reference::open)
}

fn open_log(sys: &Sys, fsync_index: bool) -> Log {
    let file = |name: &str| Path::new(ROOT).join(name);
    let paths = log::Paths {
        log: file("claims.jsonl"),
        index: file("claims.index.json"),
        guard: file("claims.lock"),
    };
    Log::new(sys.clone(), paths, log::Settings { fsync_index, ..log::Settings::default() })
}

fn open_shared(sys: &Sys) -> Result<Shared> {
    open_shared_as(sys, Trust::Clocks)
}

fn open_shared_as(sys: &Sys, trust: Trust) -> Result<Shared> {
    let swaps = vec![
        SwapFault::Lost,
        SwapFault::UnknownDone,
        SwapFault::UnknownNot,
        SwapFault::Later,
        SwapFault::Doubled,
    ];
    let rough = Rough { percent: 20, swaps, reads: vec![ReadFault::Unreachable] };
    on_register(sys, trust, Simulated::new(sys, &register_twins::server(sys)?, Arc::new(rough)))
}

fn on_register(sys: &Sys, trust: Trust, register: Simulated) -> Result<Shared> {
    let settings =
        Settings { trust, max_age: Millis::ZERO, tries: 12, pause: Millis::new(1), ..Settings::default() };
    let clone = Path::new(ROOT).join(format!("clone-{}", sys.processes.me()?.host));
    crate::scaffold::make(sys, &clone)?;
    Ok(Shared::new(sys.clone(), Box::new(register), Local::new(clone, 0o600), settings))
}

fn replay_shared(sys: &Sys) -> Result<View> {
    let shared = open_shared(sys)?;
    let (mut table, mut last, mut wrong) = (Table::new(), 0, None);
    shared.history(&mut |record| {
        last = record.sequence.get();
        wrong = wrong.take().or_else(|| apply(&mut table, &record.event).err());
    })?;
    if let Some(error) = wrong {
        return Err(crate::scaffold::damaged(Path::new(ROOT), &error.to_string()));
    }
    let View { counter, now, .. } = shared.view()?;
    let next = Fence::new(last + 1).map_err(|_| Error::Refused(holdfast_kernel::Refusal::FencesExhausted))?;
    Ok(View { table, counter, next, now })
}

fn open_record(sys: &Sys) -> Record {
    let paths = record::Paths::new(Path::new(ROOT), "main");
    Record::new(sys.clone(), paths, resource_named(0), record::Settings::default())
}

fn open_directory(sys: &Sys) -> Directory {
    Directory::new(sys.clone(), Path::new(ROOT), directory::Settings::default())
}

/// What all records since the first one lead to, without the index and without the carried-over tables.
fn replay_log(sys: &Sys) -> Result<View> {
    let log = open_log(sys, false);
    let (mut table, mut last, mut wrong) = (Table::new(), 0, None);
    log.history(&mut |record| {
        last = record.sequence.get();
        wrong = wrong.take().or_else(|| apply(&mut table, &record.event).err());
    })?;
    if let Some(error) = wrong {
        return Err(crate::scaffold::damaged(Path::new(ROOT), &error.to_string()));
    }
    let View { counter, now, .. } = log.view()?;
    let next = Fence::new(last + 1).map_err(|_| Error::Refused(holdfast_kernel::Refusal::FencesExhausted))?;
    Ok(View { table, counter, next, now })
}
