//! What is asked for together on the shared medium: all of it or nothing, whatever becomes of a swap and wherever its
//! sender dies.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast_kernel::{Answer, Command, Lease, LimitKind, Refusal};
use holdfast_remote::simulated::{Calm, ReadFault, SwapFault};
use holdfast_remote::{Note, Settings, Shared};
use holdfast_store::conformance::{self, Subject, Twins};
use holdfast_store::{Error, JournaledMedium, Medium, Result, Trouble, View};
use holdfast_sys::Sys;
use support::scripted::{Place, SWAPS, Scripted, Silent, records};
use support::{clone, granted, hostile, policy, rough, server, settings, trouble, trusting, wanted};

const WANTED: [&str; 3] = ["one", "two", "three"];

fn three(who: &str) -> Vec<Command> {
    WANTED.map(|what| wanted(what, who)).into()
}

fn together(shared: &Shared, commands: &[Command]) -> Result<Vec<Answer>> {
    shared.transact_together(&policy(), &|_: &View| Ok(commands.to_vec()))
}

fn leases(answers: Vec<Answer>) -> Vec<Lease> {
    answers.into_iter().map(|answer| granted(Ok(answer))).collect()
}

fn releases(leases: &[Lease]) -> Vec<Command> {
    let release = |lease: &Lease| Command::Release { lease: lease.id, holder: lease.holder.clone() };
    leases.iter().map(release).collect()
}

fn held(shared: &Shared) -> Vec<String> {
    let mut held: Vec<String> =
        shared.view().unwrap().table.iter().map(|lease| lease.resource.to_string()).collect();
    held.sort();
    held
}

#[test]
fn whatever_becomes_of_two_swaps_all_of_it_is_done_once() {
    for first in SWAPS {
        for second in SWAPS {
            let place = Place::new();
            let ann = place.clone("ann", Scripted::swaps(&[first, second]));
            let got = leases(together(&ann, &three("ann")).unwrap());
            assert_eq!(held(&ann), ["one", "three", "two"], "{first:?} then {second:?}");
            let given_back = together(&ann, &releases(&got)).unwrap();
            assert!(given_back.iter().all(|answer| matches!(answer, Answer::Released(_))), "{given_back:?}");
            assert_eq!((held(&ann).len(), records(&ann)), (0, 6), "{first:?} then {second:?}");
        }
    }
}

#[test]
fn all_of_it_is_one_step_of_the_register() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    let before = ann.known(true).unwrap().head.height;
    leases(together(&ann, &three("ann")).unwrap());
    assert_eq!(ann.known(true).unwrap().head.height, before + 1);
    assert_eq!(together(&ann, &[]).unwrap(), []);
    assert_eq!(ann.known(true).unwrap().head.height, before + 1, "nothing is no step");
}

#[test]
fn a_plan_that_refuses_by_an_old_look_is_asked_again() {
    let place = Place::new();
    let (ann, bob) = (place.clone("ann", Arc::new(Calm)), place.with("bob", Arc::new(Calm), trusting()));
    let got = leases(together(&ann, &three("ann")).unwrap());
    bob.refresh().unwrap();
    together(&ann, &releases(&got)).unwrap();
    let looks = std::cell::RefCell::new(Vec::new());
    let plan = |view: &View| {
        let count = view.table.iter().count();
        looks.borrow_mut().push(count);
        let limit = Refusal::LimitReached { kind: LimitKind::LeasesPerTable, limit: 0 };
        if count > 0 { Err(limit.into()) } else { Ok(vec![wanted("one", "bob")]) }
    };
    leases(bob.transact_together(&policy(), &plan).unwrap());
    assert_eq!(*looks.borrow(), [3, 0], "by what was known, and then by what is");
    let refused = ann.transact_together(&policy(), &plan);
    assert!(matches!(refused, Err(Error::Refused(Refusal::LimitReached { .. }))), "{refused:?}");
}

/// The sender dies, or gives up, between writing down what it is about to send and hearing of it.
#[test]
fn whoever_comes_after_a_sender_that_died_finds_all_of_it_or_nothing() {
    for (fault, arrives) in
        [(SwapFault::UnknownDone, true), (SwapFault::UnknownNot, false), (SwapFault::Later, true)]
    {
        let place = Place::new();
        let cut_off = Scripted::swaps(&[fault]);
        cut_off.reads.lock().unwrap().extend([ReadFault::Unreachable; 3]);
        // The first read is the one before anything is sent.
        cut_off.reads.lock().unwrap().push(ReadFault::None);
        let ann = place.with("ann", cut_off, Settings { tries: 3, ..trusting() });
        assert_eq!(trouble(together(&ann, &three("ann"))), Trouble::Unresolved, "{fault:?}");
        drop(ann);
        let seen = held(&place.clone("bob", Arc::new(Calm))).len();
        assert!(seen == 0 || seen == 3, "{fault:?}: {seen} of 3");
        let ann = place.clone("ann", Arc::new(Calm));
        let again = together(&ann, &three("ann")).unwrap();
        let kept = again.iter().filter(|answer| matches!(answer, Answer::AlreadyHeld(_))).count();
        assert!(kept == 0 || kept == 3, "{fault:?}: {again:?}");
        assert!(arrives || kept == 0, "{fault:?}: it was never sent");
        assert!(fault != SwapFault::UnknownDone || kept == 3, "{again:?}");
        assert_eq!((held(&ann).len(), records(&ann)), (3, 3), "{fault:?}");
    }
}

