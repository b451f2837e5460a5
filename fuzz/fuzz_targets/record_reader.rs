//! Any bytes as the files of a record.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("record_reader")(input));
