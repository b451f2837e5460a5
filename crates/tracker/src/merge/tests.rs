//! Merges of small files, each as a person would expect it.
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Merged, merge};
use crate::issues::Issue;

fn bytes(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap();
    text.push(b'\n');
    text
}

fn merged(base: &Value, ours: &Value, theirs: &Value) -> Merged {
    merge(&bytes(base), &bytes(ours), &bytes(theirs), 7).unwrap()
}

/// The merge, which must be clean.
fn clean(base: &Value, ours: &Value, theirs: &Value) -> Value {
    let merged = merged(base, ours, theirs);
    assert_eq!(merged.conflicts, 0, "{}", String::from_utf8_lossy(&merged.text));
    serde_json::from_slice(&merged.text).unwrap()
}

fn with(base: &Value, fields: Value) -> Value {
    let mut changed = base.clone();
    for (key, value) in fields.as_object().unwrap() {
        changed[key] = value.clone();
    }
    changed
}

#[test]
fn each_side_keeps_the_fields_that_it_changed() {
    let base = json!({"title": "t", "state": "ready", "later": {"x": 1}, "updated_at": "1"});
    let ours = with(&base, json!({"title": "o", "updated_at": "2"}));
    let theirs = with(&base, json!({"state": "done", "updated_at": "3", "added": [1]}));
    let expected = json!({"title": "o", "state": "done", "later": {"x": 1}, "updated_at": "3", "added": [1]});
    assert_eq!(clean(&base, &ours, &theirs), expected);
    assert_eq!(clean(&base, &theirs, &ours), expected);
}

#[test]
fn the_higher_fence_wins_a_field_that_both_changed() {
    let base = json!({"title": "t", "state": "ready"});
    let ours = with(&base, json!({"title": "o", "fence": 5, "fence_log": "L"}));
    let theirs = with(&base, json!({"title": "x", "state": "done", "fence": 7, "fence_log": "L"}));
    let expected = json!({"title": "x", "state": "done", "fence": 7, "fence_log": "L"});
    assert_eq!(clean(&base, &ours, &theirs), expected);
    assert_eq!(clean(&base, &theirs, &ours), expected);
    let unfenced = with(&base, json!({"title": "u"}));
    assert_eq!(clean(&base, &ours, &unfenced)["title"], "o");
}

#[test]
fn fences_of_two_logs_decide_nothing() {
    let base = json!({"title": "t", "fence": 1, "fence_log": "L"});
    let ours = with(&base, json!({"title": "o", "fence": 5}));
    let theirs = with(&base, json!({"title": "x", "fence": 7, "fence_log": "M"}));
    let merged = merged(&base, &ours, &theirs);
    assert_eq!(merged.conflicts, 3, "title, fence and log");
    let text = String::from_utf8(merged.text).unwrap();
    let marked = "<<<<<<< ours\n  \"title\": \"o\"\n=======\n  \"title\": \"x\"\n>>>>>>> theirs\n";
    assert!(text.contains(marked), "{text}");
}

#[test]
fn a_side_that_wrote_under_no_lease_since_gives_way() {
    let base = json!({"title": "t", "fence": 9, "fence_log": "L"});
    let ours = with(&base, json!({"title": "by hand"}));
    let theirs = with(&base, json!({"title": "under a lease", "fence": 2, "fence_log": "M"}));
    assert_eq!(clean(&base, &ours, &theirs), theirs);
    assert_eq!(clean(&base, &theirs, &ours), theirs);
}

#[test]
fn what_one_side_took_away_is_gone() {
    let base = json!({"title": "t", "assignee": "a", "gates": ["a", "b"]});
    let ours = json!({"title": "t", "gates": ["a", "b", "c"]});
    let theirs = json!({"title": "t", "assignee": "a", "gates": ["b", "d"]});
    assert_eq!(clean(&base, &ours, &theirs), json!({"title": "t", "gates": ["b", "c", "d"]}));
}

