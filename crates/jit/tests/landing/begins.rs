//! Beginning work: in a worktree of its own, as soon as there is something to do, and with what there is to know.

use std::path::PathBuf;
use std::process::Command;

use holdfast_trial::{Answer, until};

use crate::ground::{Ground, pair};

#[test]
fn a_worktree_is_made_for_the_work() {
    let ground = Ground::new();
    let (first, second) = (ground.issue("first", &["--priority", "high"]), ground.issue("second", &[]));
    let begun = ground.bench.run("agent:w", &["--json", "start", "--worktree"]).ok().json();
    assert_eq!(begun["issue"]["id"], first.as_str());
    let root = PathBuf::from(begun["worktree"].as_str().unwrap());
    let handle = ground.bench.handle(&first);
    assert!(root.ends_with(&handle), "{}", root.display());
    assert_eq!(ground.git(&["branch", "--show-current"], &root), format!("jit/{handle}"));
    // Typed again it goes on there; the main worktree holds nothing.
    let again = ground.bench.run("agent:w", &["--json", "start", &first, "--worktree"]).ok().json();
    assert_eq!((&again["already_held"], &again["worktree"]), (&true.into(), &begun["worktree"]));
    std::fs::write(root.join("work"), "x\n").unwrap();
    ground.bench.run_at("agent:w", &["finish", "-a", "-m", "landed work"], &root).ok();
    assert_eq!(ground.told(&first), pair("done", "landed"));
    // What cannot be begun leaves nothing behind.
    ground.agent("b").run(&["start", &second]).ok();
    ground.bench.run("agent:w", &["start", &second, "--worktree"]).fails(4);
    assert!(!root.with_file_name(ground.bench.handle(&second)).exists());
    ground.bench.run("agent:w", &["start", "--worktree"]).fails(3);
}

/// A worktree that git was killed in while it made it is in nobody's way: another one is made, and the first can be taken away.
#[test]
fn a_worktree_that_was_half_made_keeps_nobody_from_the_issue() {
    use std::os::unix::process::CommandExt as _;
    let ground = Ground::new();
    let id = ground.issue("work", &[]);
    let (repo, reached) = (ground.bench.repo(), ground.bench.root().join("reached"));
    std::fs::write(repo.join(".git/info/attributes"), "code filter=slow\n").unwrap();
    let smudge = format!(": > '{}'; exec sleep 600", reached.display());
    ground.main(&["config", "filter.slow.smudge", &smudge]);
    let mut killed = ground.bench.command("agent:k", &["start", "--worktree"], &repo);
    let mut killed = killed.process_group(0).spawn().unwrap();
    until("git is at it", || reached.exists());
    let group = format!("-{}", killed.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    killed.wait().unwrap();
    ground.main(&["config", "--unset", "filter.slow.smudge"]);
    let begun = ground.bench.run("agent:w", &["--json", "start", "--worktree"]).ok().json();
    assert_eq!(begun["issue"]["id"], id.as_str());
    let root = PathBuf::from(begun["worktree"].as_str().unwrap());
    let half = root.with_file_name(ground.bench.handle(&id));
    assert_eq!(root, half.with_extension("2"));
    let again = ground.bench.run("agent:w", &["--json", "start", &id, "--worktree"]).ok().json();
    assert_eq!((&again["already_held"], &again["worktree"]), (&true.into(), &begun["worktree"]));
    std::fs::write(root.join("work"), "x\n").unwrap();
    ground.bench.run_at("agent:w", &["finish", "-a", "-m", "landed work"], &root).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    let fix = format!("jit worktree remove {}", half.display());
    let sick = ground.bench.run("agent:w", &["doctor"]);
    assert!(sick.stdout.contains(&fix) && sick.stdout.contains("is not finished"), "{sick}");
    let words: Vec<&str> = fix.split(' ').skip(1).collect();
    ground.bench.run("agent:w", &words).ok();
    assert!(!half.exists());
    assert!(!ground.bench.run("agent:w", &["doctor"]).stdout.contains("is not finished"));
}

/// Git looks at all worktrees before it goes to a branch, and gives up over one that is being made.
#[test]
fn whoever_makes_a_worktree_keeps_nobody_from_another_branch() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let ground = Ground::new();
    let id = ground.issue("work", &[]);
    let (repo, agent) = (ground.bench.repo(), ground.agent("a"));
    // Somebody wants to hear of branches, so that git has to go there.
    let hook = repo.join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let half = repo.join(".git/worktrees/half");
    std::fs::create_dir(&half).unwrap();
    std::fs::write(half.join("gitdir"), "/nowhere/.git\n").unwrap();
    std::fs::write(half.join("commondir"), "").unwrap();
    ground.try_git(&["switch", "-q", "-C", "other"], &agent.at).fails(128);
    let lock = ground.bench.control("locks/worktrees.lock");
    let held = std::fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    let begins = ground.bench.spawn("agent:a", &["--json", "start", &id], &agent.at);
    let number = format!(":{} ", held.metadata().unwrap().ino());
    let is_waited_for = |line: &str| line.contains("->") && line.contains(&number);
    until("it waits", || std::fs::read_to_string("/proc/locks").unwrap().lines().any(is_waited_for));
    std::fs::remove_dir_all(&half).unwrap();
    drop(held);
    let begun = Answer::from(begins.wait_with_output().unwrap()).ok().json();
    assert_eq!(begun["branch"], format!("jit/{}", ground.bench.handle(&id)));
}

