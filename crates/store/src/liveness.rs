//! Leases that are held by a process: how a lease says which one, and which of them are held by the dead.
//!
//! The dead write nothing any more, so a door passes their leases in
//! [`Acquire::dead`](holdfast_kernel::Acquire) and nobody waits for their deadlines. Only a process that is
//! known to be gone counts: on another host, in another pid namespace or without a start time it cannot be
//! told, and then only time counts. The answer stays true outside of any section: nobody comes back to life
//! under the same start time, and no two leases share an id.

use holdfast_kernel::{BootId, Lease, LeaseId, Table, Tags, Text};
use holdfast_sys::{Liveness, ProcessId, Processes};

const HOST: &str = "host";
const BOOT: &str = "boot";
const NAMESPACE: &str = "namespace";
const PID: &str = "pid";
const START: &str = "start";

/// These tags and those that say which process holds the lease; none if there is no room for them, or if
/// the host's name cannot be kept.
#[must_use]
pub fn describe(process: &ProcessId, tags: Tags) -> Option<Tags> {
    let boot = process.boot.map(|boot| (BOOT, boot.to_string()));
    let others = [
        (HOST, process.host.clone()),
        (NAMESPACE, process.namespace.to_string()),
        (PID, process.pid.to_string()),
        (START, process.start.to_string()),
    ];
    boot.into_iter()
        .chain(others)
        .try_fold(tags, |tags, (key, value)| tags.with(key, Text::new(&value).ok()?).ok())
}

/// The process that holds the lease, if its tags say so.
#[must_use]
pub fn process(lease: &Lease) -> Option<ProcessId> {
    described(&lease.tags)
}

/// The process that tags describe, if they do.
#[must_use]
pub fn described(tags: &Tags) -> Option<ProcessId> {
    let tag = |key| tags.get(key).map(Text::as_str);
    Some(ProcessId {
        host: tag(HOST)?.to_owned(),
        boot: tag(BOOT).map(|hex| u128::from_str_radix(hex, 16).map(BootId::new)).transpose().ok()?,
        namespace: tag(NAMESPACE)?.parse().ok()?,
        pid: tag(PID)?.parse().ok()?,
        start: tag(START)?.parse().ok()?,
    })
}

/// These tags and those that say on which host and as which number a process holds the lease, where nothing tells it
/// from a later process with that number; none if there is no room for them.
#[must_use]
pub fn numbered(host: &str, pid: u32, tags: Tags) -> Option<Tags> {
    let tags = tags.with(HOST, Text::new(host).ok()?).ok()?;
    tags.with(PID, Text::new(&pid.to_string()).ok()?).ok()
}

/// The host and the number of the process that holds the lease, if its tags say so.
#[must_use]
pub fn number(lease: &Lease) -> Option<(&str, u32)> {
    let tag = |key| lease.tags.get(key).map(Text::as_str);
    Some((tag(HOST)?, tag(PID)?.parse().ok()?))
}

/// The leases in the table whose processes are known to be gone.
#[must_use]
pub fn dead(processes: &dyn Processes, table: &Table) -> Vec<LeaseId> {
    let is_dead =
        |lease: &&Lease| process(lease).is_some_and(|process| processes.liveness(&process) == Liveness::Dead);
    table.iter().filter(is_dead).map(|lease| lease.id).collect()
}
