//! Clocks, processes and entropy.

use std::collections::BTreeSet;
use std::io;

use holdfast_kernel::{BootId, Millis};
use holdfast_sys::{Liveness, ProcessId};

use crate::Place;

crate::on_both! {
    time_goes_on
    sleeping_takes_as_long_as_asked
    no_nonce_comes_twice
    a_lease_id_sorts_by_time
    a_process_finds_itself
    a_number_that_nobody_has_is_not_found
    the_same_number_with_another_start_is_somebody_else
    what_cannot_be_told_is_unknown
    another_boot_is_over
    the_first_process_is_never_dead
}

fn time_goes_on(place: &Place) {
    let clock = &place.sys.clock;
    let (one, two) = (clock.now().unwrap(), clock.now().unwrap());
    let (before, after) = (one.boot().unwrap(), two.boot().unwrap());
    assert_eq!(before.id, after.id);
    assert!(before.ms <= after.ms);
}

fn sleeping_takes_as_long_as_asked(place: &Place) {
    let clock = &place.sys.clock;
    let before = clock.now().unwrap();
    clock.sleep(Millis::new(20));
    assert!(clock.now().unwrap().since(&before).forward() >= Millis::new(20));
    clock.sleep(Millis::ZERO);
}

fn no_nonce_comes_twice(place: &Place) {
    let nonces: BTreeSet<u128> = (0..1_000).map(|_| place.sys.entropy.nonce().unwrap()).collect();
    assert_eq!(nonces.len(), 1_000);
    assert!(nonces.iter().any(|nonce| nonce >> 64 != 0) && nonces.iter().any(|nonce| nonce << 64 != 0));
}

fn a_lease_id_sorts_by_time(place: &Place) {
    let now = place.sys.clock.now().unwrap();
    let (one, two) = (now, now.plus(Millis::new(1)));
    assert!(place.sys.entropy.lease_id(&one).unwrap() < place.sys.entropy.lease_id(&two).unwrap());
}

fn a_process_finds_itself(place: &Place) {
    let processes = &place.sys.processes;
    let me = processes.me().unwrap();
    assert_eq!(processes.find(me.pid).unwrap(), me);
    assert_eq!(processes.me().unwrap(), me);
    assert_eq!(processes.liveness(&me), Liveness::Alive);
    let parent = processes.find(processes.parent().unwrap()).unwrap();
    assert_eq!(processes.liveness(&parent), Liveness::Alive);
}

fn a_number_that_nobody_has_is_not_found(place: &Place) {
    let processes = &place.sys.processes;
    assert_eq!(processes.find(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    let nobody = ProcessId { pid: u32::MAX, ..processes.me().unwrap() };
    assert_eq!(processes.liveness(&nobody), Liveness::Dead);
}

fn the_same_number_with_another_start_is_somebody_else(place: &Place) {
    let me = place.sys.processes.me().unwrap();
    let before = ProcessId { start: me.start - 1, ..me };
    assert_eq!(place.sys.processes.liveness(&before), Liveness::Dead);
}

fn what_cannot_be_told_is_unknown(place: &Place) {
    let me = place.sys.processes.me().unwrap();
    let elsewhere = ProcessId { host: format!("not-{}", me.host), ..me.clone() };
    let unbooted = ProcessId { boot: None, ..me.clone() };
    let contained = ProcessId { namespace: me.namespace ^ 1, ..me.clone() };
    for process in [elsewhere, unbooted, contained] {
        assert_eq!(place.sys.processes.liveness(&process), Liveness::Unknown, "{process:?}");
    }
}

fn another_boot_is_over(place: &Place) {
    let me = place.sys.processes.me().unwrap();
    let boot = Some(BootId::new(me.boot.unwrap().get() ^ 1));
    assert_eq!(place.sys.processes.liveness(&ProcessId { boot, ..me }), Liveness::Dead);
}

fn the_first_process_is_never_dead(place: &Place) {
    if let Ok(first) = place.sys.processes.find(1) {
        assert_ne!(place.sys.processes.liveness(&first), Liveness::Dead);
    }
}
