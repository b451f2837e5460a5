//! Landing cut off at its own calls: between any two files that it writes, names, flushes or takes away. What git does in
//! between is cut elsewhere.

use std::process::Command;

use holdfast_trial::{Dice, has};

use crate::bench::JIT;
use crate::cuts::lands_once;
use crate::ground::{Agent, Ground, is_long, pair};

/// Every call by which something is changed, by whichever of its names this machine has it. Each name is counted by itself.
const CALLS: [&str; 10] = [
    "pwrite64",
    "write",
    "?rename,?renameat,?renameat2",
    "?link,?linkat",
    "?unlink,?unlinkat,?rmdir",
    "?mkdir,?mkdirat",
    "ftruncate",
    "fdatasync",
    "fsync",
    "?syncfs",
];

/// Every how manieth call is struck, where not all of them are.
const STRIDE: usize = 5;

/// Runs a command that is killed when it is about to make such a call for the `nth` time; says whether it was.
fn struck(agent: &Agent<'_>, args: &[&str], call: &str, nth: usize) -> bool {
    let mut strace = agent.ground.bench.dressed(Command::new("strace"));
    let inject = format!("inject={call}:signal=KILL:when={nth}");
    strace.args(["-qq", "-o", "/dev/null", "-e", &inject, JIT]).args(args);
    strace.current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
    let output = strace.output().unwrap();
    output.status.code().is_none_or(|code| code == 137)
}

/// Begins, works and finishes, killed at one call of each command, and typed again.
fn killed_at(ground: &Ground, agent: &Agent<'_>, call: &str, nth: usize) -> [bool; 2] {
    let name: String = call.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let file = format!("f-{name}-{nth}");
    let id = ground.issue(&file, &[]);
    let context = format!("{call} {nth}");
    let begun = struck(agent, &["start", &id], call, nth);
    agent.run(&["start", &id]).ok();
    agent.write(&file, "work\n");
    let message = format!("landed {file}");
    let finish = ["finish", &id, "-a", "-m", &message];
    let finished = struck(agent, &finish, call, nth);
    lands_once(ground, &id, &file, &context);
    if finished {
        // It may have died with the claim given back.
        let again = agent.run(&finish);
        assert!(again.code == Some(0) || !ground.is_held(&id), "{context}: {again}");
    }
    lands_once(ground, &id, &file, &context);
    assert_eq!(ground.told(&id), pair("done", "landed"), "{context}");
    assert!(ground.is_clean(), "{context}: {}", ground.main(&["status", "--porcelain"]));
    assert!(!ground.is_held(&id), "{context}");
    [begun, finished]
}

#[test]
fn whoever_is_killed_at_a_call_of_its_own_goes_on() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let agent = ground.agent("a");
    let mut dice = Dice::new(Dice::seed(), std::time::Duration::ZERO);
    let mut cuts = [0, 0];
    for call in CALLS {
        let (first, stride) = match is_long() {
            true => (1, 1),
            false => (1 + usize::try_from(dice.roll(STRIDE as u64)).unwrap(), STRIDE),
        };
        for nth in (first..).step_by(stride) {
            let [begun, finished] = killed_at(&ground, &agent, call, nth);
            cuts[0] += usize::from(begun);
            cuts[1] += usize::from(finished);
            if !begun && !finished {
                break;
            }
        }
    }
    println!("cut {} times while it began and {} times while it finished", cuts[0], cuts[1]);
    assert!(cuts[0] > 1 && cuts[1] > 1, "hardly anything was cut: {cuts:?}");
    assert_eq!(ground.main(&["log", "--merges", "--format=%h", "main"]), "");
    ground.bench.jit(&["validate", "leases"]).ok();
}

/// What a landing did to files that outlive it, in order: objects and refs get their names, everything is flushed, the
/// claims are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    Object,
    Target,
    Flush,
    Claims,
}

fn deeds(log: &str) -> Vec<Deed> {
    let deed = |line: &str| {
        let (name, rest) = line.split_once(' ')?.1.trim_start().split_once('(')?;
        // A call that failed has done nothing; one that others came in between is told when it returns.
        if rest.contains(") = -1 ") {
            return None;
        }
        let names = matches!(name, "rename" | "renameat" | "renameat2" | "link" | "linkat");
        match name {
            "syncfs" => Some(Deed::Flush),
            "fdatasync" if rest.contains("/claims.jsonl>") => Some(Deed::Claims),
            _ if names && rest.contains("/.git/objects/") => Some(Deed::Object),
            _ if names && rest.contains("refs/heads/main.lock") => Some(Deed::Target),
            _ => None,
        }
    };
    log.lines().filter_map(deed).collect()
}

/// Git flushes neither loose objects nor refs by itself. No ref leads to an object that the power can take away, and nobody
/// is told of a landing, nor is its claim given back, before the ref is durable.
#[test]
fn what_landed_is_durable_before_it_is_told() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
    agent.begin(&id, "work");
    let log = ground.bench.root().join("calls.log");
    let mut strace = ground.bench.dressed(Command::new("strace"));
    let traced = "trace=rename,renameat,renameat2,link,linkat,syncfs,fdatasync";
    strace.args(["-f", "-qq", "-y", "-o", log.to_str().unwrap(), "-e", traced, JIT]);
    strace.args(["finish", "-a", "-m", "work"]).current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
    assert!(strace.output().unwrap().status.success());
    let deeds = deeds(&std::fs::read_to_string(&log).unwrap());
    let at = |deed: Deed| deeds.iter().rposition(|one| *one == deed).unwrap();
    let moved = deeds.iter().position(|one| *one == Deed::Target).unwrap();
    let object = deeds[..moved].iter().rposition(|one| *one == Deed::Object).unwrap();
    assert!(deeds[object..moved].contains(&Deed::Flush), "the objects may be lost: {deeds:?}");
    assert_eq!(at(Deed::Target), moved, "it moved once: {deeds:?}");
    let released = at(Deed::Claims);
    assert!(
        moved < released && deeds[moved..released].contains(&Deed::Flush),
        "the ref may be lost: {deeds:?}"
    );
}
