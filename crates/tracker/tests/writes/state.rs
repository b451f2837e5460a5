//! What becomes of the state of an issue whose gates are passed while something else is in its way.
#![expect(clippy::disallowed_methods, reason = "where work is on a branch, git has to have made it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_tracker::issues::State;
use holdfast_tracker::notice::Notice;
use holdfast_tracker::writes::{Draft, Verdict};
use holdfast_tracker::{Caller, Listener, Result, Session};
use serde_json::{Value, json};

use crate::people::{changed, claimed};
use crate::stage::{ANNA, ONE, Stage, TWO, in_main, issue_text, parsed};
use crate::support::caller;

fn judge(draft: &mut Draft, status: Verdict) -> Result<()> {
    let judged = draft.judgement(status, None);
    draft.judge("g", judged);
    Ok(())
}

fn finish(draft: &mut Draft) -> Result<()> {
    draft.edit().gates.insert("g".into());
    draft.step(State::Done, false);
    Ok(())
}

fn state(stage: &Stage) -> Value {
    stage.json(&in_main(ONE, "issue.json"))["state"].take()
}

#[test]
fn what_waits_for_others_stays_gated_although_its_gates_are_passed() {
    let mut stage = Stage::configured("[worktree]\nenforce_leases = \"off\"\n");
    stage.change(ANNA, ONE, finish).unwrap();
    stage.change(ANNA, ONE, |draft| draft.depend(TWO, true)).unwrap();
    stage.change(ANNA, ONE, |draft| judge(draft, Verdict::Failed)).unwrap();
    assert_eq!((stage.notices(), state(&stage)), (Vec::new(), json!("gated")));
    stage.change(ANNA, ONE, |draft| judge(draft, Verdict::Passed)).unwrap();
    assert_eq!(stage.notices(), [Notice::Blocked { issue: ONE.into(), by: vec![TWO.into()] }]);
    assert_eq!(state(&stage), "gated");
    stage.edit(ANNA, TWO, |draft| draft.step(State::Rejected, false));
    stage.change(ANNA, ONE, |draft| judge(draft, Verdict::Passed)).unwrap();
    assert_eq!((stage.notices(), state(&stage)), (Vec::new(), json!("done")));
    stage.change(ANNA, ONE, |draft| judge(draft, Verdict::Failed)).unwrap();
    assert_eq!((stage.notices(), state(&stage)), (Vec::new(), json!("gated")));
}

#[derive(Default)]
struct Heard(Mutex<Vec<Notice>>);

impl Listener for Heard {
    fn hear(&self, notice: &Notice) {
        self.0.lock().unwrap().push(notice.clone());
    }
}

/// A repository with two linked worktrees, one of which is on the branch `work`.
struct Branched {
    _scratch: tempfile::TempDir,
    main: PathBuf,
    work: PathBuf,
    other: PathBuf,
}

fn git(at: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0"];
    let done = Command::new("git").current_dir(at).args(who).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Branched {
    /// Somebody has finished an issue whose gate is open on the branch, and given it back.
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let [main, work, other] = ["main", "work", "other"].map(|name| scratch.path().join(name));
        let home = main.join(".jit/issues").join(ONE);
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("issue.json"), issue_text(ONE)).unwrap();
        git(&main, &["init", "-q", "-b", "main"]);
        git(&main, &["add", "-A"]);
        git(&main, &["commit", "-q", "-m", "begin"]);
        for (name, at) in [("work", &work), ("other", &other)] {
            git(&main, &["worktree", "add", "-q", "-b", name, at.to_str().unwrap()]);
        }
        let place = Self { _scratch: scratch, main, work, other };
        place.change(&place.work, finish);
        git(&place.work, &["add", "-A"]);
        git(&place.work, &["commit", "-q", "-m", "work"]);
        place
    }

    /// Somebody claims the issue, changes it, and gives it back; gives the state that it has then, and what was said.
    fn change(&self, at: &Path, act: fn(&mut Draft) -> Result<()>) -> (State, Vec<Notice>) {
        let heard = Arc::new(Heard::default());
        let caller = Caller { listener: Arc::clone(&heard) as Arc<dyn Listener>, ..caller(&Sys::os(), at) };
        let session = Session::open(&caller).unwrap();
        let lease = claimed(&session, parsed(ONE), Millis::from_secs(600));
        let state = changed(&session, parsed(ONE), act).unwrap().draft.issue().state;
        let said = heard.0.lock().unwrap().clone();
        holdfast_tracker::keep::release(&session, &lease.to_string()).unwrap();
        (state, said)
    }
}

/// The word done comes with the work.
#[test]
fn what_is_passed_elsewhere_than_on_its_branch_stays_gated_until_it_lands() {
    let place = Branched::new();
    let said = |said: &[Notice]| {
        let elsewhere =
            |notice: &&Notice| matches!(notice, Notice::PassedElsewhere { branch, .. } if branch == "work");
        said.iter().filter(elsewhere).count()
    };
    for at in [&place.main, &place.other] {
        let (state, notices) = place.change(at, |draft| judge(draft, Verdict::Passed));
        assert_eq!((state, said(&notices)), (State::Gated, 1), "{notices:?}");
    }
    let place = Branched::new();
    let (state, notices) = place.change(&place.work, |draft| judge(draft, Verdict::Passed));
    assert_eq!((state, said(&notices)), (State::Done, 0), "{notices:?}");
}
