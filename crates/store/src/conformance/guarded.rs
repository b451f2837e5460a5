//! Writes that are checked and made in one step.

use holdfast_kernel::{Claim, Fence, Lease, Refusal};

use super::stage::{GRACE, SKEW, Stage, TTL, holder, name, policy, releasing, view};
use crate::Medium;

pub(super) fn by_the_holder(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let counter = view(&*medium).counter;
    for medium in [&medium, &stage.open()] {
        let mut ran = 0;
        let act = &mut |held: &crate::Held<'_>| {
            ran += 1;
            assert_eq!(held.lease(), &lease);
            assert_eq!(Some(held.counter()), counter);
        };
        medium.guarded(&lease.claim(), act).expect("a guarded write");
        assert_eq!(ran, 1);
    }
    assert_eq!(medium.write(&lease.claim(), |held| held.lease().fence).expect("a value"), lease.fence);
}

/// Nobody gets to write with this claim.
fn turned_away(medium: &dyn Medium, claim: &Claim) -> Refusal {
    super::stage::refused(medium.guarded(claim, &mut |_| panic!("nobody may write with {claim:?}")))
}

fn refused_to_others(medium: &dyn Medium, lease: &Lease) {
    let right = lease.claim();
    let later = lease.fence.plus(1).expect("a larger fence");
    let wrong_fence = Claim { fence: later, ..right.clone() };
    assert!(matches!(turned_away(medium, &wrong_fence), Refusal::FencedOut { .. }));
    let wrong_resource = Claim { resource: name("no/such-thing").into(), ..right.clone() };
    assert!(matches!(turned_away(medium, &wrong_resource), Refusal::FencedOut { .. }));
    let wrong_holder = Claim { holder: holder("mallory"), ..right };
    assert!(matches!(turned_away(medium, &wrong_holder), Refusal::NotHolder { .. }));
}

pub(super) fn refused(stage: &Stage) {
    let medium = stage.open();
    let nobody =
        Claim { resource: stage.resource(), lease: stage.id(), holder: holder("anna"), fence: Fence::FIRST };
    assert!(matches!(turned_away(&*medium, &nobody), Refusal::FencedOut { .. }));
    let lease = stage.grant(&*medium, "anna");
    refused_to_others(&*medium, &lease);
    stage.pass(TTL);
    assert!(matches!(turned_away(&*medium, &lease.claim()), Refusal::Expired { .. }));
    stage.pass(SKEW.plus(GRACE));
    let theirs = stage.grant(&*stage.open(), "berta");
    assert!(matches!(turned_away(&*medium, &lease.claim()), Refusal::FencedOut { .. }));
    medium.transact(&policy(), &releasing(&theirs)).expect("a release");
    assert!(matches!(turned_away(&*medium, &theirs.claim()), Refusal::FencedOut { .. }));
}
