//! What may come between a clone and the register, one fault after the other: whatever it is, an operation takes effect
//! once or not at all, and nobody is told what is not so.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use std::path::Path;
use std::sync::Arc;

use holdfast_kernel::{Acquire, Answer, Command, Fence, Lease, Millis, Refusal};
use holdfast_remote::head::{Author, Head};
use holdfast_remote::local::Local;
use holdfast_remote::simulated::{Calm, Faults, ReadFault, SwapFault};
use holdfast_remote::{CloneId, Note, OpId, Register, Settings, Shared};
use holdfast_store::conformance::ManualClock;
use holdfast_store::{Error, Medium, Trouble};
use holdfast_sys::Sys;
use support::scripted::{Place, SWAPS, Scripted, Silent, records};
use support::{clone, granted, policy, register, settings, trouble, trusting, wanted};

#[test]
fn whatever_happens_to_two_swaps_each_operation_is_done_once_and_answered_as_it_was_done() {
    for first in SWAPS {
        for second in SWAPS {
            let place = Place::new();
            let ann = place.clone("ann", Scripted::swaps(&[first, second]));
            let lease = granted(ann.transact(&policy(), &wanted("one", "ann")));
            let seen = ann.view().unwrap();
            assert_eq!(seen.table.get(lease.id), Some(&lease), "{first:?} then {second:?}");
            let release = Command::Release { lease: lease.id, holder: lease.holder.clone() };
            assert_eq!(
                ann.transact(&policy(), &release).unwrap(),
                Answer::Released(lease),
                "{first:?}, {second:?}"
            );
            assert!(ann.view().unwrap().table.is_empty());
            assert_eq!(records(&ann), 2, "{first:?} then {second:?}");
        }
    }
}

#[test]
fn a_step_of_another_machine_in_between_does_not_make_it_twice() {
    for fault in SWAPS {
        let place = Place::new();
        let ann = place.clone("ann", Scripted::swaps(&[SwapFault::None, fault]));
        let bob = place.clone("bob", Arc::new(Calm));
        granted(ann.transact(&policy(), &wanted("zero", "ann")));
        // Ann does not know of bob's step, and decides on an old head.
        let bobs = granted(bob.transact(&policy(), &wanted("one", "bob")));
        let anns = ann.transact(&policy(), &wanted("one", "ann"));
        let Err(Error::Refused(Refusal::Held { blocker, .. })) = anns else {
            panic!("{fault:?}: held by bob, not {anns:?}")
        };
        assert_eq!(blocker.id, bobs.id);
        granted(ann.transact(&policy(), &wanted("two", "ann")));
        assert_eq!(records(&bob), 3, "{fault:?}");
    }
}

#[test]
fn what_is_never_answered_is_said_to_be_unresolved_and_the_next_command_finds_out() {
    let place = Place::new();
    place.clone("ann", Arc::new(Calm)).known(true).unwrap();
    let quick = Settings { tries: 3, ..trusting() };
    let mute = place.with("ann", Arc::new(Silent), quick);
    let command = wanted("one", "ann");
    assert_eq!(trouble(mute.transact(&policy(), &command)), Trouble::Unresolved);
    let known = mute.known(true).unwrap();
    assert_eq!(known.unresolved.as_deref(), Some("a grant"));
    drop(mute);
    // The same command, another one, and another machine first.
    let bob = place.clone("bob", Arc::new(Calm));
    granted(bob.transact(&policy(), &wanted("two", "bob")));
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &command));
    assert_eq!(ann.known(true).unwrap().unresolved, None);
    assert_eq!(records(&ann), 2);
}

#[test]
fn a_step_that_arrives_after_its_sender_died_is_found_in_the_session() {
    let place = Place::new();
    let late = Scripted::swaps(&[SwapFault::UnknownDone]);
    late.reads.lock().unwrap().extend([ReadFault::Unreachable; 3]);
    // The first read is the one before anything is sent.
    late.reads.lock().unwrap().push(ReadFault::None);
    let ann = place.with("ann", late, Settings { tries: 3, ..trusting() });
    let command = wanted("one", "ann");
    assert_eq!(trouble(ann.transact(&policy(), &command)), Trouble::Unresolved);
    drop(ann);
    let ann = place.clone("ann", Arc::new(Calm));
    let again = ann.transact(&policy(), &wanted("one", "ann")).unwrap();
    assert!(matches!(again, Answer::AlreadyHeld(_)), "{again:?}");
    assert_eq!(records(&ann), 1);
}

