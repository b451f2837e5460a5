//! The log medium on real files: what is on disk, what survives, and what is refused.
#![expect(clippy::disallowed_methods, reason = "these tests look at the files behind the medium's back")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]

mod another;
mod damage;
mod index;
mod observer;
mod patterns;
mod segments;
mod support;
mod together;
mod writing;
