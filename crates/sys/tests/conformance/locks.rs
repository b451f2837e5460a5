//! `flock`: one lock a handle.

use holdfast_sys::{LockMode, Open};

use crate::Place;

const SHARED: LockMode = LockMode::Shared;
const EXCLUSIVE: LockMode = LockMode::Exclusive;

crate::on_both! {
    an_exclusive_lock_excludes
    shared_locks_go_together
    a_lock_is_converted
    a_failed_conversion_loses_the_lock
    a_lock_ends_with_its_handle
    a_lock_is_on_the_file_and_not_on_its_name
    every_handle_can_lock
    taking_a_lock_again_changes_nothing
    unlocking_without_a_lock_is_no_error
}

fn an_exclusive_lock_excludes(place: &Place) {
    let [one, two] = [0; 2].map(|_| place.open("file", Open::Write).unwrap());
    one.lock(EXCLUSIVE).unwrap();
    assert!(!two.try_lock(EXCLUSIVE).unwrap());
    assert!(!two.try_lock(SHARED).unwrap());
    one.unlock().unwrap();
    assert!(two.try_lock(EXCLUSIVE).unwrap());
    assert!(!one.try_lock(SHARED).unwrap());
}

fn shared_locks_go_together(place: &Place) {
    let [one, two, three] = [0; 3].map(|_| place.open("file", Open::Read).unwrap());
    one.lock(SHARED).unwrap();
    two.lock(SHARED).unwrap();
    assert!(!three.try_lock(EXCLUSIVE).unwrap());
    one.unlock().unwrap();
    assert!(!three.try_lock(EXCLUSIVE).unwrap());
    two.unlock().unwrap();
    assert!(three.try_lock(EXCLUSIVE).unwrap());
}

fn a_lock_is_converted(place: &Place) {
    let [one, two] = [0; 2].map(|_| place.open("file", Open::Write).unwrap());
    one.lock(SHARED).unwrap();
    assert!(one.try_lock(EXCLUSIVE).unwrap());
    assert!(!two.try_lock(SHARED).unwrap());
    one.lock(SHARED).unwrap();
    assert!(two.try_lock(SHARED).unwrap());
}

fn a_failed_conversion_loses_the_lock(place: &Place) {
    let [one, two] = [0; 2].map(|_| place.open("file", Open::Write).unwrap());
    one.lock(SHARED).unwrap();
    two.lock(SHARED).unwrap();
    assert!(!one.try_lock(EXCLUSIVE).unwrap());
    assert!(two.try_lock(EXCLUSIVE).unwrap(), "the first one has no lock any more");
}

fn a_lock_ends_with_its_handle(place: &Place) {
    let [one, two] = [0; 2].map(|_| place.open("file", Open::Write).unwrap());
    one.lock(EXCLUSIVE).unwrap();
    drop(one);
    assert!(two.try_lock(EXCLUSIVE).unwrap());
}

fn a_lock_is_on_the_file_and_not_on_its_name(place: &Place) {
    let files = &place.sys.files;
    let one = place.open("file", Open::Write).unwrap();
    one.lock(EXCLUSIVE).unwrap();
    files.link(&place.at("file"), &place.at("again")).unwrap();
    assert!(!place.open("again", Open::Write).unwrap().try_lock(EXCLUSIVE).unwrap());
    files.remove_file(&place.at("file")).unwrap();
    assert!(place.file("file", "").try_lock(EXCLUSIVE).unwrap(), "another file with the same name");
}

fn every_handle_can_lock(place: &Place) {
    for how in [Open::Read, Open::Write, Open::Append { mode: 0o600 }] {
        assert!(place.open("file", how).unwrap().try_lock(EXCLUSIVE).unwrap(), "{how:?}");
    }
    assert!(place.open("sub", Open::Read).unwrap().try_lock(EXCLUSIVE).unwrap());
}

fn taking_a_lock_again_changes_nothing(place: &Place) {
    let [one, two] = [0; 2].map(|_| place.open("file", Open::Write).unwrap());
    one.lock(EXCLUSIVE).unwrap();
    one.lock(EXCLUSIVE).unwrap();
    assert!(one.try_lock(EXCLUSIVE).unwrap());
    one.unlock().unwrap();
    assert!(two.try_lock(EXCLUSIVE).unwrap(), "it was one lock, not three");
}

fn unlocking_without_a_lock_is_no_error(place: &Place) {
    place.open("file", Open::Read).unwrap().unlock().unwrap();
}
