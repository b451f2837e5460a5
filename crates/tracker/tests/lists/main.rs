//! What is remembered of issues changes no answer: every list is the one that reading all files gives, whatever was
//! changed behind the program's back, and whatever the cache is.
#![expect(clippy::disallowed_methods, reason = "tests start git and look at files behind the program's back")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

mod place;
mod steps;
#[path = "../support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::ops::ControlFlow;

use holdfast_kernel::LeaseId;
use holdfast_sys::Sys;
use holdfast_tracker::Session;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Glance, Issues, Scope, Seen, Sets};
use place::{COUNT, Place, SETS, Where, forge, git, id, replace};
use proptest::prelude::*;
use steps::{Step, step};
use support::caller;

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("HOLDFAST_LONG").is_some() { 400 } else { 12 }, ..ProptestConfig::default() })]

    #[test]
    fn what_is_remembered_changes_no_answer(steps in proptest::collection::vec(step(), 1..24)) {
        let place = Place::new();
        place.tick();
        place.check();
        for step in &steps {
            step.go(&place);
            place.check();
            place.check();
        }
    }
}

#[test]
fn issues_are_handed_on_in_the_order_asked_for_until_there_are_enough() {
    let place = Place::new();
    fs::write(place.issue(Where::Main, 7).join("issue.json"), "{").unwrap();
    fs::remove_dir_all(place.issue(Where::Linked, 7)).unwrap();
    let session = Session::open(&caller(&Sys::os(), &place.main)).unwrap();
    let issues = Issues::new(&session);
    let handed_on = |which: Option<&[IssueId]>, most: usize| {
        let mut taken = Vec::new();
        let look = |seen: &Seen<'_>| Some(seen.id);
        let (ended, problems) = issues
            .walk(Scope::Local, which, look, |id| {
                taken.push(id);
                if taken.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(id) }
            })
            .unwrap();
        assert_eq!(
            ended,
            taken.get(most - 1).map_or(ControlFlow::Continue(()), |id| ControlFlow::Break(*id))
        );
        (taken, problems)
    };
    let all = issues.scan(Scope::Local, |seen| Some(seen.id)).unwrap();
    assert_eq!((all.found.len(), all.problems.len()), (COUNT - 1, 1));
    assert_eq!(handed_on(None, COUNT), (all.found.clone(), all.problems));
    assert_eq!(handed_on(None, 3).0, all.found[..3]);
    let turned: Vec<IssueId> = all.found.iter().rev().take(5).copied().collect();
    assert_eq!(handed_on(Some(&turned), COUNT), (turned.clone(), Vec::new()));
    assert_eq!(handed_on(Some(&turned), 2).0, turned[..2]);
}

#[test]
fn an_issue_that_did_not_change_is_not_read() {
    let place = Place::new();
    place.tick();
    place.check();
    let [main, _, linked] = place.caches();
    for (root, cache) in [(&place.main, &main), (&place.linked, &linked)] {
        forge(cache);
        let [(quick, _), (slow, _)] = place.answers(root, Sets::ALL);
        assert_eq!(quick.iter().filter(|issue| issue.contains("other")).count(), 1, "{}", root.display());
        assert!(slow.iter().all(|issue| !issue.contains("other")));
    }
    [main, linked].iter().for_each(|cache| fs::remove_file(cache).unwrap());
    place.check();
}

