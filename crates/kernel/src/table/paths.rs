//! Where to look for patterns that could overlap: by the segments that they begin with. So a grant among thousands of
//! patterns looks at those on its own way and below it, and at no other.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::{LeaseId, Pattern};

/// The patterns that are held, by their fixed segments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Paths(BTreeMap<Box<str>, Vec<(LeaseId, Pattern)>>);

impl Paths {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub(super) fn insert(&mut self, pattern: &Pattern, id: LeaseId) {
        let here = self.0.entry(pattern.fixed().into()).or_default();
        if let Err(at) = here.binary_search_by_key(&id, |(other, _)| *other) {
            here.insert(at, (id, pattern.clone()));
        }
    }

    pub(super) fn remove(&mut self, pattern: &Pattern, id: LeaseId) {
        let key = pattern.fixed();
        if let Some(here) = self.0.get_mut(&*key) {
            here.retain(|(other, _)| *other != id);
            if here.is_empty() {
                self.0.remove(&*key);
            }
        }
    }

    /// The leases on exactly this pattern in the order of their ids.
    pub(super) fn on(&self, pattern: &Pattern) -> Vec<LeaseId> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let here = self.0.get(&*pattern.fixed()).into_iter().flatten();
        here.filter(|(_, other)| other == pattern).map(|(id, _)| *id).collect()
    }

    /// The leases on patterns that overlap this one in the order of their ids.
    pub(super) fn overlapping(&self, pattern: &Pattern) -> Vec<LeaseId> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let key = pattern.fixed();
        let above = key.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at + 1);
        let above = [0].into_iter().chain(above).filter(|end| *end < key.len());
        let above = above.filter_map(|end| self.0.get(key.get(..end)?));
        let below = self.0.range::<str, _>((Bound::Included(&*key), Bound::Unbounded));
        let below = below.take_while(|(other, _)| other.starts_with(&*key)).map(|(_, here)| here);
        let near = above.chain(below).flatten().filter(|(_, other)| other.overlaps(pattern));
        let mut ids: Vec<LeaseId> = near.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
