//! What processes compete for, by its number.

use holdfast_kernel::{Name, Pattern, Resource};

/// A thing with a name, which overlaps nothing else.
#[must_use]
pub fn named(number: usize) -> Resource {
    #[expect(clippy::expect_used, reason = "a word and a number are a name")]
    Name::new(&format!("lock/r-{number}")).expect("a name").into()
}

/// A pattern. The first two overlap, and so do the first and the third; the second and the third do not, and no other
/// overlaps any.
#[must_use]
pub fn pattern(number: usize) -> Resource {
    const PATTERNS: [&str; 3] = ["lock/a/*", "lock/*/b", "lock/a/c"];
    let text = PATTERNS.get(number).map_or_else(|| format!("own/{number}/**"), ToString::to_string);
    #[expect(clippy::expect_used, reason = "these are patterns")]
    Pattern::new(&text).expect("a pattern").into()
}
