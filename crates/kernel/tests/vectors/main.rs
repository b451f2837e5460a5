//! The vectors: what the kernel must do, written down for every language.
//!
//! The cases are told here once, in Rust. `spec/vectors/*.json` is what they come to, and the tests hold the
//! files to it byte for byte, run them again from the JSON alone, and see that nothing is left out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/mod.rs"]
mod support;

mod case;
mod coverage;
mod decode;
mod run;
mod topics;

use std::sync::Once;

use support::files;

/// Writes the files if that was asked for, once, before any test reads them.
fn bless() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        if files::bless() {
            topics::all().iter().for_each(|topic| files::write(&topic.path(), &topic.json().page()));
        }
    });
}

#[test]
fn the_files_are_what_the_cases_come_to() {
    bless();
    let topics = topics::all();
    for topic in &topics {
        let path = topic.path();
        assert_eq!(
            files::read(&path),
            topic.json().page(),
            "{path} is not what its cases come to. If the change is meant, write it with \
             `HOLDFAST_BLESS=1 cargo test -p holdfast-kernel --test vectors` and read the difference."
        );
    }
    let told: Vec<String> = topics.iter().map(|topic| format!("{}.json", topic.name)).collect();
    assert_eq!(files::list("spec/vectors", ".json"), told, "every file has a topic, in this order");
}
