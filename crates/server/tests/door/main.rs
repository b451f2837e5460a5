//! The server with real processes: what it says is what the commands say, and nobody gets in.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that is skipped says why")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod approve;
mod attacks;
mod bench;
mod client;
mod escalate;
mod events;
mod load;
mod one;
mod page;
mod same;
mod shown;
