//! Any two texts as patterns, and any third as a path.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| holdfast_hostile::check("overlap")(input));
