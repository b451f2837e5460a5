//! Whoever watches a log sees everything once and in order, and the first of several commands that can be
//! granted is.

use std::sync::{Arc, Mutex};

use holdfast_kernel::{Answer, Millis, Refusal, Request};
use holdfast_store::log::{Observer, Recorded};
use holdfast_store::{JournaledMedium as _, Record};

use crate::support::{Bench, granted, open};

#[derive(Clone, Default)]
struct Watcher {
    told: Arc<Mutex<Vec<Record>>>,
    replayed: Arc<Mutex<Vec<Record>>>,
    entered: Arc<Mutex<usize>>,
}

impl Observer for Watcher {
    fn entered(&self) {
        *self.entered.lock().unwrap() += 1;
    }

    fn recorded(&self, recorded: &Recorded<'_>) {
        self.told.lock().unwrap().extend_from_slice(recorded.records);
        let mut replayed = Vec::new();
        recorded.replay(&mut |record| replayed.push(record.clone())).unwrap();
        assert_eq!(replayed.last().map(|record| record.sequence), recorded.last());
        *self.replayed.lock().unwrap() = replayed;
    }
}

#[test]
fn an_observer_is_told_of_everything_that_became_durable() {
    let mut bench = Bench::new();
    let watcher = Watcher::default();
    bench.log = open(&bench.sys, &bench.dir).observed(watcher.clone());
    bench.busy_history();
    let told = watcher.told.lock().unwrap().clone();
    assert_eq!(told, *watcher.replayed.lock().unwrap());
    assert!(told.len() >= 10, "{told:?}");
    assert!(told.iter().zip(1..).all(|(record, number)| record.sequence.get() == number));
    let mut history = Vec::new();
    bench.log.history(&mut |record| history.push(record.clone())).unwrap();
    assert_eq!(history, told);
}

#[test]
fn what_others_wrote_unwatched_can_be_replayed() {
    let mut bench = Bench::new();
    bench.busy_history();
    let watcher = Watcher::default();
    bench.log = open(&bench.sys, &bench.dir).observed(watcher.clone());
    let lease = bench.grant("five", "agent:z");
    assert_eq!(watcher.told.lock().unwrap().len(), 1);
    let replayed = watcher.replayed.lock().unwrap().clone();
    assert_eq!(replayed.last().map(|record| record.lease.clone()), Some(lease));
    assert_eq!(*watcher.entered.lock().unwrap(), 1);
}

#[test]
fn the_first_command_that_is_not_passed_over_is_the_one() {
    let bench = Bench::new();
    bench.grant("one", "agent:a");
    bench.grant("two", "agent:b");
    let ask = |issue| bench.acquiring(issue, "agent:c", Request::Finite(Millis::from_secs(60)));
    let held = |why: &Refusal| matches!(why, Refusal::Held { .. });
    let wanted = [ask("one"), ask("two"), ask("three"), ask("four")];
    let first = bench.log.transact_first(&bench.policy, &wanted, &held).unwrap();
    let (at, answer) = first.unwrap();
    assert_eq!((at, granted(answer).resource.text()), (2, "three"));
    assert_eq!(bench.table().len(), 3, "only one of them is granted");
    assert!(bench.log.transact_first(&bench.policy, &wanted[..2], &held).unwrap().is_none());
    assert!(matches!(
        bench.log.transact_first(&bench.policy, &[ask("three")], &held).unwrap(),
        Some((0, Answer::AlreadyHeld(_)))
    ));
    let born_dead = bench.acquiring("five", "agent:c", Request::Finite(Millis::ZERO));
    let refused = bench.log.transact_first(&bench.policy, &[born_dead, ask("five")], &held);
    assert!(refused.is_err(), "a refusal that does not pass ends it");
}
