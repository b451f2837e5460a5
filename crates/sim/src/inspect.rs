//! The look at a medium when everybody is gone and nothing fails any more: it must be there, understand its
//! own files, show what its records say, and give every resource to somebody who waits long enough.

use holdfast_kernel::{Holder, Mode, Name};
use holdfast_store::{Result, View};
use holdfast_sys::Sys;

use crate::actor::{Performer, Stage};
use crate::history::Actor;
use crate::plan::Step;

/// Longer than any lease of any plan, its skew and its grace.
const LONG_MS: u64 = 7_200_000;

/// Looks, and compares with what the records say.
pub(crate) fn look(stage: &Stage, sys: &Sys, number: usize) {
    let mut inspector = enter(stage, sys, number);
    inspector.perform(&Step::View);
    compare(stage, sys);
}

/// Looks, waits until every lease with an end is over, and takes every resource.
pub(crate) fn take_everything(stage: &Stage, sys: &Sys, number: usize) {
    let mut inspector = enter(stage, sys, number);
    inspector.perform(&Step::View);
    compare(stage, sys);
    inspector.perform(&Step::Sleep(LONG_MS));
    for number in 0..stage.plan.resources {
        let mine = Step::Acquire { resource: number, mode: Mode::Exclusive, ttl_ms: Some(1_000) };
        inspector.perform(&mine);
        // Whoever holds it without end has to be moved.
        inspector.evict(&stage.subject.resource(number));
        inspector.perform(&mine);
        inspector.perform(&Step::Write(number));
        inspector.perform(&Step::Release(number));
    }
    inspector.perform(&Step::View);
    compare(stage, sys);
}

fn enter<'a>(stage: &'a Stage, sys: &Sys, number: usize) -> Performer<'a> {
    let holder = Holder { agent: word("inspector"), place: word("outside") };
    let actor = Actor { name: "inspector".to_owned(), host: 0, holder, calm: true };
    Performer::enter(stage, sys, actor, number)
}

#[expect(clippy::expect_used, reason = "a word is a name")]
fn word(text: &str) -> Name {
    Name::new(text).expect("a name")
}

fn compare(stage: &Stage, sys: &Sys) {
    let look = || stage.subject.open(sys).and_then(|medium| medium.view());
    let mut shown = look();
    let mut replayed = stage.subject.replay(sys);
    while stage.subject.is_far_away() {
        // What was on its way may have arrived between the two looks; then they are of different states.
        let after = look();
        if !has_moved(&shown, &after) {
            break;
        }
        (shown, replayed) = (after, stage.subject.replay(sys));
    }
    match (shown, replayed) {
        (Ok(shown), Some(Ok(replayed))) => stage.recorder.replayed(shown, replayed),
        (_, Some(Err(error))) => stage.recorder.trouble(format!("the records cannot be replayed: {error}")),
        (Err(error), _) => stage.recorder.trouble(format!("the medium cannot be looked at: {error}")),
        (Ok(_), None) => {}
    }
}

/// Whether anything happened between two looks. Whoever watches the leases of others shows them differently every time.
fn has_moved(before: &Result<View>, after: &Result<View>) -> bool {
    match (before, after) {
        (Ok(before), Ok(after)) => before.next != after.next,
        _ => false,
    }
}
