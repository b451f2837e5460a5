//! Several clones of one bare repository that share their claims on a ref of it: nothing is done twice, whoever dies,
//! and a holder who was displaced gets nothing past the server, which has no hook of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use holdfast_trial::{Answer, Dice};

use crate::ground::{Ground, is_long};

/// A repository with an origin that keeps the claims, which the origin's main branch says.
fn shared() -> Ground {
    let ground = Ground::with_origin();
    ground.bench.jit(&["config", "set", "coordination.skew_secs", "1"]).ok();
    ground.bench.jit(&["engine", "init", "git"]).ok();
    ground.commit("one engine for all");
    ground.main(&["push", "-q", "origin", "main"]);
    ground
}

/// Another clone of the origin.
fn clone(ground: &Ground, name: &str) -> PathBuf {
    let at = ground.bench.root().join(name);
    ground.git(&["clone", "-q", ground.origin().to_str().unwrap(), name], ground.bench.root());
    at
}

fn issues(ground: &Ground, count: usize) -> Vec<String> {
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
fn error(answer: &Answer) -> String {
    answer.json()["error"]["code"].as_str().unwrap().to_owned()
}

/// The subjects of the commits that the origin's main branch has, the oldest first.
fn landed(ground: &Ground) -> Vec<String> {
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
    assert!(refused.stdout.contains("friday"), "{refused}");
    std::fs::remove_file(&hook).unwrap();
    agent.run(&["finish", "-a", "-m", "task"]).ok();
    assert!(landed(&ground).contains(&"task".to_owned()));
}

struct Trial<'a> {
    ground: &'a Ground,
    deaths: AtomicU32,
    begun: Instant,
}

/// An agent in one of the clones that lives several lives.
struct Mortal<'a> {
    trial: &'a Trial<'a>,
    clone: &'a Path,
    name: String,
    dice: Dice,
    lives: u32,
}

impl Mortal<'_> {
    fn work(mut self) {
        loop {
            let passed = self.trial.begun.elapsed();
            assert!(passed < Duration::from_secs(600), "{} does not come to an end", self.name);
            let Some(at) = self.born() else { continue };
            while self.task(&at) {}
            let run = |args: &[&str]| self.trial.ground.bench.run_at(&self.name, args, self.clone);
            run(&["sync"]);
            run(&["land", "--all"]);
            let open = ["-q", "list", "--state", "ready", "--state", "in_progress", "--state", "backlog"];
            let listed = run(&["list"]).stdout;
            let waits = listed.contains("not landed") || listed.contains("not committed");
            let open = run(&open);
            if open.code == Some(0) && open.stdout.trim().is_empty() && !waits {
                return;
            }
        }
    }

    fn born(&mut self) -> Option<PathBuf> {
        self.lives += 1;
        let ground = self.trial.ground;
        let at = ground.bench.root().join(format!("{}-{}", self.name.replace(':', "-"), self.lives));
        let args = ["worktree", "add", "-q", "--detach", at.to_str().unwrap(), "origin/main"];
        (ground.try_git(&args, self.clone).code == Some(0)).then_some(at)
    }

    /// One issue from beginning to end; false if there is none, or if the agent died.
    fn task(&mut self, at: &Path) -> bool {
        let Some(begun) = self.mortal(&["--json", "start", "--ttl", "4"], at) else { return false };
        if begun.code != Some(0) {
            std::thread::sleep(Duration::from_millis(100));
            return false;
        }
        let title = begun.json()["issue"]["title"].as_str().unwrap().to_owned();
        std::fs::write(at.join(&title), format!("{}\n", self.name)).unwrap();
        let finished = self.mortal(&["finish", "-a", "-m", &title], at);
        finished.is_some_and(|answer| answer.code == Some(0))
    }

    /// Runs a command that is sometimes killed on its way; none if it was.
    fn mortal(&mut self, args: &[&str], at: &Path) -> Option<Answer> {
        let mut command: Command = self.trial.ground.bench.command(&self.name, args, at);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if self.dice.roll(4) > 0 {
            return Some(Answer::from(child.wait_with_output().unwrap()));
        }
        let (output, died) = self.dice.kill(child);
        self.trial.deaths.fetch_add(u32::from(died), Ordering::SeqCst);
        (!died).then(|| Answer::from(output))
    }
}

/// So many clones with two agents each, who die on the way.
fn trial(clones: usize, count: usize) {
    let ground = shared();
    issues(&ground, count);
    let homes: Vec<PathBuf> = (0..clones).map(|number| clone(&ground, &format!("clone-{number}"))).collect();
    let trial = Trial { ground: &ground, deaths: AtomicU32::new(0), begun: Instant::now() };
    let seed = Dice::seed();
    std::thread::scope(|scope| {
        for (number, home) in homes.iter().flat_map(|home| [home, home]).enumerate() {
            let (trial, name) = (&trial, format!("agent:m{number}"));
            let dice = Dice::new(seed + number as u64, Duration::from_millis(700));
            scope.spawn(move || Mortal { trial, clone: home, name, dice, lives: 0 }.work());
        }
    });
    let deaths = trial.deaths.load(Ordering::SeqCst);
    println!("{clones} clones, {count} issues, {deaths} deaths, {:?}", trial.begun.elapsed());
    let subjects = landed(&ground);
    for number in 0..count {
        let title = format!("task-{number}");
        let times = subjects.iter().filter(|subject| **subject == title).count();
        assert_eq!(times, 1, "{title}: {subjects:?}");
        let text = ground.git(&["show", &format!("main:{title}")], &ground.origin());
        assert_eq!(text.lines().count(), 1, "{title} was done by several: {text}");
    }
    ground.main(&["pull", "-q", "--ff-only"]);
    ground.bench.jit(&["validate", "all"]).ok();
}

#[test]
fn agents_in_several_clones_do_everything_exactly_once() {
    if is_long() {
        trial(2, 60);
        trial(5, 60);
    } else {
        trial(2, 8);
    }
}