#[test]
fn a_directory_that_did_not_change_is_not_listed() {
    let place = Place::new();
    place.tick();
    place.check();
    let [main, _, linked] = place.caches();
    for (root, cache) in [(&place.main, &main), (&place.linked, &linked)] {
        let glance = || {
            let session = Session::open(&caller(&Sys::os(), root)).unwrap();
            let ids = Issues::new(&session).glance(Scope::Local, |_| Some(())).unwrap().ids;
            ids.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        // Behind the last of the names.
        let forged = format!("{}Z", &id(COUNT - 1)[..25]);
        let bits = |id: &str| id.parse::<LeaseId>().unwrap().get().to_le_bytes();
        replace(cache, &bits(&id(COUNT - 1)), &bits(&forged));
        assert_eq!(glance().last(), Some(&forged), "{}", root.display());
        // Something that was made in it is seen, and so is everything else.
        fs::create_dir(root.join(".jit/issues/.new")).unwrap();
        assert_eq!(glance().last(), Some(&id(COUNT - 1)), "{}", root.display());
    }
    place.check();
}

#[test]
fn what_was_changed_a_moment_ago_is_not_remembered() {
    let place = Place::new();
    place.tick();
    // Written while the clock stands still, as far as anybody can tell: every one of them might change again.
    for round in 0..20 {
        let state = if round % 2 == 0 { "gated" } else { "ready" };
        (0..COUNT).for_each(|number| place.write(Where::Main, number, state, "again"));
        place.answers(&place.main, Sets::ALL);
        (0..COUNT).for_each(|number| Step::InPlace(Where::Main, number).go(&place));
        place.check();
    }
}

#[test]
fn what_is_changed_while_others_are_read_is_not_remembered() {
    let place = Place::new();
    place.tick();
    let session = Session::open(&caller(&Sys::os(), &place.main)).unwrap();
    let look = |issue: &Glance<'_>| {
        if issue.id.to_string() == id(0) {
            place.write(Where::Main, COUNT - 1, "ready", "meanwhile");
        }
        Some(issue.title == "meanwhile")
    };
    let seen = Issues::new(&session).glance(Scope::All, look).unwrap().found;
    assert_eq!(seen.last(), Some(&true));
    let cache = fs::read(&place.caches()[0]).unwrap();
    let has = |title: &[u8]| cache.windows(title.len()).any(|part| part == title);
    assert_eq!((has(b"first"), has(b"meanwhile")), (true, false));
    place.check();
}

/// Every issue is remembered, in the state that the number of each says, and nothing was read since.
fn remembered(state: impl Fn(usize) -> &'static str) -> Place {
    let place = Place::new();
    (0..COUNT).for_each(|number| place.write(Where::Main, number, state(number), "first"));
    (0..COUNT).for_each(|number| Step::Labels(Where::Main, number).go(&place));
    place.commit(Where::Main);
    git(&place.linked, &["reset", "-q", "--hard", "main"]);
    place.tick();
    place.check();
    place
}

#[test]
fn a_link_in_the_place_of_a_directory_is_not_followed_to_what_is_remembered() {
    let place = remembered(|number| if number % 2 == 0 { "done" } else { "ready" });
    for number in [4, 5] {
        for (at, root) in [(Where::Main, &place.main), (Where::Linked, &place.linked)] {
            place.link(at, number);
            place.check();
            let [(_, problems), _] = place.answers(root, Sets::OPEN);
            assert!(problems.iter().any(|problem| problem.contains("symbolic link")), "{problems:?}");
            place.link(at, number);
            place.check();
        }
    }
}

#[test]
fn labels_that_change_in_place_are_read_again() {
    let place = remembered(|_| "ready");
    for at in [Where::Main, Where::Linked] {
        Step::LabelInPlace(at, 4).go(&place);
        place.check();
        let [(found, _), _] = place.answers(&place.linked, Sets::OPEN);
        assert!(found.iter().any(|issue| issue.contains("labels: [\"io\"")), "{at:?}");
    }
}

/// What was handed over as done and no worktree has any more has to be done again: its labels count.
#[test]
fn a_lost_issue_has_its_labels_whoever_asks() {
    let place = Place::new();
    for number in COUNT..2 * COUNT {
        place.write(Where::Shared, number, "done", "lost");
        Step::Labels(Where::Shared, number).go(&place);
    }
    place.tick();
    place.check();
    place.check();
    assert!(place.caches()[1].exists());
    let [(found, _), _] = place.answers(&place.main, Sets::OPEN);
    let lost = |issue: &&String| issue.contains("standing: Lost") && issue.contains("labels: [\"ui\"]");
    assert_eq!(found.iter().filter(lost).count(), COUNT);
    Step::LabelInPlace(Where::Shared, COUNT).go(&place);
    place.check();
}

