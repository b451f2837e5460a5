//! What the pages in `spec/` promise, held to the sources, and the small types that the rules are made of.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/mod.rs"]
mod support;

mod errors;
mod moments;
mod names;
mod patterns;
mod spec;
mod texts;
