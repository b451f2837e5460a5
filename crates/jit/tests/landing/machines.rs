//! Several clones of one bare repository that share their claims on a ref of it: nothing is done twice, whoever dies,
//! and a holder who was displaced gets nothing past the server, which has no hook of ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_trial::{Answer, has, until};

use crate::bench::JIT;
use crate::ground::Ground;

/// A repository with an origin that keeps the claims, which the origin's main branch says.
pub(crate) fn shared() -> Ground {
    let ground = Ground::with_origin();
    ground.bench.jit(&["config", "set", "coordination.skew_secs", "1"]).ok();
    ground.bench.jit(&["engine", "init", "git"]).ok();
    ground.commit("one engine for all");
    ground.main(&["push", "-q", "origin", "main"]);
    ground
}

/// Another clone of the origin.
pub(crate) fn clone(ground: &Ground, name: &str) -> PathBuf {
    let at = ground.bench.root().join(name);
    ground.git(&["clone", "-q", ground.origin().to_str().unwrap(), name], ground.bench.root());
    at
}

pub(crate) fn issues(ground: &Ground, count: usize) -> Vec<String> {
    let create = |number| {
        let title = format!("task-{number}");
        ground.bench.jit(&["-q", "create", "--title", &title]).ok().stdout.trim().to_owned()
    };
    let ids = (0..count).map(create).collect();
    ground.commit("tasks");
    ground.main(&["push", "-q", "origin", "main"]);
    ids
}

/// The code of an error that was printed as JSON.
pub(crate) fn error(answer: &Answer) -> String {
    answer.json()["error"]["code"].as_str().unwrap().to_owned()
}

/// The subjects of the commits that the origin's main branch has, the oldest first.
pub(crate) fn landed(ground: &Ground) -> Vec<String> {
    let log = ground.git(&["log", "--reverse", "--format=%s", "main"], &ground.origin());
    log.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn what_one_clone_claims_no_other_gets() {
    let ground = shared();
    let ids = issues(&ground, 2);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    run("agent:x", &["claim", "acquire", &ids[0]], &one).ok();
    let refused = run("agent:y", &["--json", "claim", "acquire", &ids[0]], &two);
    assert_eq!(refused.code, Some(4), "{refused}");
    let next = run("agent:y", &["--json", "claim", "next"], &two).ok().json();
    assert_eq!(next["lease"]["issue_id"], *ids[1]);
    assert_eq!(run("agent:x", &["claim", "next"], &one).code, Some(3));
    // The same agent in the same kind of place is another holder in another clone.
    assert_eq!(run("agent:x", &["claim", "release", &ids[0]], &two).code, Some(4));
    run("agent:x", &["claim", "renew", &ids[0]], &one).ok();
    run("agent:x", &["claim", "release", &ids[0]], &one).ok();
    run("agent:y", &["engine", "status", "--fresh"], &two).ok();
    let history = run("agent:y", &["--json", "claim", "history"], &two).ok().json();
    assert_eq!(history["count"], 4, "{history}");
    let listed = run("agent:y", &["claim", "list"], &two).ok().stdout;
    assert!(listed.contains("claims as of"), "{listed}");
    run("agent:y", &["validate", "leases"], &two).ok();
    run("agent:y", &["engine", "check"], &two).ok();
}

#[test]
fn what_is_shown_is_what_was_last_seen_unless_the_server_is_to_be_asked() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    const READS: [&[&str]; 5] =
        [&["status"], &["claim", "list"], &["claim", "status"], &["list"], &["query", "all"]];
    for read in READS {
        let said = run("agent:y", read, &two).ok().stdout;
        assert!(!said.contains("agent:x") && said.contains("claims as of"), "{read:?}: {said}");
    }
    run("agent:x", &["claim", "acquire", &id], &one).ok();
    for read in READS {
        // It was seen a moment ago, so nobody is asked.
        let said = run("agent:y", read, &two).ok().stdout;
        assert!(!said.contains("agent:x"), "{read:?}: {said}");
    }
    for read in READS {
        let fresh = [read, &["--fresh"]].concat();
        let said = run("agent:y", &fresh, &two).ok().stdout;
        assert!(said.contains("agent:x"), "{fresh:?}: {said}");
    }
    let away = ground.bench.root().join("away.git");
    std::fs::rename(ground.origin(), &away).unwrap();
    for read in READS {
        run("agent:y", read, &two).ok();
        let refused = run("agent:y", &[&["--json"], read, &["--fresh"]].concat(), &two);
        assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{read:?}: {refused}");
    }
    // Where claims are this clone's own there is nobody to ask.
    let single = Ground::new();
    for read in READS {
        single.bench.jit(&[read, &["--fresh"]].concat()).ok();
    }
}

