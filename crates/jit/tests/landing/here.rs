//! What is done without the git program is what git would have done: branches that are begun, commits that land, branches
//! that go along. Where somebody wants to know of it, or refs are kept otherwise, git does it.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use holdfast_trial::{Answer, StandIn, has};

use crate::bench::JIT;
use crate::ground::{Agent, Ground, pair};

/// Notes what git is asked for.
const NOTES: &str = r#"#!/bin/sh
echo "$*" >>"$CUT_DIR/calls"
exec "$CUT_GIT" "$@"
"#;

/// Runs a command, and says what it asked of git.
fn asked(agent: &Agent<'_>, args: &[&str]) -> Vec<String> {
    let git = StandIn::new(NOTES);
    let mut command = agent.ground.bench.command(&agent.name, args, &agent.at);
    git.dress(&mut command, 0, "");
    Answer::from(command.output().unwrap()).ok();
    let calls = std::fs::read_to_string(git.file("calls")).unwrap_or_default();
    calls.lines().map(ToOwned::to_owned).collect()
}

/// The logs of refs without who moved them and when.
fn moves(agent: &Agent<'_>, name: &str) -> Vec<String> {
    let log = agent.git(&["rev-parse", "--path-format=absolute", "--git-path", &format!("logs/{name}")]);
    let text = std::fs::read_to_string(PathBuf::from(log)).unwrap();
    let one = |line: &str| {
        // A move without a word has no place for one.
        let (by, why) = line.split_once('\t').unwrap_or((line, ""));
        let ids: Vec<&str> = by.split(' ').take(2).collect();
        assert!(by.contains("<t@example.org> "), "{by}");
        format!("{} {why}", ids.join(" "))
    };
    text.lines().map(one).collect()
}

fn asks_for(calls: &[String], word: &str) -> bool {
    calls.iter().any(|call| call.split(' ').any(|one| one == word))
}

/// Begins and lands an issue; gives what was asked of git for each.
fn lands(ground: &Ground, agent: &Agent<'_>, file: &str) -> [Vec<String>; 2] {
    let id = ground.issue(file, &[]);
    agent.git(&["switch", "-q", "--detach", "main"]);
    let (name, at) = (format!("jit/{}", ground.bench.handle(&id)), ground.main(&["rev-parse", "main"]));
    let began = asked(agent, &["start", &id]);
    assert_eq!(agent.git(&["symbolic-ref", "HEAD"]), format!("refs/heads/{name}"));
    assert_eq!(agent.git(&["rev-parse", "HEAD"]), at);
    assert_eq!(agent.git(&["status", "--porcelain", "--", ":!.jit"]), "");
    let none = "0".repeat(40);
    let why = format!("checkout: moving from HEAD to {name}");
    if !asks_for(&began, "switch") {
        assert_eq!(moves(agent, "HEAD").last(), Some(&format!("{at} {at} {why}")));
        assert_eq!(moves(agent, &format!("refs/heads/{name}")), [format!("{none} {at} {why}")]);
    }
    agent.write(file, "work\n");
    agent.git(&["add", file]);
    agent.git(&["commit", "-q", "--author", "Zoë O'Hara <z@example.org>", "-m", &format!("landed {file}")]);
    let work = agent.git(&["rev-parse", "HEAD"]);
    let finished = asked(agent, &["finish", &id]);
    let tip = ground.main(&["rev-parse", "main"]);
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert_eq!(ground.main(&["log", "-1", "--format=%an %ae %cn", "main"]), "Zoë O'Hara z@example.org t");
    assert_eq!(agent.git(&["rev-parse", "HEAD"]), tip);
    for log in ["HEAD", &format!("refs/heads/{name}")] {
        assert_eq!(moves(agent, log).last(), Some(&format!("{work} {tip} jit: landed")), "{log}");
    }
    assert_eq!(moves(agent, "refs/heads/main").last(), Some(&format!("{at} {tip} jit: landed")));
    assert!(ground.is_clean() && agent.git(&["status", "--porcelain", "--", ":!.jit"]).is_empty());
    ground.main(&["fsck", "--strict", "--no-dangling"]);
    [began, finished]
}

