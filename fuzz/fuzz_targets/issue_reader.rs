//! Any bytes as the files of an issue.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("issue_reader")(input));