#[test]
fn a_worktree_without_the_configuration_uses_the_claims_of_its_clone() {
    let ground = Ground::with_origin();
    let before = ground.main(&["rev-parse", "main"]);
    ground.bench.jit(&["engine", "init", "git"]).ok();
    ground.bench.jit(&["engine", "init", "git"]).ok();
    ground.commit("one engine for all");
    let id = issues(&ground, 1).remove(0);
    let old = ground.bench.root().join("old");
    ground.main(&["worktree", "add", "-q", "--detach", old.to_str().unwrap(), &before]);
    let two = clone(&ground, "two");
    ground.bench.run_at("agent:y", &["claim", "acquire", &id], &two).ok();
    let refused = ground.bench.run_at("agent:x", &["claim", "acquire", &id], &old);
    assert_eq!(refused.code, Some(4), "{refused}");
}

#[test]
fn a_register_is_made_once_and_never_over_claims_that_nobody_else_knows() {
    let ground = Ground::with_origin();
    let id = issues(&ground, 1).remove(0);
    let other = clone(&ground, "other");
    ground.bench.jit(&["claim", "acquire", &id]).ok();
    let refused = ground.bench.jit(&["--json", "engine", "init", "git"]);
    assert_eq!((refused.code, &*error(&refused)), (Some(4), "LOCAL_CLAIMS"), "{refused}");
    ground.bench.jit(&["claim", "release", &id]).ok();
    ground.bench.jit(&["engine", "init", "git"]).ok();
    // The other clone has not heard of it: it may not make a second one, and its configuration stays as it was.
    let refused = ground.bench.run_at("agent:y", &["--json", "engine", "init", "git"], &other);
    assert_eq!((refused.code, &*error(&refused)), (Some(4), "MOVED"), "{refused}");
    assert!(!other.join(".jit/config.toml").exists());
    // A configuration that names a place where nothing is makes nothing there.
    let config = "[coordination]\nengine = \"git\"\ncounter = \"01K8AAAAAADRAW000000000001\"\nref = \"refs/jit/none\"\n";
    std::fs::write(other.join(".jit/config.toml"), config).unwrap();
    let refused = ground.bench.run_at("agent:y", &["--json", "claim", "next"], &other);
    assert_eq!(error(&refused), "NO_REGISTER", "{refused}");
    assert_eq!(ground.git(&["for-each-ref", "refs/jit/none"], &ground.origin()), "");
}

#[test]
fn a_displaced_holder_gets_nothing_past_the_server() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let branch = |at: &Path, name: &str| {
        let path = ground.bench.root().join(name);
        ground.git(&["worktree", "add", "-q", "--detach", path.to_str().unwrap(), "main"], at);
        path
    };
    let (slept, awake) = (branch(&one, "slept"), branch(&two, "awake"));
    run("agent:x", &["start", &id], &slept).ok();
    std::fs::write(slept.join("task"), "by x\n").unwrap();
    run("agent:y", &["claim", "force-evict", &id, "--reason", "it sleeps"], &awake).ok();
    run("agent:y", &["start", &id], &awake).ok();
    // What the first one last saw of the claims still says that it holds the issue: the server says no.
    let late = run("agent:x", &["--json", "finish", "-a", "-m", "too late"], &slept);
    assert_eq!(late.code, Some(5), "{late}");
    assert!(!landed(&ground).contains(&"too late".to_owned()));
    std::fs::write(awake.join("task"), "by y\n").unwrap();
    ground.git(&["add", "-A"], &awake);
    ground.git(&["commit", "-q", "-m", "in time"], &awake);
    let pushed = run("agent:y", &["--json", "push"], &awake).ok().json();
    assert_eq!((&pushed["fenced"], &pushed["changed"]), (&true.into(), &true.into()), "{pushed}");
    assert_eq!(run("agent:x", &["push"], &slept).code, Some(5));
    run("agent:y", &["finish", "-a", "-m", "in time"], &awake).ok();
    assert_eq!(run("agent:x", &["finish", "-a", "-m", "too late"], &slept).code, Some(5));
    assert_eq!(landed(&ground).iter().filter(|subject| *subject == "in time").count(), 1);
    assert_eq!(ground.git(&["show", "main:task"], &ground.origin()), "by y");
    assert_eq!(ground.git(&["for-each-ref", "refs/jit/staged"], &ground.origin()), "");
}

