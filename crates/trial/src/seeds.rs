//! The seeds that a test of chance tries, and how to try one of them again.

use std::ops::Range;

/// The first seed. The test command takes it from the commit, so that every commit tries other worlds.
const FIRST: &str = "HOLDFAST_FIRST_SEED";
/// How many seeds are tried, whatever a test takes by itself.
const COUNT: &str = "HOLDFAST_SEEDS";
/// Set where nobody waits for the result.
const LONG: &str = "HOLDFAST_LONG";

/// Seeds in a row. A test that fails over one says how to repeat it.
#[derive(Debug)]
pub struct Seeds {
    left: Range<u64>,
    current: Option<u64>,
}

/// So many seeds, unless the environment wants others.
#[must_use]
pub fn seeds(count: u64) -> Seeds {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    Seeds::new(number(FIRST).unwrap_or(0), number(COUNT).unwrap_or(count))
}

/// Of cases in a row without an end, one in `every`, beginning with the one that the first seed chooses: every commit tries
/// others. A long run tries them all.
pub fn share(every: u64) -> impl Iterator<Item = u64> {
    let every = if std::env::var_os(LONG).is_some() { 1 } else { every.max(1) };
    let first: u64 = std::env::var(FIRST).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    (first % every..).step_by(usize::try_from(every).unwrap_or(usize::MAX))
}

impl Seeds {
    const fn new(first: u64, count: u64) -> Self {
        Self { left: first..first.saturating_add(count), current: None }
    }

    /// What to set to have the current seed again, and no other.
    fn again(&self) -> Option<String> {
        self.current.map(|seed| format!("{FIRST}={seed} {COUNT}=1"))
    }
}

impl Iterator for Seeds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.current = self.left.next();
        self.current
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        if let Some(again) = self.again().filter(|_| std::thread::panicking()) {
            eprintln!("to repeat it, run this test with {again}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_each_other_and_can_be_had_again() {
        let mut seeds = Seeds::new(40, 3);
        assert_eq!(seeds.again(), None);
        assert_eq!(seeds.next(), Some(40));
        assert_eq!(seeds.next(), Some(41));
        assert_eq!(seeds.again().as_deref(), Some("HOLDFAST_FIRST_SEED=41 HOLDFAST_SEEDS=1"));
        assert_eq!(seeds.by_ref().collect::<Vec<_>>(), [42]);
        assert_eq!(seeds.again(), None, "none is to blame for what comes after all of them");
        assert_eq!(Seeds::new(u64::MAX, 9).count(), 0, "there is nothing behind the last one");
    }
}
