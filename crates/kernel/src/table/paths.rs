//! Where to look for patterns that could overlap: a tree of the segments that they begin with. So a grant among
//! thousands of patterns looks at those on its own way and below it, and at no other.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::{LeaseId, Pattern};

/// The patterns that are held, from some fixed segments on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Paths {
    /// Those whose fixed segments end here, in the order of their ids.
    here: Vec<(LeaseId, Pattern)>,
    /// The others by their next fixed segment. None of these is empty.
    below: BTreeMap<Box<str>, Self>,
}

impl Paths {
    pub(super) const fn new() -> Self {
        Self { here: Vec::new(), below: BTreeMap::new() }
    }

    fn is_empty(&self) -> bool {
        self.here.is_empty() && self.below.is_empty()
    }

    pub(super) fn insert(&mut self, pattern: &Pattern, id: LeaseId) {
        let mut at = self;
        for segment in pattern.fixed() {
            at = at.below.entry(segment.into()).or_default();
        }
        if let Err(place) = at.here.binary_search_by_key(&id, |(other, _)| *other) {
            at.here.insert(place, (id, pattern.clone()));
        }
    }

    pub(super) fn remove(&mut self, pattern: &Pattern, id: LeaseId) {
        self.remove_below(&mut pattern.fixed(), id);
    }

    fn remove_below<'p>(&mut self, fixed: &mut impl Iterator<Item = &'p str>, id: LeaseId) {
        let Some(segment) = fixed.next() else {
            self.here.retain(|(other, _)| *other != id);
            return;
        };
        let Some(next) = self.below.get_mut(segment) else { return };
        next.remove_below(fixed, id);
        if next.is_empty() {
            self.below.remove(segment);
        }
    }

    /// The leases on exactly this pattern in the order of their ids.
    pub(super) fn on(&self, pattern: &Pattern) -> Vec<LeaseId> {
        let end = pattern.fixed().try_fold(self, |at, segment| at.below.get(segment));
        let here = end.into_iter().flat_map(|end| &end.here);
        here.filter(|(_, other)| other == pattern).map(|(id, _)| *id).collect()
    }

    /// The leases on patterns that overlap this one in the order of their ids.
    pub(super) fn overlapping(&self, pattern: &Pattern) -> Vec<LeaseId> {
        let mut ids = Vec::new();
        let mut at = self;
        for segment in pattern.fixed() {
            at.add_here(pattern, &mut ids);
            let Some(next) = at.below.get(segment) else {
                ids.sort_unstable();
                return ids;
            };
            at = next;
        }
        let mut left = Vec::from([at]);
        while let Some(at) = left.pop() {
            at.add_here(pattern, &mut ids);
            left.extend(at.below.values());
        }
        ids.sort_unstable();
        ids
    }

    fn add_here(&self, pattern: &Pattern, ids: &mut Vec<LeaseId>) {
        ids.extend(self.here.iter().filter(|(_, other)| other.overlaps(pattern)).map(|(id, _)| *id));
    }
}