#[test]
fn what_a_finished_issue_depends_on_is_looked_at_only_by_who_needs_it() {
    let place = remembered(|number| if number % 2 == 0 { "rejected" } else { "ready" });
    for number in [4, 5] {
        let home = place.issue(Where::Main, number);
        fs::write(home.join("labels.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
        fs::write(home.join("deps.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
    }
    place.check();
    for (sets, numbers) in [(Sets::OPEN, &[5][..]), (Sets::ALL, &[4, 5])] {
        let [(found, problems), _] = place.answers(&place.main, sets);
        assert_eq!(problems.len(), 2 * numbers.len(), "{sets:?}: {problems:?}");
        assert!(numbers.iter().all(|number| problems.iter().any(|problem| problem.contains(&id(*number)))));
        assert_eq!(found.len(), COUNT);
        // The commit has the labels that cannot be read any more.
        let labelled = found.iter().filter(|issue| issue.contains("labels: [\"ui\"]")).count();
        assert_eq!(labelled, if sets == Sets::OPEN { COUNT / 2 } else { COUNT });
    }
}

/// Who asks what to begin does not need what others wait for; who asks what is next needs no labels either.
#[test]
fn only_what_a_question_rests_on_is_looked_at() {
    let states = ["backlog", "ready", "done"];
    let place = remembered(|number| states[number % 3]);
    for number in [3, 4, 5] {
        let home = place.issue(Where::Main, number);
        fs::write(home.join("labels.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
        fs::write(home.join("deps.or-set.jsonl"), "<<<<<<< ours\n").unwrap();
    }
    place.check();
    for (sets, problems) in SETS.into_iter().zip([4, 2, 2, 1, 6]) {
        let [(_, told), _] = place.answers(&place.main, sets);
        assert_eq!(told.len(), problems, "{sets:?}: {told:?}");
    }
}

/// Gated work stands otherwise if the target does not have exactly this copy, labels included, whoever asks.
#[test]
fn how_gated_work_stands_does_not_depend_on_who_asks() {
    let place = remembered(|_| "gated");
    // A branch has them too, otherwise.
    [3, 4, 5].iter().for_each(|number| place.write(Where::Linked, *number, "gated", "branch"));
    place.commit(Where::Linked);
    Step::LabelInPlace(Where::Main, 4).go(&place);
    Step::Deps(Where::Main, 5).go(&place);
    place.check();
    let standing = |sets| {
        let [(found, _), _] = place.answers(&place.main, sets);
        let lines = found.iter().map(|issue| issue[issue.find("standing").unwrap()..].to_owned());
        lines.collect::<Vec<_>>()
    };
    let all = standing(Sets::ALL);
    assert!(all[3].contains("Open") && all[4].contains("OnBranch"), "{all:?}");
    SETS.into_iter().for_each(|sets| assert_eq!(standing(sets), all, "{sets:?}"));
}

#[test]
fn whoever_looks_makes_no_control_plane() {
    let place = Place::new();
    fs::remove_dir_all(place.main.join(".git/jit")).unwrap();
    place.tick();
    place.check();
    assert!(!place.main.join(".git/jit").exists());
    assert!(place.caches().iter().all(|path| !path.exists()));
}

#[test]
fn what_somebody_left_who_was_killed_is_removed() {
    let place = Place::new();
    let [main, ..] = place.caches();
    let lists = main.parent().unwrap();
    fs::create_dir_all(lists).unwrap();
    let (old, new) = (lists.join(".main.new-old"), lists.join(".main.new-new"));
    for path in [&old, &new] {
        fs::write(path, "half").unwrap();
    }
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
    File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    place.tick();
    place.check();
    assert_eq!((main.exists(), old.exists(), new.exists()), (true, false, true));
}

#[test]
fn nothing_is_left_beside_a_cache_that_cannot_be_put_in_its_place() {
    let place = Place::new();
    let [main, ..] = place.caches();
    // A directory of that name is in the way.
    fs::create_dir_all(main.join("in the way")).unwrap();
    place.tick();
    place.check();
    let left: Vec<_> =
        fs::read_dir(main.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["main"]);
}
