//! The door with real processes: what scripts are told is what the directories say, whatever happens to them.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that is cut short says why")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod findings;
mod hostile;
mod order;
mod output;
mod releases;
mod run;
mod shell;
mod shells;
mod site;
mod stress;
mod turns;
