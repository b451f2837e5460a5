//! Many processes at one moment: one of them wins.

use std::process::Child;

use crate::bench::{Answer, Bench, LEASE, NOW, more};

fn all_at_once(bench: &Bench, doc: &str, count: usize, now: i64) -> Vec<Answer> {
    let now = now.to_string();
    let start = |n: usize| {
        bench.spawn(&["lineage", "lock", "acquire", "VAULT", doc, &format!("owner-{n}"), "--now-ms", &now])
    };
    let children: Vec<Child> = (0..count).map(start).collect();
    children.into_iter().map(|child| Answer::from(child.wait_with_output().unwrap())).collect()
}

/// The one that won; all others were told who did.
fn winner(answers: &[Answer]) -> serde_json::Value {
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.code == Some(0));
    assert_eq!(won.len(), 1, "{answers:?}");
    let lease = won[0].ok()["lease"].clone();
    let owner = lease["owner"].as_str().unwrap();
    for answer in lost {
        assert_eq!(answer.failed(), "KC_LINEAGE_LOCK_HELD");
        assert!(answer.stderr.contains(&format!("held by {owner} until")), "{answer:?}");
        assert!(!answer.stderr.contains("blake3:"), "{answer:?}");
    }
    lease
}

#[test]
fn two_processes_at_one_moment_have_one_winner() {
    let docs: Vec<String> = (0..12).map(|n| format!("doc-{n}")).collect();
    let bench = Bench::new(&docs.iter().map(String::as_str).collect::<Vec<_>>());
    for doc in &docs {
        winner(&all_at_once(&bench, doc, 2, NOW));
    }
}

#[test]
fn thirty_two_processes_at_one_moment_have_one_winner_and_so_has_the_takeover() {
    let bench = Bench::new(&["doc"]);
    let (mut last, takeovers) =
        (winner(&all_at_once(&bench, "doc", 32, NOW)), more("HOLDFAST_KC_TAKEOVERS", 1));
    for round in 1..=takeovers {
        let next = winner(&all_at_once(&bench, "doc", 32, NOW + round * LEASE));
        assert!(next["fence"].as_u64() > last["fence"].as_u64());
        assert_ne!(next["token"], last["token"]);
        last = next;
    }
    let lock = bench.run(&["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &NOW.to_string()]).ok();
    assert_eq!((&lock["lock"]["owner"], &lock["lock"]["fence"]), (&last["owner"], &last["fence"]));
    let checked = bench.run(&["vault", "check", "VAULT"]).ok();
    println!("{takeovers} takeovers, each by one of 32 processes; {}", checked["checked"]);
}

#[test]
fn many_processes_that_make_one_vault_make_one() {
    let bench = Bench::empty();
    let children: Vec<Child> = (0..8).map(|_| bench.spawn(&["vault", "init", "VAULT"])).collect();
    let answers = children.into_iter().map(|child| Answer::from(child.wait_with_output().unwrap()));
    let made = answers.filter(|answer| answer.ok()["created"] == true).count();
    assert_eq!(made, 1);
    let beside = std::fs::read_dir(bench.vault().parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "those who lost left something behind");
}

#[test]
fn a_vault_that_others_keep_busy_says_so_and_looking_need_not_wait() {
    let bench = Bench::new(&["doc"]);
    let (mut busy, mut other) = (bench.open(), bench.open());
    let _section = busy.write().unwrap();
    other.connection().busy_timeout(std::time::Duration::ZERO).unwrap();
    let error = holdfast_kc::lineage_lock_acquire(&mut other, "doc", "ann", NOW).unwrap_err();
    let error = holdfast_kc::error::AppError::from(&error);
    assert_eq!((error.code, error.category, error.retryable), ("KC_LINEAGE_QUERY_FAILED", "storage", true));
    assert!(error.message.contains("others kept it busy for too long: try again"), "{error:?}");
    assert!(!holdfast_kc::lineage_lock_status(&mut other, "doc", NOW).unwrap().held);
}
