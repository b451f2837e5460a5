//! Looking at every issue, with as many threads as the machine has. Whoever looks keeps only what it needs
//! of an issue, so a hundred thousand of them fit into little memory. The order is that of the ids, always.

use std::sync::{Mutex, PoisonError};

use super::cache::{self, Maker};
use super::glance::Glance;
use super::layers::{Buffers, DIRECTORIES, Layers, cache_of};
use super::quick::Freshness;
use super::recorder::Recorder;
use super::seen::{Judge, Seen, Sets};
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

/// It is made anew as well when other issues are there than it has names of, and at least so many: fewer are listed in
/// less time.
const LISTED_AT_LEAST: usize = 1_000;

/// What was found.
pub struct Scan<T> {
    /// What was kept of the issues, in the order of their ids.
    pub found: Vec<T>,
    /// The ids of all issues, also of those that cannot be read.
    pub ids: Vec<IssueId>,
    /// What is wrong with copies that cannot be read.
    pub problems: Vec<String>,
}

/// What one block of issues gave beside what is kept of each.
#[derive(Default)]
struct Part {
    problems: Vec<String>,
    entries: [Vec<(IssueId, Vec<u8>)>; DIRECTORIES],
    closer: Vec<Closer>,
}

/// An issue that takes a closer look.
struct Closer {
    id: IssueId,
    freshness: Freshness,
    /// Which of all issues it is.
    number: usize,
}

/// Issues that a thread takes at a time, with a place for what is kept of each.
struct Block<'b, I, T> {
    /// Which of all issues the first of them is.
    first: usize,
    issues: &'b [I],
    kept: &'b mut [Option<T>],
}

