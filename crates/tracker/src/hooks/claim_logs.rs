//! The logs of claims that a hook can see: this repository's own, and on a server those of the clones that it
//! was told of. A log that is not there or may not be read is no log; one that is damaged stops everything.

use std::cell::OnceCell;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use holdfast_git::ObjectId;
use holdfast_kernel::{Fence, Lease, LeaseId};
use holdfast_store::{Error as StoreError, JournaledMedium, View};
use holdfast_sys::Sys;

use super::past::{self, Past, Window, adopted};
use crate::claims;
use crate::claims::shared::SharedClaims;
use crate::error::Result;

/// The logs that can be seen.
pub(super) struct ClaimLogs {
    /// Whether there is a control plane that can be looked into, be there a log in it or not.
    pub(super) sees: bool,
    logs: Vec<ClaimLog>,
}

/// One log.
pub(super) struct ClaimLog {
    /// Its identity: fences of another one cannot be compared.
    pub(super) id: String,
    /// Whether all clones share it.
    pub(super) shared: bool,
    log: Box<dyn JournaledMedium>,
    view: View,
    past: OnceCell<Past>,
}

impl ClaimLogs {
    /// The logs of these control planes, as far as they can be seen, and before them the claims that all clones share.
    pub(super) fn open(sys: &Sys, controls: &[PathBuf], shared: Option<&Arc<SharedClaims>>) -> Result<Self> {
        let mut logs: Vec<ClaimLog> = Vec::new();
        let mut sees = false;
        if let Some(shared) = shared {
            let log = claims::handle_on(shared);
            let view = log.view()?;
            let id = shared.place()?.counter.to_string();
            logs.push(ClaimLog { id, shared: true, log, view, past: OnceCell::new() });
            sees = true;
        }
        for control in controls {
            // Where nobody has claimed anything there is nothing yet; where nobody may look there is no telling.
            match sys.files.list(control) {
                Err(error) if is_out_of_sight(error.kind()) => continue,
                listed => drop(listed?),
            }
            sees = true;
            let log = claims::medium_at(sys, control);
            let view = match log.view() {
                Err(StoreError::Sys(error)) if is_out_of_sight(error.kind()) => continue,
                view => view?,
            };
            let Some(counter) = view.counter else { continue };
            let id = counter.to_string();
            if !logs.iter().any(|log| log.id == id) {
                logs.push(ClaimLog { id, shared: false, log, view, past: OnceCell::new() });
            }
        }
        Ok(Self { sees, logs })
    }

    /// The log with this identity.
    pub(super) fn log(&self, id: &str) -> Option<&ClaimLog> {
        self.logs.iter().find(|log| log.id == id)
    }

    /// Whether somebody has adopted a commit.
    pub(super) fn has_adopted(&self, commit: &ObjectId) -> Result<bool> {
        let name = adopted(commit);
        for log in &self.logs {
            if log.past()?.has_granted(&name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The log that granted a lease.
    pub(super) fn granting(&self, lease: LeaseId) -> Result<Option<&ClaimLog>> {
        for log in &self.logs {
            if log.lease(lease)?.is_some() {
                return Ok(Some(log));
            }
        }
        Ok(None)
    }
}

const fn is_out_of_sight(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory)
}

impl ClaimLog {
    /// The grant with this number.
    pub(super) fn granted(&self, fence: u64) -> Result<Option<&Lease>> {
        let Ok(fence) = Fence::new(fence) else { return Ok(None) };
        if let Some(lease) = self.view.table.iter().find(|lease| lease.fence == fence) {
            return Ok(Some(lease));
        }
        Ok(self.past()?.granted(fence))
    }

    /// The lease with this id.
    pub(super) fn lease(&self, id: LeaseId) -> Result<Option<&Lease>> {
        match self.view.table.get(id) {
            Some(lease) => Ok(Some(lease)),
            None => Ok(self.past()?.lease(id)),
        }
    }

    /// Whether a lease was in force at some moment of a time. The whole log is read only if what stands in
    /// the table does not tell.
    pub(super) fn was_in_force(&self, lease: &Lease, window: Window) -> Result<bool> {
        let stands = self.view.table.get(lease.id).is_some_and(|lease| past::stood(lease, window));
        Ok(stands || self.past()?.was_in_force(lease.id, window))
    }

    /// The lease with this id, if it is in force.
    pub(super) fn in_force_now(&self, id: LeaseId) -> Option<&Lease> {
        self.view.table.get(id).filter(|lease| !lease.standing(&self.view.now).is_over())
    }

    /// The lease on the same issue that was granted after this one and is in force.
    pub(super) fn held_since(&self, lease: &Lease) -> Option<&Lease> {
        let later = self.view.table.on(&lease.resource).filter(|other| other.fence > lease.fence);
        later.filter(|other| !other.standing(&self.view.now).is_over()).last()
    }

    /// The last grant of the same issue after this one.
    pub(super) fn successor(&self, lease: &Lease) -> Result<Option<&Lease>> {
        Ok(self.past()?.successor(lease))
    }

    fn past(&self) -> Result<&Past> {
        if let Some(past) = self.past.get() {
            return Ok(past);
        }
        let past = Past::read(&*self.log, &self.view.table)?;
        Ok(self.past.get_or_init(|| past))
    }
}
