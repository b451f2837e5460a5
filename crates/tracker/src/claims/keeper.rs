//! Keepers: a lease may name the process that stands for the agent that holds it. Once that process is gone, nobody has
//! to wait for the deadline: after a grace others may take the lease over.
//!
//! Nobody knows when a process ended that is not there any more. So whoever wants the lease and is the first to find its
//! keeper gone notes when that was, and the grace counts from that moment, or from the holder's last sign of life if
//! that came later: a holder that goes on without its keeper is not displaced while it does.
//!
//! A process is judged only by somebody in its own boot and pid namespace who may see it. For everybody else only the
//! deadline counts.

use std::path::{Path, PathBuf};

use holdfast_kernel::{Boot, BootId, Holder, Lease, LeaseId, Millis, Stamp, Table, Tags, Text};
use holdfast_store::{View, liveness, wall_ms};
use holdfast_sys::{Liveness, ProcessId, Sys};
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::times::rfc3339;

/// The tag of a lease that says how long others wait once its keeper is gone, in seconds, if not as configured.
const GRACE: &str = "keeper_grace";

/// What it says of a keeper that ends last of all that works under the lease.
const NO_GRACE: &str = "0";

/// How often and how far apart it is looked whether a keeper that is about to end has: ten seconds, on a machine where
/// nothing else gets its turn.
const LOOKS: usize = 2_000;
const AGAIN: Millis = Millis::new(5);

/// More than a note can be.
const LONGEST: usize = 1 << 12;

/// What is known of the keepers of a control plane.
pub(super) struct Keepers {
    sys: Sys,
    directory: PathBuf,
    grace: Millis,
    mode: u32,
}

/// A note that a keeper was found gone.
#[derive(Serialize, Deserialize)]
struct Note {
    schema_version: u32,
    lease_id: String,
    seen_at: String,
    boot_id: Option<String>,
    boot_ms: Option<u64>,
}

