//! The bytes of one file: what everybody reads, and what the disk has. A write dirties whole sectors; only a
//! sync that succeeds copies them to the disk.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::super::choice::Remnant;
use super::super::hash::Mix;
use super::Ask;

/// How many lengths in between are remembered.
const MOST_CUTS: usize = 8;

#[derive(Clone, Default, Debug)]
pub(in super::super) struct Content {
    visible: Vec<u8>,
    durable: Vec<u8>,
    /// The sectors that the next sync writes.
    dirty: BTreeSet<usize>,
    /// Whether the next sync writes the length.
    resized: bool,
    /// Lengths that the file may have had on the way from the durable one.
    cuts: Vec<usize>,
    /// The hash of all this, unless it changed.
    digest: Cell<Option<u128>>,
}

impl Content {
    /// Content that is durable.
    pub(in super::super) fn durable(bytes: &[u8]) -> Self {
        Self { visible: bytes.to_vec(), durable: bytes.to_vec(), ..Self::default() }
    }

    pub(in super::super) const fn len(&self) -> usize {
        self.visible.len()
    }

    /// What everybody reads.
    pub(in super::super) fn seen(&self) -> &[u8] {
        &self.visible
    }

    /// What the disk has if everything else is lost.
    pub(in super::super) fn on_disk(&self) -> &[u8] {
        &self.durable
    }

    pub(in super::super) fn read(&self, buffer: &mut [u8], offset: usize) -> usize {
        let there = self.visible.get(offset..).unwrap_or_default();
        buffer.iter_mut().zip(there).for_each(|(to, from)| *to = *from);
        there.len().min(buffer.len())
    }

    pub(in super::super) fn write(&mut self, bytes: &[u8], offset: usize, sector: usize) {
        let (old, end) = (self.visible.len(), offset + bytes.len());
        if end > old {
            self.visible.resize(end, 0);
            self.resized = true;
            self.remember([offset.max(old), (offset.max(old) + end) / 2, end.saturating_sub(1), end]);
        }
        if let Some(there) = self.visible.get_mut(offset..end) {
            there.copy_from_slice(bytes);
        }
        // The gap between the old end and the offset is a hole: it reads as zeros from the disk as well.
        self.touch(offset, end, sector);
    }

    pub(in super::super) fn truncate(&mut self, len: usize, sector: usize) {
        let longest = self.visible.len().max(self.durable.len());
        self.visible.resize(len, 0);
        self.resized = true;
        self.remember([len, len, len, len]);
        // What is cut off must not come back when the file grows again.
        self.touch(len, longest, sector);
    }

    fn touch(&mut self, from: usize, to: usize, sector: usize) {
        self.digest.set(None);
        if from < to {
            self.dirty.extend(from / sector..to.div_ceil(sector));
        }
    }

    fn remember(&mut self, lens: [usize; 4]) {
        for len in lens {
            if !self.cuts.contains(&len) && self.cuts.len() < MOST_CUTS {
                self.cuts.push(len);
            }
        }
    }

    /// Whether a sync would have anything to do.
    fn is_clean(&self) -> bool {
        self.dirty.is_empty() && !self.resized
    }

    pub(in super::super) fn sync(&mut self, sector: usize) {
        if !self.is_clean() {
            self.settle(self.next_len(sector), sector, &mut |_, _| 0);
        }
    }

    /// A sync that fails: what reached the disk is durable, the rest is marked clean all the same and only a
    /// fresh write of the same bytes will bring it there.
    pub(in super::super) fn fail_sync(&mut self, sector: usize, ask: &mut Ask<'_>) {
        if !self.is_clean() {
            let len = self.surviving_len(sector, ask);
            self.settle(len, sector, ask);
        }
    }

    pub(in super::super) fn lose_power(&mut self, sector: usize, ask: &mut Ask<'_>) {
        self.fail_sync(sector, ask);
        if self.visible != self.durable {
            self.visible.clone_from(&self.durable);
            self.digest.set(None);
        }
    }

    /// The length that a sync makes durable. One that a failed sync lost comes back only with a write that
    /// needs it.
    fn next_len(&self, sector: usize) -> usize {
        if self.resized {
            return self.visible.len();
        }
        let end = self.dirty.last().map_or(0, |index| (index + 1) * sector);
        self.durable.len().max(end.min(self.visible.len()))
    }

    /// The last length, or the durable one, or one in between.
    fn surviving_len(&self, sector: usize, ask: &mut Ask<'_>) -> usize {
        let mut lens = vec![self.next_len(sector), self.durable.len()];
        lens.extend(&self.cuts);
        let mut seen = BTreeSet::new();
        lens.retain(|len| seen.insert(*len));
        let answer = if lens.len() > 1 { ask(Remnant::Length, lens.len()) } else { 0 };
        lens.get(answer).copied().unwrap_or(self.durable.len())
    }

    /// Makes this length durable and, as far as they are kept, the dirty sectors. Nothing is dirty then.
    fn settle(&mut self, len: usize, sector: usize, ask: &mut Ask<'_>) {
        self.digest.set(None);
        self.durable.resize(len, 0);
        for index in std::mem::take(&mut self.dirty) {
            let (from, to) = (index * sector, ((index + 1) * sector).min(len));
            let differs = from < to && self.durable.get(from..to) != self.visible.get(from..to);
            if differs && ask(Remnant::Sector, 2) == 0 {
                self.copy(from, to);
            }
        }
        self.resized = false;
        self.cuts.clear();
    }

    /// Writes a sector to the disk; beyond the end of the file it is zeros.
    fn copy(&mut self, from: usize, to: usize) {
        let source = self.visible.get(from..).unwrap_or_default().iter().copied().chain(std::iter::repeat(0));
        if let Some(there) = self.durable.get_mut(from..to) {
            there.iter_mut().zip(source).for_each(|(to, from)| *to = from);
        }
    }

    pub(super) fn digest(&self, mix: &mut Mix) {
        let digest = self.digest.get().unwrap_or_else(|| self.compute());
        self.digest.set(Some(digest));
        mix.wide(digest);
    }

    fn compute(&self) -> u128 {
        let mut mix = Mix::new(7);
        mix.bytes(&self.visible);
        if self.visible != self.durable {
            mix.bytes(&self.durable);
        }
        mix.word(u64::from(self.resized));
        self.dirty.iter().chain(&self.cuts).for_each(|word| mix.word(*word as u64));
        mix.finish()
    }
}