#[test]
fn a_server_that_forgets_what_it_confirmed_is_found_out_before_two_are_told() {
    let place = Place::new();
    let bob = place.clone("bob", Arc::new(Calm));
    bob.known(true).unwrap();
    let forgetful = register(&Sys::os(), &place.server(), Scripted::swaps(&[SwapFault::Forgotten])).checked();
    let local = Local::new(place.dir("ann"), 0o600);
    let ann = Shared::new(Sys::os(), Box::new(forgetful), local, trusting());
    assert_eq!(trouble(ann.transact(&policy(), &wanted("one", "ann"))), Trouble::Forked);
    granted(bob.transact(&policy(), &wanted("one", "bob")));
}

#[test]
fn a_register_that_was_set_back_or_removed_stops_whoever_saw_more_and_is_never_made_anew() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    let server = register(&Sys::os(), &place.server(), Arc::new(Calm));
    server.set_back().unwrap();
    assert_eq!(trouble(ann.view()), Trouble::Forked);
    assert_eq!(trouble(ann.transact(&policy(), &wanted("two", "ann"))), Trouble::Forked);
    // Another machine goes on from there, even past what was seen.
    let bob = place.clone("bob", Arc::new(Calm));
    for resource in ["one", "two", "three"] {
        granted(bob.transact(&policy(), &wanted(resource, "bob")));
    }
    assert_eq!(trouble(ann.transact(&policy(), &wanted("four", "ann"))), Trouble::Forked);
    server.delete().unwrap();
    assert_eq!(trouble(ann.view()), Trouble::Forked);
    let carla =
        Shared::new(Sys::os(), Box::new(server.clone()), Local::new(place.dir("carla"), 0o600), trusting());
    assert_eq!(trouble(carla.transact(&policy(), &wanted("one", "carla"))), Trouble::Missing);
    assert!(server.read().unwrap().is_none(), "nothing is made because it is missing");
}

#[test]
fn a_stale_copy_is_read_again_and_one_that_stays_stale_is_unavailable() {
    let place = Place::new();
    let faults = Arc::new(Scripted::default());
    let ann = place.clone("ann", Arc::clone(&faults) as Arc<dyn Faults>);
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    faults.reads.lock().unwrap().extend([ReadFault::Stale; 3]);
    assert_eq!(ann.view().unwrap().table.len(), 1);
    faults.reads.lock().unwrap().extend([ReadFault::Stale; 50]);
    assert_eq!(trouble(ann.view()), Trouble::Unavailable);
}

#[test]
fn the_dead_are_judged_for_ones_own_clone_only() {
    let place = Place::new();
    let (ann, bob) = (place.clone("ann", Arc::new(Calm)), place.clone("bob", Arc::new(Calm)));
    let anns = granted(ann.transact(&policy(), &wanted("one", "ann")));
    let Command::Acquire(theirs) = wanted("one", "bob") else { unreachable!("it was made so") };
    let over_the_dead = Command::Acquire(Acquire { dead: vec![anns.id], ..theirs });
    let refused = bob.transact(&policy(), &over_the_dead);
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    granted(ann.transact(&policy(), &over_the_dead));
}

#[test]
fn several_renewals_are_one_step() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    let leases: Vec<Lease> =
        ["one", "two", "three"].map(|what| granted(ann.transact(&policy(), &wanted(what, "ann")))).into();
    let before = ann.known(true).unwrap().head.height;
    let renew = |lease: &Lease| Command::Renew { lease: lease.id, holder: lease.holder.clone(), ttl: None };
    let commands: Vec<Command> = leases.iter().map(renew).collect();
    let answers = ann.transact_all(&policy(), &commands).unwrap();
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Answer::Renewed(_)))), "{answers:?}");
    assert_eq!(ann.known(true).unwrap().head.height, before + 1);
}

#[test]
fn a_takeover_from_another_machine_needs_to_have_been_watched() {
    let place = Place::new();
    let at = |ahead| {
        let now = Sys::os().clock.now().unwrap().plus(Millis::from_secs(ahead));
        Sys { clock: Arc::new(ManualClock::new(now)), ..Sys::os() }
    };
    // By bob's wall clock ann's lease is long over: it is an hour ahead.
    let (anns, bobs) = (at(0), at(3_600));
    let ann = clone(&anns, &place.dir("ann"), &place.server(), Arc::new(Calm), settings());
    let bob = clone(&bobs, &place.dir("bob"), &place.server(), Arc::new(Calm), settings());
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    let held = |wait: u64| {
        let refused = bob.transact(&policy(), &wanted("one", "bob"));
        let Err(Error::Refused(Refusal::Held { retry_after, .. })) = refused else {
            panic!("not watched for long enough, yet {refused:?}")
        };
        assert_eq!(retry_after, Some(Millis::from_secs(wait)));
    };
    held(603);
    bobs.clock.sleep(Millis::from_secs(300));
    held(303);
    // A renewal begins it anew.
    let lease = ann.view().unwrap().table.iter().next().cloned().unwrap();
    anns.clock.sleep(Millis::from_secs(300));
    ann.transact(&policy(), &Command::Renew { lease: lease.id, holder: lease.holder, ttl: None }).unwrap();
    held(603);
    bobs.clock.sleep(Millis::from_secs(602));
    held(1);
    bobs.clock.sleep(Millis::from_secs(1));
    granted(bob.transact(&policy(), &wanted("one", "bob")));
}

