//! Landing cut off at each of its steps, and others let in between any two of them.
//!
//! Git is a program of its own, so the steps are the moments at which it is started and has answered: a stand-in for it
//! counts its calls and, at the one that is asked for, kills whoever called it, before the real git has run or after, or
//! has somebody else act first. Git does here what could be done without it, too: that is struck call by call elsewhere.

use std::time::{Duration, Instant};

use holdfast_trial::{Answer, StandIn};

use crate::bench::JIT;
use crate::ground::{Agent, Ground, pair};

/// What happens at a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strike {
    KillBefore,
    KillAfter,
    /// Git is killed too, with the lock of the index in its hands.
    KillBoth,
    /// Somebody else acts; if it has to wait for whoever is between the steps, that goes on.
    Act,
}

const STAND_IN: &str = r#"#!/bin/sh
n=$(($(cat "$CUT_DIR/count" 2>/dev/null || echo 0) + 1))
echo $n >"$CUT_DIR/count"
if [ "$n" = "$CUT_AT" ]; then
  : >"$CUT_DIR/struck"
  case $CUT_HOW in
    KillBefore) kill -9 $PPID; exit 1 ;;
    KillAfter) "$CUT_GIT" "$@" >/dev/null 2>&1; kill -9 $PPID; exit 1 ;;
    KillBoth)
      (set -C; : >"$("$CUT_GIT" rev-parse --absolute-git-dir)/index.lock") 2>/dev/null
      kill -9 $PPID; exit 1 ;;
    Act)
      (env -i HOME="$HOME" JIT_CONFIG_HOME="$JIT_CONFIG_HOME" GIT_CONFIG_NOSYSTEM=1 PATH="${CUT_GIT%/*}:/usr/bin:/bin" \
         GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@e GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@e \
         sh "$CUT_DIR/act" >"$CUT_DIR/act.out" 2>&1; : >"$CUT_DIR/acted") </dev/null >/dev/null 2>&1 &
      i=0
      while [ ! -e "$CUT_DIR/acted" ] && [ $i -lt 40 ]; do sleep 0.02; i=$((i + 1)); done ;;
  esac
fi
exec "$CUT_GIT" "$@"
"#;

/// A stand-in for git that strikes once.
struct Cut(StandIn);

impl Cut {
    fn new() -> Self {
        Self(StandIn::new(STAND_IN))
    }

    /// Runs a command that is struck at a step; says whether it came to that, and what it answered if it lived.
    fn run(&self, agent: &Agent<'_>, args: &[&str], at: u32, how: Strike) -> (bool, Option<Answer>) {
        self.0.forget(&["count", "struck", "acted"]);
        let mut command = agent.ground.bench.command(&agent.name, args, &agent.at);
        self.0.dress(&mut command, at, &format!("{how:?}"));
        let output = command.output().unwrap();
        let struck = self.0.file("struck").exists();
        // Whoever acts may go on when the other one is done.
        let begun = Instant::now();
        while how == Strike::Act && struck && !self.0.file("acted").exists() {
            assert!(begun.elapsed() < Duration::from_secs(120), "{args:?} at {at}: the other one hangs");
            std::thread::sleep(Duration::from_millis(2));
        }
        (struck, output.status.code().map(|_| Answer::from(output)))
    }

    /// What somebody else does, as a script.
    fn act(&self, script: &str) {
        std::fs::write(self.0.file("act"), script).unwrap();
    }

    fn acted(&self) -> String {
        std::fs::read_to_string(self.0.file("act.out")).unwrap_or_default()
    }
}

/// The steps to strike at: all of them. They are left when a run is not struck any more.
fn steps() -> impl Iterator<Item = u32> {
    1..
}

/// What holds whoever died: an issue is on the target once, with its work, and only if everybody is told so.
pub(crate) fn lands_once(ground: &Ground, id: &str, file: &str, context: &str) {
    let subject = format!("landed {file}");
    let times = ground.landed().iter().filter(|landed| **landed == subject).count();
    let word = ground.main(&["show", &format!("main:.jit/issues/{id}/issue.json")]);
    let has_word = word.contains("\"state\": \"done\"") || word.contains("\"state\":\"done\"");
    let has_work =
        ground.try_git(&["cat-file", "-e", &format!("main:{file}")], &ground.bench.repo()).code == Some(0);
    assert_eq!(has_word, has_work, "{context}: the word and the work are apart");
    assert_eq!(times, usize::from(has_work), "{context}: {:?}", ground.landed());
}

