//! Any bytes as the files of a lock directory.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("owner_reader")(input));
