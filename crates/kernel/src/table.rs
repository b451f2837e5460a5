//! The leases that no record has ended. What is over but not yet recorded as ended is still in it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Holder, Inconsistent, Lease, LeaseId, Name};

/// The leases of one medium, by id and by resource.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    leases: BTreeMap<LeaseId, Arc<Lease>>,
    resources: BTreeMap<Name, Vec<LeaseId>>,
}

impl Table {
    /// A table without leases.
    #[must_use]
    pub const fn new() -> Self {
        Self { leases: BTreeMap::new(), resources: BTreeMap::new() }
    }

    /// The table with these leases, for media that keep a table and not only its history.
    ///
    /// # Errors
    /// When they cannot have been in force together, or one of them not at all.
    pub fn restore(leases: impl IntoIterator<Item = Lease>) -> Result<Self, Inconsistent> {
        let mut leases: Vec<Lease> = leases.into_iter().collect();
        leases.sort_by_key(|lease| lease.fence);
        let mut table = Self::new();
        leases.into_iter().try_for_each(|lease| table.place(lease, None))?;
        Ok(table)
    }

    /// The lease with this id.
    #[must_use]
    pub fn get(&self, id: LeaseId) -> Option<&Lease> {
        self.leases.get(&id).map(AsRef::as_ref)
    }

    /// All leases in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Lease> {
        self.leases.values().map(AsRef::as_ref)
    }

    /// The leases on one resource in the order of their ids.
    pub fn on<'a>(&'a self, resource: &Name) -> impl Iterator<Item = &'a Lease> + use<'a> {
        let ids = self.resources.get(resource).into_iter().flatten();
        ids.filter_map(|id| self.get(*id))
    }

    /// The lease that this holder has on a resource.
    #[must_use]
    pub fn held_by(&self, resource: &Name, holder: &Holder) -> Option<&Lease> {
        self.on(resource).find(|lease| lease.holder == *holder)
    }

    /// How many leases there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    pub(crate) fn get_mut(&mut self, id: LeaseId) -> Option<&mut Lease> {
        self.leases.get_mut(&id).map(Arc::make_mut)
    }

    /// Adds a lease, in the place of the lease `instead` if there is one.
    pub(crate) fn place(&mut self, lease: Lease, instead: Option<LeaseId>) -> Result<(), Inconsistent> {
        if !lease.is_lawful() {
            return Err(Inconsistent::Unlawful { lease: lease.id });
        }
        if self.get(lease.id).is_some() {
            return Err(Inconsistent::Duplicate { lease: lease.id });
        }
        for other in self.on(&lease.resource) {
            if other.fence >= lease.fence {
                return Err(Inconsistent::FenceNotRising { resource: lease.resource });
            }
            let in_the_way = !other.mode.admits(lease.mode) || other.holder == lease.holder;
            if in_the_way && Some(other.id) != instead {
                return Err(Inconsistent::TwoHolders { resource: lease.resource, by: other.id });
            }
        }
        if let Some(id) = instead {
            self.remove(id);
        }
        self.insert(lease);
        Ok(())
    }

    fn insert(&mut self, lease: Lease) {
        let ids = self.resources.entry(lease.resource.clone()).or_default();
        if let Err(at) = ids.binary_search(&lease.id) {
            ids.insert(at, lease.id);
        }
        self.leases.insert(lease.id, Arc::new(lease));
    }

    pub(crate) fn remove(&mut self, id: LeaseId) -> Option<Arc<Lease>> {
        let lease = self.leases.remove(&id)?;
        if let Some(ids) = self.resources.get_mut(&lease.resource) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.resources.remove(&lease.resource);
            }
        }
        Some(lease)
    }
}
