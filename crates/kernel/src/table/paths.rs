//! Where to look for patterns that could overlap: by the segments that they begin with. So a grant among thousands of
//! patterns looks at those on its own way and below it, and at no other.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::{LeaseId, Pattern};

/// The patterns that are held.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Paths {
    /// By their fixed segments.
    keys: BTreeMap<Box<str>, Vec<(LeaseId, Pattern)>>,
    /// How many keys have so many bytes, because what nobody has is not looked for.
    lengths: BTreeMap<usize, usize>,
}

impl Paths {
    pub(super) const fn new() -> Self {
        Self { keys: BTreeMap::new(), lengths: BTreeMap::new() }
    }

    pub(super) fn insert(&mut self, pattern: &Pattern, id: LeaseId) {
        let key = pattern.fixed();
        let length = key.len();
        let here = self.keys.entry(key.into()).or_default();
        if here.is_empty() {
            *self.lengths.entry(length).or_default() += 1;
        }
        if let Err(at) = here.binary_search_by_key(&id, |(other, _)| *other) {
            here.insert(at, (id, pattern.clone()));
        }
    }

    pub(super) fn remove(&mut self, pattern: &Pattern, id: LeaseId) {
        let key = pattern.fixed();
        if let Some(here) = self.keys.get_mut(&*key) {
            here.retain(|(other, _)| *other != id);
            if here.is_empty() {
                self.keys.remove(&*key);
                let left = self.lengths.get(&key.len()).map_or(0, |count| count.saturating_sub(1));
                if left == 0 {
                    self.lengths.remove(&key.len());
                } else {
                    self.lengths.insert(key.len(), left);
                }
            }
        }
    }

    /// The leases on exactly this pattern in the order of their ids.
    pub(super) fn on(&self, pattern: &Pattern) -> Vec<LeaseId> {
        if self.keys.is_empty() {
            return Vec::new();
        }
        let here = self.keys.get(&*pattern.fixed()).into_iter().flatten();
        here.filter(|(_, other)| other == pattern).map(|(id, _)| *id).collect()
    }

    /// The leases on patterns that overlap this one in the order of their ids.
    pub(super) fn overlapping(&self, pattern: &Pattern) -> Vec<LeaseId> {
        if self.keys.is_empty() {
            return Vec::new();
        }
        let key = pattern.fixed();
        let above = key.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at + 1);
        let above = [0].into_iter().chain(above);
        let above = above.filter(|end| *end < key.len() && self.lengths.contains_key(end));
        let above = above.filter_map(|end| self.keys.get(key.get(..end)?));
        let below = self.keys.range::<str, _>((Bound::Included(&*key), Bound::Unbounded));
        let below = below.take_while(|(other, _)| other.starts_with(&*key)).map(|(_, here)| here);
        let near = above.chain(below).flatten().filter(|(_, other)| other.overlaps(pattern));
        let mut ids: Vec<LeaseId> = near.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
