//! Claims of several clones in etcd, and claims that move from one place to another.

use std::path::Path;

use holdfast_trial::etcd::Cluster;
use holdfast_trial::network::Network;
use holdfast_trial::secured::Secured;
use holdfast_trial::{Answer, until};

use crate::bench::JIT;
use crate::ground::{Ground, is_long};
use crate::machines::{can_be_elsewhere, clone, elsewhere_in, error, issues, landed, shared};
use crate::secrets::telling;

/// Has etcd keep the claims, which the origin's main branch says.
pub(crate) fn in_etcd(ground: &Ground, cluster: &Cluster) {
    ground.bench.jit(&["config", "set", "coordination.skew_secs", "1"]).ok();
    let urls = cluster.urls();
    let mut args = vec!["engine", "init", "etcd", "--endpoints"];
    args.extend(urls.iter().map(String::as_str));
    ground.bench.jit(&args).ok();
    publish(ground, "one engine for all");
}

fn publish(ground: &Ground, message: &str) {
    ground.commit(message);
    ground.main(&["push", "-q", "origin", "main"]);
}

pub(crate) fn worktree(ground: &Ground, of: &Path, name: &str) -> std::path::PathBuf {
    let path = ground.bench.root().join(name);
    ground.git(&["worktree", "add", "-q", "--detach", path.to_str().unwrap(), "main"], of);
    path
}

#[test]
fn clones_whose_claims_are_in_etcd_share_them_and_land() {
    let ground = Ground::with_origin();
    let Some(mut cluster) = Cluster::start(ground.bench.root(), 1) else { return };
    in_etcd(&ground, &cluster);
    let again = ["--json", "engine", "init", "etcd", "--endpoints", &cluster.urls()[0]];
    let again = ground.bench.jit(&again).ok().json();
    assert_eq!(
        (&again["made"], &again["engine"]["shared"]["namespace"]),
        (&false.into(), &"repo".into()),
        "{again}"
    );
    let ids = issues(&ground, 2);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let (ann, bob) = (worktree(&ground, &one, "ann"), worktree(&ground, &two, "bob"));
    run("agent:ann", &["start", &ids[0]], &ann).ok();
    let refused = run("agent:bob", &["--json", "claim", "acquire", &ids[0]], &bob);
    assert_eq!(refused.code, Some(4), "{refused}");
    let next = run("agent:bob", &["--json", "claim", "next"], &bob).ok().json();
    assert_eq!(next["lease"]["issue_id"], *ids[1]);
    std::fs::write(ann.join("task"), "by ann\n").unwrap();
    run("agent:ann", &["finish", "-a", "-m", "by ann"], &ann).ok();
    assert!(landed(&ground).contains(&"by ann".to_owned()));
    let status = run("agent:bob", &["--json", "engine", "status", "--fresh"], &bob).ok().json();
    assert_eq!(status["engine"]["engine"], "etcd");
    let shown = run("agent:bob", &["--json", "status"], &bob).ok().json();
    assert_eq!(shown["status"]["engine"], "etcd");
    let tip = ground.git(&["rev-parse", "main"], &ground.origin());
    assert_eq!(status["engine"]["shared"]["tip"], *tip, "{status}");
    let checked = run("agent:bob", &["engine", "check"], &bob).ok().stdout;
    assert!(checked.contains("pre-receive") && checked.contains("etcd 3."), "{checked}");
    run("agent:bob", &["validate", "leases"], &bob).ok();
    // Without the cluster what is held can be used, and nothing is taken.
    cluster.kill(0);
    run("agent:bob", &["issue", "update", &ids[1], "--priority", "high"], &bob).ok();
    let refused = run("agent:bob", &["--json", "claim", "next"], &bob);
    assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{refused}");
    cluster.restart(0);
    let _ = cluster.leader();
    run("agent:bob", &["claim", "release", &ids[1]], &bob).ok();
}