/// What is over is not begun again by a slip; whoever wants that says so.
#[test]
fn what_is_over_is_not_begun_without_a_word() {
    let ground = Ground::new();
    let (done, rejected) = (ground.issue("done", &[]), ground.issue("rejected", &[]));
    let agent = ground.agent("a");
    agent.begin(&done, "work");
    agent.run(&["finish", "-a", "-m", "landed work"]).ok();
    ground.bench.jit(&["close", &rejected, "--as", "rejected"]).ok();
    for (id, word) in [(&done, "is done already"), (&rejected, "is rejected already")] {
        let handle = ground.bench.handle(id);
        let refused = agent.run(&["start", id]).fails(3);
        refused.says(&[word, &format!("jit reopen {handle}")]);
        assert!(!ground.is_held(id));
        agent.run(&["reopen", id, "--reason", "not good enough"]).ok();
        agent.run(&["start", id]).ok();
        agent.run(&["drop", id]).ok();
    }
}

#[test]
fn whoever_waits_begins_what_is_made_meanwhile() {
    let ground = Ground::new();
    let agent = ground.agent("w");
    let waits = ["--json", "start", "--wait", "60"];
    let child = ground.bench.spawn("agent:w", &waits, &agent.at);
    let claims = ["--json", "claim", "next", "--wait", "60", "--priority", "low"];
    let other = ground.bench.spawn("agent:v", &claims, &ground.bench.repo());
    let made = ground.issue("made", &["--priority", "high"]);
    let low = ground.issue("low", &["--priority", "low"]);
    let claimed = Answer::from(other.wait_with_output().unwrap()).ok().json();
    assert_eq!(claimed["lease"]["issue_id"], low.as_str());
    let begun = Answer::from(child.wait_with_output().unwrap()).ok().json();
    assert_eq!(begun["issue"]["id"], made.as_str());
    ground.bench.run("agent:x", &["start", "--another", "--wait", "1"]).fails(3);
}

/// Whoever waits for an issue waits for whoever works on it, who may finish it.
#[test]
fn what_was_finished_while_somebody_waited_for_it_is_not_begun_again() {
    let ground = Ground::new();
    let id = ground.issue("once", &[]);
    let (first, second) = (ground.agent("a"), ground.agent("b"));
    first.begin(&id, "work");
    let line = ground.bench.control("locks/wait").join(&id);
    let waits = ground.bench.spawn("agent:b", &["--json", "start", &id, "--wait", "60"], &second.at);
    until("it stands in line", || line.exists());
    first.run(&["finish", "-a", "-m", "work"]).ok();
    let refused = Answer::from(waits.wait_with_output().unwrap()).fails(3);
    refused.says(&["is done already", "jit reopen"]);
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "landed"), false));
}

/// Somebody who lost its claim leaves what it has on the branch, and is told; the others begin without that.
#[test]
fn whoever_was_displaced_begins_the_next_one() {
    let ground = Ground::new();
    let (first, second) = (ground.issue("first", &["--priority", "high"]), ground.issue("second", &[]));
    let (slow, other) = (ground.agent("a"), ground.agent("b"));
    slow.begin(&first, "work");
    slow.git(&["add", "-A"]);
    slow.git(&["commit", "-qm", "half of it"]);
    let branch = slow.git(&["branch", "--show-current"]);
    let lease = ground.shown(&first)["lease"]["lease_id"].as_str().unwrap().to_owned();
    ground.bench.jit(&["claim", "force-evict", &lease, "--reason", "it sleeps"]).ok();
    // As long as nobody else has begun it, what there is may still be gone on with.
    assert_eq!(slow.run(&["start", &second]).code, Some(4));
    other.run(&["start", &first]).ok();
    let begun = slow.run(&["--json", "start"]).ok();
    assert_eq!(begun.json()["issue"]["id"], second.as_str(), "{begun}");
    assert!(begun.stderr.contains(&format!("left {branch}, which keeps its commits")), "{begun}");
    assert_eq!(slow.git(&["log", "-1", "--format=%s", &branch]), "half of it");
}

