//! A target that somebody has checked out: whatever is open there, nothing of it is overwritten, and the next commit
//! there never takes back what landed.

use crate::ground::{Ground, pair};

/// An agent finishes while the main worktree is as `prepare` has left it; then somebody commits all there is to commit.
fn lands_beside(prepare: impl Fn(&Ground)) -> Ground {
    let ground = Ground::new();
    let id = ground.issue("beside", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    prepare(&ground);
    agent.run(&["finish", "-a", "-m", "landed"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    ground
}

/// What is committed in the main worktree builds on what landed.
fn commit_keeps_what_landed(ground: &Ground) {
    ground.main(&["commit", "-q", "--allow-empty", "-am", "mine"]);
    assert_eq!(ground.main(&["show", "main:landed"]), "by agent:a");
    assert_eq!(ground.landed().last().map(String::as_str), Some("mine"));
}

#[test]
fn a_clean_one_follows() {
    let ground = lands_beside(|_| ());
    assert!(ground.is_clean());
    commit_keeps_what_landed(&ground);
}

#[test]
fn changes_that_do_not_meet_what_lands_stay() {
    let ground = lands_beside(|ground| {
        std::fs::write(ground.bench.repo().join("code"), "mine\n").unwrap();
        std::fs::write(ground.bench.repo().join("staged"), "mine\n").unwrap();
        ground.main(&["add", "staged"]);
        std::fs::write(ground.bench.repo().join("untracked"), "mine\n").unwrap();
    });
    let status = ground.main(&["status", "--porcelain", "--", ":!.jit"]);
    assert_eq!(status, " M code\nA  staged\n?? untracked");
    commit_keeps_what_landed(&ground);
    assert_eq!(ground.main(&["show", "main:code"]), "mine");
}

/// A power loss may leave the lock that git had on the target, and not the note of whoever moved it.
#[test]
fn a_lock_from_before_the_last_start_of_the_machine_is_nobodys() {
    let ground = Ground::new();
    let id = ground.issue("left", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    let lock = ground.bench.repo().join(".git/refs/heads/main.lock");
    let file = std::fs::File::create(&lock).unwrap();
    // One that is taken now is somebody's.
    agent.run(&["finish", "-a", "-m", "landed"]).refused(&["main.lock"]);
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    agent.run(&["finish", "-a", "-m", "landed"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert!(ground.is_clean() && !lock.exists());
}

/// A file that was only touched, or copied with the whole repository, has nothing of its own.
#[test]
fn a_file_that_was_only_touched_is_in_nobodys_way() {
    let ground = Ground::new();
    let id = ground.issue("touched", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    agent.write("code", "one\ntwo\nthree\nfour\n");
    for at in [ground.bench.repo(), agent.at.clone()] {
        let path = at.join(".jit/issues").join(&id).join("issue.json");
        for file in [at.join("code"), path] {
            let bytes = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, bytes).unwrap();
        }
    }
    agent.run(&["finish", "-a", "-m", "landed"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    assert!(ground.is_clean(), "{}", ground.main(&["status", "--porcelain"]));
    assert_eq!(agent.git(&["status", "--porcelain"]), "");
    assert_eq!(std::fs::read_to_string(ground.bench.repo().join("code")).unwrap().lines().count(), 4);
    commit_keeps_what_landed(&ground);
}

/// The very change that lands is in nobody's way.
#[test]
fn a_file_that_is_what_lands_is_taken_over() {
    let ground = lands_beside(|ground| {
        std::fs::write(ground.bench.repo().join("landed"), "by agent:a\n").unwrap();
    });
    assert!(ground.is_clean());
    commit_keeps_what_landed(&ground);
}

/// Something of its own is in the way: nothing moves, and the work waits for whoever lands it later.
fn waits_for(prepare: impl Fn(&Ground), mend: impl Fn(&Ground)) {
    let ground = Ground::new();
    let id = ground.issue("waits", &["--priority", "high"]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    prepare(&ground);
    let before = ground.main(&["rev-parse", "main"]);
    let refused = agent.run(&["--json", "finish", "-a", "-m", "landed"]).fails(4).json();
    assert_eq!(refused["error"]["code"], "TARGET_DIRTY");
    assert_eq!(ground.main(&["rev-parse", "main"]), before);
    assert_eq!((ground.told(&id), ground.is_held(&id)), (pair("done", "on_branch"), false));
    agent.run(&["start"]).fails(3);
    mend(&ground);
    ground.bench.jit(&["land", "--all"]).ok();
    assert_eq!(ground.told(&id), pair("done", "landed"));
    commit_keeps_what_landed(&ground);
}

#[test]
fn a_file_in_the_way_is_not_overwritten() {
    waits_for(
        |ground| std::fs::write(ground.bench.repo().join("landed"), "mine\n").unwrap(),
        |ground| {
            assert_eq!(std::fs::read_to_string(ground.bench.repo().join("landed")).unwrap(), "mine\n");
            std::fs::remove_file(ground.bench.repo().join("landed")).unwrap();
        },
    );
}

#[test]
fn a_merge_that_is_under_way_is_not_disturbed() {
    waits_for(
        |ground| {
            ground.main(&["switch", "-q", "-c", "side"]);
            std::fs::write(ground.bench.repo().join("side"), "side\n").unwrap();
            ground.commit("side");
            ground.main(&["switch", "-q", "main"]);
            ground.main(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
        },
        |ground| {
            ground.main(&["commit", "-q", "-m", "merged"]);
        },
    );
}

/// Whoever followed was cut off in the middle: some files are what landed, and the index knows nothing of it.
#[test]
fn half_a_way_is_gone_to_its_end() {
    let ground = Ground::new();
    let id = ground.issue("half", &[]);
    let agent = ground.agent("a");
    agent.begin(&id, "landed");
    agent.write("code", "one\nlanded\nthree\n");
    agent.write("more", "more\n");
    agent.git(&["add", "-A", "--", ":!.jit"]);
    agent.git(&["commit", "-q", "-m", "landed"]);
    let (old, new) = (ground.main(&["rev-parse", "main"]), agent.git(&["rev-parse", "HEAD"]));
    let note = serde_json::json!({ "branch": "main", "root": ground.bench.repo(), "old": old, "new": new });
    std::fs::create_dir_all(ground.bench.control("landing")).unwrap();
    std::fs::write(ground.bench.control("landing/01K8ZZZZZZ0000000000000001.json"), note.to_string())
        .unwrap();
    ground.main(&["update-ref", "refs/heads/main", &new, &old]);
    std::fs::write(ground.bench.repo().join("code"), "one\nlanded\nthree\n").unwrap();
    std::fs::write(ground.bench.repo().join("landed"), "by agent:a\n").unwrap();
    ground.bench.jit(&["list"]).ok();
    assert!(ground.is_clean(), "{}", ground.main(&["status", "--porcelain"]));
    assert_eq!(std::fs::read_to_string(ground.bench.repo().join("more")).unwrap(), "more\n");
    commit_keeps_what_landed(&ground);
}
