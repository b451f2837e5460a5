//! How leases end, and what survives them: the counter.

use holdfast_kernel::{Answer, Command, Refusal};

use super::stage::{
    GRACE, SKEW, Stage, TTL, evicting, holder, only, policy, refused, releasing, renewing, view,
};

pub(super) fn release(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let theirs = Command::Release { lease: lease.id, holder: holder("berta") };
    assert!(matches!(refused(medium.transact(&policy(), &theirs)), Refusal::NotHolder { .. }));
    assert_eq!(only(&view(&*medium)), lease);
    gives_back(stage);
    // Nobody waits after a release.
    stage.grant(&*medium, "berta");
    stage.pass(TTL);
    // Giving back is allowed past the deadline: it spares the next one the wait.
    gives_back(stage);
    stage.grant(&*medium, "carla");
}

/// Whoever holds it gives it back.
fn gives_back(stage: &Stage) {
    let medium = stage.open();
    let lease = only(&view(&*medium));
    let answer = medium.transact(&policy(), &releasing(&lease)).expect("a release");
    assert_eq!(answer, Answer::Released(lease.clone()));
    assert!(view(&*stage.open()).table.is_empty());
    let refusal = refused(medium.transact(&policy(), &releasing(&lease)));
    assert_eq!(refusal, Refusal::NotFound { lease: lease.id });
}

pub(super) fn evict(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let answer = medium.transact(&policy(), &evicting(&lease)).expect("an eviction");
    assert_eq!(answer, Answer::Evicted(lease.clone()));
    assert!(view(&*stage.open()).table.is_empty());
    let refusal = refused(medium.transact(&policy(), &renewing(&lease)));
    assert_eq!(refusal, Refusal::NotFound { lease: lease.id });
    assert!(stage.grant(&*medium, "berta").fence > lease.fence);
}

pub(super) fn sweep(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let sweep = || medium.transact(&policy(), &Command::Sweep).expect("a sweep");
    assert_eq!(sweep(), Answer::Swept(Vec::new()));
    stage.pass(TTL);
    assert_eq!(sweep(), Answer::Swept(Vec::new()), "others still have to wait, so it is not over for good");
    stage.pass(SKEW.plus(GRACE));
    assert_eq!(sweep(), Answer::Swept(vec![lease]));
    assert!(view(&*stage.open()).table.is_empty());
}

pub(super) fn fences_rise(stage: &Stage) {
    let first = stage.grant(&*stage.open(), "anna");
    let counter = view(&*stage.open()).counter;
    assert!(counter.is_some());
    let mut highest = first.fence;
    for who in ["anna", "berta", "anna", "carla"] {
        let medium = stage.open();
        let held = only(&view(&*medium));
        medium.transact(&policy(), &releasing(&held)).expect("a release");
        let next = view(&*stage.open()).next;
        assert!(next > highest, "a release does not set the counter back");
        let lease = stage.grant(&*stage.open(), who);
        assert!(lease.fence >= next);
        assert_eq!(view(&*medium).counter, counter);
        highest = lease.fence;
    }
}
