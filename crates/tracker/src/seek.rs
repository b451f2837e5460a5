//! Finding ids in sorted lists for somebody who asks in the order of ids: each question begins where the last one ended.

use crate::ids::IssueId;

/// Where an id is in a sorted list of so many; `at` says which id has a number. Nothing is said of a list that is not
/// sorted but that it does not go on for ever.
pub(crate) fn seek(
    count: usize,
    from: &mut usize,
    wanted: IssueId,
    at: impl Fn(usize) -> Option<u128>,
) -> Option<usize> {
    let wanted = wanted.bits();
    let is_before = |number: usize| at(number).is_some_and(|id| id < wanted);
    let begin = *from;
    // Most often it is the next one.
    for next in [begin, begin.saturating_add(1)] {
        if next < count && at(next) == Some(wanted) {
            *from = next;
            return Some(next);
        }
    }
    let goes_on = begin < count && at(begin).is_some_and(|id| id <= wanted);
    let (mut low, mut step) = (if goes_on { begin } else { 0 }, 1);
    let mut high = low;
    while high < count && is_before(high) {
        low = high + 1;
        high = high.saturating_add(step);
        step *= 2;
    }
    high = high.min(count);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *from = low;
    (low < count && at(low) == Some(wanted)).then_some(low)
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::LeaseId;
    use proptest::prelude::*;

    use super::seek;
    use crate::ids::IssueId;

    proptest! {
        #[test]
        fn what_is_there_is_found_from_wherever_somebody_comes(
            mut known in proptest::collection::vec(0u64..200, 0..80),
            asked in proptest::collection::vec(0u64..200, 1..80),
            mut from in 0usize..100,
        ) {
            known.sort_unstable();
            known.dedup();
            for wanted in asked {
                let id = IssueId::new(LeaseId::from_parts(0, wanted.into()));
                let at = |number: usize| known.get(number).map(|id| u128::from(*id));
                let found = seek(known.len(), &mut from, id, at);
                prop_assert_eq!(found, known.binary_search(&wanted).ok());
            }
        }
    }
}
