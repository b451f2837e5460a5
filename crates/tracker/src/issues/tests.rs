//! Which copy counts: every combination of layers, fences and ages; and what is done with copies that cannot
//! be read.

use std::cmp::Reverse;

use super::layer::Layer;
use super::layers::Copy;
use super::raw::{Part, Raw};
use super::seen::{Judge, Sets};
use super::standing::Tips;
use super::{Change, Line};
use crate::ids::IssueId;

const ID: &str = "01K8ZZZZZZ0000000000000001";
const LOG: &str = "01K8ZZZZZZ00000000000000L0";
const LAYERS: [Layer; 4] = [Layer::Local, Layer::Head, Layer::Main, Layer::Shared];

fn id() -> IssueId {
    IssueId::parse(ID).unwrap()
}

fn part(bytes: impl Into<Vec<u8>>) -> Part {
    Part { there: true, bytes: bytes.into(), problem: None }
}

/// A copy that says in its title where it is.
fn copy(layer: Layer, fence: Fence, minute: u32) -> Raw {
    let fence =
        fence.map_or(String::new(), |(fence, log)| format!(",\"fence\":{fence},\"fence_log\":\"{log}\""));
    let at = format!("2026-01-01T00:{minute:02}:00.000Z");
    let text = format!(
        r#"{{"id":"{ID}","title":"{layer:?}","state":"ready","created_at":"{at}","updated_at":"{at}"{fence}}}"#
    );
    Raw { issue: part(text), ..Raw::default() }
}

fn set(lines: &[(&str, Change)]) -> Part {
    let line = |(id, change): &(&str, Change)| {
        Line { id: (*id).into(), change: change.clone(), at: "t".into(), agent_id: None }.bytes()
    };
    part(lines.iter().flat_map(line).collect::<Vec<u8>>())
}

fn add(value: &str) -> Change {
    Change::Add { value: value.into() }
}

/// Where the copy that counts is, the labels and the dependencies, and whether there may be more of these.
type Made = (Layer, Vec<String>, Vec<String>, bool);