#[test]
fn what_is_plain_is_done_without_git() {
    let ground = Ground::new();
    let [began, finished] = lands(&ground, &ground.agent("a"), "work");
    assert_eq!(began, Vec::<String>::new());
    let words: Vec<&str> = finished.iter().filter_map(|call| call.split(' ').next()).collect();
    assert_eq!(words, ["read-tree", "read-tree"], "{finished:?}");
}

#[test]
fn whoever_wants_to_know_of_refs_that_move_is_told() {
    let ground = Ground::new();
    let (hook, told) = (ground.bench.repo().join(".git/hooks/reference-transaction"), ground.bench.root());
    let told = told.join("told");
    std::fs::write(&hook, format!("#!/bin/sh\n[ $1 = committed ] && cat >>'{}'\nexit 0\n", told.display()))
        .unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let [began, finished] = lands(&ground, &ground.agent("a"), "work");
    assert!(asks_for(&began, "update-ref") && asks_for(&finished, "update-ref"), "{began:?} {finished:?}");
    let told = std::fs::read_to_string(told).unwrap();
    for name in ["refs/heads/jit/", " refs/heads/main"] {
        assert!(told.contains(name), "{name}: {told}");
    }
}

/// A hook for what is checked out is told of a branch that is begun.
#[test]
fn whoever_wants_to_know_of_checkouts_is_told() {
    let ground = Ground::new();
    let (hook, told) = (ground.bench.repo().join(".git/hooks/post-checkout"), ground.bench.root());
    let told = told.join("told");
    std::fs::write(&hook, format!("#!/bin/sh\necho $3 >>'{}'\n", told.display())).unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let (agent, before) = (ground.agent("a"), std::fs::read_to_string(&told).unwrap_or_default());
    let [began, _] = lands(&ground, &agent, "work");
    assert!(asks_for(&began, "switch"), "{began:?}");
    let after = std::fs::read_to_string(&told).unwrap();
    // Once for the way to the target, once for the branch.
    assert_eq!(after.lines().count(), before.lines().count() + 2, "{after}");
}

#[test]
fn texts_that_only_git_can_write_are_written_by_git() {
    let ground = Ground::new();
    ground.main(&["config", "i18n.commitEncoding", "ISO-8859-1"]);
    let [began, finished] = lands(&ground, &ground.agent("a"), "work");
    assert!(began.is_empty() && asks_for(&finished, "commit-tree"), "{began:?} {finished:?}");
}

/// Without logs of refs there are none afterwards either.
#[test]
fn where_moves_are_not_logged_none_are() {
    let ground = Ground::new();
    ground.main(&["config", "core.logAllRefUpdates", "false"]);
    let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
    let log = |name: &str| {
        let path = agent.git(&["rev-parse", "--path-format=absolute", "--git-path", &format!("logs/{name}")]);
        std::fs::read_to_string(path).ok()
    };
    let before = log("HEAD");
    assert_eq!(asked(&agent, &["start", &id]), Vec::<String>::new());
    let name = format!("refs/heads/jit/{}", ground.bench.handle(&id));
    assert_eq!((agent.git(&["symbolic-ref", "HEAD"]), log(&name)), (name, None));
    // A log that is there is gone on with.
    assert_eq!(
        before.is_some(),
        log("HEAD").is_some_and(|now| before.is_some_and(|then| now.len() > then.len()))
    );
}

/// Somebody's branch of that name stays where it is.
#[test]
fn a_branch_that_is_there_is_not_moved() {
    let ground = Ground::new();
    let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
    let name = format!("jit/{}", ground.bench.handle(&id));
    agent.git(&["switch", "-q", "-c", &name]);
    agent.git(&["commit", "-q", "--allow-empty", "-m", "theirs"]);
    let theirs = agent.git(&["rev-parse", "HEAD"]);
    agent.git(&["switch", "-q", "--detach", "main"]);
    agent.run(&["start", &id]).ok();
    let own = agent.git(&["branch", "--show-current"]);
    assert!(own.starts_with(&format!("{name}-")), "{own}");
    assert_eq!(ground.main(&["rev-parse", &name]), theirs);
    // One that has nothing of its own is gone to.
    let other = ground.issue("other", &[]);
    let name = format!("jit/{}", ground.bench.handle(&other));
    agent.run(&["drop"]).ok();
    agent.git(&["switch", "-q", "--detach", "main"]);
    ground.main(&["branch", &name, "main"]);
    agent.run(&["start", &other]).ok();
    assert_eq!(agent.git(&["branch", "--show-current"]), name);
}

