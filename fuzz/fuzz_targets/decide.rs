//! Any commands at any times: what `decide` allows must be applicable, fenced and fair.
#![no_main]

use holdfast_fuzz::referee::Referee;
use holdfast_fuzz::script::{Clocks, Script};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: Script| {
    let mut clocks = Clocks::new();
    let mut referee = Referee::new(script.policy(), script.first());
    for step in &script.steps {
        if let Some(now) = clocks.tick(step) {
            referee.ask(&step.command(), &now);
        }
    }
    referee.finish();
});
