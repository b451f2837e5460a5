//! What was held when, as the log tells it. A commit says when it was written by the wall clock and to the
//! second, so a lease counts if the kernel says that it was in force at any moment of that time.

use std::collections::BTreeMap;

use holdfast_git::ObjectId;
use holdfast_kernel::{Event, Fence, Lease, LeaseId, Stamp, Standing, Table, apply};
use holdfast_store::{JournaledMedium, Record};

/// What the log calls a commit that somebody has adopted: a grant of that name says who, and why.
pub(super) fn adopted(commit: &ObjectId) -> String {
    format!("commit:{commit}")
}

/// From when to when, in milliseconds since 1970, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    from: u64,
    to: u64,
}

impl Window {
    /// From when a commit was first written until it was last rewritten, in seconds.
    pub(super) fn of(authored: i64, written: i64) -> Self {
        let millis = |secs: i64| u64::try_from(secs).unwrap_or(0).saturating_mul(1_000);
        let (from, to) = (millis(authored.min(written)), millis(authored.max(written)));
        Self { from, to: to.saturating_add(999) }
    }
}

/// A lease as it stood for a while.
#[derive(Debug)]
struct Stretch {
    lease: Lease,
    from: u64,
    /// When the next record changed it; none while none has.
    until: Option<u64>,
}

/// What was held when.
#[derive(Debug, Default)]
pub(super) struct Past {
    leases: BTreeMap<LeaseId, Vec<Stretch>>,
    grants: BTreeMap<Fence, LeaseId>,
}

impl Past {
    /// Reads all that there is of a log, and what stands in its table.
    pub(super) fn read(log: &dyn JournaledMedium, table: &Table) -> holdfast_store::Result<Self> {
        let mut past = Self::default();
        log.history(&mut |record| past.add(record))?;
        for lease in
            table.iter().filter(|lease| !past.leases.contains_key(&lease.id)).cloned().collect::<Vec<_>>()
        {
            past.begin(lease);
        }
        Ok(past)
    }

    fn add(&mut self, record: &Record) {
        let at = record.event.at().wall_ms();
        match &record.event {
            Event::Granted { lease } => self.begin(lease.clone()),
            Event::Transferred { lease, .. } => {
                self.end(&record.lease, at);
                self.begin(lease.clone());
            }
            Event::Released { .. } | Event::Evicted { .. } => self.end(&record.lease, at),
            Event::Renewed { .. } | Event::Beaten { .. } => {
                self.end(&record.lease, at);
                if let Some(lease) = after(record) {
                    self.stretch(lease, at);
                }
            }
        }
    }

    fn begin(&mut self, lease: Lease) {
        let from = lease.granted.wall_ms();
        self.grants.insert(lease.fence, lease.id);
        self.stretch(lease, from);
    }

    fn stretch(&mut self, lease: Lease, from: u64) {
        self.leases.entry(lease.id).or_default().push(Stretch { lease, from, until: None });
    }

    /// Ends what is known of a lease. It may have begun in a part of the log that was taken away.
    fn end(&mut self, lease: &Lease, at: u64) {
        if !self.leases.contains_key(&lease.id) {
            self.begin(lease.clone());
        }
        if let Some(last) = self.leases.get_mut(&lease.id).and_then(|all| all.last_mut()) {
            last.until = Some(at);
        }
    }

    /// The grant with this number.
    pub(super) fn granted(&self, fence: Fence) -> Option<&Lease> {
        self.grants.get(&fence).and_then(|id| self.lease(*id))
    }

    /// Whether something was ever granted.
    pub(super) fn has_granted(&self, resource: &str) -> bool {
        self.leases
            .values()
            .flatten()
            .any(|stretch| stretch.lease.resource.name().is_some_and(|name| name.as_str() == resource))
    }

    /// The lease with this id, as it stood last.
    pub(super) fn lease(&self, id: LeaseId) -> Option<&Lease> {
        self.leases.get(&id)?.last().map(|stretch| &stretch.lease)
    }

    /// Whether a lease was in force at some moment of a time.
    pub(super) fn was_in_force(&self, id: LeaseId, window: Window) -> bool {
        let stretches = self.leases.get(&id).into_iter().flatten();
        stretches.into_iter().any(|stretch| stretch.was_in_force(window))
    }

    /// The last grant of the same issue after this one.
    pub(super) fn successor(&self, lease: &Lease) -> Option<&Lease> {
        let later = self.grants.range(lease.fence..).rev().filter_map(|(_, id)| self.lease(*id));
        later.filter(|other| other.id != lease.id).find(|other| other.resource == lease.resource)
    }
}

impl Stretch {
    fn was_in_force(&self, window: Window) -> bool {
        let first = self.from.max(window.from);
        let last = self.until.map_or(window.to, |until| until.min(window.to));
        // A lease that is not in force any more does not come back without a record: the first moment tells.
        first <= last && in_force(&self.lease, first)
    }
}

/// Whether a lease that no record changed was in force at a moment.
pub(super) fn in_force(lease: &Lease, at: u64) -> bool {
    let Some(at) = i64::try_from(at).ok().and_then(|ms| Stamp::new(ms, None).ok()) else { return false };
    matches!(lease.standing(&at), Standing::Live { .. } | Standing::Beating)
}

/// Whether a lease that stands in a table was in force at some moment of a time, as far as it alone can tell:
/// until its last sign of life it was.
pub(super) fn stood(lease: &Lease, window: Window) -> bool {
    let first = lease.granted.wall_ms().max(window.from);
    !lease.is_indefinite() && first <= window.to && in_force(lease, first)
}

/// The lease after the record.
fn after(record: &Record) -> Option<Lease> {
    let mut table = Table::restore([record.lease.clone()]).ok()?;
    apply(&mut table, &record.event).ok()?;
    table.get(record.lease.id).cloned()
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn a_commit_covers_all_of_its_seconds_from_the_first_writing_to_the_last() {
        assert_eq!(Window::of(5, 7), Window { from: 5_000, to: 7_999 });
        assert_eq!(Window::of(7, 5), Window { from: 5_000, to: 7_999 });
        assert_eq!(Window::of(-1, 0), Window { from: 0, to: 999 });
        assert_eq!(Window::of(0, i64::MAX).to, u64::MAX);
    }
}
