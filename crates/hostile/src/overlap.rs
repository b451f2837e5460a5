//! Any two texts as patterns, and any third as a path: what overlaps is told exactly and in bounded steps.

use crate::paths::{common_path, matches};
use arbitrary::{Arbitrary, Unstructured};
use holdfast_kernel::Pattern;

/// Feeds them.
pub(crate) fn check(input: &[u8]) {
    let texts = <(&str, &str, &str)>::arbitrary_take_rest(Unstructured::new(input));
    let Ok(texts) = texts else { return };
    let (Ok(one), Ok(two)) = (Pattern::new(texts.0), Pattern::new(texts.1)) else { return };
    let overlap = one.overlaps(&two);
    assert_eq!(overlap, two.overlaps(&one), "both ways round");
    assert!(one.overlaps(&one), "every pattern matches something");
    let pairs = (one.as_str().len() + 2) * (two.as_str().len() + 2);
    assert!(one.overlap_steps(&two) <= 4 * pairs, "bounded");
    let path = texts.2;
    for pattern in [&one, &two] {
        // Trying every way takes for ever on long texts.
        if pattern.as_str().len() + path.len() <= 24 {
            assert_eq!(pattern.matches(path), matches(pattern.as_str(), path), "{pattern} on {path}");
        }
    }
    assert!(overlap || !(one.matches(path) && two.matches(path)), "{path} is in both");
    if one.as_str().len() + two.as_str().len() <= 6 {
        assert_eq!(overlap, common_path(one.as_str(), two.as_str()), "{one} and {two}");
    }
}
