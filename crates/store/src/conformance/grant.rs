//! Who gets a resource, and who does not.

use holdfast_kernel::{
    Acquire, Again, Answer, Command, Millis, Mode, Pattern, Policy, Refusal, Request, Term,
};

use super::stage::{
    GRACE, SKEW, STALE, Stage, TTL, evicting, granted, holder, name, only, policy, refused, releasing, text,
    view,
};
use crate::Error;

pub(super) fn empty(stage: &Stage) {
    let medium = stage.open();
    let seen = view(&*medium);
    assert!(seen.table.is_empty());
    assert_eq!(seen.counter, None);
    let lease = stage.id();
    let renewal = Command::Renew { lease, holder: holder("anna"), ttl: None };
    assert_eq!(refused(medium.transact(&policy(), &renewal)), Refusal::NotFound { lease });
    assert_eq!(
        medium.transact(&policy(), &Command::Sweep).expect("a sweep of nothing"),
        Answer::Swept(Vec::new())
    );
    let seen = view(&*medium);
    assert!(seen.table.is_empty());
    assert_eq!(seen.counter, None);
}

pub(super) fn as_asked(stage: &Stage) {
    let medium = stage.open();
    let before = view(&*medium);
    let wanted = Acquire { reason: Some(text("to \"write\" \\ it")), ..stage.wanted("anna") };
    let lease = granted(medium.transact(&policy(), &Command::Acquire(wanted.clone())));
    let asked = (wanted.id, wanted.resource, wanted.holder, wanted.mode, wanted.reason, wanted.tags);
    let got = lease.clone();
    assert_eq!((got.id, got.resource, got.holder, got.mode, got.reason, got.tags), asked);
    assert_eq!(lease.term, Term::Finite { ttl: TTL, from: lease.granted });
    assert_eq!((lease.skew, lease.grace), (SKEW, GRACE));
    assert!(lease.fence >= before.next);
    let after = view(&*medium);
    assert_eq!(only(&after), lease);
    assert!(after.next > lease.fence);
    assert!(after.counter.is_some());
}

pub(super) fn held(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    stage.pass(Millis::new(10_000));
    let refusal = refused(stage.acquire(&*medium, "berta"));
    let Refusal::Held { blocker, others: 0, retry_after: Some(wait) } = refusal else {
        panic!("held by anna, not {refusal:?}")
    };
    assert_eq!(*blocker, lease);
    // Time may go by while the simulated machine works, but not much.
    let most = TTL.get() - 10_000 + SKEW.get() + GRACE.get();
    assert!((most - 1_000..=most).contains(&wait.get()), "{wait}");
    assert_eq!(only(&view(&*medium)), lease);
}

pub(super) fn again(stage: &Stage) {
    let medium = stage.open();
    let lease = stage.grant(&*medium, "anna");
    stage.pass(Millis::new(10));
    let answer = stage.acquire(&*medium, "anna").expect("what she has");
    assert_eq!(answer, Answer::AlreadyHeld(lease.clone()));
    let strict = Policy { again: Again::Refuse, ..policy() };
    let refusal = refused(medium.transact(&strict, &Command::Acquire(stage.wanted("anna"))));
    assert_eq!(refusal, Refusal::AlreadyHeld { lease: Box::new(lease.clone()) });
    assert_eq!(only(&view(&*medium)), lease);
}

pub(super) fn takeover(stage: &Stage) {
    let medium = stage.open();
    let first = stage.grant(&*medium, "anna");
    stage.pass(TTL);
    let refusal = refused(stage.acquire(&*medium, "berta"));
    assert!(matches!(refusal, Refusal::Held { retry_after: Some(_), .. }), "{refusal:?}");
    stage.pass(SKEW.plus(GRACE));
    let second = stage.grant(&*medium, "berta");
    assert!(second.fence > first.fence);
    assert_eq!(only(&view(&*medium)), second);
}

pub(super) fn of_the_dead(stage: &Stage) {
    let medium = stage.open();
    let first = stage.grant(&*medium, "anna");
    let wanted = Acquire { dead: vec![first.id], ..stage.wanted("berta") };
    let second = granted(medium.transact(&policy(), &Command::Acquire(wanted)));
    assert!(second.fence > first.fence);
    assert_eq!(only(&view(&*medium)), second);
}

pub(super) fn duplicate_id(stage: &Stage) {
    let medium = stage.open();
    let first = stage.grant(&*medium, "anna");
    stage.pass(TTL.plus(SKEW).plus(GRACE));
    let wanted = Acquire { id: first.id, ..stage.wanted("berta") };
    let refusal = refused(medium.transact(&policy(), &Command::Acquire(wanted)));
    assert_eq!(refusal, Refusal::DuplicateId { lease: first.id });
}

