//! Any bytes as the files of a lock directory: a damaged lock blocks only itself, and can be evicted.

use crate::machine::{FOLDER, everything, name, on_a_machine, policy, stranger, wants};
use crate::pair::{pair, present};
use holdfast_kernel::{Answer, Command, Refusal, Standing, Text};
use holdfast_store::directory::{Directory, Owner, Settings};
use holdfast_store::{Codec, Error, Medium, View};
use holdfast_sys::Sys;

const LOCK: &str = "issue/main";
const OTHER: &str = "other/main";

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    let (fence, owner) = pair(input);
    if let Ok(stored) = Owner.read(owner) {
        let counter = stored.counter.expect("this format has room for it");
        assert_eq!(Owner.write(&stored.lease, counter), owner, "one lease has one form");
    }
    on_a_machine(&present([(".fence", fence), ("issue/main/owner.json", owner)]), |sys| read(&sys));
}

fn locks(sys: &Sys) -> Directory {
    Directory::new(sys.clone(), std::path::Path::new(FOLDER), Settings::default())
}

fn read(sys: &Sys) {
    let before = everything(sys);
    let looked = locks(sys).view();
    assert_eq!(everything(sys), before, "looking changes nothing");
    match looked {
        Ok(view) => goes_on(sys, &view),
        Err(error) => {
            // Without a counter nothing can be granted; a damaged owner alone never comes to this.
            assert!(
                matches!(error, Error::Damaged { .. } | Error::Newer { .. }),
                "a named error, not {error:?}"
            );
            let refused = locks(sys).transact(&policy(), &wants(OTHER)).expect_err("there is no counter");
            assert!(matches!(refused, Error::Damaged { .. } | Error::Newer { .. }), "not {refused:?}");
            assert!(everything(sys).iter().all(|file| before.contains(file) || file.0.ends_with(".guard")));
        }
    }
}

fn goes_on(sys: &Sys, before: &View) {
    let there = before.table.on(&name(LOCK).into()).next();
    assert!(there.is_none_or(|lease| lease.fence < before.next), "no lease has a number that is to come");
    if exhausted(locks(sys).transact(&policy(), &wants(OTHER)), "a lock that nobody has") {
        return;
    }
    let Some(lease) = there else { return };
    match locks(sys).transact(&policy(), &wants(LOCK)) {
        Ok(Answer::Granted(grant)) => {
            let standing = lease.standing(&grant.granted);
            assert!(matches!(standing, Standing::Open { .. }), "nobody loses what is in force");
        }
        Err(Error::Damaged { .. } | Error::Newer { .. }) => evict(sys, lease.id),
        Err(Error::Refused(Refusal::Held { .. } | Refusal::ClockSkew { .. })) => evict(sys, lease.id),
        Err(Error::Refused(Refusal::FencesExhausted)) => {}
        other => panic!("neither granted nor held: {other:?}"),
    }
}

/// Whatever is in the way can be taken out of it by force.
fn evict(sys: &Sys, lease: holdfast_kernel::LeaseId) {
    let reason = Text::new("it is in the way").expect("a reason");
    let evicted = locks(sys).transact(&policy(), &Command::Evict { lease, by: stranger(), reason });
    if exhausted(evicted, "an eviction") {
        return;
    }
    let view = locks(sys).view().expect("the rest can be read");
    assert_eq!(view.table.on(&name(LOCK).into()).count(), 0, "what was evicted is gone");
    assert_eq!(view.table.on(&name(OTHER).into()).count(), 1, "and nothing else is");
}

/// Whether the counter is used up; anything else but success is a finding.
fn exhausted(answer: Result<Answer, Error>, what: &str) -> bool {
    match answer {
        Ok(_) => false,
        Err(Error::Refused(Refusal::FencesExhausted)) => true,
        Err(error) => panic!("{what}: {error:?}"),
    }
}
