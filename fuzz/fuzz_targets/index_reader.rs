//! Any bytes as the index of a good log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("index_reader")(input));
