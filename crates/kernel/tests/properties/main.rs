//! What must hold for every history, not only for those that somebody thought of: random ones, all small
//! ones, and hostile ones. The seed is fixed, so a run repeats; `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
//! choose others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/mod.rs"]
mod support;

mod clocks;
mod exact;
mod histories;
mod hostile;
mod invariants;
mod model;
mod naive;
mod patterns;
mod world;

use proptest::test_runner::{Config, RngSeed};

/// The number of cases that proptest takes if nobody says otherwise.
const UNSAID: u32 = 256;

/// So many cases or more: for tests that must come by what is rare.
fn at_least(cases: u32) -> Config {
    let config = config(cases);
    Config { cases: config.cases.max(cases), ..config }
}

/// So many cases with the fixed seed, unless the environment says otherwise.
fn config(cases: u32) -> Config {
    let env = Config::default();
    let fixed = matches!(env.rng_seed, RngSeed::Random);
    let rng_seed = if fixed { RngSeed::Fixed(0x0401_dfa5) } else { env.rng_seed };
    let cases = if env.cases == UNSAID { cases } else { env.cases };
    Config { cases, rng_seed, failure_persistence: None, ..env }
}
