//! Landing with a git of before 2.40, as Debian 12 has it: `merge-tree` cannot be told what to merge on.

use holdfast_trial::StandIn;

use crate::cuts::lands_once;
use crate::ground::{Ground, pair};

const OLD: &str = r#"#!/bin/sh
for word in "$@"; do
  case $word in --merge-base=*) : >"$CUT_DIR/refused"; echo "usage: git merge-tree" >&2; exit 129 ;; esac
done
exec "$CUT_GIT" "$@"
"#;

#[test]
fn work_lands_with_a_git_that_cannot_be_told_what_to_merge_on() {
    let ground = Ground::new();
    let old = StandIn::new(OLD);
    let (first, second) = (ground.issue("one", &[]), ground.issue("two", &[]));
    let (a, b) = (ground.agent("a"), ground.agent("b"));
    a.begin(&first, "one");
    b.begin(&second, "two");
    a.run(&["finish", "-a", "-m", "landed one"]).ok();
    // The target has moved, so what is on the branch is put on top of it.
    let mut finish = ground.bench.command(&b.name, &["finish", "-a", "-m", "landed two"], &b.at);
    old.dress(&mut finish, 0, "");
    let output = finish.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(old.file("refused").exists(), "it was never asked in the new way");
    for (id, file) in [(&first, "one"), (&second, "two")] {
        lands_once(&ground, id, file, file);
        assert_eq!(ground.told(id), pair("done", "landed"));
    }
    assert!(ground.is_clean());
}

/// What conflicts is found in the old way too, and nothing lands.
#[test]
fn a_conflict_is_found_with_a_git_that_cannot_be_told_what_to_merge_on() {
    let ground = Ground::new();
    let old = StandIn::new(OLD);
    let (first, second) = (ground.issue("one", &[]), ground.issue("two", &[]));
    let (a, b) = (ground.agent("a"), ground.agent("b"));
    a.begin(&first, "same");
    b.begin(&second, "other");
    b.write("same", "something else\n");
    a.run(&["finish", "-a", "-m", "landed same"]).ok();
    let mut finish = ground.bench.command(&b.name, &["finish", "-a", "-m", "landed other"], &b.at);
    old.dress(&mut finish, 0, "");
    let output = finish.output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("same"), "the file is not named");
    assert!(old.file("refused").exists() && ground.is_held(&second));
}
