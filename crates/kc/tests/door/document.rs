//! Documents: listed, removed, and added again without a fence being forgotten.

use crate::bench::{Bench, LEASE, NOW};

#[test]
fn documents_are_listed_in_the_order_of_their_ids() {
    let bench = Bench::new(&["b", "a", "Z"]);
    assert_eq!(bench.run(&["doc", "list", "VAULT"]).ok()["documents"], serde_json::json!(["Z", "a", "b"]));
    let none = Bench::new(&[]);
    assert_eq!(none.run(&["doc", "list", "VAULT"]).ok()["documents"], serde_json::json!([]));
}

#[test]
fn a_document_is_removed_once_nobody_holds_it_and_it_has_no_overlays() {
    let bench = Bench::new(&["doc"]);
    let now = NOW.to_string();
    let remove = |now: i64| bench.run(&["doc", "remove", "VAULT", "doc", "--now-ms", &now.to_string()]);
    let token = bench.acquire("doc", "ann", NOW);
    let add =
        ["lineage", "overlay", "add", "VAULT", "doc", "a", "b", "cites", "seen", &token, "--now-ms", &now];
    let overlay = bench.run(&add).ok()["overlay"]["overlay_id"].as_str().unwrap().to_owned();
    let before = bench.dump();
    assert_eq!(remove(NOW).failed(), "KC_LINEAGE_LOCK_HELD");
    let full = remove(NOW + LEASE);
    assert_eq!(full.failed(), "KC_LINEAGE_OVERLAY_CONFLICT");
    assert!(full.stderr.contains("doc has 1 overlay") && full.stderr.contains("overlay remove"), "{full:?}");
    assert_eq!(bench.dump(), before);
    bench.run(&["lineage", "overlay", "remove", "VAULT", &overlay, &token, "--now-ms", &now]).ok();
    bench.run(&["lineage", "lock", "release", "VAULT", "doc", &token]).ok();
    assert_eq!(remove(NOW).ok()["removed"], true);
    assert_eq!(remove(NOW).failed(), "KC_LINEAGE_DOC_NOT_FOUND");
    assert_eq!(bench.run(&["doc", "list", "VAULT"]).ok()["documents"], serde_json::json!([]));
    let acquire = ["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now];
    assert_eq!(bench.run(&acquire).failed(), "KC_LINEAGE_DOC_NOT_FOUND");
    bench.run(&["vault", "check", "VAULT"]).ok();
    bench.run(&["doc", "add", "VAULT", "doc"]).ok();
    assert_eq!(bench.run(&acquire).ok()["lease"]["fence"], 3, "a removal forgets no fence");
    bench.run(&["vault", "check", "VAULT"]).ok();
}

#[test]
fn a_lease_that_ran_out_on_a_removed_document_opens_nothing_when_that_is_added_again() {
    let bench = Bench::new(&["doc"]);
    let later = (NOW + LEASE).to_string();
    let token = bench.acquire("doc", "ann", NOW);
    bench.run(&["doc", "remove", "VAULT", "doc", "--now-ms", &later]).ok();
    bench.run(&["vault", "check", "VAULT"]).ok();
    bench.run(&["doc", "add", "VAULT", "doc"]).ok();
    let add =
        ["lineage", "overlay", "add", "VAULT", "doc", "a", "b", "cites", "x", &token, "--now-ms", &later];
    assert_eq!(bench.run(&add).failed(), "KC_LINEAGE_LOCK_EXPIRED");
    let next = bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &later]).ok();
    assert_eq!(next["lease"]["fence"], 3, "a grant, its end, and this");
}

#[test]
fn quietly_means_the_token_or_the_id_alone() {
    let bench = Bench::new(&["doc"]);
    let now = NOW.to_string();
    let quiet = |words: &[&str]| {
        let answer = bench.run(&[words, &["-q", "--now-ms", &now]].concat());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        answer.stdout.strip_suffix('\n').unwrap().to_owned()
    };
    let token = quiet(&["lineage", "lock", "acquire", "VAULT", "doc", "ann"]);
    let id = quiet(&["lineage", "overlay", "add", "VAULT", "doc", "a", "b", "cites", "x", &token]);
    assert_eq!(
        bench.run(&["lineage", "overlay", "list", "VAULT", "doc"]).ok()["overlays"][0]["overlay_id"],
        id
    );
    bench.run(&["lineage", "lock", "release", "VAULT", "doc", &token]).ok();
}
