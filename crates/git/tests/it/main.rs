//! What this crate says about real repositories, against what git says about the same ones.
#![expect(clippy::disallowed_methods, reason = "these tests make real repositories with the real git")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod ancestry;
mod config;
mod discovery;
mod environment;
mod head;
mod hostile;
mod machine;
mod moves;
mod objects;
mod program;
mod sandbox;
mod signature;
mod staged;
mod trailers;
mod trust;
mod untouched;
mod worktrees;