/// Whoever is killed and typed again goes on where it was.
fn killed_at_every_step(ground: &Ground, strike: Strike, flags: &[&str]) {
    let (cut, agent) = (Cut::new(), ground.agent(&format!("k{strike:?}").to_lowercase()));
    let mut cuts = 0;
    for step in steps() {
        let file = format!("f-{strike:?}-{step}");
        let id = ground.issue(&file, flags);
        if ground.origin().exists() {
            ground.main(&["push", "-q", "origin", "main"]);
        }
        let context = format!("{strike:?} at {step}");
        let (begun, _) = cut.run(&agent, &["start", &id], step, strike);
        agent.run(&["start", &id]).ok();
        agent.write(&file, "work\n");
        let message = format!("landed {file}");
        let finish = ["finish", &id, "-a", "-m", &message];
        let (struck, _) = cut.run(&agent, &finish, step, strike);
        lands_once(ground, &id, &file, &context);
        if struck {
            // It may have died after its last step, with the claim given back.
            let again = agent.run(&finish);
            assert!(again.code == Some(0) || !ground.is_held(&id), "{context}: {again}");
            cuts += 1;
        }
        lands_once(ground, &id, &file, &context);
        assert_eq!(ground.told(&id), pair("done", "landed"), "{context}");
        assert!(ground.is_clean(), "{context}: {}", ground.main(&["status", "--porcelain"]));
        assert!(!ground.is_held(&id), "{context}");
        if !begun && !struck {
            break;
        }
    }
    assert!(cuts > 2, "nothing was cut");
    assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
}

#[test]
fn whoever_is_killed_before_a_step_goes_on() {
    killed_at_every_step(&Ground::new().by_git(), Strike::KillBefore, &[]);
}

#[test]
fn whoever_is_killed_after_a_step_goes_on() {
    killed_at_every_step(&Ground::new().by_git(), Strike::KillAfter, &[]);
}

#[test]
fn whoever_is_killed_together_with_git_goes_on() {
    killed_at_every_step(&Ground::new().by_git(), Strike::KillBoth, &[]);
}

#[test]
fn whoever_is_killed_on_the_way_to_a_remote_goes_on() {
    let ground = Ground::with_origin().by_git();
    killed_at_every_step(&ground, Strike::KillAfter, &[]);
    assert_eq!(ground.main(&["rev-parse", "main"]), ground.git(&["rev-parse", "main"], &ground.origin()));
}

/// With a gate there are steps more: a checkout for its command, and its result.
#[test]
fn whoever_is_killed_beside_a_gate_goes_on() {
    let ground = Ground::new().by_git();
    ground.bench.jit(&["gate", "define", "builds", "--command", "test -f code"]).ok();
    ground.commit("a gate");
    killed_at_every_step(&ground, Strike::KillAfter, &["--gate", "builds"]);
}

/// A lander that dies while the command of a gate runs has landed nothing, and goes on when it is typed again.
#[test]
fn whoever_is_killed_while_a_gate_runs_goes_on() {
    let ground = Ground::new().by_git();
    let killed = ground.bench.root().join("killed");
    let path = killed.display();
    let command = format!("[ -e '{path}' ] || {{ : >'{path}'; kill -9 $PPID; exit 1; }}");
    ground.bench.jit(&["gate", "define", "deadly", "--command", &command]).ok();
    ground.commit("a gate");
    let (id, agent) = (ground.issue("work", &["--gate", "deadly"]), ground.agent("a"));
    agent.begin(&id, "work");
    let finish = ["finish", &id, "-a", "-m", "landed work"];
    let died = agent.ground.bench.command(&agent.name, &finish, &agent.at).output().unwrap();
    assert!(killed.exists() && died.status.code().is_none(), "it lives: {}", Answer::of_any(&died));
    lands_once(&ground, &id, "work", "killed by its gate");
    assert_eq!(ground.told(&id).0, "in_progress");
    agent.run(&finish).ok();
    lands_once(&ground, &id, "work", "typed again");
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert!(ground.is_clean() && !ground.is_held(&id));
}

