//! What a register keeps, how long, and how much of it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use std::sync::Arc;

use holdfast_kernel::{Answer, Command, Millis, Text};
use holdfast_remote::Shared;
use holdfast_remote::simulated::Calm;
use holdfast_store::conformance::ManualClock;
use holdfast_store::{Medium as _, Trouble};
use holdfast_sys::Sys;
use support::scripted::Place;
use support::{clone, granted, policy, trouble, trusting, wanted};

const DAY: u64 = 86_400;

fn sessions(shared: &Shared) -> usize {
    shared.known(true).unwrap().head.sessions.len()
}

#[test]
fn a_clone_that_was_silent_for_thirty_days_is_forgotten_unless_it_holds_something() {
    let place = Place::new();
    let sys = Sys { clock: Arc::new(ManualClock::new(Sys::os().clock.now().unwrap())), ..Sys::os() };
    let open = |who: &str| clone(&sys, &place.dir(who), &place.server(), Arc::new(Calm), trusting());
    let (ann, bob, carl) = (open("ann"), open("bob"), open("carl"));
    let take_and_release = |shared: &Shared, what: &str, who: &str| {
        let lease = granted(shared.transact(&policy(), &wanted(what, who)));
        let release = Command::Release { lease: lease.id, holder: lease.holder };
        assert!(matches!(shared.transact(&policy(), &release), Ok(Answer::Released(_))));
    };
    take_and_release(&ann, "one", "ann");
    granted(bob.transact(&policy(), &wanted("two", "bob")));
    // The one that made the register has a session, too.
    assert_eq!(sessions(&carl), 3);
    sys.clock.sleep(Millis::from_secs(30 * DAY - 1));
    take_and_release(&carl, "one", "carl");
    assert_eq!(sessions(&carl), 4, "nobody is forgotten before");
    sys.clock.sleep(Millis::from_secs(1));
    take_and_release(&carl, "one", "carl");
    assert_eq!(sessions(&carl), 2, "bob holds something, and carl was here");
    // It is the same clone as ever to itself, and no copy of another one.
    take_and_release(&ann, "one", "ann");
    assert_eq!(sessions(&ann), 3);
}

#[test]
fn a_register_that_is_full_takes_no_more_and_has_room_again_after_a_release() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    let reason = Text::new(&"why ".repeat(255)).unwrap();
    let wish = |number: usize| match wanted(&format!("thing-{number}"), "ann") {
        Command::Acquire(mut acquire) => {
            acquire.reason = Some(reason.clone());
            Command::Acquire(acquire)
        }
        other => panic!("{other:?}"),
    };
    let take = |from: usize, count: usize| {
        let commands: Vec<Command> = (from..from + count).map(wish).collect();
        ann.transact_all(&policy(), &commands)
    };
    // An answer that nobody heard has to be told again, so it is in there as well.
    let held = take(0, 300).unwrap();
    let before = ann.known(true).unwrap().head;
    assert_eq!(trouble(take(300, 500)), Trouble::Full);
    assert_eq!(ann.known(true).unwrap().head, before, "nothing is changed");
    let releases = held.into_iter().map(|answer| match answer {
        Ok(Answer::Granted(lease)) => Command::Release { lease: lease.id, holder: lease.holder },
        other => panic!("{other:?}"),
    });
    for release in releases.take(2) {
        ann.transact(&policy(), &release).unwrap();
    }
    assert_eq!(take(300, 1).unwrap().len(), 1);
}
