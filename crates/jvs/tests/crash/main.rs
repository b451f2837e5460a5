//! Crashes at every call: whatever publishes, restores or changes is cut off by a kill, a power loss, a disk
//! that fails or is full, at every single call that it makes. Afterwards nothing partial is visible, nothing
//! that was published is lost, the doctor names what is left, clears it, and has nothing to do the second time.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on shall stop")]
#![expect(clippy::disallowed_macros, reason = "a long test says how far it went")]

mod race;
mod scenes;
mod stage;
mod strike;
mod trial;

use holdfast_sys::sim::Choice;
use scenes::SCENES;
use strike::PLANS;
use trial::Trial;

/// Cuts a scene off at every call in every way; says how often it was cut off.
fn every_cut(name: &str) -> usize {
    let scene = SCENES.iter().find(|scene| scene.name == name).unwrap();
    let mut cuts = 0;
    for plan in PLANS {
        cuts += (0..).take_while(|nth| Trial::new(scene, *plan, *nth).run()).count();
    }
    println!("{name}: {cuts} cuts");
    cuts
}

#[test]
fn a_snapshot_survives_every_cut() {
    assert!(every_cut("a snapshot") > 500);
}

#[test]
fn a_steal_survives_every_cut() {
    assert!(every_cut("a steal") > 200);
}

#[test]
fn whoever_failed_to_take_a_lock_can_try_again() {
    let scene = SCENES.iter().find(|scene| scene.name == "a steal").unwrap();
    let mut cuts = 0;
    for plan in PLANS.iter().filter(|plan| plan.what != Choice::PowerLoss) {
        cuts += (0..).take_while(|nth| Trial::new(scene, *plan, *nth).retried()).count();
    }
    assert!(cuts > 100, "{cuts}");
}

#[test]
fn a_restore_in_place_survives_every_cut() {
    assert!(every_cut("a restore in place") > 500);
}

#[test]
fn a_worktree_from_a_snapshot_survives_every_cut() {
    assert!(every_cut("a worktree from a snapshot") > 500);
}

#[test]
fn a_rename_survives_every_cut() {
    assert!(every_cut("a rename") > 200);
}

#[test]
fn a_removal_survives_every_cut() {
    assert!(every_cut("a removal") > 200);
}

#[test]
fn a_collection_survives_every_cut() {
    assert!(every_cut("a collection") > 200);
}

#[test]
fn a_repair_survives_every_cut() {
    assert!(every_cut("a repair") > 200);
}