/// Whoever comes back when its claim has ended goes on with what it has left, in commits or not, if it says with what.
#[test]
fn what_is_begun_again_where_it_was_begun_goes_on_there() {
    let ground = Ground::new();
    let (first, second) = (ground.issue("first", &[]), ground.issue("second", &["--priority", "high"]));
    let agent = ground.agent("a");
    let handle = ground.bench.handle(&first);
    let evicted = || {
        let lease = ground.shown(&first)["lease"]["lease_id"].as_str().unwrap().to_owned();
        ground.bench.jit(&["claim", "force-evict", &lease, "--reason", "it sleeps"]).ok();
    };
    agent.begin(&first, "work");
    // What is held is finished first.
    agent
        .run(&["start", &second])
        .fails(4)
        .says(&["in no commit: work", &format!("jit finish {handle} first")]);
    evicted();
    for (left, why) in
        [("git stash -u -- ':!.jit'", "in no commit: work"), ("git switch --detach main", "is not on main")]
    {
        let advice = format!("jit start {handle} goes on with it; to leave it: {left}");
        agent.run(&["start"]).fails(4).says(&[why, &advice]);
        agent.run(&["start", &second]).fails(4).says(&[why, &advice]);
        let begun = agent.run(&["--json", "start", &first]).ok();
        assert_eq!(begun.json()["branch"], format!("jit/{handle}"));
        assert!(begun.stderr.contains(&format!("goes on with {handle} as this worktree is")), "{begun}");
        assert!(begun.stderr.contains(why), "{begun}");
        evicted();
        agent.git(&["add", "work"]);
        agent.git(&["commit", "-q", "--allow-empty", "-m", "half of it"]);
    }
    std::fs::write(agent.at.join("more"), "x\n").unwrap();
    agent.run(&["start", &first]).ok();
    agent.run(&["finish", "-a", "-m", "all of it"]).ok();
    assert_eq!(ground.told(&first), pair("done", "landed"));
    assert_eq!(ground.main(&["ls-tree", "--name-only", "main", "work", "more"]), "more\nwork");
}

/// The advice for whoever does not want what is left works as printed.
#[test]
fn what_is_left_can_be_left() {
    let ground = Ground::new();
    let (first, second) = (ground.issue("first", &[]), ground.issue("second", &[]));
    let agent = ground.agent("a");
    agent.begin(&first, "work");
    ground.bench.jit(&["claim", "force-evict", &first, "--reason", "it sleeps"]).ok();
    agent.git(&["stash", "-u", "--", ":!.jit"]);
    agent.run(&["start", &second]).ok();
    agent.run(&["drop"]).ok();
    agent.run(&["start", &first]).ok();
    agent.git(&["stash", "pop"]);
    agent.git(&["add", "work"]);
    agent.git(&["commit", "-qm", "half of it"]);
    ground.bench.jit(&["claim", "force-evict", &first, "--reason", "it sleeps"]).ok();
    agent.git(&["switch", "--detach", "main"]);
    agent.run(&["start", &second]).ok();
    assert_eq!(
        ground.main(&["log", "-1", "--format=%s", &format!("jit/{}", ground.bench.handle(&first))]),
        "half of it"
    );
}

/// What was begun and given back, or lost, is no part of what is finished after it, unless a commit has it: that may have the
/// work, too.
#[test]
fn what_was_given_back_before_lands_with_nothing_else() {
    for by_hand in [false, true] {
        let ground = Ground::new();
        let [given, lost, done] = ["given", "lost", "done"].map(|title| ground.issue(title, &[]));
        let file = |id: &str| format!(".jit/issues/{id}/issue.json");
        let at_first = ground.main(&["show", &format!("main:{}", file(&lost))]);
        let agent = ground.agent("a");
        agent.run(&["start", &given]).ok();
        agent.run(&["drop"]).ok();
        agent.run(&["start", &lost]).ok();
        ground.bench.jit(&["claim", "force-evict", &lost, "--reason", "it sleeps"]).ok();
        agent.run(&["start", &done]).ok();
        agent.write("work", "x\n");
        if by_hand {
            agent.git(&["add", "work", &file(&given), &file(&lost)]);
            agent.git(&["commit", "-qm", "half of it"]);
            let finish = ["finish", &done, "-a", "-m", "all of it"];
            agent.run(&finish).fails(6).says(&["changes issues besides", &given, &lost]);
            agent.run(&[&finish[..], &["--with", &given, "--with", &lost]].concat()).ok();
            assert_eq!(ground.told(&done), pair("done", "landed"));
            continue;
        }
        agent.run(&["finish", &done, "-a", "-m", "all of it"]).ok();
        assert_eq!(ground.told(&done), pair("done", "landed"));
        assert_eq!(ground.main(&["show", &format!("main:{}", file(&lost))]), at_first);
        assert_eq!(agent.git(&["status", "--porcelain"]), "");
        // What somebody has said of another issue still asks for a word.
        agent.run(&["claim", "acquire", &given]).ok();
        agent.run(&["issue", "update", &given, "--priority", "high"]).ok();
        agent.run(&["claim", "release", &given]).ok();
        let more = ground.issue("more", &[]);
        agent.begin(&more, "more");
        agent.run(&["finish", "-a", "-m", "more"]).fails(6).says(&["changes issues besides", &given]);
        agent.run(&["finish", "-a", "-m", "more", "--with", &given]).ok();
        assert_eq!(ground.shown(&given)["issue"]["priority"], "high");
    }
}

