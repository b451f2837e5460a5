//! Rows that somebody has taken away or set back so that a document looks free: found by whoever asks for the document,
//! not only by the check.

use holdfast_kc::overlay::Edge;
use holdfast_kc::{lineage_lock_release, lineage_overlay_add};

use crate::bench::{Answer, Bench, NOW};

/// A document that was held, worked on and given back: two records, and an overlay with the fence of the first.
fn given_back() -> Bench {
    let bench = Bench::new(&["doc", "other"]);
    let token = bench.acquire("doc", "ann", NOW);
    let edge = Edge { from_node_id: "a", to_node_id: "b", relation: "cites", evidence: "seen" };
    lineage_overlay_add(&mut bench.open(), "doc", &edge, &token, NOW, "ann").unwrap();
    lineage_lock_release(&mut bench.open(), "doc", &token).unwrap();
    bench
}

/// The same, held again: the third record.
fn held_again() -> (Bench, String) {
    let bench = given_back();
    let token = bench.acquire("doc", "ann", NOW);
    (bench, token)
}

/// A row without its lease, as one is that was given back.
const BARE: &str = "UPDATE lineage_edit_locks SET owner = NULL, token = NULL, acquired_at_ms = NULL,
    expires_at_ms = NULL, lease_id = NULL, record = NULL WHERE doc_id = 'doc'";

/// Acquisition, status and every change are refused, and nothing is changed by that.
fn found(bench: &Bench, token: &str, what: &str) {
    let (before, now) = (bench.dump(), NOW.to_string());
    let damaged = |answer: Answer| {
        assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED", "{what}");
        assert!(answer.stderr.contains("is damaged"), "{what}: {answer:?}");
    };
    damaged(bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now]));
    damaged(bench.run(&["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &now]));
    damaged(bench.run(&["lineage", "lock", "status", "VAULT", "--now-ms", &now]));
    damaged(bench.run(&["lineage", "lock", "release", "VAULT", "doc", token]));
    let add = ["lineage", "overlay", "add", "VAULT", "doc", "c", "d", "cites", "late", token];
    damaged(bench.run(&[&add[..], &["--now-ms", &now]].concat()));
    assert_eq!(bench.run(&["vault", "check", "VAULT"]).failed(), "KC_LINEAGE_QUERY_FAILED", "{what}");
    assert_eq!(bench.dump(), before, "{what}");
}

#[test]
fn a_lease_that_was_made_to_vanish_is_granted_to_nobody_else() {
    for statements in [
        "DELETE FROM lineage_edit_locks",
        "DELETE FROM lineage_edit_locks WHERE doc_id = 'doc'",
        BARE,
        &format!("{BARE}; UPDATE lineage_edit_locks SET fence = 0 WHERE doc_id = 'doc'"),
        &format!("{BARE}; UPDATE lineage_edit_locks SET fence = 1 WHERE doc_id = 'doc'"),
        &format!("{BARE}; UPDATE lineage_edit_locks SET fence = 0, last = 0 WHERE doc_id = 'doc'"),
        &format!("{BARE}; UPDATE lineage_edit_locks SET last = 2 WHERE doc_id = 'doc'"),
        &format!("{BARE}; UPDATE lineage_edit_locks SET last = 1 WHERE doc_id = 'doc'"),
        "DELETE FROM lineage_lock_events WHERE sequence = 3",
        "DELETE FROM lineage_lock_events WHERE doc_id = 'doc'",
        "UPDATE lineage_lock_events SET doc_id = 'other' WHERE sequence = 3",
        "UPDATE lineage_lock_events SET event = 'released' WHERE sequence = 3",
        "UPDATE lineage_edit_locks SET last = 2 WHERE doc_id = 'doc'",
    ] {
        let (bench, token) = held_again();
        bench.tamper(statements);
        found(&bench, &token, statements);
    }
}

#[test]
fn records_that_vanished_do_not_set_the_counter_back() {
    let bench = given_back();
    bench.tamper("DELETE FROM lineage_lock_events");
    let now = NOW.to_string();
    let refused = bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now]);
    assert!(refused.stderr.contains("fence 1 was granted, and record 0 is the last one"), "{refused:?}");
    found(&bench, "blake3:00", "no record is left");
}

#[test]
fn the_record_of_a_release_that_was_made_to_vanish_is_missed() {
    for statements in [
        "DELETE FROM lineage_lock_events WHERE sequence = 2",
        "UPDATE lineage_lock_events SET event = 'granted' WHERE sequence = 2",
        "UPDATE lineage_lock_events SET doc_id = 'other' WHERE sequence = 2",
        "DELETE FROM lineage_edit_locks",
        "UPDATE lineage_edit_locks SET fence = 0 WHERE doc_id = 'doc'",
        "UPDATE lineage_edit_locks SET fence = 2 WHERE doc_id = 'doc'",
    ] {
        let bench = given_back();
        bench.tamper(statements);
        found(&bench, "blake3:00", statements);
    }
}

/// Two rows that were set back together, or to what they were before: only the whole history shows it.
#[test]
fn a_check_finds_a_fence_that_was_forgotten() {
    for statements in [
        "DELETE FROM lineage_edit_locks",
        "UPDATE lineage_edit_locks SET fence = 0",
        "UPDATE lineage_edit_locks SET fence = 2",
        "UPDATE lineage_edit_locks SET fence = 1, last = 2 WHERE doc_id = 'other'",
        "INSERT INTO lineage_edit_locks (doc_id, fence, last) VALUES ('third', 1, 2)",
        "DELETE FROM lineage_edit_locks WHERE doc_id = 'other'",
        "UPDATE lineage_overlays SET doc_id = 'other'",
        "UPDATE lineage_overlays SET fence = 2",
    ] {
        let bench = given_back();
        bench.run(&["vault", "check", "VAULT"]).ok();
        bench.tamper(statements);
        assert_eq!(
            bench.run(&["vault", "check", "VAULT"]).failed(),
            "KC_LINEAGE_QUERY_FAILED",
            "{statements}"
        );
    }
}

#[test]
fn a_check_finds_a_row_that_was_set_back_to_what_it_was() {
    let (bench, _) = held_again();
    bench.tamper(&format!("{BARE}; UPDATE lineage_edit_locks SET fence = 1, last = 2 WHERE doc_id = 'doc'"));
    assert_eq!(bench.run(&["vault", "check", "VAULT"]).failed(), "KC_LINEAGE_QUERY_FAILED");
}

#[test]
fn a_document_beside_a_damaged_one_works_on() {
    let (bench, _) = held_again();
    bench.tamper("DELETE FROM lineage_edit_locks WHERE doc_id = 'doc'");
    let now = NOW.to_string();
    let lease = bench.run(&["lineage", "lock", "acquire", "VAULT", "other", "bob", "--now-ms", &now]).ok();
    assert_eq!(lease["lease"]["fence"], 4, "no fence is granted again");
}
