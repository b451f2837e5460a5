//! Any commands at any times: what `decide` allows must be applicable, fenced and fair.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("decide")(input));