/// What was available when it was looked at may be done before the worktree for it is made.
#[test]
fn what_was_finished_meanwhile_is_passed_over() {
    let ground = Ground::new();
    let (done, next) = (ground.issue("done", &["--priority", "high"]), ground.issue("next", &[]));
    let faster = ground.agent("a");
    let hook = ground.bench.repo().join(".git/hooks/post-checkout");
    let text = format!(
        "#!/bin/sh\n[ -e '{0}' ] && exit 0\n: > '{0}'\n\
         for name in $(git rev-parse --local-env-vars); do unset $name; done\n\
         export JIT_AGENT_ID=agent:a; cd '{1}'\n\
         '{2}' start {done} && echo x > work && '{2}' finish -a -m work\n",
        ground.bench.root().join("once").display(),
        faster.at.display(),
        crate::bench::JIT,
    );
    std::fs::write(&hook, text).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let begun = ground.bench.run("agent:w", &["--json", "start", "--worktree"]).ok().json();
    assert_eq!(begun["issue"]["id"], next.as_str(), "{begun}");
    assert_eq!((ground.told(&done), ground.is_held(&done)), (pair("done", "landed"), false));
}

#[test]
fn a_briefing_says_where_dependencies_landed() {
    let ground = Ground::new();
    let dep = ground.issue("dep", &[]);
    let work = ground.issue("work", &["--depends-on", &dep]);
    let agent = ground.agent("a");
    agent.begin(&dep, "landed");
    agent.run(&["finish", "-a", "-m", "landed dep"]).ok();
    let tip: String = ground.main(&["rev-parse", "main"]).chars().take(10).collect();
    let told = agent.run(&["start", &work]).ok().stdout;
    assert!(told.contains(&format!("dep (done, landed on main as {tip})")), "{told}");
}

#[test]
fn an_issue_on_several_branches_shows_all_of_them() {
    let ground = Ground::new();
    let id = ground.issue("twice", &[]);
    let (a, b) = (ground.agent("a"), ground.agent("b"));
    a.begin(&id, "one");
    a.run(&["finish", "-a", "-m", "one", "--no-land"]).ok();
    let first = a.git(&["branch", "--show-current"]);
    a.git(&["switch", "-q", "--detach"]);
    ground.bench.jit(&["reopen", &id]).ok();
    b.begin(&id, "two");
    b.run(&["finish", "-a", "-m", "two", "--no-land"]).ok();
    let second = b.git(&["branch", "--show-current"]);
    assert_ne!(first, second);
    let shown = ground.shown(&id);
    let branches: Vec<&str> =
        shown["branches"].as_array().unwrap().iter().map(|one| one["branch"].as_str().unwrap()).collect();
    assert_eq!(branches, [second.as_str(), first.as_str()], "the highest fence first: {shown}");
    let text = ground.bench.jit(&["show", &id]).ok().stdout;
    assert!(text.contains(&format!("also on {first} (done, fence ")), "{text}");
}

/// A file of the tracker that one side took away is not joined with nothing.
#[test]
fn what_one_side_took_away_is_a_conflict() {
    let ground = Ground::new();
    std::fs::write(ground.bench.repo().join(".jit/list.jsonl"), "{\"a\":1}\n").unwrap();
    let id = ground.issue("work", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    std::fs::write(agent.at.join(".jit/list.jsonl"), "{\"a\":1}\n{\"b\":2}\n").unwrap();
    agent.git(&["add", "-A"]);
    agent.git(&["commit", "-qm", "a line more"]);
    ground.main(&["rm", "-q", ".jit/list.jsonl"]);
    ground.main(&["commit", "-qm", "no list"]);
    let refused = agent.run(&["--json", "finish", "-m", "landed"]).fails(4).json();
    assert_eq!(refused["error"]["code"], "LAND_CONFLICT", "{refused}");
    assert!(
        ground.main(&["ls-tree", "-r", "--name-only", "main"]).lines().all(|path| path != ".jit/list.jsonl")
    );
    assert!(ground.is_held(&id));
}