#[test]
fn a_head_of_a_later_version_or_with_something_unknown_is_refused_and_left_alone() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    let server = register(&Sys::os(), &place.server(), Arc::new(Calm));
    let good = server.read().unwrap().unwrap().value;
    let text = String::from_utf8(good.clone()).unwrap();
    for (from, to) in [
        ("{\"format\":1,", "{\"format\":2,"),
        ("{\"format\":1,", "{\"format\":3,"),
        ("{\"format\":1,", "{\"format\":1,\"more\":1,"),
        ("\"height\":2,", "\"height\": 2,"),
        ("\"next\":2,", "\"next\":1,"),
        ("\"state\":\"open\"", "\"state\":\"ajar\""),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        let bad = text.replacen(from, to, 1);
        let read = Head::decode(bad.as_bytes(), Path::new("x"));
        assert!(matches!(read, Err(Error::Damaged { .. } | Error::Newer { .. })), "{to}: {read:?}");
    }
    for cut in 0..good.len() {
        assert!(Head::decode(&good[..cut], Path::new("x")).is_err());
    }
    assert_eq!(Head::decode(&good, Path::new("x")).unwrap().encode().unwrap(), good);
}

#[test]
fn the_same_act_of_two_machines_at_one_moment_is_two_different_steps() {
    let first = Head::first(support::COUNTER, Fence::FIRST);
    let step = |clone, op| {
        let author = Author { clone: CloneId(clone), op: OpId(op), at_ms: 5 };
        first.then(&author, &[], &[Note::Sealed], Vec::new()).unwrap()
    };
    let one = step(1, 1);
    for other in [step(1, 2), step(2, 1)] {
        assert_ne!(one.bytes, other.bytes);
        assert_ne!(one.value, other.value);
        assert_ne!(one.head.chain, other.head.chain);
    }
    assert_eq!(one.value, step(1, 1).value, "what is sent again is the same");
}

/// The server is out of reach.
struct Gone;

impl Faults for Gone {
    fn swap(&self, _: &Sys) -> SwapFault {
        SwapFault::UnknownNot
    }

    fn read(&self, _: &Sys) -> ReadFault {
        ReadFault::Unreachable
    }
}

#[test]
fn without_a_connection_what_one_holds_is_usable_until_shortly_before_its_deadline() {
    let place = Place::new();
    let now = Sys::os().clock.now().unwrap();
    let sys = Sys { clock: Arc::new(ManualClock::new(now)), ..Sys::os() };
    let settings = Settings { max_age: Millis::from_secs(60), tries: 2, ..settings() };
    let open =
        |faults: Arc<dyn Faults>| clone(&sys, &place.dir("ann"), &place.server(), faults, settings.clone());
    let lease = granted(open(Arc::new(Calm)).transact(&policy(), &wanted("one", "ann")));
    let gone = open(Arc::new(Gone));
    let write = || {
        let mut wrote = false;
        gone.guarded(&lease.claim(), &mut |_| wrote = true).map(|()| wrote)
    };
    assert!(write().unwrap(), "what is known is young");
    // Older than may be relied on while the server can be asked, and nobody else may have it yet.
    sys.clock.sleep(Millis::from_secs(300));
    assert!(write().unwrap());
    sys.clock.sleep(Millis::from_secs(297));
    assert!(write().unwrap());
    // The skew is two seconds.
    sys.clock.sleep(Millis::from_secs(1));
    assert_eq!(trouble(write()), Trouble::Unavailable);
    assert_eq!(trouble(gone.transact(&policy(), &wanted("two", "ann"))), Trouble::Unresolved);
}

#[test]
fn asking_anew_makes_what_is_known_young() {
    let place = Place::new();
    let now = Sys::os().clock.now().unwrap();
    let sys = Sys { clock: Arc::new(ManualClock::new(now)), ..Sys::os() };
    let ann = clone(&sys, &place.dir("ann"), &place.server(), Arc::new(Calm), settings());
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    sys.clock.sleep(Millis::from_secs(90));
    assert_eq!(ann.known(false).unwrap().age, Millis::from_secs(90));
    ann.refresh().unwrap();
    assert_eq!(ann.known(false).unwrap().age, Millis::ZERO);
}
