//! Any bytes as the files of an issue, which anybody can push: what can be read is written as it was read, whatever
//! else is in it, and lines make one set in any order and number.

use holdfast_tracker::issues::{Issue, Line, Outline, Set};

/// Feeds it.
pub(crate) fn check(input: &[u8]) {
    issue(input);
    set(input);
}

/// Read, written and read again, an issue is the same, and a list shows what `issue show` does.
fn issue(input: &[u8]) {
    let Ok(issue) = serde_json::from_slice::<Issue>(input) else { return };
    let written = issue.bytes();
    let again: Issue = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(again, issue, "nothing is lost");
    assert_eq!(again.bytes(), written, "one issue has one form");
    let outline: Outline<'_> = serde_json::from_slice(&written).expect("it can be listed as well");
    assert_eq!(
        (&*outline.title, outline.state, outline.priority),
        (&*issue.title, issue.state, issue.priority)
    );
}

/// Lines count once, in any order; what is added is there and what is removed is not.
fn set(input: &[u8]) {
    let Ok(set) = Set::read(input) else { return };
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let backwards: Vec<&[u8]> = lines.iter().rev().chain(&lines).copied().collect();
    assert_eq!(Set::read(&backwards.join(&b'\n')).expect("the same lines"), set);
    for line in &lines {
        if let Ok(whole) = serde_json::from_slice::<Line>(line) {
            let written = whole.bytes();
            assert_eq!(Set::read(&written), Set::read(line), "a line that is written anew counts the same");
            let again: Line = serde_json::from_slice(&written).expect("what was written can be read");
            assert_eq!(again, whole, "nothing is lost");
        }
    }
    for member in set.members().take(4) {
        let change = set.removing(member).expect("it is there");
        let line = Line { id: String::new(), change, at: String::new(), agent_id: None };
        let less = Set::read(&[input, b"\n", &line.bytes()].concat()).expect("lines");
        assert!(!less.contains(member) && less.members().count() < set.members().count());
    }
}