#[test]
fn whoever_may_not_push_is_told_what_helps() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (home, two) = (clone(&ground, "home"), clone(&ground, "two"));
    let one = ground.bench.root().join("one");
    ground.git(&["worktree", "add", "-q", "--detach", one.to_str().unwrap(), "main"], &home);
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let commit = |at: &Path, what: &str| {
        std::fs::write(at.join(what), what).unwrap();
        ground.git(&["add", "-A"], at);
        ground.git(&["commit", "-q", "-m", what], at);
    };
    let refused = |hint: &[&str]| {
        let said = run("agent:x", &["--json", "push"], &one);
        assert_eq!(error(&said), "PUSH_REFUSED", "{said}");
        let told = said.json()["error"]["hint"].as_str().unwrap().to_owned();
        assert!(hint.iter().all(|part| told.contains(part)) && !told.contains("landing.via"), "{told}");
    };
    run("agent:x", &["start", &id], &one).ok();
    commit(&one, "mine");
    run("agent:x", &["claim", "release", &id], &one).ok();
    run("agent:y", &["claim", "acquire", &id], &two).ok();
    run("agent:y", &["claim", "release", &id], &two).ok();
    refused(&["jit claim acquire"]);
    run("agent:x", &["claim", "acquire", &id], &one).ok();
    run("agent:x", &["push"], &one).ok();
    // Somebody else has pushed to the branch.
    let branch = ground.git(&["branch", "--show-current"], &one);
    ground.git(&["fetch", "-q", "origin", &branch], &two);
    ground.git(&["switch", "-q", "--detach", "FETCH_HEAD"], &two);
    commit(&two, "theirs");
    ground.git(&["push", "-q", "origin", &format!("HEAD:{branch}")], &two);
    commit(&one, "more");
    let pull = ["pull", "--rebase", "origin", branch.as_str()];
    refused(&[&format!("git {}", pull.join(" "))]);
    ground.git(&pull, &one);
    run("agent:x", &["push"], &one).ok();
    // A rule of the server.
    commit(&one, "most");
    ground.git(&["config", "receive.hideRefs", &format!("refs/heads/{branch}")], &ground.origin());
    refused(&["git switch -c"]);
}

#[test]
fn without_the_server_what_is_held_can_be_used_and_nothing_is_taken() {
    let ground = shared();
    let ids = issues(&ground, 2);
    let one = clone(&ground, "one");
    let run = |args: &[&str]| ground.bench.run_at("agent:x", args, &one);
    run(&["claim", "acquire", &ids[0]]).ok();
    let (origin, away) = (ground.origin(), ground.bench.root().join("away.git"));
    std::fs::rename(&origin, &away).unwrap();
    run(&["issue", "update", &ids[0], "--priority", "high"]).ok();
    let refused = run(&["--json", "claim", "next"]);
    assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{refused}");
    assert!(run(&["status"]).ok().stdout.contains("agent:x (you)"));
    assert_eq!(run(&["engine", "check"]).code, Some(7));
    std::fs::rename(&away, &origin).unwrap();
    let next = run(&["--json", "claim", "next"]).ok().json();
    assert_eq!(next["lease"]["issue_id"], *ids[1]);
}

