//! Changes of issues, at the level of the library: what they leave in files and events, who is refused, and what is done
//! again after a process died in the middle of one. Everything runs in a simulated repository.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

mod change;
mod create;
mod draft;
mod events;
mod finished;
mod gone;
mod judged;
mod made;
mod many;
mod outbox;
mod people;
mod permit;
mod redo;
mod sets;
mod shared;
mod split;
mod stage;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod texts;
