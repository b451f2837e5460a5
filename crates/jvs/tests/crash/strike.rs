//! What goes wrong, and at which call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_sys::sim::{Choice, Choices, Fault, Moment, NameOrder, Random};

/// What is left of what was not made durable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Left {
    Nothing,
    Everything,
    Something(u64),
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) what: Choice,
    pub(crate) left: Left,
    pub(crate) order: NameOrder,
}

const fn plan(what: Choice, left: Left, order: NameOrder) -> Plan {
    Plan { what, left, order }
}

pub(crate) const PLANS: &[Plan] = &[
    plan(Choice::Kill, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::PowerLoss, Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::PowerLoss, Left::Everything, NameOrder::PerDirectory),
    plan(Choice::PowerLoss, Left::Something(2), NameOrder::PerDirectory),
    plan(Choice::PowerLoss, Left::Something(3), NameOrder::PerName),
    plan(Choice::PowerLoss, Left::Something(4), NameOrder::PerName),
    plan(Choice::Fault(Fault::Eio), Left::Nothing, NameOrder::PerDirectory),
    plan(Choice::Fault(Fault::Eio), Left::Something(5), NameOrder::PerName),
    plan(Choice::Fault(Fault::Enospc), Left::Nothing, NameOrder::PerName),
];

/// Strikes once, at the nth occasion after it was armed.
pub(crate) struct Strike {
    pub(crate) plan: Plan,
    pub(crate) countdown: u64,
    pub(crate) armed: Arc<AtomicBool>,
    pub(crate) random: Random,
}

impl Choices for Strike {
    fn choose(&mut self, what: Choice, options: usize, at: &Moment<'_>) -> usize {
        match (what, self.plan.left) {
            (Choice::Survive(_), Left::Everything) => return 0,
            (Choice::Survive(_), Left::Nothing) => return options - 1,
            (Choice::Survive(_), Left::Something(_)) => return self.random.choose(what, options, at),
            _ if what != self.plan.what || !self.armed.load(Ordering::SeqCst) => return 0,
            _ if self.countdown > 0 => {
                self.countdown -= 1;
                return 0;
            }
            _ => {}
        }
        self.armed.store(false, Ordering::SeqCst);
        1
    }
}
