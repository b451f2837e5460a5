//! Which steps nobody else can feel or disturb, so that others need not be tried in between. Such a step touches
//! only things that nobody changes, and things that everybody touches under a lock which the process has: whoever
//! else wants to touch them has to wait until the process is past the step. So every run ends as one that was
//! tried does.
//!
//! That everybody keeps to the locks is an assumption at first, and held against every step of every run that is
//! tried. The first step that does not keep to them is felt by somebody only after it, so it is in one of the runs
//! that are tried under the assumption; then the assumption goes, and all starts again without it.

use std::collections::BTreeMap;

use holdfast_sys::LockMode;
use holdfast_sys::sim::{Step, Thing, Touch};

/// What is known of the things that processes share.
#[derive(Default)]
pub(super) struct Cover {
    things: BTreeMap<Thing, Use>,
}

/// How a thing is used.
struct Use {
    changes: bool,
    /// The locks that everybody had who touched it.
    under: Vec<Thing>,
}

impl Use {
    /// Whether whoever touches it cannot be disturbed at that.
    const fn is_covered(&self) -> bool {
        !self.changes || !self.under.is_empty()
    }
}

impl Cover {
    /// Holds a step against what is assumed. Says whether all of it is still true.
    pub(super) fn learn(&mut self, step: &Step) -> bool {
        let mistakes = step.touched.iter().filter(|touch| !self.learn_one(step, **touch));
        mistakes.count() == 0
    }

    fn learn_one(&mut self, step: &Step, touch: Touch) -> bool {
        // Whoever changes a thing must be alone with it.
        let enough = |mode| !touch.changed || mode == LockMode::Exclusive;
        let has = |lock: &Thing| step.held.iter().any(|(held, mode)| held == lock && enough(*mode));
        if let Some(known) = self.things.get_mut(&touch.thing) {
            let was = known.is_covered();
            known.under.retain(has);
            known.changes |= touch.changed;
            return known.is_covered() || !was;
        }
        let under = step.held.iter().map(|(lock, _)| *lock).filter(has).collect();
        self.things.insert(touch.thing, Use { changes: touch.changed, under });
        true
    }

    /// Whether nobody else can feel or disturb a step, as far as is known.
    pub(super) fn hides(&self, step: &Step) -> bool {
        step.touched.iter().all(|touch| self.things.get(&touch.thing).is_some_and(Use::is_covered))
    }
}
