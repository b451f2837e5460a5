//! The guard: the exclusive section that every medium stands on.

use holdfast_sys::{Guard, Kind, LockMode, Open};

use crate::Place;

crate::on_both! {
    a_section_excludes_until_it_is_dropped
    readers_share_a_section
    a_guard_is_created_once
    a_guard_that_was_removed_is_entered_anew
    a_guard_that_was_replaced_is_entered_anew
}

fn guard(place: &Place) -> Guard {
    Guard::open(&place.sys, &place.at("guard"), 0o600).unwrap()
}

/// Whether somebody is in the section.
fn is_busy(place: &Place) -> bool {
    !place.open("guard", Open::Read).unwrap().try_lock(LockMode::Exclusive).unwrap()
}

fn a_section_excludes_until_it_is_dropped(place: &Place) {
    let mut guard = guard(place);
    for _ in 0..2 {
        let section = guard.enter(&place.sys, LockMode::Exclusive).unwrap();
        assert!(is_busy(place));
        drop(section);
        assert!(!is_busy(place));
    }
}

fn readers_share_a_section(place: &Place) {
    let (mut one, mut two) = (guard(place), guard(place));
    let first = one.enter(&place.sys, LockMode::Shared).unwrap();
    let second = two.enter(&place.sys, LockMode::Shared).unwrap();
    drop(first);
    assert!(is_busy(place));
    drop(second);
    assert!(!is_busy(place));
}

fn a_guard_is_created_once(place: &Place) {
    let _one = guard(place);
    let made = place.sys.files.stat(&place.at("guard")).unwrap();
    let _two = guard(place);
    assert_eq!(made.kind, Kind::File);
    assert_eq!(made.mode, 0o600);
    assert_eq!(place.sys.files.stat(&place.at("guard")).unwrap().identity, made.identity);
}

fn a_guard_that_was_removed_is_entered_anew(place: &Place) {
    let mut guard = guard(place);
    drop(guard.enter(&place.sys, LockMode::Exclusive).unwrap());
    place.sys.files.remove_file(&place.at("guard")).unwrap();
    let _section = guard.enter(&place.sys, LockMode::Exclusive).unwrap();
    assert!(is_busy(place), "the section is on the file that others open");
}

fn a_guard_that_was_replaced_is_entered_anew(place: &Place) {
    let mut guard = guard(place);
    drop(place.file("other", ""));
    place.sys.files.rename(&place.at("other"), &place.at("guard")).unwrap();
    let _section = guard.enter(&place.sys, LockMode::Exclusive).unwrap();
    assert!(is_busy(place), "the section is on the file that others open");
}
