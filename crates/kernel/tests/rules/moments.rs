//! Moments, spans, and tables that were kept.

use holdfast_kernel::{
    Boot, BootId, Elapsed, Event, Inconsistent, Lease, Millis, Mode, Pattern, Stamp, Table, Tags, Term,
    TimeError, apply,
};

use crate::support::make::{boot, fence, holder, id, ms, named, wall};

const LATEST: u64 = 253_402_300_799_999;
const LAST_BOOT: u64 = (1 << 53) - 1;

#[test]
fn a_moment_has_a_date() {
    assert_eq!(Stamp::new(-1, None), Err(TimeError::Wall { ms: -1 }));
    assert_eq!(Stamp::new(i64::MIN, None), Err(TimeError::Wall { ms: i64::MIN }));
    assert_eq!(wall(LATEST).wall_ms(), LATEST);
    assert_eq!(Stamp::new(253_402_300_800_000, None), Err(TimeError::Wall { ms: 253_402_300_800_000 }));
    let late = Boot { id: BootId::new(1), ms: 1 << 53 };
    assert_eq!(Stamp::new(0, Some(late)), Err(TimeError::Boot { ms: 1 << 53 }));
    let id = BootId::new(0xb0);
    assert_eq!((id.get(), id.to_string().as_str()), (0xb0, "000000000000000000000000000000b0"));
}

#[test]
fn within_one_boot_time_is_the_boot_time_clocks() {
    let (then, now) = (boot(5_000, 1, 100), boot(1_000, 1, 130));
    assert_eq!(now.since(&then), Elapsed::Forward(ms(30)));
    assert_eq!(then.since(&now), Elapsed::Backward(ms(30)));
    assert_eq!(then.since(&then), Elapsed::Forward(Millis::ZERO));
}

#[test]
fn across_boots_time_is_the_wall_clocks() {
    let then = boot(1_000, 1, 100);
    for now in [boot(1_030, 2, 5), wall(1_030)] {
        assert_eq!(now.since(&then), Elapsed::Forward(ms(30)));
        assert_eq!(then.since(&now), Elapsed::Backward(ms(30)));
    }
}

#[test]
fn a_later_moment_is_exact_or_none() {
    assert_eq!(wall(LATEST - 5).checked_plus(ms(5)), Some(wall(LATEST)));
    assert_eq!(wall(LATEST - 5).checked_plus(ms(6)), None);
    assert_eq!(wall(LATEST - 5).plus(ms(6)), wall(LATEST));
    assert_eq!(wall(0).checked_plus(ms(u64::MAX)), None);
    assert_eq!(boot(0, 1, LAST_BOOT - 5).checked_plus(ms(5)), Some(boot(5, 1, LAST_BOOT)));
    assert_eq!(boot(0, 1, LAST_BOOT - 5).checked_plus(ms(6)), None);
    assert_eq!(boot(LATEST, 1, 0).checked_plus(ms(1)), None);
}

#[test]
fn spans_are_told_in_seconds_where_they_are_whole() {
    assert_eq!(ms(600_000).to_string(), "600 s");
    assert_eq!(ms(1_500).to_string(), "1500 ms");
    assert_eq!(ms(0).to_string(), "0 s");
    assert_eq!(Millis::from_secs(u64::MAX), ms(u64::MAX));
    assert_eq!(ms(u64::MAX).plus(ms(1)), ms(u64::MAX));
}

fn shared(number: u128, who: &str, position: u64) -> Lease {
    Lease {
        id: id(number),
        resource: named("doc"),
        holder: holder(who),
        mode: Mode::Shared,
        fence: fence(position),
        granted: wall(0),
        // Renewed since: a table that is kept holds what became of a grant.
        term: Term::Finite { ttl: ms(10), from: wall(5) },
        skew: ms(0),
        grace: ms(0),
        reason: None,
        tags: Tags::none(),
    }
}

#[test]
fn a_table_is_restored_in_any_order_or_not_at_all() {
    let (one, two) = (shared(1, "a@1", 7), shared(2, "b@1", 3));
    let table = Table::restore([one.clone(), two.clone()]).unwrap();
    assert_eq!(Table::restore([two.clone(), one.clone()]), Ok(table.clone()));
    assert_eq!(table.iter().collect::<Vec<_>>(), [&one, &two]);
    let with = |lease: Lease| Table::restore([one.clone(), lease]).unwrap_err();
    let resource = || named("doc");
    assert_eq!(with(Lease { id: id(1), ..two.clone() }), Inconsistent::Duplicate { lease: id(1) });
    assert_eq!(
        with(Lease { fence: fence(7), ..two.clone() }),
        Inconsistent::FenceNotRising { resource: resource() }
    );
    let alone = Inconsistent::TwoHolders { resource: resource(), by: id(2) };
    assert_eq!(with(Lease { mode: Mode::Exclusive, ..two.clone() }), alone);
    assert_eq!(with(Lease { holder: holder("a@1"), ..two.clone() }), alone);
    let dead = Term::Finite { ttl: ms(0), from: wall(0) };
    assert_eq!(with(Lease { term: dead, ..two }), Inconsistent::Unlawful { lease: id(2) });
}

#[test]
fn what_is_left_in_a_table_is_counted_and_found() {
    for resource in [named("doc"), Pattern::new("a/b/*").unwrap().into()] {
        let lease = |lease: Lease| Lease { resource: resource.clone(), ..lease };
        let one = lease(shared(1, "a@1", 7));
        let mut table = Table::restore([one.clone(), lease(shared(2, "b@1", 3))]).unwrap();
        let found = |table: &Table| table.on(&resource).cloned().collect::<Vec<_>>();
        assert_eq!((table.len(), table.is_empty(), found(&table).len()), (2, false, 2));
        apply(&mut table, &Event::Released { lease: id(2), at: wall(6) }).unwrap();
        assert_eq!((table.len(), table.is_empty(), found(&table)), (1, false, vec![one]));
        apply(&mut table, &Event::Released { lease: id(1), at: wall(6) }).unwrap();
        assert_eq!((table.len(), table.is_empty(), found(&table)), (0, true, vec![]));
        assert_eq!(table, Table::new(), "nothing stays behind");
    }
}
