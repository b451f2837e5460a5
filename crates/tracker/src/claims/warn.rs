//! Warns an agent whose leases are about to end.

use std::collections::BTreeSet;

use holdfast_kernel::LeaseId;
use holdfast_store::View;

use super::lease::{is_record, percent_left};
use super::reserved::claim_of;
use crate::agent::AgentId;
use crate::notice::{Listener, Notice};

/// Warns about every lease of `agent` of which less than `threshold` percent is left, and of which it was not `warned`
/// before.
pub fn ending(
    listener: &dyn Listener,
    view: &View,
    agent: &AgentId,
    threshold: u8,
    warned: &mut BTreeSet<LeaseId>,
) {
    // What belongs to a claim ends with it, and is kept with it.
    let own = view.table.iter().filter(|lease| lease.holder.agent == *agent.name());
    for lease in own.filter(|lease| claim_of(lease).is_none() && !is_record(lease)) {
        if let Some((percent, left)) = percent_left(lease, &view.now)
            && percent < u64::from(threshold)
            && warned.insert(lease.id)
        {
            listener.hear(&Notice::LeaseEnding {
                lease: lease.id,
                issue: lease.resource.clone(),
                left,
                percent,
            });
        }
    }
}
