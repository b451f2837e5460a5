//! Logs to measure with, and the commands that are measured.

use std::path::Path;

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Holder, KindRule, LeaseId, Limits, Millis, Mode, Name, Policy, Request,
    Tags, TtlRange,
};
use holdfast_store::Medium;
use holdfast_store::log::{Log, Paths, Settings};
use holdfast_sys::Sys;

use crate::ground::Failure;

/// How many commands become durable together while a log is prepared.
const BATCH: usize = 2_000;

/// A policy without bounds that would be met while measuring.
pub(crate) fn policy() -> Policy {
    let hour = Millis::from_secs(3_600);
    Policy {
        again: Again::Return,
        rule: KindRule { ttl: TtlRange { min: Millis::new(1), max: hour }, indefinite: false },
        kinds: std::collections::BTreeMap::new(),
        skew: Millis::from_secs(2),
        grace: Millis::from_secs(1),
        stale_after: hour,
        limits: Limits::NONE,
    }
}

/// Somebody who takes one resource again and again.
pub(crate) struct Worker {
    holder: Holder,
    resource: Name,
    policy: Policy,
    sys: Sys,
}

impl Worker {
    /// The worker with this number, who has a resource of its own.
    pub(crate) fn new(number: usize) -> Result<Self, Failure> {
        let holder = Holder {
            agent: Name::new(&format!("agent:worker-{number}"))?,
            place: Name::new("worktree:main")?,
        };
        let resource = Name::new(&format!("issue-{number:04}"))?;
        Ok(Self { holder, resource, policy: policy(), sys: Sys::os() })
    }

    /// Takes the resource and gives it back: two operations, two records.
    pub(crate) fn acquire_and_release(&self, log: &Log) -> Result<(), Failure> {
        let (lease, acquire) = self.acquire()?;
        log.transact(&self.policy, &acquire)?;
        match log.transact(&self.policy, &self.release(lease))? {
            Answer::Released(_) => Ok(()),
            other => Err(format!("a release was answered with {other:?}").into()),
        }
    }

    fn acquire(&self) -> Result<(LeaseId, Command), Failure> {
        let id = self.sys.entropy.lease_id(&self.sys.clock.now()?)?;
        let acquire = Acquire {
            id,
            resource: self.resource.clone().into(),
            holder: self.holder.clone(),
            mode: Mode::Exclusive,
            request: Request::Finite(Millis::from_secs(600)),
            reason: None,
            tags: Tags::none(),
            dead: Vec::new(),
        };
        Ok((id, Command::Acquire(acquire)))
    }

    fn release(&self, lease: LeaseId) -> Command {
        Command::Release { lease, holder: self.holder.clone() }
    }
}

/// The files of a log in a folder.
pub(crate) fn paths(folder: &Path) -> Paths {
    Paths { log: folder.join("log.jsonl"), index: folder.join("index.json"), guard: folder.join("guard") }
}

/// A handle on the log in a folder, as a process that was just started has it.
pub(crate) fn handle(folder: &Path) -> Log {
    Log::new(Sys::os(), paths(folder), Settings::default())
}

/// Fills the log in `folder` with so many records of grants and releases.
pub(crate) fn fill(folder: &Path, records: usize) -> Result<(), Failure> {
    fill_log(&handle(folder), records)
}

/// Fills a log with so many records of grants and releases.
pub(crate) fn fill_log(log: &Log, records: usize) -> Result<(), Failure> {
    let (policy, worker) = (policy(), Worker::new(0)?);
    let mut left = records / 2;
    while left > 0 {
        let mut commands = Vec::with_capacity(BATCH);
        for _ in 0..left.min(BATCH / 2) {
            let (lease, acquire) = worker.acquire()?;
            commands.extend([acquire, worker.release(lease)]);
        }
        left -= commands.len() / 2;
        for answer in log.transact_all(&policy, &commands) {
            answer?;
        }
    }
    Ok(())
}

/// The lines of the log in a folder, as they were written.
pub(crate) fn lines(folder: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let bytes = std::fs::read(paths(folder).log)?;
    Ok(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect())
}
