//! The door itself in the simulator: discovery, identities, the log, its projection, all of it, cut off at
//! every call and run in every order that chance finds. What an agent was told must be so afterwards.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop by panicking")]
#![expect(clippy::disallowed_macros, reason = "what a command said helps to see why a test failed")]

mod cuts;
mod keepers;
mod lists;
mod parts;
mod races;
mod ready;
mod stage;
mod told;
mod writes;
