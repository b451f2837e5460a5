//! Looking at every issue, with as many threads as the machine has. Whoever looks keeps only what it needs
//! of an issue, so a hundred thousand of them fit into little memory. The order is that of the ids, always.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::layers::{Buffers, Layers};
use super::seen::{Judge, Seen};
use crate::ids::IssueId;

/// How many issues a thread takes at a time.
const BLOCK: usize = 64;

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 8;

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
    block: usize,
    found: Vec<T>,
    problems: Vec<String>,
}

/// Shows every issue of `ids` to `look` and collects what it keeps.
pub(super) fn scan<T: Send>(
    layers: &Layers<'_>,
    log: &(dyn Fn() -> Option<String> + Sync),
    ids: &[IssueId],
    threads: usize,
    look: &(dyn Fn(&Seen<'_>) -> Option<T> + Sync),
) -> (Vec<T>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut buffers = Buffers::default();
        let name = |layer, id, file: &str| layers.name(layer, id, file);
        let judge = Judge { name: &name, log, landing: Some(&layers.landing) };
        let mut parts = Vec::new();
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            let Some(ids) = ids.chunks(BLOCK).nth(block) else { return parts };
            let mut part = Part { block, found: Vec::new(), problems: Vec::new() };
            for id in ids {
                let copies = layers.copies(*id, &mut buffers, &mut part.problems);
                let seen = judge.see(*id, &copies, &mut part.problems);
                part.found.extend(seen.as_ref().and_then(look));
            }
            parts.push(part);
        }
    };
    let helpers = threads.min(MOST_THREADS).min(ids.len().div_ceil(BLOCK)).saturating_sub(1);
    let mut parts = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut parts = work();
        for helper in helpers {
            match helper.join() {
                Ok(more) => parts.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        parts
    });
    parts.sort_by_key(|part| part.block);
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for part in parts {
        found.extend(part.found);
        problems.extend(part.problems);
    }
    (found, problems)
}
