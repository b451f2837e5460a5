//! The door with real processes: what agents are told is what the log says, whatever happens to them.
#![expect(clippy::disallowed_methods, reason = "these tests start processes and look at files behind their back")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod bench;
mod claims;
mod clock;
mod damage;
mod events;
mod faults;
mod heartbeat;
mod identity;
mod input;
mod kill;
mod race;
mod wait;