/// The process with this number, to be named as a keeper; `what` says who gave the number.
///
/// # Errors
/// When there is no such process, or it could not be told from a later one with that number.
pub fn find(sys: &Sys, what: &'static str, text: &str) -> Result<ProcessId> {
    let bad = |why: &str| Error::BadValue { what, given: text.to_owned(), why: why.to_owned() };
    let pid: u32 = text.parse().map_err(|_| bad("must be the number of a process"))?;
    match sys.processes.find(pid) {
        Ok(process) if process.boot.is_some() => Ok(process),
        Ok(_) => Err(bad("this machine does not tell its boots apart, so nobody could judge it later")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(bad("there is no such process")),
        Err(error) => Err(error.into()),
    }
}

/// These tags, and that others need not wait once the keeper is gone: it ends last of all that works under the lease.
#[must_use]
pub fn without_grace(tags: Tags) -> Tags {
    let with = Text::new(NO_GRACE).ok().and_then(|zero| tags.clone().with(GRACE, zero).ok());
    with.unwrap_or(tags)
}

/// Whether the keeper of a lease is known to be gone. One that stood for a run is given a moment for it: it lets go of its
/// worktree as it ends, and whoever comes next there may be faster than that.
#[must_use]
pub fn is_through(sys: &Sys, lease: &Lease) -> bool {
    let stood_for_run = lease.tags.get(GRACE).is_some_and(|secs| secs.as_str() == NO_GRACE);
    let looks = if stood_for_run { LOOKS } else { 0 };
    is_gone(sys, lease)
        || (0..looks).any(|_| {
            sys.clock.sleep(AGAIN);
            is_gone(sys, lease)
        })
}

/// Whether the keeper of a lease is known to be gone.
#[must_use]
pub fn is_gone(sys: &Sys, lease: &Lease) -> bool {
    let Some(keeper) = liveness::process(lease) else { return false };
    let Ok(me) = sys.processes.me() else { return false };
    let place = |process: &ProcessId| (process.boot, process.namespace);
    // Another boot has ended it, but in another boot only the deadline counts.
    me.boot.is_some() && place(&me) == place(&keeper) && sys.processes.liveness(&keeper) == Liveness::Dead
}

impl Keepers {
    pub(super) fn new(sys: &Sys, control: &Path, grace_secs: u64, mode: u32) -> Self {
        let directory = control.join("locks/keepers");
        Self { sys: sys.clone(), directory, grace: Millis::from_secs(grace_secs), mode }
    }

    /// How long others wait once the keeper of a lease is gone.
    fn grace(&self, lease: &Lease) -> Millis {
        let own = lease.tags.get(GRACE).and_then(|secs| secs.as_str().parse().ok());
        own.map_or(self.grace, Millis::from_secs)
    }

    /// In how long others may take over a lease whose keeper is gone; none while only its deadline counts.
    pub(super) fn takeover_in(&self, lease: &Lease, view: &View) -> Result<Option<Millis>> {
        if !is_gone(&self.sys, lease) {
            return Ok(None);
        }
        let grace = self.grace(lease);
        if grace == Millis::ZERO {
            return Ok(Some(Millis::ZERO));
        }
        let seen = self.first_seen(lease.id, view)?;
        let since = |moment: &Stamp| view.now.since(moment).forward();
        let passed = since(&seen).min(since(lease.last_sign()));
        Ok(Some(Millis::new(grace.get().saturating_sub(passed.get()))))
    }

    /// The leases of others that may be taken over because their keepers are gone for long enough.
    pub(super) fn given_up(&self, by: &Holder, view: &View) -> Result<Vec<LeaseId>> {
        let mut given_up = Vec::new();
        for lease in view.table.iter().filter(|lease| lease.holder != *by) {
            if self.takeover_in(lease, view)? == Some(Millis::ZERO) {
                given_up.push(lease.id);
            }
        }
        Ok(given_up)
    }

    /// Whether a holder that goes on without its keeper has to give a sign of life, so that nobody takes it for gone.
    pub(super) fn needs_sign(&self, lease: &Lease, now: &Stamp) -> bool {
        let silent = now.since(lease.last_sign()).forward();
        silent.get() >= self.grace(lease).get() / 2 && is_gone(&self.sys, lease)
    }

    /// When the keeper of a lease was first found gone, noted if nobody has.
    fn first_seen(&self, lease: LeaseId, view: &View) -> Result<Stamp> {
        let path = self.directory.join(format!("{lease}.json"));
        if let Some(seen) = self.read(&path, &view.now)? {
            return Ok(seen);
        }
        self.tidy(&view.table)?;
        let boot = view.now.boot();
        let note = json::file(&Note {
            schema_version: 1,
            lease_id: lease.to_string(),
            seen_at: rfc3339(&view.now),
            boot_id: boot.map(|boot| boot.id.to_string()),
            boot_ms: boot.map(|boot| boot.ms),
        });
        // A directory that a group shares has the group's bits.
        let directory = if self.mode & 0o060 == 0 { 0o700 } else { 0o2770 };
        durable::make_dirs(&self.sys, &self.directory, directory)?;
        durable::replace(&self.sys, &path, &note, self.mode)?;
        Ok(view.now)
    }

    /// What a note says, if it can be believed: it belongs to this boot and not to the future.
    fn read(&self, path: &Path, now: &Stamp) -> Result<Option<Stamp>> {
        let Some(bytes) = durable::read(&self.sys, path, LONGEST)? else { return Ok(None) };
        let seen = serde_json::from_slice::<Note>(&bytes).ok().and_then(|note| note.seen());
        let boot = |stamp: &Stamp| stamp.boot().map(|boot| boot.id);
        Ok(seen.filter(|seen| boot(seen) == boot(now) && now.since(seen).backward() == Millis::ZERO))
    }

    /// Removes the notes about leases that are over.
    fn tidy(&self, table: &Table) -> Result<()> {
        let names = match self.sys.files.list(&self.directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            names => names?,
        };
        for name in names {
            let lease = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse::<LeaseId>().ok());
            if lease.is_some_and(|lease| table.get(lease).is_none()) {
                // Somebody else may have been faster.
                let _ = self.sys.files.remove_file(&self.directory.join(name));
            }
        }
        Ok(())
    }
}

impl Note {
    fn seen(&self) -> Option<Stamp> {
        let boot = match (&self.boot_id, self.boot_ms) {
            (Some(id), Some(ms)) => Some(Boot { id: BootId::new(u128::from_str_radix(id, 16).ok()?), ms }),
            (None, None) => None,
            _ => return None,
        };
        Stamp::new(i64::try_from(wall_ms(&self.seen_at)?).ok()?, boot).ok()
    }
}