/// A fence and the log that granted it.
type Fence = Option<(u64, &'static str)>;

/// What is made of the copies: where the one that counts is, its labels and dependencies, and the problems.
fn judged(copies: &[(Layer, &Raw)]) -> (Option<Made>, Vec<String>) {
    let mut problems = Vec::new();
    let name = |layer, _, file: &str| format!("{layer:?}/{file}");
    let judge = Judge { name: &name, log: &|| Some(LOG.to_owned()), landing: None };
    let copies: Vec<Copy<'_>> =
        copies.iter().map(|(layer, raw)| Copy { layer: *layer, raw, tips: Tips::default() }).collect();
    let seen = judge.see(id(), &copies, Sets::ALL, &mut problems).map(|seen| {
        assert_eq!(&*seen.issue.title, format!("{:?}", seen.layer));
        assert_eq!(seen.whole().unwrap().title, &*seen.issue.title);
        let list = |set: &super::Set| set.members().map(ToOwned::to_owned).collect();
        (seen.layer, list(&seen.labels), list(&seen.deps), seen.unsure)
    });
    (seen, problems)
}

/// A copy in some layer, absent or with a fence and an age.
type Kind = Option<(Fence, u32)>;

/// Every layer absent or with every mixture of no fence, a fence of ours and a higher one of another log, and
/// of ages: the highest fence of our log counts, then the newest, then the nearest.
#[test]
fn the_copy_that_counts_in_every_combination() {
    let fences = [None, Some((3, LOG)), Some((5, LOG)), Some((9, "01K8ZZZZZZ00000000000000X0"))];
    let kinds: Vec<Kind> =
        std::iter::once(None).chain(fences.iter().flat_map(|f| [1, 2].map(|m| Some((*f, m))))).collect();
    let count = kinds.len().pow(u32::try_from(LAYERS.len()).unwrap());
    for number in 0..count {
        let digit = |place: u32| kinds[number / kinds.len().pow(place) % kinds.len()];
        counts([0, 1, 2, 3].map(digit));
    }
    assert_eq!(count, 9 * 9 * 9 * 9);
}

/// Holds what is made of these copies, one a layer, to what the rule says.
fn counts(given: [Kind; 4]) {
    let there = LAYERS.into_iter().zip(given).filter_map(|(layer, kind)| kind.map(|kind| (layer, kind)));
    let raws: Vec<(Layer, Raw)> =
        there.clone().map(|(layer, (fence, minute))| (layer, copy(layer, fence, minute))).collect();
    let copies: Vec<(Layer, &Raw)> = raws.iter().map(|(layer, raw)| (*layer, raw)).collect();
    let ours = |fence: Fence| fence.filter(|(_, log)| *log == LOG).map(|(fence, _)| fence);
    let nearness = |layer: Layer| Reverse(LAYERS.iter().position(|known| *known == layer));
    let rank = |(layer, (fence, minute)): &(Layer, (Fence, u32))| (ours(*fence), *minute, nearness(*layer));
    let expected = there.max_by_key(rank).map(|(layer, _)| layer);
    let (seen, problems) = judged(&copies);
    assert_eq!(seen.map(|seen| seen.0), expected, "{given:?}");
    assert_eq!(problems, Vec::<String>::new(), "{given:?}");
}

#[test]
fn a_time_that_is_none_is_older_than_all() {
    let mut odd = copy(Layer::Local, None, 1);
    let text = String::from_utf8(odd.issue.bytes).unwrap();
    odd.issue = part(text.replace("2026-01-01T00:01:00.000Z", "zzz"));
    let main = copy(Layer::Main, None, 1);
    assert_eq!(judged(&[(Layer::Local, &odd), (Layer::Main, &main)]).0.unwrap().0, Layer::Main);
}

#[test]
fn sets_are_the_union_of_all_layers_whichever_copy_counts() {
    let mut local = copy(Layer::Local, Some((9, LOG)), 1);
    local.labels =
        set(&[("1", add("ui")), ("2", Change::Remove { value: "ui".into(), lines: ["1".into()].into() })]);
    let mut head = copy(Layer::Head, None, 1);
    head.labels = set(&[("1", add("ui")), ("3", add("old"))]);
    let mut main = copy(Layer::Main, None, 1);
    main.labels = set(&[("4", add("new"))]);
    main.deps = set(&[("5", add("X"))]);
    let mut shared = copy(Layer::Shared, None, 1);
    shared.labels = set(&[("6", add("handed"))]);
    shared.deps = set(&[("7", add("Y"))]);
    let copies =
        [(Layer::Local, &local), (Layer::Head, &head), (Layer::Main, &main), (Layer::Shared, &shared)];
    let (seen, problems) = judged(&copies);
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = (Layer::Local, texts(&["handed", "new", "old"]), texts(&["X", "Y"]), false);
    assert_eq!((seen, problems), (Some(expected), vec![]));
}

#[test]
fn a_copy_that_cannot_be_read_is_named_and_the_others_are_shown() {
    let good = copy(Layer::Main, None, 1);
    let other = ID.replace("0001", "0002");
    for text in ["{", "[]", "{}", &*format!("{{\"id\":\"{other}\"}}"), "\u{0}\u{1}", "null"] {
        let bad = Raw { issue: part(text), ..Raw::default() };
        let (seen, problems) = judged(&[(Layer::Local, &bad), (Layer::Main, &good)]);
        assert_eq!(seen.unwrap().0, Layer::Main, "{text}");
        assert_eq!(problems.len(), 1, "{text}");
        assert!(problems[0].starts_with("Local/issue.json cannot be used: "), "{problems:?}");
        let (seen, problems) = judged(&[(Layer::Local, &bad)]);
        assert_eq!((seen, problems.len()), (None, 1), "{text}");
    }
}

#[test]
fn a_copy_with_another_id_is_named() {
    let text = String::from_utf8(copy(Layer::Local, None, 1).issue.bytes).unwrap();
    let bad = Raw { issue: part(text.replace("0001\"", "0002\"")), ..Raw::default() };
    let (seen, problems) = judged(&[(Layer::Local, &bad)]);
    assert_eq!(seen, None);
    assert!(problems[0].ends_with("it says that its id is 01K8ZZZZZZ0000000000000002"), "{problems:?}");
}

#[test]
fn dependencies_that_cannot_be_read_leave_doubt_and_labels_do_not() {
    for (deps, labels, doubt) in [("<<<<<<< ours\n", "", true), ("", "<<<<<<< ours\n", false)] {
        let mut local = copy(Layer::Local, None, 1);
        (local.deps, local.labels) = (part(deps), part(labels));
        let mut main = copy(Layer::Main, None, 1);
        main.deps = set(&[("5", add("X"))]);
        let (seen, problems) = judged(&[(Layer::Local, &local), (Layer::Main, &main)]);
        let (_, _, known, unsure) = seen.unwrap();
        assert_eq!((known, unsure, problems.len()), (vec!["X".to_owned()], doubt, 1));
        assert!(problems[0].contains("line 1"), "{problems:?}");
    }
}

#[test]
fn a_directory_without_an_issue_is_named() {
    let bare = Raw { labels: set(&[("1", add("ui"))]), ..Raw::default() };
    assert_eq!(judged(&[(Layer::Head, &bare)]), (None, vec!["Head/issue.json is missing".to_owned()]));
}

#[test]
fn the_same_problem_is_said_once() {
    let mut raw = Raw::default();
    raw.parts_mut().into_iter().for_each(|part| part.spoil("x is a link".into()));
    let good = copy(Layer::Main, None, 1);
    let (seen, problems) = judged(&[(Layer::Local, &raw), (Layer::Main, &good)]);
    assert!(seen.unwrap().3);
    assert_eq!(problems, ["x is a link"]);
}