#[test]
fn documents_and_metadata_are_merged_entry_by_entry() {
    let base = json!({"metadata": {"a": 1, "b": {"x": 1}}});
    let ours = json!({"metadata": {"a": 2, "b": {"x": 1, "o": 1}}});
    let theirs = json!({"metadata": {"a": 1, "b": {"x": 1, "t": 1}, "c": 3}});
    let expected = json!({"metadata": {"a": 2, "b": {"x": 1, "o": 1, "t": 1}, "c": 3}});
    assert_eq!(clean(&base, &ours, &theirs), expected);
}

#[test]
fn two_issues_that_were_added_with_one_id_are_merged_too() {
    let ours = json!({"id": "1", "title": "o", "fence": 2, "fence_log": "L"});
    let theirs = json!({"id": "1", "title": "x", "fence": 3, "fence_log": "L"});
    let merged = merge(b"", &bytes(&ours), &bytes(&theirs), 7).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&merged.text).unwrap(), theirs);
}

#[test]
fn what_is_no_object_is_left_to_git() {
    let good = bytes(&json!({"a": 1}));
    for bad in [&b"[]"[..], b"{\"a\":1,\"a\":2}", b"<<<<<<<", b"\xff", b""] {
        assert_eq!(merge(&good, bad, &good, 7), None, "{bad:?}");
        assert_eq!(merge(&good, &good, bad, 7), None, "{bad:?}");
    }
}

#[test]
fn a_merged_file_is_written_as_the_program_writes_it() {
    let issue = |title: &str| {
        let mut issue = Issue::new("01K8ZZZZZZ0000000000000001".into(), title.into(), "2026".into());
        issue.metadata.insert("k".into(), json!({"deep": [1, {"x": "y"}]}));
        issue.rest.insert("later".into(), json!({}));
        issue.gates.insert("review".into());
        issue
    };
    let (base, ours) = (issue("a").bytes(), issue("b").bytes());
    assert_eq!(merge(&base, &ours, &base, 7).unwrap().text, ours);
    assert_eq!(merge(&base, &base, &ours, 7).unwrap().text, ours);
}

fn object() -> impl Strategy<Value = Value> {
    let value = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!(["a"])), Just(json!({"k": 1}))];
    let key = prop_oneof![
        Just("title"),
        Just("state"),
        Just("gates"),
        Just("metadata"),
        Just("later"),
        Just("updated_at")
    ];
    (proptest::collection::btree_map(key, value, 0..5), 0u64..3).prop_map(|(fields, fence)| {
        let mut all = serde_json::Map::new();
        fields.into_iter().for_each(|(key, value)| drop(all.insert(key.to_owned(), value)));
        if fence > 0 {
            all.insert("fence".into(), fence.into());
            all.insert("fence_log".into(), "L".into());
        }
        Value::Object(all)
    })
}

proptest! {
    /// Whoever merges whom: the same fields win and the same are in conflict; and the fence never falls.
    #[test]
    fn a_merge_is_the_same_from_both_sides(base in object(), ours in object(), theirs in object()) {
        let (one, other) = (merged(&base, &ours, &theirs), merged(&base, &theirs, &ours));
        prop_assert_eq!(one.conflicts, other.conflicts);
        if one.conflicts == 0 {
            let read = |merged: &Merged| serde_json::from_slice::<Value>(&merged.text).unwrap();
            let (one, other) = (read(&one), read(&other));
            prop_assert_eq!(&one, &other);
            let fence = |value: &Value| value["fence"].as_u64().unwrap_or(0);
            prop_assert!(fence(&one) >= fence(&ours).max(fence(&theirs)));
        }
    }

    #[test]
    fn what_did_not_change_on_one_side_is_the_other_side(base in object(), theirs in object()) {
        prop_assert_eq!(clean(&base, &base, &theirs), clean(&base, &theirs, &base));
    }
}
