//! The leases that no record has ended. What is over but not yet recorded as ended is still in it.

mod paths;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::paths::Paths;
use crate::{Holder, Inconsistent, Lease, LeaseId, Name, Pattern, Resource};

/// The leases of one medium, by id and by resource.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    leases: BTreeMap<LeaseId, Arc<Lease>>,
    names: BTreeMap<Name, Vec<LeaseId>>,
    paths: Paths,
}

impl Table {
    /// A table without leases.
    #[must_use]
    pub const fn new() -> Self {
        Self { leases: BTreeMap::new(), names: BTreeMap::new(), paths: Paths::new() }
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

    /// The leases on just this resource in the order of their ids.
    pub fn on<'a>(&'a self, resource: &Resource) -> impl Iterator<Item = &'a Lease> + use<'a> {
        self.found(resource, Paths::on)
    }

    /// The leases on resources that overlap this one, itself included, in the order of their ids.
    pub fn overlapping<'a>(&'a self, resource: &Resource) -> impl Iterator<Item = &'a Lease> + use<'a> {
        self.found(resource, Paths::overlapping)
    }

    fn found<'a>(
        &'a self,
        resource: &Resource,
        patterns: fn(&Paths, &Pattern) -> Vec<LeaseId>,
    ) -> impl Iterator<Item = &'a Lease> + use<'a> {
        let (named, found) = match resource {
            Resource::Name(name) => (self.names.get(name), Vec::new()),
            Resource::Pattern(pattern) => (None, patterns(&self.paths, pattern)),
        };
        named.into_iter().flatten().copied().chain(found).filter_map(|id| self.get(id))
    }

    /// The lease that this holder has on a resource.
    #[must_use]
    pub fn held_by(&self, resource: &Resource, holder: &Holder) -> Option<&Lease> {
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
        for other in self.overlapping(&lease.resource) {
            if other.fence >= lease.fence {
                return Err(Inconsistent::FenceNotRising { resource: lease.resource });
            }
            // What one holder has may overlap, but nobody has one thing twice.
            let in_the_way = if other.holder == lease.holder {
                other.resource == lease.resource
            } else {
                !other.mode.admits(lease.mode)
            };
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
        match &lease.resource {
            Resource::Name(name) => {
                let ids = self.names.entry(name.clone()).or_default();
                if let Err(at) = ids.binary_search(&lease.id) {
                    ids.insert(at, lease.id);
                }
            }
            Resource::Pattern(pattern) => self.paths.insert(pattern, lease.id),
        }
        self.leases.insert(lease.id, Arc::new(lease));
    }

    pub(crate) fn remove(&mut self, id: LeaseId) -> Option<Arc<Lease>> {
        let lease = self.leases.remove(&id)?;
        match &lease.resource {
            Resource::Name(name) => {
                if let Some(ids) = self.names.get_mut(name) {
                    ids.retain(|other| *other != id);
                    if ids.is_empty() {
                        self.names.remove(name);
                    }
                }
            }
            Resource::Pattern(pattern) => self.paths.remove(pattern, id),
        }
        Some(lease)
    }
}
