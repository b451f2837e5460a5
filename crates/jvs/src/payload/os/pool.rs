//! Work on many entries at once: each thread takes the next few that nobody has, until all are done or one
//! fails. It must never leave a thread behind.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;

use crate::error::Result;

/// How many entries a thread takes at a time: neighbours, because they are in the same directory.
const CHUNK: usize = 32;
/// More threads than this wait for the disk, not for a core.
const MOST: usize = 16;

/// How many threads there shall be.
pub(super) fn threads() -> usize {
    available_parallelism().map_or(1, std::num::NonZero::get).min(MOST)
}

/// Does `work` for every number below `count` and gives the results in their order. `start` makes what one
/// thread needs for itself.
pub(super) fn each<S, T: Send>(
    count: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    let turn = || -> Result<Vec<(usize, T)>> {
        let (mut own, mut done) = (start(), Vec::new());
        while let Some(chunk) = take(&next, count).filter(|_| !broken.load(Ordering::Relaxed)) {
            for index in chunk {
                let made = work(&mut own, index).inspect_err(|_| broken.store(true, Ordering::Relaxed))?;
                done.push((index, made));
            }
        }
        Ok(done)
    };
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads()).map(|_| scope.spawn(turn)).collect();
        let mut all = turn();
        for other in others {
            let theirs = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all = all.and_then(|mut mine| theirs.map(|theirs| mine.extend(theirs)).map(|()| mine));
        }
        all
    })?;
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, made)| made).collect())
}

fn take(next: &AtomicUsize, count: usize) -> Option<Range<usize>> {
    let from = next.fetch_add(CHUNK, Ordering::Relaxed);
    (from < count).then(|| from..(from + CHUNK).min(count))
}

#[cfg(test)]
mod tests {
    use super::each;
    use crate::error::{Class, Error};

    #[test]
    fn every_number_is_done_once_and_in_order() {
        let done =
            each(1_000, || 0, |count: &mut usize, index| Ok((index, std::mem::replace(count, 1)))).unwrap();
        assert!(done.iter().map(|(index, _)| *index).eq(0..1_000));
        assert!(each(0, || (), |(), index| Ok(index)).unwrap().is_empty());
    }

    #[test]
    fn the_first_failure_ends_all() {
        let failing = |(): &mut (), index| match index {
            500 => Err(Error::new(Class::Io, "broken")),
            index => Ok(index),
        };
        assert_eq!(each(1_000, || (), failing).unwrap_err().to_string(), "broken");
    }
}
