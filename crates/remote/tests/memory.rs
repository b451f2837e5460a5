//! What a clone remembers when the power goes: one flush before each step is all that it takes, and whatever else was
//! written may be gone, old, or there in part.
#![expect(clippy::disallowed_methods, reason = "tests plant files")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use std::path::PathBuf;
use std::sync::Arc;

use holdfast_kernel::Answer;
use holdfast_remote::simulated::{Calm, SwapFault};
use holdfast_store::{Error, Medium, Trouble};
use support::scripted::{Place, Scripted, records};
use support::{granted, policy, trouble, wanted};

fn seen(place: &Place) -> PathBuf {
    place.dir("ann").join("seen.json")
}

fn intent(place: &Place) -> PathBuf {
    place.dir("ann").join("intent.json")
}

/// A clone that has claimed two things, and what it had seen before the second one.
fn claimed() -> (Place, Vec<u8>) {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &wanted("one", "ann")));
    let before = std::fs::read(seen(&place)).unwrap();
    granted(ann.transact(&policy(), &wanted("two", "ann")));
    (place, before)
}

/// Everything that may become of a file that was written and never flushed.
fn remnants(old: &[u8], new: &[u8]) -> Vec<Option<Vec<u8>>> {
    let zeros = |from: usize| {
        let mut bytes = new.to_vec();
        bytes[from..(from + 512).min(new.len())].fill(0);
        bytes
    };
    let mut all = vec![None, Some(old.to_vec()), Some(Vec::new()), Some(vec![0; new.len()])];
    all.extend((1..new.len()).step_by(97).map(|length| Some(new[..length].to_vec())));
    all.extend((0..new.len()).step_by(512).map(|from| Some(zeros(from))));
    all
}

#[test]
fn a_claim_is_found_again_whatever_the_power_left_of_what_was_seen() {
    let (place, before) = claimed();
    let after = std::fs::read(seen(&place)).unwrap();
    let kept = std::fs::read(intent(&place)).unwrap();
    for remnant in remnants(&before, &after) {
        let shown = remnant.as_ref().map(Vec::len);
        match &remnant {
            Some(bytes) => std::fs::write(seen(&place), bytes).unwrap(),
            None => std::fs::remove_file(seen(&place)).unwrap(),
        }
        std::fs::write(intent(&place), &kept).unwrap();
        let ann = place.clone("ann", Arc::new(Calm));
        let again = ann.transact(&policy(), &wanted("two", "ann")).unwrap();
        assert!(matches!(again, Answer::AlreadyHeld(_)), "{shown:?}: {again:?}");
        assert_eq!((records(&ann), ann.view().unwrap().table.len()), (2, 2), "{shown:?}");
    }
}

#[test]
fn a_register_that_was_set_back_is_noticed_without_what_was_seen() {
    let place = Place::new();
    let ann = place.clone("ann", Arc::new(Calm));
    let head = place.server().join("head.json");
    let first = std::fs::read(&head).unwrap();
    for resource in ["one", "two"] {
        granted(ann.transact(&policy(), &wanted(resource, "ann")));
    }
    std::fs::remove_file(seen(&place)).unwrap();
    // The step that was sent last is not known to be done; the one before it is.
    std::fs::write(&head, first).unwrap();
    assert_eq!(trouble(place.clone("ann", Arc::new(Calm)).view()), Trouble::Forked);
    std::fs::write(seen(&place), "nothing of the kind").unwrap();
    let ann = place.clone("ann", Arc::new(Calm));
    assert_eq!(trouble(ann.transact(&policy(), &wanted("three", "ann"))), Trouble::Forked);
}