/// What a scan is made with.
pub(super) struct Scanner<'s, 'a> {
    pub(super) session: &'s Session,
    pub(super) layers: &'s Layers<'a>,
    /// The id of this repository's log.
    pub(super) log: &'s (dyn Fn() -> Option<String> + Sync),
    /// Whose labels and dependencies are needed.
    pub(super) sets: Sets,
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
        let (kept, part) = self.blocks(ids, Buffers::default, |buffers, block| {
            let mut part = Part::default();
            for (id, room) in block.issues.iter().zip(block.kept) {
                let copies = self.layers.copies(*id, buffers, &mut part.problems);
                let seen = judge.see(*id, &copies, self.sets, &mut part.problems);
                *room = seen.as_ref().and_then(look);
            }
            part
        });
        (found(kept), part.problems)
    }

    /// The same for whoever needs no more than a glance: an issue that is what is remembered of it is not read.
    pub(super) fn glance<T: Send>(
        &self,
        ids: &[IssueId],
        look: &(dyn Fn(&Glance<'_>) -> Option<T> + Sync),
    ) -> (Vec<T>, Vec<String>) {
        let (mut kept, quick) = self.blocks(
            ids,
            || self.layers.cursors(ids.len()),
            |cursors, block| {
                let mut part = Part::default();
                for (number, (id, room)) in (block.first..).zip(block.issues.iter().zip(block.kept)) {
                    match self.layers.quick(*id, self.sets, cursors) {
                        Ok(told) => *room = look(told.glance()),
                        Err(freshness) => part.closer.push(Closer { id: *id, freshness, number }),
                    }
                }
                part
            },
        );
        if quick.closer.is_empty() {
            return (found(kept), quick.problems);
        }
        let (closer, problems) = self.look_closer(&quick.closer, ids.len(), look);
        for (Closer { number, .. }, seen) in quick.closer.iter().zip(closer) {
            if let Some(room) = kept.get_mut(*number) {
                *room = seen;
            }
        }
        (found(kept), problems)
    }

    /// Reads issues, of so many in all, that are not what is remembered of them; writes that down anew if it is worth it.
    fn look_closer<T: Send>(
        &self,
        issues: &[Closer],
        count: usize,
        look: &(dyn Fn(&Glance<'_>) -> Option<T> + Sync),
    ) -> (Vec<Option<T>>, Vec<String>) {
        let layers = self.layers;
        let recorders: [Option<Recorder>; DIRECTORIES] =
            std::array::from_fn(|number| self.recorder(number, issues, count));
        let name = |layer, id, file: &str| layers.name(layer, id, file);
        let judge = Judge { name: &name, log: self.log, landing: Some(&layers.landing) };
        let (seen, part) = self.blocks(issues, Buffers::default, |buffers, block| {
            let mut part = Part::default();
            for (Closer { id, freshness, .. }, room) in block.issues.iter().zip(block.kept) {
                let looks: [_; DIRECTORIES] = std::array::from_fn(|number| {
                    let recorder = recorders.get(number)?.as_ref().filter(|_| freshness.is_stale(number))?;
                    let (_, worktree) = layers.directory(number)?;
                    worktree.signatures(*id).filter(|it| recorder.takes(it))
                });
                layers.fill(*id, buffers, &mut part.problems);
                let copies = layers.distinct(buffers);
                let seen = judge.see(*id, &copies, self.sets, &mut part.problems);
                *room = seen.and_then(|seen| look(&seen.glance()));
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
        for (number, (recorder, entries)) in recorders.into_iter().zip(part.entries).enumerate() {
            let (Some(recorder), Some((_, worktree))) = (recorder, layers.directory(number)) else {
                continue;
            };
            let stale = |id: &IssueId| {
                let at = issues.binary_search_by_key(id, |issue| issue.id);
                at.is_ok_and(|at| issues.get(at).is_some_and(|issue| issue.freshness.is_stale(number)))
            };
            let mut from = 0;
            let kept = worktree.ids().iter().filter(|id| !stale(id));
            let kept = kept.filter_map(|id| worktree.remembered(*id, &mut from));
            let mut maker = Maker::new();
            kept.for_each(|entry| maker.keep(&entry));
            maker.add(entries);
            let names = worktree.names(self.session, recorder.begun());
            let file = worktree.origin(self.session).and_then(|origin| maker.file(origin, names));
            recorder.put(self.session, file);
        }
        (seen, part.problems)
    }

    /// Whoever writes down what is in a directory, if that is worth it.
    fn recorder(&self, number: usize, issues: &[Closer], count: usize) -> Option<Recorder> {
        let (layer, worktree) = self.layers.directory(number)?;
        let stale = issues.iter().filter(|issue| issue.freshness.is_stale(number)).count();
        let are_many = stale >= STALE_AT_LEAST && stale.saturating_mul(STALE_IN) > count;
        let has_others = worktree.ids().len() >= LISTED_AT_LEAST && !worktree.is_recalled();
        let worth = are_many || has_others;
        if worth { Recorder::begin(self.session, &cache_of(self.session, layer)?) } else { None }
    }

    /// Has threads work on blocks of issues, each with a place of its own to work in; gives what they kept of each issue, and
    /// what they made besides, in order.
    fn blocks<I: Sync, P, T: Send>(
        &self,
        issues: &[I],
        place: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, Block<'_, I, T>) -> Part + Sync,
    ) -> (Vec<Option<T>>, Part) {
        let mut kept: Vec<Option<T>> = std::iter::repeat_with(|| None).take(issues.len()).collect();
        let blocks = issues.chunks(BLOCK).zip(kept.chunks_mut(BLOCK)).enumerate();
        let next = Mutex::new(blocks);
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        let run = || {
            let mut place = place();
            let mut made = Vec::new();
            while let Some((number, (issues, kept))) = take() {
                made.push((number, work(&mut place, Block { first: number * BLOCK, issues, kept })));
            }
            made
        };
        let threads = self.session.sys().processes.threads();
        let helpers = threads.min(MOST_THREADS).min(issues.len().div_ceil(BLOCK)).saturating_sub(1);
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
        made.sort_by_key(|(number, _)| *number);
        let mut all = Part::default();
        for (_, part) in made {
            all.problems.extend(part.problems);
            all.closer.extend(part.closer);
            all.entries.iter_mut().zip(part.entries).for_each(|(all, more)| all.extend(more));
        }
        (kept, all)
    }
}

/// What was kept of those of which anything was kept. It stays in the room that it has, which `flatten` would ask for twice.
fn found<T>(mut kept: Vec<Option<T>>) -> Vec<T> {
    kept.retain(Option::is_some);
    kept.into_iter().map_while(|one| one).collect()
}