/// An agent that is killed while it finishes and begins anew is never sent to do again what has landed, and gives nothing
/// back that has.
#[test]
fn what_has_landed_is_neither_begun_again_nor_given_back() {
    let ground = Ground::new().by_git();
    let (cut, agent) = (Cut::new(), ground.agent("a"));
    let finished = |step: u32, name: &str| {
        let file = format!("f-{step}-{name}");
        let id = ground.issue(&file, &[]);
        agent.begin(&id, &file);
        let message = format!("landed {file}");
        let (struck, _) = cut.run(&agent, &["finish", &id, "-a", "-m", &message], step, Strike::KillAfter);
        (struck, id, file)
    };
    let mut landed_at = Vec::new();
    for step in steps() {
        let (struck, id, file) = finished(step, "next");
        if !struck {
            break;
        }
        let has_landed = ground.landed().contains(&format!("landed {file}"));
        if has_landed && ground.is_held(&id) {
            landed_at.push(step);
        }
        let again = agent.run(&["start"]);
        if has_landed {
            assert_eq!(again.code, Some(3), "step {step}: there is nothing else to do: {again}");
        } else {
            again.ok();
            agent.run(&["finish", &id, "-a", "-m", &format!("landed {file}")]).ok();
        }
        lands_once(&ground, &id, &file, &format!("step {step}"));
        assert_eq!(ground.told(&id), pair("done", "landed"), "step {step}");
        assert!(!ground.is_held(&id), "step {step}");
    }
    let step = *landed_at.first().expect("a step between landing and giving back");
    for (name, command) in [("again", "start"), ("drop", "drop")] {
        let (_, id, file) = finished(step, name);
        let refused = agent.run(&[command, &id]);
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("has landed"), "{refused}");
        lands_once(&ground, &id, &file, name);
        assert_eq!(ground.told(&id), pair("done", "landed"), "{name}");
        assert!(!ground.is_held(&id) && ground.is_clean(), "{name}");
    }
}

/// Work that is kept on its branch is kept once, however often that is typed.
#[test]
fn whoever_is_killed_on_the_way_to_a_review_goes_on() {
    let ground = Ground::new().by_git();
    let (cut, agent) = (Cut::new(), ground.agent("a"));
    let mut cuts = 0;
    for step in steps() {
        let file = format!("f-{step}");
        let id = ground.issue(&file, &[]);
        agent.begin(&id, &file);
        let finish = ["finish", &id, "-a", "-m", &file, "--no-land"];
        let (struck, _) = cut.run(&agent, &finish, step, Strike::KillAfter);
        if !struck {
            break;
        }
        cuts += 1;
        let again = agent.run(&finish);
        assert!(again.code == Some(0) || !ground.is_held(&id), "step {step}: {again}");
        assert_eq!(ground.told(&id), pair("done", "on_branch"), "step {step}");
    }
    assert!(cuts > 1, "nothing was cut");
}

/// Somebody else lands between any two steps, or moves the target by hand: both are there, one on top of the other.
fn others_act_at_every_step(by_hand: bool) {
    let ground = Ground::new().by_git();
    let (cut, agent, other) = (Cut::new(), ground.agent("a"), ground.agent("b"));
    let mut cuts = 0;
    for step in steps() {
        let (mine, theirs) = (format!("mine-{step}"), format!("theirs-{step}"));
        let (id, their_id) = (ground.issue(&mine, &[]), ground.issue(&theirs, &[]));
        agent.begin(&id, &mine);
        other.begin(&their_id, &theirs);
        let repo = ground.bench.repo();
        let (program, at) = if by_hand { ("git", repo.as_path()) } else { (JIT, other.at.as_path()) };
        let args = if by_hand { "commit -q --allow-empty" } else { "finish -a" };
        cut.act(&format!(
            "cd '{}' && JIT_AGENT_ID={} '{program}' {args} -m 'landed {theirs}'",
            at.display(),
            other.name
        ));
        let context = format!("step {step}");
        let message = format!("landed {mine}");
        let (struck, answer) = cut.run(&agent, &["finish", "-a", "-m", &message], step, Strike::Act);
        answer.unwrap().ok();
        lands_once(&ground, &id, &mine, &context);
        if !struck {
            break;
        }
        cuts += 1;
        let subjects = ground.landed();
        let theirs = format!("landed {theirs}");
        let times = subjects.iter().filter(|subject| **subject == theirs).count();
        // Git refuses a commit while the worktree has to follow what has just landed.
        let is_refused = by_hand && cut.acted().contains("index.lock");
        assert_eq!(times, usize::from(!is_refused), "{context}: {}", cut.acted());
        if by_hand {
            other.run(&["drop", &their_id]).ok();
            other.git(&["clean", "-qfd", "--", ":!.jit"]);
        } else {
            assert_eq!(ground.told(&their_id), pair("done", "landed"), "{context}: {}", cut.acted());
        }
        assert!(ground.is_clean(), "{context}");
    }
    assert!(cuts > 2, "nobody came in between");
    assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
}