/// What is about to be sent is written where the last but one was: each sector of it on its own may be there or not.
#[test]
fn what_was_cut_off_while_it_was_kept_is_not_taken_for_something_that_was_sent() {
    let (place, _) = claimed();
    let before = std::fs::read(intent(&place)).unwrap();
    let mute = Scripted::swaps(&[SwapFault::UnknownNot; 64]);
    let ann = place.clone("ann", mute);
    assert_eq!(trouble(ann.transact(&policy(), &wanted("three", "ann"))), Trouble::Unresolved);
    let after = std::fs::read(intent(&place)).unwrap();
    assert_eq!(before.len(), after.len(), "it is written in place");
    let changed: Vec<usize> = (0..before.len())
        .step_by(512)
        .filter(|from| before[*from..from + 512] != after[*from..from + 512])
        .collect();
    // The first one says which place was flushed, and nobody waits until a disk has it.
    assert!(changed.first() == Some(&0) && (2..7).contains(&changed.len()), "{changed:?}");
    for there in 0..1_u32 << changed.len() {
        let mut torn = before.clone();
        for (_, from) in changed.iter().enumerate().filter(|(at, _)| there & (1 << at) != 0) {
            torn[*from..from + 512].copy_from_slice(&after[*from..from + 512]);
        }
        std::fs::write(intent(&place), torn).unwrap();
        let is_whole = there | 1 == (1 << changed.len()) - 1;
        let known = place.clone("ann", Arc::new(Calm)).known(false).unwrap();
        assert_eq!(known.unresolved.is_some(), is_whole, "{there:b}");
    }
    // Neither of the two can be told any more: nobody knows what was sent.
    let mut gone = after;
    gone[4_096 + 20] ^= 1;
    gone[8_192 + 20] ^= 1;
    std::fs::write(intent(&place), gone).unwrap();
    let ann = place.clone("ann", Arc::new(Calm));
    let refused = ann.transact(&policy(), &wanted("three", "ann"));
    assert!(matches!(&refused, Err(Error::Damaged { path, .. }) if *path == intent(&place)), "{refused:?}");
}

/// A process that was killed left a place that everybody reads and no disk has. Whoever overwrote the other one would stand
/// there with neither, should the power go before its flush: what was sent would be a stranger's.
#[test]
fn what_a_killed_process_left_without_a_flush_is_not_built_on() {
    use std::os::unix::fs::MetadataExt as _;

    let (place, _) = claimed();
    let flushed = std::fs::read(intent(&place)).unwrap();
    let file = || std::fs::metadata(intent(&place)).unwrap().ino();
    let (before, kept) =
        (file(), |bytes: &[u8]| [4_096, 8_192].map(|from| bytes[from..from + 4_096].to_vec()));
    let step = |what: &str| {
        let ann = place.clone("ann", Arc::new(Calm));
        granted(ann.transact(&policy(), &wanted(what, "ann")));
        std::fs::read(intent(&place)).unwrap()
    };
    let next = step("three");
    let same = |one: &[u8], other: &[u8]| {
        let places = kept(one).into_iter().zip(kept(other));
        places.map(|(one, other)| one == other).collect::<Vec<_>>()
    };
    let mut places = same(&flushed, &next);
    assert_eq!(file(), before, "a place that was flushed is built on");
    places.sort_unstable();
    assert_eq!(places, [false, true], "one place is left as it was");
    // As if the last one had been killed after it wrote its place, and before it was flushed.
    let mut unflushed = next;
    unflushed[..4_096].copy_from_slice(&flushed[..4_096]);
    std::fs::write(intent(&place), &unflushed).unwrap();
    step("four");
    assert_ne!(file(), before, "what was flushed is not overwritten before something else is");
    assert_eq!(records(&place.clone("ann", Arc::new(Calm))), 4);
}

/// Another id has a name in the same directory, which the flush of a file does not make durable.
#[test]
fn a_clone_with_a_new_id_makes_its_directory_durable_before_it_sends() {
    use std::os::unix::fs::MetadataExt as _;

    let (place, _) = claimed();
    let file = || std::fs::metadata(intent(&place)).unwrap().ino();
    let before = file();
    let identity = place.dir("ann").join("clone.json");
    let text = std::fs::read_to_string(&identity).unwrap();
    let from = text.find("\"host\":\"").unwrap() + "\"host\":\"".len();
    std::fs::write(&identity, format!("{}elsewhere-{}", &text[..from], &text[from..])).unwrap();
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &wanted("three", "ann")));
    assert_ne!(std::fs::read_to_string(&identity).unwrap(), text, "it has another id");
    assert_ne!(file(), before);
}

#[test]
fn the_memory_of_a_version_before_is_gone_on_from() {
    let (place, _) = claimed();
    let text = String::from_utf8(std::fs::read(intent(&place)).unwrap()).unwrap();
    let from = text.rfind("\"intent\":").unwrap() + "\"intent\":".len();
    let until = text[from..].find("]}").unwrap() + from + 2;
    let kept = &text[from..until];
    assert!(kept.starts_with("{\"format\":1,\"op\":"), "{kept}");
    std::fs::write(intent(&place), format!("{kept}\n")).unwrap();
    let ann = place.clone("ann", Arc::new(Calm));
    granted(ann.transact(&policy(), &wanted("three", "ann")));
    assert_eq!(records(&ann), 3);
    let converted = std::fs::read(intent(&place)).unwrap();
    assert!(converted.starts_with(b"{\"format\":2,"), "a version before refuses it by that");
    // It is one document for whoever only wants to know its version.
    serde_json::from_slice::<serde_json::Value>(&converted).unwrap();
}