#[test]
fn a_server_that_refuses_is_quoted_and_the_work_stays() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let agent = ground.agent("x");
    agent.begin(&id, "task");
    let hook = ground.origin().join("hooks/update");
    let script = "#!/bin/sh\ncase $1 in refs/heads/main) echo no pushes on a friday; exit 1;; esac\n";
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    let refused = agent.run(&["--json", "finish", "-a", "-m", "task"]);
    assert_eq!(error(&refused), "PUSH_REFUSED", "{refused}");
    // Which ref it was and why, not that the others went with it.
    let said =
        "refs/heads/main was refused: [remote rejected] (hook declined); remote: no pushes on a friday";
    assert!(refused.stdout.contains(said) && !refused.stdout.contains("atomic"), "{refused}");
    std::fs::remove_file(&hook).unwrap();
    agent.run(&["finish", "-a", "-m", "task"]).ok();
    assert!(landed(&ground).contains(&"task".to_owned()));
}

/// The others would be granted what they have not seen land.
#[test]
fn what_landed_here_alone_says_so_and_stays_claimed_until_it_is_pushed() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    run("agent:x", &["claim", "acquire", &id], &one).ok();
    std::fs::write(one.join("task"), "done\n").unwrap();
    std::fs::write(two.join("other"), "done\n").unwrap();
    ground.git(&["add", "other"], &two);
    ground.git(&["commit", "-q", "-m", "in between"], &two);
    ground.git(&["push", "-q", "--no-verify", "origin", "main"], &two);
    let finish = ["finish", &id, "-a", "-m", "task"];
    let said = run("agent:x", &finish, &one).ok();
    assert!(said.stdout.starts_with("landed ") && said.stdout.contains(" here on main ("), "{said}");
    assert!(said.stdout.contains("not pushed, and still claimed: task-0"), "{said}");
    assert!(said.stderr.contains("main has moved there: jit sync, then jit finish again"), "{said}");
    assert!(!landed(&ground).contains(&"task".to_owned()));
    assert_eq!(run("agent:y", &["claim", "acquire", &id], &two).code, Some(4));
    // What the others have put there is known by then, and not thrown away.
    let said = run("agent:x", &[&["--json"], &finish[..]].concat(), &one).ok().json();
    assert_eq!(
        (&said["finished"]["outcome"], &said["finished"]["branch"]),
        (&"landed-here".into(), &"main".into())
    );
    run("agent:x", &["sync"], &one).ok();
    let said = run("agent:x", &finish, &one).ok().stdout;
    assert!(said.contains(" on main (") && !said.contains("not pushed"), "{said}");
    assert_eq!(landed(&ground)[landed(&ground).len() - 2..], ["in between", "task"]);
    assert!(run("agent:x", &["claim", "list"], &one).ok().stdout.contains("no claims"));
}

/// What a claim asks of git, and how often it waits for the disk.
#[test]
fn a_claim_is_one_push_and_one_flush() {
    if !has("strace") {
        return;
    }
    for (name, asked) in
        [("refs/worktree/jit/claims", &["push"][..]), ("refs/jit/claims", &["push", "ls-remote"])]
    {
        let ground = Ground::with_origin();
        ground.bench.jit(&["engine", "init", "git", "--ref", name]).ok();
        ground.commit("one engine for all");
        ground.main(&["push", "-q", "origin", "main"]);
        let ids = issues(&ground, 2);
        let repo = ground.bench.repo();
        ground.bench.run_at("agent:x", &["claim", "acquire", &ids[0]], &repo).ok();
        let log = ground.bench.root().join("calls");
        let mut strace = ground.bench.dressed(Command::new("strace"));
        strace.args(["-f", "-qq", "-o", log.to_str().unwrap(), "-e", "trace=execve,fsync,fdatasync,syncfs"]);
        strace.args([JIT, "claim", "acquire", &ids[1]]).env("JIT_AGENT_ID", "agent:x").current_dir(&repo);
        Answer::from(strace.output().unwrap()).ok();
        let calls = std::fs::read_to_string(&log).unwrap();
        let jit = calls.split_whitespace().next().unwrap();
        let flushes = calls.lines().filter(|line| line.starts_with(jit) && line.contains("sync(")).count();
        let words = |line: &str| line.split('"').map(ToOwned::to_owned).collect::<Vec<_>>();
        let git: Vec<String> = calls
            .lines()
            .filter(|line| line.contains("[\"git\", ") && !line.contains("ENOENT"))
            .map(|line| words(line)[5].clone())
            .collect();
        assert_eq!((git, flushes), (asked.iter().map(ToString::to_string).collect(), 1), "{name}\n{calls}");
    }
}

