//! Looking at every issue, with as many threads as the machine has. Whoever looks keeps only what it needs
//! of an issue, so a hundred thousand of them fit into little memory. The order is that of the ids, always.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::cache;
use super::glance::Glance;
use super::layers::{Buffers, DIRECTORIES, Freshness, Layers};
use super::recorder::Recorder;
use super::seen::{Judge, Seen};
use crate::ids::IssueId;
use crate::session::Session;

/// How many issues a thread takes at a time.
const BLOCK: usize = 64;

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 8;

/// What is remembered is made anew when more than one in so many issues is not what it was, and this many at least:
/// looking at a few costs less.
const STALE_IN: usize = 32;
const STALE_AT_LEAST: usize = 16;

/// What was found.
pub struct Scan<T> {
    /// What was kept of the issues, in the order of their ids.
    pub found: Vec<T>,
    /// The ids of all issues, also of those that cannot be read.
    pub ids: Vec<IssueId>,
    /// What is wrong with copies that cannot be read.
    pub problems: Vec<String>,
}

/// What one block of issues gave.
struct Part<T> {
    found: Vec<T>,
    problems: Vec<String>,
    entries: [Vec<(IssueId, Vec<u8>)>; DIRECTORIES],
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self { found: Vec::new(), problems: Vec::new(), entries: Default::default() }
    }
}

/// What a scan is made with.
pub(super) struct Scanner<'s, 'a> {
    pub(super) session: &'s Session,
    pub(super) layers: &'s Layers<'a>,
    /// The id of this repository's log.
    pub(super) log: &'s (dyn Fn() -> Option<String> + Sync),
}

impl Scanner<'_, '_> {
    /// Shows every issue of `ids` to `look` and collects what it keeps.
    pub(super) fn scan<T: Send>(
        &self,
        ids: &[IssueId],
        look: &(dyn Fn(&Seen<'_>) -> Option<T> + Sync),
    ) -> (Vec<T>, Vec<String>) {
        let name = |layer, id, file: &str| self.layers.name(layer, id, file);
        let judge = Judge { name: &name, log: self.log, landing: Some(&self.layers.landing) };
        let parts = self.blocks(ids, Buffers::default, |buffers, _, ids| {
            let mut part = Part::default();
            for id in ids {
                let copies = self.layers.copies(*id, buffers, &mut part.problems);
                let seen = judge.see(*id, &copies, &mut part.problems);
                part.found.extend(seen.as_ref().and_then(look));
            }
            part
        });
        let (found, problems, _) = together(parts);
        (found, problems)
    }

    /// The same for whoever needs no more than a glance: an issue that is what is remembered of it is not read.
    pub(super) fn glance<T: Send>(
        &self,
        ids: &[IssueId],
        look: &(dyn Fn(&Glance<'_>) -> Option<T> + Sync),
    ) -> (Vec<T>, Vec<String>) {
        let layers = self.layers;
        let freshness: Vec<Freshness> = self
            .blocks(ids, || (), |(), _, ids| ids.iter().map(|id| layers.freshness(*id)).collect::<Vec<_>>())
            .concat();
        let recorders: [Option<Recorder>; DIRECTORIES] =
            std::array::from_fn(|number| self.recorder(number, &freshness));
        let name = |layer, id, file: &str| layers.name(layer, id, file);
        let judge = Judge { name: &name, log: self.log, landing: Some(&layers.landing) };
        let parts = self.blocks(ids, Buffers::default, |buffers, from, ids| {
            let mut part = Part::default();
            for (id, freshness) in ids.iter().zip(freshness.get(from..).unwrap_or_default()) {
                if let Some((told, layer, tips)) = layers.alone(*id, *freshness) {
                    let standing = layers.landing.of(*id, told.finish(), layer, tips, tips);
                    part.found.extend(look(&told.standing(standing)));
                    continue;
                }
                let looks: [_; DIRECTORIES] = std::array::from_fn(|number| {
                    let recorder = recorders.get(number)?.as_ref()?;
                    let stale = freshness.is_stale(number);
                    layers
                        .directory(number)
                        .filter(|_| stale)?
                        .1
                        .signatures(*id)
                        .filter(|it| recorder.takes(it))
                });
                layers.fill(*id, buffers, &mut part.problems);
                let copies = layers.distinct(buffers);
                let seen = judge.see(*id, &copies, &mut part.problems);
                part.found.extend(seen.and_then(|seen| look(&seen.glance())));
                for (number, looks) in looks.iter().enumerate() {
                    let raw = layers.directory(number).and_then(|(layer, _)| buffers.of(layer));
                    let entry =
                        looks.as_ref().zip(raw).and_then(|(looks, raw)| cache::entry(looks, raw, *id));
                    if let (Some(entries), Some(entry)) = (part.entries.get_mut(number), entry) {
                        entries.push((*id, entry));
                    }
                }
            }
            part
        });
        let (found, problems, entries) = together(parts);
        for (number, (recorder, entries)) in recorders.into_iter().zip(entries).enumerate() {
            let (Some(recorder), Some((_, worktree))) = (recorder, layers.directory(number)) else {
                continue;
            };
            let fresh = ids.iter().zip(&freshness).filter(|(_, freshness)| freshness.is_fresh(number));
            let kept = fresh.filter_map(|(id, _)| worktree.remembered(*id));
            recorder.finish(self.session, worktree.identity(), kept, entries);
        }
        (found, problems)
    }

    /// Whoever writes down what is in a directory, if that is worth it.
    fn recorder(&self, number: usize, freshness: &[Freshness]) -> Option<Recorder> {
        let (layer, _) = self.layers.directory(number)?;
        let stale = freshness.iter().filter(|freshness| freshness.is_stale(number)).count();
        let worth = stale >= STALE_AT_LEAST && stale.saturating_mul(STALE_IN) > freshness.len();
        if worth { Recorder::begin(self.session, &self.layers.cache_of(layer)?) } else { None }
    }

    /// Has threads work on blocks of issues, each with a place of its own to work in; gives what they made, in order.
    fn blocks<P, R: Send>(
        &self,
        ids: &[IssueId],
        place: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, usize, &[IssueId]) -> R + Sync,
    ) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let run = || {
            let mut place = place();
            let mut made = Vec::new();
            loop {
                let block = next.fetch_add(1, Ordering::Relaxed);
                let Some(ids) = ids.chunks(BLOCK).nth(block) else { return made };
                made.push((block, work(&mut place, block * BLOCK, ids)));
            }
        };
        let threads = self.session.sys().processes.threads();
        let helpers = threads.min(MOST_THREADS).min(ids.len().div_ceil(BLOCK)).saturating_sub(1);
        let mut made = std::thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(run)).collect();
            let mut made = run();
            for helper in helpers {
                match helper.join() {
                    Ok(more) => made.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            made
        });
        made.sort_by_key(|(block, _)| *block);
        made.into_iter().map(|(_, made)| made).collect()
    }
}

type Together<T> = (Vec<T>, Vec<String>, [Vec<(IssueId, Vec<u8>)>; DIRECTORIES]);

fn together<T>(parts: Vec<Part<T>>) -> Together<T> {
    let (mut found, mut problems, mut entries): Together<T> = (Vec::new(), Vec::new(), Default::default());
    for part in parts {
        found.extend(part.found);
        problems.extend(part.problems);
        entries.iter_mut().zip(part.entries).for_each(|(all, more)| all.extend(more));
    }
    (found, problems, entries)
}
