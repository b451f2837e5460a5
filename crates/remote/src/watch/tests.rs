//! Wall clocks that are wrong, renewals, reboots, and reads that take long: what counts as watched.

use holdfast_kernel::{
    Boot, BootId, Fence, Holder, Lease, LeaseId, Millis, Mode, Name, Stamp, Standing, Tags, Term,
};
use holdfast_store::CounterId;

use super::{Trust, judged, noted, progress};
use crate::head::{CloneId, Entry, Head};

const ME: CloneId = CloneId(1);
const OTHER: CloneId = CloneId(2);
const TTL: u64 = 600_000;
const SKEW: u64 = 30_000;
const GRACE: u64 = 30_000;

fn at(wall_ms: u64, boot_ms: u64) -> Stamp {
    let boot = Boot { id: BootId::new(9), ms: boot_ms };
    Stamp::new(i64::try_from(wall_ms).unwrap(), Some(boot)).unwrap()
}

/// A head with one lease of another clone, stamped when its wall clock showed `wall_ms`; its boot has the id of ours,
/// as in a container, and a clock that has nothing to do with ours.
fn head(wall_ms: u64) -> Head {
    let name = |text| Name::new(text).unwrap();
    let stamp = at(wall_ms, 77);
    let lease = Lease {
        id: LeaseId::new(5),
        resource: name("one").into(),
        holder: Holder { agent: name("bob"), place: name("there") },
        mode: Mode::Exclusive,
        fence: Fence::FIRST,
        granted: stamp,
        term: Term::Finite { ttl: Millis::new(TTL), from: stamp },
        skew: Millis::new(SKEW),
        grace: Millis::new(GRACE),
        reason: None,
        tags: Tags::none(),
    };
    let mut head = Head::first(CounterId::new(LeaseId::new(7)), Fence::new(2).unwrap());
    head.entries.insert(lease.id, Entry { stamped_by: OTHER, lease });
    head
}

fn standing(head: &Head, watched: &[crate::local::Watched], now: &Stamp, trust: Trust) -> Standing {
    let table = judged(head, ME, watched, now, trust).unwrap();
    let lease = table.get(LeaseId::new(5)).unwrap();
    assert!(lease.ahead_of(now).is_none());
    lease.standing(now)
}

const START: u64 = 1_700_000_000_000;

#[test]
fn a_wall_clock_that_is_ahead_takes_nothing_from_anybody() {
    let head = head(START);
    // An hour ahead: by the wall clock it is long over.
    let now = at(START + 3_600_000, 1_000);
    assert!(matches!(standing(&head, &[], &now, Trust::Clocks), Standing::Open { .. }));
    assert!(matches!(standing(&head, &[], &now, Trust::Watch), Standing::Live { .. }));
    let watched = noted(&head, ME, &[], &now).unwrap();
    let later = |ms| at(START + 3_600_000 + ms, 1_000 + ms);
    let over = TTL + SKEW + GRACE;
    assert!(!matches!(standing(&head, &watched, &later(over - 1), Trust::Watch), Standing::Open { .. }));
    assert!(matches!(standing(&head, &watched, &later(over), Trust::Watch), Standing::Open { .. }));
    let lease = &head.entries[&LeaseId::new(5)].lease;
    assert_eq!(progress(lease, &watched, &later(3_000)), Some((Millis::new(3_000), Millis::new(over))));
}

#[test]
fn a_wall_clock_that_is_behind_makes_watching_not_enough() {
    let head = head(START);
    let now = at(START - 20_000, 1_000);
    let watched = noted(&head, ME, &[], &now).unwrap();
    let over = TTL + SKEW + GRACE;
    let later = at(START - 20_000 + over, 1_000 + over);
    assert!(matches!(standing(&head, &watched, &later, Trust::Watch), Standing::Lapsed { .. }));
}

#[test]
fn a_renewal_or_another_boot_begins_the_watch_anew() {
    let before = head(START);
    let first = at(START, 1_000);
    let watched = noted(&before, ME, &[], &first).unwrap();
    assert_eq!(noted(&before, ME, &watched, &at(START + 5, 1_005)), None, "nothing is new");
    let renewed = head(START + 300_000);
    let second = at(START + 300_000, 301_000);
    let again = noted(&renewed, ME, &watched, &second).unwrap();
    assert_ne!(watched, again);
    let over = TTL + SKEW + GRACE;
    let soon = at(START + over, 1_000 + over);
    assert!(!matches!(standing(&renewed, &again, &soon, Trust::Watch), Standing::Open { .. }));
    let rebooted = Boot { id: BootId::new(10), ms: 5 };
    let now = Stamp::new(i64::try_from(START + 9_999_999).unwrap(), Some(rebooted)).unwrap();
    assert!(!matches!(standing(&renewed, &again, &now, Trust::Watch), Standing::Open { .. }));
    assert!(noted(&renewed, ME, &again, &now).is_some());
}

#[test]
fn the_watch_begins_when_the_read_ends() {
    // A read that took eleven minutes shows what was true at its end, not at its start: a lease that was renewed
    // meanwhile has been watched for no time at all.
    let head = head(START);
    let ended = at(START + 660_000, 661_000);
    let watched = noted(&head, ME, &[], &ended).unwrap();
    let lease = &head.entries[&LeaseId::new(5)].lease;
    assert_eq!(progress(lease, &watched, &ended).map(|(passed, _)| passed), Some(Millis::ZERO));
}

#[test]
fn leases_of_this_clone_are_judged_by_its_own_clock_alone() {
    let mut head = head(START);
    let id = LeaseId::new(5);
    head.entries.get_mut(&id).unwrap().stamped_by = ME;
    let now = at(START + 9_000_000, 77 + TTL + SKEW + GRACE);
    assert_eq!(noted(&head, ME, &[], &now), None);
    let table = judged(&head, ME, &[], &now, Trust::Watch).unwrap();
    assert_eq!(table.get(id), Some(&head.entries[&id].lease));
    assert!(matches!(table.get(id).unwrap().standing(&now), Standing::Open { .. }));
}
