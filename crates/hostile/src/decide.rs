//! Any commands at any times: what `decide` allows must be applicable, fenced and fair.

use arbitrary::{Arbitrary, Unstructured};

use crate::referee::Referee;
use crate::script::{Clocks, Script};

/// Feeds them.
pub(crate) fn check(input: &[u8]) {
    let Ok(script) = Script::arbitrary_take_rest(Unstructured::new(input)) else { return };
    let mut clocks = Clocks::new();
    let mut referee = Referee::new(script.policy(), script.first());
    for step in &script.steps {
        if let Some(now) = clocks.tick(step) {
            referee.ask(&step.command(), &now);
        }
    }
    referee.finish();
}
