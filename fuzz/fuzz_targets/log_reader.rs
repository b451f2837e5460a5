//! Any bytes as a log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("log_reader")(input));
