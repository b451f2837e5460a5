//! Merges of small files, each as a person would expect it.

use std::collections::BTreeSet;

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

fn described(base: &Value, text: &str, fence: u64) -> Value {
    with(base, json!({"description": text, "fence": fence, "fence_log": "L"}))
}

#[test]
fn lines_that_only_one_side_changed_are_merged_whatever_the_fences_say() {
    let base = json!({"title": "t", "description": "one\ntwo\nthree\nfour\nfive"});
    let ours = described(&base, "ONE\ntwo\nthree\nfour\nfive", 9);
    let theirs = described(&base, "one\ntwo\nthree\nfour\nFIVE\nsix", 4);
    for merged in [clean(&base, &ours, &theirs), clean(&base, &theirs, &ours)] {
        assert_eq!(merged["description"], "ONE\ntwo\nthree\nfour\nFIVE\nsix");
        assert_eq!((merged.get("conflict"), &merged["fence"]), (None, &json!(9)));
    }
}

#[test]
fn lines_that_both_changed_are_kept_twice_and_said_to_be() {
    let base = json!({"title": "t", "description": "one\ntwo\nthree"});
    let (ours, theirs) = (described(&base, "one\n2\nthree", 2), described(&base, "one\nzwei\nthree", 3));
    let merged = clean(&base, &ours, &theirs);
    assert_eq!(merged, clean(&base, &theirs, &ours), "it is the same from both sides");
    let text = merged["description"].as_str().unwrap();
    let marked = "one\n<<<<<<< one version\n2\n=======\nzwei\n>>>>>>> the other version\nthree";
    assert_eq!((text, &merged["conflict"]), (marked, &json!("description")));
    assert!(super::is_marked(text));
    // What is merged with it later has marks of its own.
    let resolved = with(&merged, json!({"description": text.replace("zwei", "dos")}));
    let other = with(&merged, json!({"description": text.replace("zwei", "deux")}));
    let again = clean(&merged, &resolved, &other);
    let text = again["description"].as_str().unwrap();
    assert!(text.contains("<<<<<<<< one version") && text.contains("dos") && text.contains("deux"), "{text}");
    assert_eq!(again["conflict"], "description");
}

#[test]
fn a_description_that_one_side_took_away_is_kept_as_far_as_the_other_changed_it() {
    let base = json!({"title": "t", "description": "one\ntwo"});
    let (gone, ours) = (json!({"title": "t"}), with(&base, json!({"description": "one\ntwo\nthree"})));
    let merged = clean(&base, &gone, &ours);
    assert!(merged["description"].as_str().unwrap().contains("three"), "{merged}");
    assert_eq!(clean(&base, &gone, &base).get("description"), None);
    let (one, other) = (json!({"title": "t", "description": "a"}), json!({"title": "t", "description": "b"}));
    let added = clean(&json!({"title": "t"}), &one, &other);
    assert_eq!(added["conflict"], "description");
}

/// What somebody does in a history with one branch that all come back to.
#[derive(Clone, Debug)]
enum Step {
    /// A branch types a line of its own at a place.
    Type(usize, usize),
    /// A branch deletes a line.
    Delete(usize, usize),
    /// A branch is merged into the common one.
    Land(usize),
    /// The common branch is merged into another one.
    Follow(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_usize, 0..12_usize).prop_map(|(branch, at)| Step::Type(branch, at)),
        2 => (0..3_usize, 0..12_usize).prop_map(|(branch, at)| Step::Delete(branch, at)),
        2 => (0..3_usize).prop_map(Step::Land),
        1 => (0..3_usize).prop_map(Step::Follow),
    ]
}

fn joined(base: &str, one: &str, other: &str) -> String {
    let issue = |text: &str| json!({"title": "t", "description": text});
    let merged = clean(&issue(base), &issue(one), &issue(other));
    merged["description"].as_str().unwrap_or_default().to_owned()
}

proptest! {
    /// Every line that was typed and that nobody deleted is there in the end, whatever was merged with what and when.
    #[test]
    fn no_line_that_somebody_typed_is_lost(steps in proptest::collection::vec(step(), 1..40)) {
        let begin = "a\nb\nc\nd".to_owned();
        let mut main = begin.clone();
        // What each branch is, and what it and the common one had last in common.
        let mut branches = vec![(begin.clone(), begin); 3];
        let (mut typed, mut deleted) = (Vec::<String>::new(), BTreeSet::new());
        let all: Vec<Step> = steps.into_iter().chain((0..3).map(Step::Land)).collect();
        for step in all {
            match step {
                Step::Type(branch, at) => {
                    let mut lines: Vec<String> = branches[branch].0.lines().map(ToOwned::to_owned).collect();
                    let line = format!("line {} of {branch}", typed.len());
                    lines.insert(at.min(lines.len()), line.clone());
                    typed.push(line);
                    branches[branch].0 = lines.join("\n");
                }
                Step::Delete(branch, at) => {
                    let mut lines: Vec<String> = branches[branch].0.lines().map(ToOwned::to_owned).collect();
                    if at < lines.len() {
                        deleted.insert(lines.remove(at));
                        branches[branch].0 = lines.join("\n");
                    }
                }
                Step::Land(branch) => {
                    let (own, common) = branches[branch].clone();
                    main = joined(&common, &main, &own);
                    branches[branch] = (main.clone(), main.clone());
                }
                Step::Follow(branch) => {
                    let (own, common) = branches[branch].clone();
                    branches[branch] = (joined(&common, &own, &main), main.clone());
                }
            }
        }
        let there: BTreeSet<&str> = main.lines().collect();
        for line in typed.iter().filter(|line| !deleted.contains(*line)) {
            prop_assert!(there.contains(line.as_str()), "{line} is gone: {main}");
        }
    }
}