/// Where `jit` is a branch there can be none in it: nothing is claimed, and git's words say why.
#[test]
fn a_branch_in_the_place_of_all_others_is_told_of() {
    for is_packed in [false, true] {
        let ground = Ground::new();
        let (id, agent) = (ground.issue("work", &[]), ground.agent("a"));
        ground.main(&["branch", "jit"]);
        if is_packed {
            ground.main(&["pack-refs", "--all"]);
        }
        let refused = agent.run(&["start", &id]);
        assert!(refused.code != Some(0) && refused.stderr.contains("refs/heads/jit"), "{refused}");
        assert!(!ground.is_held(&id), "packed: {is_packed}");
        ground.main(&["branch", "-q", "-D", "jit"]);
        agent.run(&["start", &id]).ok();
    }
}

/// Runs a command that is killed when it is about to change this file.
fn killed_at(agent: &Agent<'_>, args: &[&str], path: &str, calls: &str) {
    let mut strace = agent.ground.bench.dressed(Command::new("strace"));
    let inject = format!("inject={calls}:signal=KILL:when=1");
    strace.args(["-qq", "-o", "/dev/null", "-P", path, "-e", &inject, JIT]).args(args);
    strace.current_dir(&agent.at).env("JIT_AGENT_ID", &agent.name);
    let output = strace.output().unwrap();
    assert!(output.status.code().is_none_or(|code| code == 137), "{}", Answer::of_any(&output));
}

/// Killed before the lock of a ref has its content, before the ref has its name, and between the branch and HEAD: typed
/// again it is on the branch, and no lock is left.
#[test]
fn whoever_is_killed_while_it_branches_off_goes_on() {
    if !has("strace") {
        return;
    }
    let ground = Ground::new();
    let agent = ground.agent("a");
    let renames = "?rename,?renameat,?renameat2";
    for (number, (file, calls)) in
        [("branch", "pwrite64"), ("branch", renames), ("head", "pwrite64"), ("head", renames)]
            .iter()
            .enumerate()
    {
        let work = format!("work-{number}");
        let id = ground.issue(&work, &[]);
        agent.git(&["switch", "-q", "--detach", "main"]);
        let name = format!("jit/{}", ground.bench.handle(&id));
        let path = |name: &str| {
            let path = agent.git(&["rev-parse", "--path-format=absolute", "--git-path", name]);
            PathBuf::from(format!("{path}.lock"))
        };
        let locks = [path(&format!("refs/heads/{name}")), path("HEAD")];
        let struck = &locks[usize::from(*file == "head")];
        // A file is known by the name of its descriptor only once it is there; the call names it.
        killed_at(&agent, &["start", &id], struck.to_str().unwrap(), calls);
        let context = format!("{calls} of {}", struck.display());
        assert!(struck.exists(), "{context}: it died elsewhere");
        assert!(ground.is_held(&id), "{context}");
        let has_branch = ground.try_git(&["rev-parse", "-q", "--verify", &name], &agent.at).code == Some(0);
        assert_eq!(has_branch, *file == "head" && *calls == renames, "{context}");
        let again = agent.run(&["--json", "start", &id]).ok().json();
        assert_eq!(again["branch"], name.as_str(), "{context}");
        assert_eq!(agent.git(&["branch", "--show-current"]), name, "{context}");
        assert!(locks.iter().all(|lock| !lock.exists()), "{context}: a lock is left");
        agent.write(&work, "work\n");
        agent.run(&["finish", "-a", "-m", &format!("landed {work}")]).ok();
        assert_eq!(ground.told(&id), pair("done", "landed"), "{context}");
        assert!(ground.is_clean(), "{context}");
    }
    ground.main(&["fsck", "--strict", "--no-dangling"]);
}
