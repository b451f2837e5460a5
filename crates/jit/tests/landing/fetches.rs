//! What keeps a fetch from coming through, and what does not. A remote whose URL is a relative path is taken by git from wherever it
//! is started, which is another place in each worktree.

use std::path::PathBuf;

use crate::ground::{Agent, Ground, KILL, pair};

/// A repository that names its origin by where that is from the main worktree.
fn beside() -> Ground {
    let ground = Ground::with_origin();
    ground.main(&["remote", "set-url", "origin", "../origin.git"]);
    ground
}

/// An agent that begins an issue in a worktree that is made for it.
fn begins<'a>(ground: &'a Ground, id: &str) -> Agent<'a> {
    let begun = ground.bench.run("agent:a", &["--json", "start", id, "--worktree"]).ok().json();
    let at = PathBuf::from(begun["worktree"].as_str().unwrap());
    Agent { ground, name: "agent:a".into(), at }
}

fn lands(ground: &Ground, id: &str) {
    let agent = begins(ground, id);
    assert!(!agent.at.join("../origin.git").exists(), "from there it leads nowhere");
    agent.write("work", "done\n");
    let landed = agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert!(landed.stdout.starts_with("landed"), "{landed}");
    assert_eq!(ground.told(id), pair("done", "landed"));
    let there = ground.git(&["log", "-1", "--format=%s", "main"], &ground.origin());
    assert!(there.starts_with("work"), "the origin has: {there}");
    assert!(agent.run(&["sync"]).ok().stdout.starts_with("fetched"));
}

#[test]
fn work_lands_there_from_every_worktree() {
    let ground = beside();
    let id = ground.issue("drawn", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    lands(&ground, &id);
}

#[test]
fn work_lands_there_from_every_worktree_where_claims_are_shared() {
    let ground = beside();
    let id = ground.issue("drawn", &[]);
    ground.bench.jit(&["engine", "init", "git"]).ok();
    ground.commit("claims are shared");
    ground.main(&["push", "-q", "origin", "main"]);
    lands(&ground, &id);
}

#[test]
fn a_setting_that_rewrites_it_comes_first() {
    let ground = beside();
    let id = ground.issue("drawn", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    ground.main(&["remote", "set-url", "origin", "there:origin.git"]);
    ground.main(&["config", "url.../.insteadOf", "there:"]);
    lands(&ground, &id);
}

#[test]
fn whoever_cannot_fetch_is_told_why() {
    let ground = beside();
    let id = ground.issue("drawn", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = begins(&ground, &id);
    agent.write("work", "done\n");
    ground.main(&["remote", "set-url", "origin", "../nowhere.git"]);
    let nowhere = ground.bench.repo().join("../nowhere.git").display().to_string();
    let why = format!("'{nowhere}' does not appear to be a git repository");
    for (args, done) in [(&["sync"][..], "cannot be reached"), (&["finish", "-a", "-m", "x"], "not landed")] {
        let answer = agent.run(args).ok().says(&["cannot fetch from origin", &why]);
        assert!(answer.stdout.contains(done), "{answer}");
    }
    assert_eq!(ground.told(&id), pair("done", "on_branch"));
}

/// Another clone pushes something.
fn others_push(ground: &Ground) {
    let (elsewhere, origin) = (tempfile::tempdir().unwrap(), ground.origin());
    ground.git(&["clone", "-q", origin.to_str().unwrap(), "."], elsewhere.path());
    ground.git(&["commit", "-q", "--allow-empty", "-m", "theirs"], elsewhere.path());
    ground.git(&["push", "-q", "origin", "main"], elsewhere.path());
}

/// Somebody else fetches into the same repository between two steps of ours, so that git finds the branch elsewhere than it
/// expected.
#[test]
fn whoever_fetches_at_the_same_time_keeps_nobody_from_landing() {
    let ground = Ground::with_origin();
    let id = ground.issue("drawn", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let agent = begins(&ground, &id);
    agent.write("work", "done\n");
    others_push(&ground);
    let (served, once) = (ground.bench.root().join("upload-pack"), ground.bench.root().join("once"));
    let text = format!(
        "#!/bin/sh\ngit-upload-pack \"$@\"\n[ -e '{0}' ] || git -C '{1}' update-ref refs/remotes/origin/main main~1\n\
         : > '{0}'\n",
        once.display(),
        ground.bench.repo().display(),
    );
    std::fs::write(&served, text).unwrap();
    std::fs::set_permissions(&served, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    ground.main(&["config", "remote.origin.uploadpack", served.to_str().unwrap()]);
    let landed = agent.run(&["finish", "-a", "-m", "work"]).ok();
    assert!(landed.stdout.starts_with("landed") && once.exists(), "{landed}");
    assert_eq!(ground.told(&id), pair("done", "landed"));
}

/// Whoever is killed together with its git leaves the lock of the ref that was fetched.
#[test]
fn whoever_is_killed_while_it_fetches_keeps_nobody_from_landing() {
    for comes_back in [true, false] {
        let ground = Ground::with_origin();
        let (first, second) = (ground.issue("drawn", &[]), ground.issue("written", &[]));
        ground.main(&["push", "-q", "origin", "main"]);
        let (killed, other) = (begins(&ground, &first), begins(&ground, &second));
        let lock = ground.bench.repo().join(".git/refs/remotes/origin/main.lock");
        let served = ground.bench.root().join("upload-pack");
        std::fs::write(&served, format!("#!/bin/sh\n: > '{}'\n{KILL}", lock.display())).unwrap();
        std::fs::set_permissions(&served, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        ground.main(&["config", "remote.origin.uploadpack", served.to_str().unwrap()]);
        killed.write("drawing", "done\n");
        killed.is_killed(&["finish", "-a", "-m", "work"]);
        assert!(lock.exists());
        others_push(&ground);
        ground.main(&["config", "remote.origin.uploadpack", "git-upload-pack"]);
        let lands = |agent: &Agent<'_>, id: &str| {
            agent.write("work", "done\n");
            let landed = agent.run(&["finish", "-a", "-m", "work"]).ok();
            assert!(landed.stdout.starts_with("landed") && !lock.exists(), "{landed}");
            assert_eq!(ground.told(id), pair("done", "landed"));
        };
        if comes_back { lands(&killed, &first) } else { lands(&other, &second) }
    }
}

/// What somebody has typed is theirs to mend: nobody can tell whether it is still at work elsewhere.
#[test]
fn a_lock_of_nobody_of_ours_is_left_alone_and_named() {
    let ground = Ground::with_origin();
    let id = ground.issue("drawn", &[]);
    ground.main(&["push", "-q", "origin", "main"]);
    let lock = ground.bench.repo().join(".git/refs/remotes/origin/main.lock");
    let agent = begins(&ground, &id);
    std::fs::write(&lock, "").unwrap();
    others_push(&ground);
    agent.write("work", "done\n");
    let answer = agent.run(&["finish", "-a", "-m", "work"]).ok();
    let answer = answer.says(&["cannot fetch from origin", "origin/main.lock': File exists"]);
    assert!(answer.stdout.contains("not landed") && lock.exists(), "{answer}");
    std::fs::remove_file(&lock).unwrap();
    agent.run(&["land", "--all"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
}
