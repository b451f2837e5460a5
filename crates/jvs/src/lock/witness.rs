//! What the audit hears of a lock: one line for each transition, before it happens. If the line cannot be
//! written, the transition does not happen.

use holdfast_kernel::{Cause, Event, Lease, Table};
use holdfast_store::Witness;
use serde_json::{Map, Value, json};

use crate::audit::Audit;
use crate::holder::holder_of;
use crate::repo::Repo;
use crate::worktree::Worktree;

/// Writes down what is about to happen to the lock of a worktree.
pub(super) struct AuditWitness {
    audit: Audit,
    worktree_id: String,
}

impl AuditWitness {
    pub(super) fn new(repo: &Repo, worktree: &Worktree) -> Self {
        Self { audit: Audit::of(repo), worktree_id: worktree.worktree_id.clone() }
    }
}

impl Witness for AuditWitness {
    fn record(
        &self,
        before: &Table,
        events: &[Event],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let Some(last) = events.last() else { return Ok(()) };
        let ended = before.iter().next();
        let (event, data) = described(last, ended);
        Ok(self.audit.append(event, Some(&self.worktree_id), data)?)
    }
}

/// The name of a transition and what there is to say about it. A takeover is one transition, although the
/// lease that it ends and the one that it begins are two events.
fn described(event: &Event, before: Option<&Lease>) -> (&'static str, Map<String, Value>) {
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| drop(data.insert(key.to_owned(), value));
    let name = match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => {
            about(lease, &mut put);
            put("session_id", json!(lease.holder.place.as_str()));
            match before.filter(|before| before.holder != lease.holder) {
                Some(from) => {
                    put("from_holder_id", json!(holder_of(from)));
                    put("from_lock_id", json!(from.id.to_string()));
                    put("from_fencing_token", json!(from.fence.get()));
                    "lock.stolen"
                }
                None => "lock.acquired",
            }
        }
        Event::Renewed { ttl, .. } => {
            before.iter().for_each(|lease| about(lease, &mut put));
            put("lease_duration_ms", json!(ttl.get()));
            "lock.renewed"
        }
        Event::Beaten { .. } => "lock.renewed",
        Event::Released { .. } => {
            before.iter().for_each(|lease| about(lease, &mut put));
            "lock.released"
        }
        Event::Evicted { cause: Cause::Forced { reason, .. }, .. } => {
            before.iter().for_each(|lease| about(lease, &mut put));
            put("reason", json!(reason.as_str()));
            "lock.broken"
        }
        Event::Evicted { .. } => {
            before.iter().for_each(|lease| about(lease, &mut put));
            "lock.ended"
        }
    };
    (name, data)
}

fn about(lease: &Lease, put: &mut impl FnMut(&str, Value)) {
    put("lock_id", json!(lease.id.to_string()));
    put("holder_id", json!(holder_of(lease)));
    put("fencing_token", json!(lease.fence.get()));
}