/// The file in which a clone has what it saw last of the claims.
fn seen(clone: &Path) -> PathBuf {
    let is_seen = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("seen-");
    let files = std::fs::read_dir(clone.join(".git/jit/engine")).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(is_seen).unwrap()
}

/// What was answered shortly before a power loss is on no disk of the clone. If the server forgot it in the same moment,
/// the fence in the issue is what is left of it.
#[test]
fn a_clone_that_lost_power_together_with_its_server_does_not_claim_anew_what_it_wrote() {
    let ground = shared();
    let ids = issues(&ground, 3);
    let one = clone(&ground, "one");
    let jit = |args: &[&str]| ground.bench.run_at("agent:x", args, &one);
    jit(&["claim", "acquire", &ids[0]]).ok();
    let before = ground.git(&["rev-parse", "refs/worktree/jit/claims"], &ground.origin());
    let seen = seen(&one);
    let remembered = std::fs::read(&seen).unwrap();
    jit(&["claim", "acquire", &ids[1]]).ok();
    jit(&["issue", "update", &ids[1], "--priority", "high"]).ok();
    std::fs::write(&seen, remembered).unwrap();
    ground.git(&["update-ref", "refs/worktree/jit/claims", &before], &ground.origin());
    for id in &ids[1..] {
        assert_eq!(error(&jit(&["--json", "claim", "acquire", id])), "FORKED");
    }
}

#[test]
fn a_clone_that_never_saw_the_claims_notices_that_they_were_set_back() {
    let ground = shared();
    let id = issues(&ground, 2).remove(0);
    let first = ground.git(&["rev-parse", "refs/worktree/jit/claims"], &ground.origin());
    let one = clone(&ground, "one");
    ground.bench.run_at("agent:x", &["claim", "acquire", &id], &one).ok();
    ground.bench.run_at("agent:x", &["issue", "update", &id, "--priority", "high"], &one).ok();
    ground.git(&["commit", "-qam", "under a claim"], &one);
    ground.git(&["push", "-q", "origin", "main"], &one);
    ground.git(&["update-ref", "refs/worktree/jit/claims", &first], &ground.origin());
    // The fence that the issue shows was given out: whoever would give it out again is stopped.
    let two = clone(&ground, "two");
    let refused = ground.bench.run_at("agent:y", &["--json", "claim", "next"], &two);
    assert_eq!(error(&refused), "FORKED", "{refused}");
}

/// Whether machines can have clocks of their own here; says so if they cannot.
pub(crate) fn can_be_elsewhere() -> bool {
    let probe = ["--time", "--boottime", "5", "--fork", "true"];
    let can = Command::new("unshare").args(probe).status().is_ok_and(|status| status.success());
    if !can || !has("faketime") {
        println!("skipped: clocks of their own need unshare --time and faketime");
        return false;
    }
    true
}

/// Runs the program on a machine whose clocks are its own: the one that counts since boot, and the one on the wall.
fn elsewhere(ground: &Ground, boot_secs: u32, wall: &str, agent: &str, args: &[&str], at: &Path) -> Answer {
    elsewhere_in(ground, &[], (boot_secs, wall), agent, args, at)
}

/// As [`elsewhere`], started by what puts it on that machine.
pub(crate) fn elsewhere_in(
    ground: &Ground,
    inside: &[String],
    (boot_secs, wall): (u32, &str),
    agent: &str,
    args: &[&str],
    at: &Path,
) -> Answer {
    let mut started = inside.iter().map(String::as_str).chain(["unshare"]);
    let mut command = ground.bench.dressed(Command::new(started.next().unwrap()));
    command.args(started).args(["--time", "--boottime", &boot_secs.to_string(), "--fork", "faketime"]);
    command.args(["--exclude-monotonic", "-f", wall, JIT]).args(args);
    command.current_dir(at).env("JIT_AGENT_ID", agent);
    Answer::from(command.output().unwrap())
}

