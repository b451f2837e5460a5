//! The board in a real terminal: it fits, it follows, it acts, and it leaves the terminal as it was.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that measures says what it measured")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod bench;
mod leave;
mod show;
mod still;