/// What somebody does in a history in which any branch merges any other.
#[derive(Clone, Debug)]
enum Turn {
    /// A branch types a line of its own at a place.
    Type(usize, usize),
    /// A branch deletes a line.
    Delete(usize, usize),
    /// A branch merges another one.
    Merge(usize, usize),
}

const BRANCHES: usize = 4;

fn turn() -> impl Strategy<Value = Turn> {
    let branch = || 0..BRANCHES;
    prop_oneof![
        4 => (branch(), 0..12_usize).prop_map(|(branch, at)| Turn::Type(branch, at)),
        1 => (branch(), 0..12_usize).prop_map(|(branch, at)| Turn::Delete(branch, at)),
        3 => (branch(), branch()).prop_map(|(into, from)| Turn::Merge(into, from)),
    ]
}

/// Texts, each with what it was made of.
struct Commits(Vec<(String, Vec<usize>)>);

impl Commits {
    fn add(&mut self, text: String, parents: Vec<usize>) -> usize {
        self.0.push((text, parents));
        self.0.len() - 1
    }

    fn text(&self, at: usize) -> &str {
        &self.0[at].0
    }

    /// A commit and everything before it.
    fn before(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([at]);
        let mut left = vec![at];
        while let Some(next) = left.pop() {
            left.extend(self.0[next].1.iter().filter(|parent| found.insert(**parent)));
        }
        found
    }

    /// What two commits are merged on. Where there are several last common ones, they are merged first, as git does.
    fn base(&self, one: usize, other: usize) -> String {
        let common: BTreeSet<usize> = self.before(one).intersection(&self.before(other)).copied().collect();
        let is_last =
            |at: &&usize| !common.iter().any(|later| later != *at && self.before(*later).contains(*at));
        let mut last = common.iter().filter(is_last);
        let first = *last.next().unwrap();
        last.fold((first, self.text(first).to_owned()), |(before, text), next| {
            (*next, joined(&self.base(before, *next), &text, self.text(*next)))
        })
        .1
    }

    /// Merges one commit into another.
    fn merge(&mut self, into: usize, from: usize) -> usize {
        if self.before(into).contains(&from) {
            return into;
        }
        if self.before(from).contains(&into) {
            return from;
        }
        let text = joined(&self.base(into, from), self.text(into), self.text(from));
        self.add(text, vec![into, from])
    }
}

proptest! {
    /// As above, where any branch merges any other, also crosswise, and all of them come together in any order.
    #[test]
    fn no_line_is_lost_in_any_order_of_merges(
        turns in proptest::collection::vec(turn(), 1..30),
        order in Just((0..BRANCHES).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut commits = Commits(vec![("a\nb\nc\nd".to_owned(), Vec::new())]);
        let mut tips = [0; BRANCHES];
        let (mut typed, mut deleted) = (Vec::<String>::new(), BTreeSet::new());
        for turn in turns {
            let (branch, lines) = match turn {
                Turn::Type(branch, at) => {
                    let line = format!("line {} of {branch}", typed.len());
                    let mut lines: Vec<String> =
                        commits.text(tips[branch]).lines().map(ToOwned::to_owned).collect();
                    lines.insert(at.min(lines.len()), line.clone());
                    typed.push(line);
                    (branch, lines)
                }
                Turn::Delete(branch, at) => {
                    let mut lines: Vec<String> =
                        commits.text(tips[branch]).lines().map(ToOwned::to_owned).collect();
                    if at >= lines.len() {
                        continue;
                    }
                    deleted.insert(lines.remove(at));
                    (branch, lines)
                }
                Turn::Merge(into, from) => {
                    tips[into] = commits.merge(tips[into], tips[from]);
                    continue;
                }
            };
            tips[branch] = commits.add(lines.join("\n"), vec![tips[branch]]);
        }
        let last = order.into_iter().map(|branch| tips[branch]).reduce(|into, from| commits.merge(into, from));
        let text = commits.text(last.unwrap());
        let there: BTreeSet<&str> = text.lines().collect();
        for line in typed.iter().filter(|line| !deleted.contains(*line)) {
            prop_assert!(there.contains(line.as_str()), "{line} is gone: {text}");
        }
    }
}
