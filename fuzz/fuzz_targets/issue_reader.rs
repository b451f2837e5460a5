//! Any bytes as the files of an issue, which anybody can push: what can be read is written as it was read, whatever
//! else is in it, and lines make one set in any order and number.
#![no_main]

#[path = "../../crates/tracker/tests/reader/checks.rs"]
mod checks;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    checks::issue(input);
    checks::set(input);
});