#[test]
fn what_is_typed_for_etcd_is_checked_before_anything_is_asked() {
    let ground = Ground::with_origin();
    for (typed, why) in [
        (&["--endpoints", "ftp://10.0.0.1:2379"][..], "https://HOST:PORT"),
        (&["--endpoints", "http://me:s3cret@10.0.0.1:2379"], "login"),
        (&["--endpoints", "10.0.0.1"], "http://HOST:PORT"),
        (&["--endpoints", "http://127.0.0.1:1", "--namespace", "a b"], "namespace"),
    ] {
        let args = [&["engine", "init", "etcd"], typed].concat();
        let refused = ground.bench.jit(&args);
        assert_eq!(refused.code, Some(6), "{refused}");
        assert!(refused.stderr.contains(why) && !refused.stderr.contains("s3cret"), "{refused}");
    }
    let refused =
        ground.bench.jit(&["--json", "engine", "init", "etcd", "--endpoints", "http://127.0.0.1:1"]);
    assert_eq!(error(&refused), "UNAVAILABLE", "{refused}");
    assert!(!ground.bench.repo().join(".jit/config.toml").exists(), "nothing has changed");
}

#[test]
fn a_cluster_that_is_reached_over_tls_is_used_as_configured() {
    let ground = Ground::with_origin();
    let dir = ground.bench.root().join("secured");
    std::fs::create_dir(&dir).unwrap();
    let Some(member) = Secured::start(&dir) else { return };
    let url = member.url();
    let init = || ground.bench.jit(&["--json", "engine", "init", "etcd", "--endpoints", &url]);
    let set = |key: &str, file: &str| {
        let path = member.path(file);
        ground.bench.jit(&["config", "set", &format!("coordination.{key}"), path.to_str().unwrap()]).ok();
    };
    // Nobody whom the system believes vouches for it.
    let refused = init();
    assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{refused}");
    set("tls_ca", "ca.pem");
    set("tls_cert", "m.pem");
    let refused = init();
    assert!(refused.stdout.contains("tls_cert and tls_key go together"), "{refused}");
    set("tls_key", "m.key");
    let private = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(member.path("m.key"), mode).unwrap();
    };
    private(0o644);
    assert!(init().stdout.contains("chmod 600"), "a key that others may read was used");
    private(0o600);
    until("the member takes claims", || init().code == Some(0));
    publish(&ground, "one engine for all");
    let ids = issues(&ground, 1);
    let two = clone(&ground, "two");
    ground.bench.run_at("agent:y", &["claim", "acquire", &ids[0]], &two).ok();
    assert_eq!(ground.bench.jit(&["claim", "acquire", &ids[0]]).code, Some(4));
}

#[test]
fn a_cluster_that_wants_a_login_gets_it_from_the_environment_or_a_private_file() {
    const WRONG: &str = "s3cret-that-is-wrong";
    let ground = Ground::with_origin();
    let Some(cluster) = Cluster::start(ground.bench.root(), 1) else { return };
    cluster.want_login(&[("ann", "READWRITE")]);
    let (url, token) = (cluster.urls().remove(0), cluster.token("ann"));
    let repo = ground.bench.repo();
    let run = |set: &[(&str, &str)], args: &[&str]| {
        let mut command = ground.bench.command("agent:a", args, &repo);
        let answer = Answer::from(command.envs(set.iter().copied()).output().unwrap());
        for secret in ["pw-ann", &token, WRONG] {
            assert!(!answer.to_string().contains(secret), "{args:?}: {answer}");
        }
        answer
    };
    let init = ["--json", "engine", "init", "etcd", "--endpoints", &url];
    let ids = issues(&ground, 3);
    ground.bench.jit(&["config", "set", "coordination.user", "ann"]).ok();
    let refused = run(&[], &init);
    assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{refused}");
    assert!(refused.stdout.contains("JIT_ETCD_PASSWORD or JIT_ETCD_TOKEN"), "{refused}");
    for variable in ["JIT_ETCD_PASSWORD", "JIT_ETCD_TOKEN"] {
        let refused = run(&[(variable, WRONG)], &init);
        assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{variable}: {refused}");
    }
    run(&[("JIT_ETCD_PASSWORD", "pw-ann")], &init).ok();
    publish(&ground, "one engine for all");
    // A token comes before a password, and the environment before a file.
    let both = [("JIT_ETCD_TOKEN", &*token), ("JIT_ETCD_PASSWORD", WRONG)];
    run(&both, &["claim", "acquire", &ids[0]]).ok();
    let files = ground.bench.root().join("config");
    std::fs::create_dir_all(&files).unwrap();
    for ((file, secret), id) in [("etcd-password", "pw-ann"), ("etcd-token", &*token)].iter().zip(&ids[1..]) {
        let path = files.join(file);
        std::fs::write(&path, format!("{secret}\n")).unwrap();
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, mode(0o644)).unwrap();
        let refused = run(&[], &["claim", "acquire", id]);
        assert!(refused.code == Some(10) && refused.stderr.contains("chmod 600"), "{refused}");
        std::fs::set_permissions(&path, mode(0o600)).unwrap();
        run(&[], &["claim", "acquire", id]).ok();
    }
    assert_eq!(run(&[("JIT_ETCD_TOKEN", WRONG)], &["engine", "check"]).code, Some(7));
    for secret in ["pw-ann", &token, WRONG] {
        assert_eq!(telling(&repo, secret), Vec::<String>::new());
    }
}

