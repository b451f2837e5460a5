//! From claim to landed, with real processes and real git: what lands, lands once and whole, whoever dies on the way.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start processes and look at files behind their back"
)]
#![expect(clippy::disallowed_macros, reason = "a test that is skipped says why")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

#[path = "../door/bench.rs"]
#[expect(dead_code, reason = "the other tests of the door use what these do not")]
mod bench;

mod before;
mod begins;
mod between;
mod calls;
mod clones;
mod crowd;
mod cuts;
mod etcd;
mod fetches;
mod ground;
mod halfway;
mod here;
mod machine_trials;
mod machines;
mod merges;
mod moved;
mod old_git;
mod power;

mod secrets;
mod stories;
mod tables;
mod target;
mod trials;
mod unheard;
mod waits;
