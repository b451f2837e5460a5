//! Others let in between any two calls by which a landing changes something itself: it is stopped there, somebody else moves
//! the target by hand or lands too, and it goes on.

use std::process::{Command, Stdio};

use holdfast_trial::{Answer, Dice, has, until};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::JIT;
use crate::cuts::lands_once;
use crate::ground::{Agent, Ground, is_long, pair};

/// The calls that it is stopped behind.
const CALLS: [&str; 3] = ["pwrite64", "?rename,?renameat,?renameat2", "?unlink,?unlinkat"];

/// Every how manieth call is stopped at, where not all of them are.
const STRIDE: usize = 6;

/// The process that strace watches.
fn watched(strace: u32) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{strace}/task/{strace}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

/// Whether a process is stopped by a signal, not only by whoever watches it.
fn is_stopped(log: &std::path::Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|log| log.contains("--- stopped by SIGSTOP"))
}

/// Runs a command that is stopped behind its `nth` call; says whether it was.
fn stopped(
    agent: &Agent<'_>,
    args: &[&str],
    (call, nth): (&str, usize),
    act: impl FnOnce(),
) -> (bool, Answer) {
    let log = agent.ground.bench.root().join("stops.log");
    let _ = std::fs::remove_file(&log);
    let mut strace = agent.ground.bench.dressed(Command::new("strace"));
    strace.args(["-o", log.to_str().unwrap(), "-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:signal=STOP:when={nth}"), JIT]).args(args);
    strace.current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
    strace.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = strace.spawn().unwrap();
    let mut has_ended = false;
    until("it is stopped or ends", || {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || is_stopped(&log)
    });
    let was_stopped = is_stopped(&log);
    if was_stopped {
        let process = watched(child.id()).unwrap();
        act();
        kill_process(process, Signal::CONT).unwrap();
    }
    (was_stopped, Answer::of_any(&child.wait_with_output().unwrap()))
}

/// A person commits on the target, and somebody else lands on it. Either comes before or after, or is told to wait.
#[test]
fn whoever_comes_in_between_two_calls_of_a_landing_loses_nothing() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let agent = ground.agent("a");
    let mut dice = Dice::new(Dice::seed(), std::time::Duration::ZERO);
    let (mut stops, mut refused) = (0, 0);
    for call in CALLS {
        let (first, stride) = match is_long() {
            true => (1, 1),
            false => (1 + usize::try_from(dice.roll(STRIDE as u64)).unwrap(), STRIDE),
        };
        for nth in (first..).step_by(stride) {
            let context = format!("{call} {nth}");
            let file = format!(
                "f-{}-{nth}",
                call.chars().filter(char::is_ascii_alphanumeric).take(8).collect::<String>()
            );
            let id = ground.issue(&file, &[]);
            agent.begin(&id, &file);
            let (mine, theirs) = (format!("landed {file}"), format!("theirs {file}"));
            let mut said = None;
            let by_hand = ["commit", "-q", "--allow-empty", "-m", &theirs];
            let act = || said = Some(ground.try_git(&by_hand, &ground.bench.repo()));
            let finish = ["finish", &id, "-a", "-m", &mine];
            let (was_stopped, answer) = stopped(&agent, &finish, (call, nth), act);
            assert_eq!(answer.code, Some(0), "{context}: {answer}");
            lands_once(&ground, &id, &file, &context);
            assert_eq!(ground.told(&id), pair("done", "landed"), "{context}");
            assert!(ground.is_clean(), "{context}: {}", ground.main(&["status", "--porcelain"]));
            if !was_stopped {
                break;
            }
            stops += 1;
            let said = said.unwrap();
            let times = ground.landed().iter().filter(|subject| **subject == theirs).count();
            assert_eq!(times, usize::from(said.code == Some(0)), "{context}: {said}");
            // Whoever is not let in is told of a lock, of the index or of the branch.
            assert!(said.code == Some(0) || said.stderr.contains(".lock"), "{context}: {said}");
            refused += usize::from(said.code != Some(0));
        }
    }
    println!("stopped {stops} times, and {refused} times the other one had to wait");
    assert!(stops > 2 && refused < stops, "{stops} {refused}");
    assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
    ground.main(&["fsck", "--strict", "--no-dangling"]);
}