#[test]
fn machines_whose_clocks_differ_take_nothing_from_each_other() {
    if !can_be_elsewhere() {
        return;
    }
    let ground = shared();
    let ids = issues(&ground, 2);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    const LATER: u32 = 10_000_000;
    elsewhere(&ground, LATER, "+0s", "agent:x", &["claim", "acquire", &ids[0], "--ttl", "600"], &one).ok();
    // Both name the same boot, as machines in namespaces do; neither takes the other's clock for its own.
    for wall in ["+0s", "+1h", "-1h"] {
        let refused = elsewhere(&ground, 0, wall, "agent:y", &["claim", "acquire", &ids[0]], &two);
        assert!(refused.code == Some(4), "{wall}: {refused}");
    }
    elsewhere(&ground, LATER, "+0s", "agent:x", &["claim", "renew", &ids[0]], &one).ok();
    // The other way round: the clock of whoever wants it is far ahead of the holder's.
    elsewhere(&ground, 0, "+0s", "agent:y", &["claim", "acquire", &ids[1], "--ttl", "600"], &two).ok();
    for wall in ["+0s", "+1h"] {
        let refused = elsewhere(&ground, LATER, wall, "agent:x", &["claim", "acquire", &ids[1]], &one);
        assert!(refused.code == Some(4), "{wall}: {refused}");
    }
    elsewhere(&ground, 0, "+0s", "agent:y", &["claim", "release", &ids[1]], &two).ok();
    elsewhere(&ground, LATER, "+0s", "agent:x", &["claim", "acquire", &ids[1]], &one).ok();
}

#[test]
fn what_is_held_is_renewed_in_one_step_and_only_when_little_is_left() {
    let ground = shared();
    let ids = issues(&ground, 3);
    let one = clone(&ground, "one");
    let run = |args: &[&str]| ground.bench.run_at("agent:x", args, &one);
    let steps = || ground.git(&["rev-list", "--count", "refs/worktree/jit/claims"], &ground.origin());
    for id in &ids {
        run(&["claim", "acquire", id, "--ttl", "30"]).ok();
    }
    let before: u32 = steps().parse().unwrap();
    run(&["issue", "update", &ids[0], "--priority", "high"]).ok();
    assert_eq!(steps().parse::<u32>().unwrap(), before, "much is left");
    until("little is left", || {
        let leases = run(&["--json", "claim", "list"]).ok().json();
        leases["leases"].as_array().unwrap().iter().any(|it| it["remaining_secs"].as_u64().unwrap() <= 9)
    });
    run(&["issue", "update", &ids[0], "--priority", "low"]).ok();
    assert_eq!(steps().parse::<u32>().unwrap(), before + 1, "all three went along");
    let leases = run(&["--json", "claim", "list"]).ok().json();
    let left = leases["leases"].as_array().unwrap().iter().map(|it| it["remaining_secs"].as_u64().unwrap());
    assert!(left.min().unwrap() > 9, "{leases}");
}

#[test]
fn a_clone_that_shares_nothing_is_told_so_once() {
    const WORDS: &str = "claims are this clone's alone";
    let ground = Ground::with_origin();
    issues(&ground, 3);
    let one = clone(&ground, "one");
    let next = |at: &Path| ground.bench.run_at("agent:x", &["claim", "next"], at).ok().stderr;
    let told = next(&one);
    assert!(told.contains(WORDS) && told.contains("jit engine init git"), "{told}");
    assert!(!next(&one).contains(WORDS));
    // Where all clones share their claims, and where there is no other clone, there is nothing to say.
    ground.bench.jit(&["engine", "init", "git"]).ok();
    assert!(!next(&ground.bench.repo()).contains(WORDS));
    let single = Ground::new();
    single.issue("draw", &[]);
    assert!(!single.bench.jit(&["claim", "next"]).ok().stderr.contains(WORDS));
}

