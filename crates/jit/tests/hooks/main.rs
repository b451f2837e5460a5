//! Hooks with real git, real bare origins and several worktrees: what is stopped, where, and what is said.
#![expect(clippy::disallowed_methods, reason = "these tests start git and write files behind its back")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

mod adopted;
mod brought;
mod commit;
mod displaced;
mod divergence;
mod install;
mod merge;
mod message;
mod push;
mod receive;
mod reserved;
mod stage;
mod story;
