//! The door with real processes: what is told is what is on the disk, whatever happens to whoever asked.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that is skipped says why")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

mod bench;
mod clock;
mod collect;
mod doctor;
mod input;
mod kill;
mod lock;
mod payload;
mod releases;
mod run;
mod shells;
mod snapshot;
mod steal;
mod stopped;
mod tamper;
mod terminal;
mod unsaved;
mod wait;
mod worktree;
