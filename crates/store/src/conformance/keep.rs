//! What a holder does with a lease: prolong it, give signs of life, hand it over.

use holdfast_kernel::{Acquire, Answer, Command, Millis, Refusal, Request, Standing, Term, Transfer};

use super::stage::{
    STALE, Stage, TTL, granted, holder, name, only, policy, refused, releasing, renewing, text, view,
};

fn renew_prolongs(stage: &Stage, ttl: Option<Millis>) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    stage.pass(Millis::new(20_000));
    let renewal = Command::Renew { lease: lease.id, holder: lease.holder.clone(), ttl };
    let answer = medium.transact(&policy(), &renewal).expect("a renewal");
    let Answer::Renewed(renewed) = answer else { panic!("renewed, not {answer:?}") };
    let Term::Finite { ttl: length, from } = renewed.term else { panic!("finite, not {renewed:?}") };
    assert_eq!(length, ttl.unwrap_or(TTL));
    assert!(from.since(&lease.granted).forward() >= Millis::new(20_000));
    assert_eq!((renewed.id, renewed.fence, renewed.granted), (lease.id, lease.fence, lease.granted));
    assert_eq!(only(&view(&*stage.open())), renewed);
    medium.transact(&policy(), &releasing(&renewed)).expect("a release");
}

pub(super) fn renew(stage: &Stage) {
    renew_prolongs(stage, None);
    renew_prolongs(stage, Some(Millis::new(7_000)));
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let theirs = Command::Renew { lease: lease.id, holder: holder("berta"), ttl: None };
    let refusal = refused(medium.transact(&policy(), &theirs));
    assert_eq!(refusal, Refusal::NotHolder { lease: Box::new(lease.clone()) });
    let elsewhere =
        holdfast_kernel::Holder { place: name("another place"), agent: lease.holder.agent.clone() };
    let theirs = Command::Renew { lease: lease.id, holder: elsewhere, ttl: None };
    assert!(matches!(refused(medium.transact(&policy(), &theirs)), Refusal::NotHolder { .. }));
    assert_eq!(only(&view(&*medium)), lease);
}

pub(super) fn over(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    stage.pass(TTL);
    let refusal = refused(medium.transact(&policy(), &renewing(&lease)));
    assert!(matches!(refusal, Refusal::Expired { .. }), "{refusal:?}");
    assert_eq!(only(&view(&*medium)), lease);
    // The same holder need not wait, but it is another lease.
    let anew = stage.grant(&*medium, "anna");
    assert!(anew.fence > lease.fence);
    assert_eq!(only(&view(&*medium)), anew);
}

pub(super) fn beat(stage: &Stage) {
    let medium = stage.open();
    let reason = Some(text("a long job"));
    let wanted = Acquire { request: Request::Indefinite, reason, ..stage.wanted("anna") };
    let lease = granted(medium.transact(&policy(), &Command::Acquire(wanted)));
    stage.pass(STALE);
    let refusal = refused(medium.guarded(&lease.claim(), &mut |_| panic!("a stale lease guards nothing")));
    assert!(matches!(refusal, Refusal::Stale { .. }), "{refusal:?}");
    let beat = Command::Beat { lease: lease.id, holder: lease.holder.clone() };
    let answer = medium.transact(&policy(), &beat).expect("a beat");
    let Answer::Beaten(beaten) = answer else { panic!("beaten, not {answer:?}") };
    let seen = view(&*stage.open());
    assert_eq!(only(&seen), beaten);
    assert_eq!(beaten.standing(&seen.now), Standing::Beating);
    let mut ran = 0;
    medium.guarded(&beaten.claim(), &mut |_| ran += 1).expect("a guarded write");
    assert_eq!(ran, 1);
}

pub(super) fn transfer(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    let hand_over = |from: &str| {
        Command::Transfer(Transfer {
            lease: lease.id,
            holder: holder(from),
            id: stage.id(),
            to: holder("berta"),
            reason: text("off for lunch"),
            tags: stage.wanted("berta").tags,
        })
    };
    let refusal = refused(medium.transact(&policy(), &hand_over("carla")));
    assert!(matches!(refusal, Refusal::NotHolder { .. }), "{refusal:?}");
    let answer = medium.transact(&policy(), &hand_over("anna")).expect("a transfer");
    let Answer::Transferred(theirs) = answer else { panic!("transferred, not {answer:?}") };
    assert_eq!(theirs.holder, holder("berta"));
    assert!(theirs.fence > lease.fence);
    assert_eq!(only(&view(&*stage.open())), theirs);
    assert_eq!(
        refused(medium.transact(&policy(), &releasing(&lease))),
        Refusal::NotFound { lease: lease.id }
    );
    medium.transact(&policy(), &renewing(&theirs)).expect("berta's renewal");
    medium.transact(&policy(), &releasing(&theirs)).expect("berta's release");
}