#[test]
fn two_landers_land_both_whenever_they_meet() {
    others_act_at_every_step(false);
}

/// Somebody else lands the same branch between any two steps, also before the claim for it is there: it lands once.
#[test]
fn two_who_land_one_branch_land_it_once() {
    let ground = Ground::with_origin().by_git();
    let (cut, other) = (Cut::new(), ground.agent("b"));
    let mut cuts = 0;
    for step in steps() {
        let (title, work) = (format!("same-{step}"), format!("work-{step}"));
        let id = ground.issue(&title, &[]);
        ground.main(&["push", "-q", "origin", "main"]);
        let agent = ground.agent(&format!("a{step}"));
        agent.begin(&id, &title);
        agent.run(&["finish", "-a", "-m", &work, "--no-land"]).ok();
        // Only the remote has the branch, so git is asked where it is.
        let branch = agent.git(&["branch", "--show-current"]);
        agent.git(&["switch", "-q", "--detach"]);
        agent.git(&["branch", "-q", "-D", &branch]);
        cut.act(&format!("cd '{}' && JIT_AGENT_ID={} '{JIT}' land {id}", other.at.display(), other.name));
        let (struck, answer) = cut.run(&agent, &["land", &id], step, Strike::Act);
        let code = answer.as_ref().unwrap().code;
        assert!(code == Some(0) || struck && code == Some(3), "step {step}: {}", answer.unwrap());
        ground.main(&["fetch", "-q", "origin"]);
        let subjects = ground.main(&["log", "--format=%s", "origin/main"]);
        let times = subjects.lines().filter(|subject| *subject == title || *subject == work).count();
        assert_eq!((times, ground.told(&id)), (1, pair("done", "landed")), "step {step}: {subjects}");
        if !struck {
            break;
        }
        cuts += 1;
        ground.bench.jit(&["sync"]).ok();
    }
    assert!(cuts > 2, "nobody came in between");
}

#[test]
fn a_target_that_moves_is_built_on() {
    others_act_at_every_step(true);
}

/// Somebody is displaced between any two steps: either it had landed before, or nothing of it lands.
#[test]
fn whoever_is_displaced_lands_nothing() {
    let ground = Ground::new().by_git();
    let (cut, agent, other) = (Cut::new(), ground.agent("a"), ground.agent("b"));
    let mut kinds = [0, 0];
    for step in steps() {
        let file = format!("f-{step}");
        let id = ground.issue(&file, &[]);
        agent.begin(&id, &file);
        cut.act(&format!(
            "cd '{}' && export JIT_AGENT_ID={} && '{JIT}' claim force-evict {id} --reason gone && \
             '{JIT}' claim acquire {id}",
            other.at.display(),
            other.name
        ));
        let message = format!("landed {file}");
        let (struck, answer) = cut.run(&agent, &["finish", "-a", "-m", &message], step, Strike::Act);
        let context = format!("step {step}: {}", cut.acted());
        lands_once(&ground, &id, &file, &context);
        if !struck {
            break;
        }
        let has_landed = ground.landed().contains(&message);
        let answer = answer.unwrap();
        assert_eq!(answer.code == Some(0), has_landed, "{context}\n{answer}");
        kinds[usize::from(has_landed)] += 1;
        if !has_landed {
            assert!(ground.is_held(&id), "{context}");
            other.run(&["claim", "release", &id]).ok();
            // The displaced one begins anew.
            agent.git(&["switch", "-q", "--detach", "main"]);
        } else {
            other.run(&["claim", "release", &id]);
        }
        assert!(ground.is_clean(), "{context}");
    }
    assert!(kinds[0] > 0, "nobody was displaced: {kinds:?}");
}