/// Three machines with a member of etcd each, whose clocks have nothing to do with each other.
#[test]
fn machines_that_are_cut_off_and_an_hour_apart_take_nothing_from_each_other() {
    let name = "etcd::machines_that_are_cut_off_and_an_hour_apart_take_nothing_from_each_other";
    let Some(network) = Network::enter(name, 3) else { return };
    let ground = Ground::with_origin();
    let Some(cluster) = Cluster::start_on(ground.bench.root(), &network) else { return };
    if !can_be_elsewhere() {
        return;
    }
    in_etcd(&ground, &cluster);
    let ids = issues(&ground, 3);
    let homes = ["m0", "m1", "m2"].map(|name| clone(&ground, name));
    let clocks = [(0, "+0s"), (10_000_000, "+1h"), (20_000_000, "-1h")];
    let run = |machine: usize, args: &[&str]| {
        let agent = format!("agent:m{machine}");
        elsewhere_in(&ground, &network.inside(machine), clocks[machine], &agent, args, &homes[machine])
    };
    let take = |machine, id: &str| run(machine, &["--json", "claim", "acquire", id, "--ttl", "600"]);
    for (machine, id) in ids.iter().enumerate() {
        take(machine, id).ok();
    }
    // Nothing that the leader says to one of the others is heard: two of three can still agree.
    let leader = cluster.leader();
    network.cut(leader, (leader + 1) % 3);
    for (machine, id) in ids.iter().enumerate() {
        for other in [(machine + 1) % 3, (machine + 2) % 3] {
            let refused = take(other, id);
            assert_eq!(refused.code, Some(4), "m{other} took from m{machine}: {refused}");
        }
        run(machine, &["claim", "renew", id]).ok();
    }
    // A machine whose member is alone grants nothing; the two others go on.
    network.heal();
    for other in [0, 1] {
        network.part(2, other);
    }
    until("two of three go on", || run(0, &["claim", "release", &ids[0]]).code == Some(0));
    take(1, &ids[0]).ok();
    if is_long() {
        let refused = take(2, &ids[0]);
        assert_eq!((refused.code, &*error(&refused)), (Some(10), "UNAVAILABLE"), "{refused}");
        run(2, &["issue", "update", &ids[2], "--priority", "high"]).ok();
    }
    network.heal();
    until("all three go on", || run(2, &["claim", "renew", &ids[2]]).code == Some(0));
    let refused = take(2, &ids[0]);
    assert_eq!(refused.code, Some(4), "{refused}");
}