/// Clones that share their claims have checkouts of their own to run gates in.
#[test]
fn the_gates_of_two_clones_run_in_two_places() {
    let ground = shared();
    ground.bench.jit(&["gate", "define", "any", "--command", "pwd >> $HOME/places"]).ok();
    ground.commit("a gate");
    let flags = ["--gate", "any"];
    let ids: Vec<String> = ["one", "two"].iter().map(|title| ground.issue(title, &flags)).collect();
    ground.main(&["push", "-q", "origin", "main"]);
    for (id, name) in ids.iter().zip(["c1", "c2"]) {
        let at = clone(&ground, name);
        let agent = format!("agent:{name}");
        ground.bench.run_at(&agent, &["start", id], &at).ok();
        std::fs::write(at.join(name), "work\n").unwrap();
        ground.bench.run_at(&agent, &["finish", "-a", "-m", name], &at).ok();
    }
    let places = std::fs::read_to_string(ground.bench.root().join("places")).unwrap();
    let places: std::collections::BTreeSet<&str> = places.lines().collect();
    assert_eq!(places.len(), 2, "{places:?}");
}

#[test]
fn what_was_seen_is_used_for_as_long_as_is_configured() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let list = || ground.bench.run_at("agent:y", &["claim", "list"], &two).ok().stdout;
    assert!(!list().contains("agent:x"));
    ground.bench.run_at("agent:x", &["claim", "acquire", &id], &one).ok();
    assert!(!list().contains("agent:x"), "it was seen a moment ago");
    let none = ["config", "set", "coordination.max_age_secs", "0"];
    ground.bench.run_at("agent:y", &none, &two).ok();
    assert!(list().contains("agent:x"));
}

/// A machine of CI remembers nothing: it has watched nobody, and takes the deadline for what it says if it is told to.
#[test]
fn a_machine_without_memory_takes_over_by_the_clock_if_that_is_configured() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let one = clone(&ground, "one");
    ground.bench.run_at("agent:x", &["claim", "acquire", &id, "--ttl", "1"], &one).ok();
    std::thread::sleep(std::time::Duration::from_secs(4));
    let watching = clone(&ground, "watching");
    let acquire = ["--json", "claim", "acquire", id.as_str()];
    let refused = ground.bench.run_at("agent:y", &acquire, &watching);
    assert_eq!(refused.code, Some(4), "{refused}");
    let trusting = clone(&ground, "trusting");
    let trust = ["config", "set", "coordination.trust_clock", "true"];
    ground.bench.run_at("agent:z", &trust, &trusting).ok();
    ground.bench.run_at("agent:z", &acquire, &trusting).ok();
}

#[test]
fn a_push_shows_the_server_all_claims_of_a_worktree_or_says_that_there_are_none() {
    let ground = shared();
    let ids = issues(&ground, 2);
    let (home, two) = (clone(&ground, "home"), clone(&ground, "two"));
    let one = ground.bench.root().join("one");
    ground.git(&["worktree", "add", "-q", "-b", "topic", one.to_str().unwrap(), "main"], &home);
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let commit = |what: &str| {
        std::fs::write(one.join(what), what).unwrap();
        ground.git(&["add", "-A"], &one);
        ground.git(&["commit", "-q", "-m", what], &one);
    };
    commit("nobody's");
    let said = run("agent:x", &["push"], &one).ok().stdout;
    assert!(said.contains("nothing is claimed here"), "{said}");
    for id in &ids {
        run("agent:x", &["claim", "acquire", id], &one).ok();
    }
    commit("both");
    let pushed = run("agent:x", &["--json", "push"], &one).ok().json();
    assert_eq!(
        (&pushed["fenced"], pushed["issues"].as_array().unwrap().len()),
        (&true.into(), 2),
        "{pushed}"
    );
    let object = ground.git(&["cat-file", "commit", "refs/worktree/jit/claims"], &ground.origin());
    let step = object.lines().find_map(|line| line.strip_prefix("jit-step ")).unwrap();
    let step: serde_json::Value = serde_json::from_str(step).unwrap();
    let noted = &step["notes"][0]["published"];
    assert_eq!((&noted["branch"], noted["fences"].as_array().unwrap().len()), (&"topic".into(), 2), "{step}");
    // One of the two is enough to be refused for.
    run("agent:y", &["claim", "force-evict", &ids[1], "--reason", "it sleeps"], &two).ok();
    let there = ground.git(&["rev-parse", "topic"], &ground.origin());
    commit("too late");
    let refused = run("agent:x", &["--json", "push"], &one);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert_eq!(ground.git(&["rev-parse", "topic"], &ground.origin()), there);
}