#[test]
fn what_is_never_answered_leaves_no_part_of_it_behind() {
    let place = Place::new();
    place.clone("ann", Arc::new(Calm)).known(true).unwrap();
    let mute = place.with("ann", Arc::new(Silent), Settings { tries: 3, ..trusting() });
    assert_eq!(trouble(together(&mute, &three("ann"))), Trouble::Unresolved);
    drop(mute);
    let bob = place.clone("bob", Arc::new(Calm));
    granted(bob.transact(&policy(), &wanted("two", "bob")));
    let ann = place.clone("ann", Arc::new(Calm));
    let refused = together(&ann, &three("ann"));
    assert!(matches!(refused, Err(Error::Refused(Refusal::Held { .. }))), "{refused:?}");
    assert_eq!((held(&ann), records(&ann)), (vec!["two".to_owned()], 1));
}

#[test]
fn one_that_another_machine_has_taken_in_between_refuses_all() {
    for fault in SWAPS {
        let place = Place::new();
        let ann = place.clone("ann", Scripted::swaps(&[SwapFault::None, fault]));
        let bob = place.clone("bob", Arc::new(Calm));
        granted(ann.transact(&policy(), &wanted("zero", "ann")));
        // Ann does not know of bob's step, and decides on an old head.
        let bobs = granted(bob.transact(&policy(), &wanted("three", "bob")));
        let refused = together(&ann, &three("ann"));
        let Err(Error::Refused(Refusal::Held { blocker, .. })) = refused else {
            panic!("{fault:?}: held by bob, not {refused:?}")
        };
        assert_eq!(blocker.id, bobs.id);
        assert_eq!((held(&bob), records(&bob)), (vec!["three".to_owned(), "zero".to_owned()], 2));
        bob.transact(&policy(), &releases(&[bobs])[0]).unwrap();
        leases(together(&ann, &three("ann")).unwrap());
    }
}

/// A plan may look at what has landed. Something that landed and was fetched while it looked, it has not seen.
#[test]
fn a_plan_that_looked_before_the_last_landing_was_fetched_grants_nothing() {
    let place = Place::new();
    let has_it = Arc::new(AtomicBool::new(false));
    let knows = Arc::clone(&has_it);
    let ann = place.clone("ann", Arc::new(Calm)).granting_if(move |_| knows.load(Ordering::SeqCst));
    let bob = place.clone("bob", Arc::new(Calm));
    bob.note(&[Note::Landed { commit: "a".repeat(40) }], &|_| Ok(())).unwrap();
    ann.refresh().unwrap();
    let plan = |_: &View| {
        has_it.store(true, Ordering::SeqCst);
        Ok(three("ann"))
    };
    assert_eq!(trouble(ann.transact_together(&policy(), &plan)), Trouble::Behind);
    assert!(held(&ann).is_empty());
    assert_eq!(leases(ann.transact_together(&policy(), &plan).unwrap()).len(), 3);
}

fn calm_twins(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(Twins(clone(sys, dir, &server(dir), Arc::new(Calm), settings())))
}

fn rough_twins(sys: &Sys, dir: &Path) -> Box<dyn Medium> {
    Box::new(Twins(clone(sys, dir, &server(dir), Arc::new(rough()), settings())))
}

const CALM: Subject = Subject { open: calm_twins, resources: &WANTED, shared: true, hostile };
const ROUGH: Subject = Subject { open: rough_twins, ..CALM };

#[test]
fn what_counts_together_survives_every_cut_as_a_whole() {
    #[expect(clippy::disallowed_methods, reason = "the test command says how much")]
    let every = if std::env::var_os("HOLDFAST_LONG").is_some() { 1 } else { 7 };
    let cuts = conformance::some_crashes(&CALM, every);
    assert!(cuts > 200, "only {cuts} cuts");
}

#[test]
fn many_processes_never_see_one_without_the_other() {
    conformance::contention_in_simulation(&CALM, 15);
    conformance::contention_in_simulation(&ROUGH, 30);
}
