//! The door with real processes: what agents are told is what the log says, whatever happens to them.
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

mod alive;
mod answers;
mod approvals;
mod bench;
mod checks;
mod claims;
mod clock;
mod crowd;
mod damage;
mod demo;
mod dispatch;
mod doctor;
mod documents;
mod enforce;
mod events;
mod faults;
mod gates;
mod graph;
mod guard;
mod habits;
mod handover;
mod heartbeat;
mod identity;
mod import;
mod input;
mod kill;
mod landed;
mod landing;
mod mcp;
mod mending;
mod merge;
mod names;
mod notes;
mod race;
mod reads;
mod releases;
mod reserve;
mod run;
mod run_faults;
mod run_steps;
mod run_terminal;
mod schema;
mod scopes;
mod setup;
mod split;
mod terminal;
mod users;
mod wait;
mod watch;
mod worktrees;
