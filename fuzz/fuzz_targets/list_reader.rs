//! Any bytes as what is remembered of issues.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("list_reader")(input));