/// Has the origin run our hook before it takes a push.
fn guard(ground: &Ground) {
    let hook = ground.origin().join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\nexec '{JIT}' hook pre-receive\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// A holder who was displaced between the check and the push is stopped by the server's hook, which reads the claims.
fn displaced_at_the_server(ground: &Ground) {
    let id = issues(ground, 1).remove(0);
    guard(ground);
    let (one, two) = (clone(ground, "one"), clone(ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let (slept, awake) = (worktree(ground, &one, "slept"), worktree(ground, &two, "awake"));
    run("agent:x", &["start", &id], &slept).ok();
    std::fs::write(slept.join("task"), "by x\n").unwrap();
    ground.git(&["add", "-A"], &slept);
    let committed = run("agent:x", &["commit", "-m", "too late"], &slept);
    assert_eq!(committed.code, Some(0), "{committed}");
    run("agent:y", &["claim", "force-evict", &id, "--reason", "it sleeps"], &awake).ok();
    run("agent:y", &["start", &id], &awake).ok();
    // A push that asks nobody here.
    let late = ground.try_git(&["push", "--no-verify", "origin", "HEAD:refs/heads/main"], &slept);
    assert!(late.code != Some(0) && late.stderr.contains("was granted to agent:y"), "{late}");
    assert!(!landed(ground).contains(&"too late".to_owned()));
    std::fs::write(awake.join("task"), "by y\n").unwrap();
    run("agent:y", &["finish", "-a", "-m", "in time"], &awake).ok();
    assert!(landed(ground).contains(&"in time".to_owned()));
}

#[test]
fn a_displaced_holder_is_stopped_by_the_hook_of_a_server_that_asks_etcd() {
    let ground = Ground::with_origin();
    let Some(cluster) = Cluster::start(ground.bench.root(), 1) else { return };
    in_etcd(&ground, &cluster);
    displaced_at_the_server(&ground);
}

#[test]
fn a_displaced_holder_is_stopped_by_the_hook_of_a_server_that_keeps_the_claims() {
    displaced_at_the_server(&shared());
}

#[test]
fn claims_move_from_git_to_etcd_and_back_to_the_clones() {
    let ground = shared();
    let Some(cluster) = Cluster::start(ground.bench.root(), 1) else { return };
    let ids = issues(&ground, 2);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    run("agent:x", &["claim", "acquire", &ids[0]], &one).ok();
    run("agent:y", &["claim", "list"], &two).ok();
    let urls = cluster.urls();
    let migrate = ["engine", "migrate", "--to", "etcd", "--endpoints", &urls[0], "--namespace", "moved"];
    let moved = ground.bench.jit(&migrate).ok().stdout;
    assert!(moved.contains("1 went along"), "{moved}");
    ground.bench.jit(&migrate).ok();
    // Whoever has not heard of it is refused.
    let refused = run("agent:y", &["--json", "claim", "next"], &two);
    assert_eq!((refused.code, &*error(&refused)), (Some(4), "MOVED"), "{refused}");
    publish(&ground, "moved");
    for home in [&one, &two] {
        ground.git(&["pull", "-q", "--ff-only"], home);
    }
    let refused = run("agent:y", &["--json", "claim", "acquire", &ids[0]], &two);
    assert_eq!(refused.code, Some(4), "{refused}");
    run("agent:x", &["claim", "renew", &ids[0]], &one).ok();
    let next = run("agent:y", &["--json", "claim", "next"], &two).ok().json();
    assert_eq!(next["lease"]["issue_id"], *ids[1]);
    // The fence is above those of the place before, under the same counter.
    let fence = next["lease"]["fence"].as_u64().unwrap();
    assert!(fence > 1, "{next}");
    let refused = ground.bench.jit(&["--json", "engine", "migrate", "--to", "local"]);
    assert_eq!((refused.code, &*error(&refused)), (Some(4), "LOCAL_CLAIMS"), "{refused}");
    run("agent:x", &["claim", "release", &ids[0]], &one).ok();
    run("agent:y", &["claim", "release", &ids[1]], &two).ok();
    ground.bench.jit(&["engine", "migrate", "--to", "local"]).ok();
    publish(&ground, "each its own");
    let refused = run("agent:y", &["claim", "next"], &two);
    assert!(refused.code == Some(4) && refused.stderr.contains("jit engine migrate --to local"), "{refused}");
    ground.git(&["pull", "-q", "--ff-only"], &two);
    run("agent:y", &["engine", "migrate", "--to", "local"], &two).ok();
    run("agent:y", &["claim", "next"], &two).ok();
    let status = run("agent:y", &["--json", "engine", "status"], &two).ok().json();
    assert_eq!(status["engine"]["engine"], "local");
}

#[test]
fn a_register_that_was_set_back_begins_anew_when_somebody_says_so() {
    let ground = shared();
    let ids = issues(&ground, 2);
    let (one, two) = (clone(&ground, "one"), clone(&ground, "two"));
    let run = |agent: &str, args: &[&str], at: &Path| ground.bench.run_at(agent, args, at);
    let before = ground.git(&["rev-parse", "refs/worktree/jit/claims"], &ground.origin());
    run("agent:x", &["claim", "acquire", &ids[0]], &one).ok();
    run("agent:y", &["engine", "status", "--fresh"], &two).ok();
    ground.git(&["update-ref", "refs/worktree/jit/claims", &before], &ground.origin());
    for (agent, home) in [("agent:x", &one), ("agent:y", &two)] {
        let refused = run(agent, &["--json", "claim", "next"], home);
        assert_eq!(error(&refused), "FORKED", "{refused}");
    }
    assert_eq!(run("agent:x", &["engine", "recover", "--reason", "restored"], &one).code, Some(2));
    let recovered =
        run("agent:x", &["--json", "engine", "recover", "--new-counter", "--reason", "restored"], &one)
            .ok()
            .json();
    assert!(recovered["before"].is_string() && recovered["counter"] != recovered["before"], "{recovered}");
    let refused = run("agent:y", &["--json", "claim", "next"], &two);
    assert_eq!(error(&refused), "NO_REGISTER", "{refused}");
    ground.git(&["commit", "-qam", "begin anew"], &one);
    ground.git(&["push", "-q", "origin", "main"], &one);
    ground.git(&["pull", "-q", "--ff-only"], &two);
    let next = run("agent:y", &["--json", "claim", "next"], &two).ok().json();
    assert_eq!(next["lease"]["issue_id"], *ids[0], "what was claimed before is free");
    assert_eq!(run("agent:x", &["claim", "acquire", &ids[0]], &one).code, Some(4));
    run("agent:x", &["engine", "check"], &one).ok();
    // The same for one that is gone.
    ground.git(&["update-ref", "-d", "refs/worktree/jit/claims"], &ground.origin());
    assert_eq!(error(&run("agent:x", &["--json", "claim", "next"], &one)), "FORKED");
    run("agent:x", &["engine", "recover", "--new-counter", "--reason", "deleted"], &one).ok();
    run("agent:x", &["claim", "acquire", &ids[0]], &one).ok();
}

#[test]
fn a_plain_push_of_claimed_work_is_refused_where_the_server_could_check_it() {
    let ground = shared();
    let id = issues(&ground, 1).remove(0);
    let one = clone(&ground, "one");
    let run = |args: &[&str]| ground.bench.run_at("agent:x", args, &one);
    let push = || {
        let mut git = ground.bench.dressed(std::process::Command::new("git"));
        git.args(["push", "-q", "origin", "HEAD:refs/heads/main"])
            .env("JIT_AGENT_ID", "agent:x")
            .current_dir(&one);
        git.env(
            "PATH",
            format!("{}:{}", Path::new(JIT).parent().unwrap().display(), std::env::var("PATH").unwrap()),
        );
        Answer::of_any(&git.output().unwrap())
    };
    run(&["hooks", "install"]).ok();
    ground.git(&["commit", "-q", "--allow-empty", "-m", "nothing is claimed"], &one);
    assert_eq!(push().code, Some(0), "a plain push is allowed where nothing is claimed");
    run(&["claim", "acquire", &id]).ok();
    std::fs::write(one.join("task"), "by x\n").unwrap();
    ground.git(&["add", "task"], &one);
    run(&["commit", "-m", "under a claim"]).ok();
    let refused = push();
    assert!(refused.code != Some(0) && refused.stderr.contains("jit push"), "{refused}");
    let pushed = run(&["--json", "push"]).ok().json();
    assert_eq!(pushed["fenced"], true);
    assert!(landed(&ground).contains(&"under a claim".to_owned()));
}