pub(super) fn indefinite(stage: &Stage) {
    let medium = stage.open();
    let wanted = Acquire { request: Request::Indefinite, ..stage.wanted("anna") };
    let refusal = refused(medium.transact(&policy(), &Command::Acquire(wanted.clone())));
    assert_eq!(refusal, Refusal::ReasonRequired);
    let wanted = Acquire { reason: Some(text("a long job")), ..wanted };
    let lease = granted(medium.transact(&policy(), &Command::Acquire(wanted)));
    assert_eq!(lease.term, Term::Indefinite { beat: lease.granted, stale_after: STALE });
    stage.pass(Millis::from_secs(1_000_000));
    let refusal = refused(stage.acquire(&*medium, "berta"));
    assert!(matches!(refusal, Refusal::Held { retry_after: None, .. }), "{refusal:?}");
    assert_eq!(only(&view(&*stage.open())), lease);
}

pub(super) fn independent(stage: &Stage) {
    let medium = stage.open();
    let Some(other) = stage.subject.resources.get(1) else { return refuses_others(stage) };
    let first = stage.grant(&*medium, "anna");
    let wanted = Acquire { resource: name(other).into(), ..stage.wanted("berta") };
    let second = granted(medium.transact(&policy(), &Command::Acquire(wanted)));
    assert!(second.fence > first.fence);
    assert_eq!(view(&*medium).table.len(), 2);
    medium.transact(&policy(), &releasing(&first)).expect("anna's release");
    assert_eq!(only(&view(&*medium)), second);
    medium.transact(&policy(), &evicting(&second)).expect("berta's eviction");
    assert!(view(&*medium).table.is_empty());
}

/// A medium of one resource says so and changes nothing.
fn refuses_others(stage: &Stage) {
    let medium = stage.open();
    let wanted = Acquire { resource: name("something else").into(), ..stage.wanted("anna") };
    let result = medium.transact(&policy(), &Command::Acquire(wanted));
    assert!(matches!(result, Err(Error::Unsupported { .. })), "{result:?}");
    assert!(view(&*medium).table.is_empty());
}

/// What keeps many holders of a thing keeps patterns too; others say that they do not, and change nothing.
pub(super) fn patterns(stage: &Stage) {
    let medium = stage.open();
    let ask = |who, pattern: &str| {
        let resource = Pattern::new(pattern).expect("a pattern").into();
        Command::Acquire(Acquire { resource, ..stage.wanted(who) })
    };
    let first = medium.transact(&policy(), &ask("anna", "sprint/*"));
    if !stage.subject.shared {
        assert!(matches!(first, Err(Error::Unsupported { .. })), "{first:?}");
        assert!(view(&*medium).table.is_empty());
        return;
    }
    let first = granted(first);
    let refusal = refused(medium.transact(&policy(), &ask("berta", "**/7")));
    assert!(matches!(refusal, Refusal::Held { others: 0, .. }), "{refusal:?}");
    let other = granted(medium.transact(&policy(), &ask("berta", "sprint")));
    let own = granted(medium.transact(&policy(), &ask("anna", "*/7")));
    assert_eq!(view(&*stage.open()).table.iter().count(), 3, "another handle sees them");
    medium.transact(&policy(), &releasing(&first)).expect("anna's release");
    let refusal = refused(medium.transact(&policy(), &ask("berta", "**/7")));
    assert!(matches!(refusal, Refusal::Held { others: 0, .. }), "{refusal:?}");
    for lease in [&own, &other] {
        medium.transact(&policy(), &releasing(lease)).expect("a release");
    }
    granted(medium.transact(&policy(), &ask("berta", "**/7")));
}

pub(super) fn shared(stage: &Stage) {
    let medium = stage.open();
    let ask = |who| Command::Acquire(Acquire { mode: Mode::Shared, ..stage.wanted(who) });
    if !stage.subject.shared {
        let result = medium.transact(&policy(), &ask("anna"));
        assert!(matches!(result, Err(Error::Unsupported { .. })), "{result:?}");
        assert!(view(&*medium).table.is_empty());
        return;
    }
    let first = granted(medium.transact(&policy(), &ask("anna")));
    let second = granted(medium.transact(&policy(), &ask("berta")));
    assert!(second.fence > first.fence);
    assert_eq!(view(&*stage.open()).table.len(), 2);
    let refusal = refused(stage.acquire(&*medium, "carla"));
    assert!(matches!(refusal, Refusal::Held { others: 1, .. }), "{refusal:?}");
}
