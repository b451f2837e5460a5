//! Paths that somebody else has reserved: what may be committed and pushed all the same.

use crate::stage::Stage;

fn write(dir: &std::path::Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_commit_that_touches_what_another_has_reserved_is_stopped() {
    let stage = Stage::new();
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    a.jit(&["reserve", "add", "src/**"]).ok();
    write(&b.dir, "src/x.rs", "x");
    write(&b.dir, "docs/x.md", "x");
    b.git(&["add", "-A"]).ok();
    b.git(&["commit", "-q", "-m", "both"])
        .refused(&["src/x.rs is reserved by agent:a", "jit reserve add 'src/x.rs' --wait"]);
    b.git(&["restore", "--staged", "--", "src/x.rs"]).ok();
    b.git(&["commit", "-q", "-m", "only docs"]).ok();
    // Whoever has reserved it commits it.
    write(&a.dir, "src/y.rs", "y");
    a.git(&["add", "-A"]).ok();
    a.git(&["commit", "-q", "-m", "mine"]).ok();
    a.jit(&["reserve", "release", "--all"]).ok();
    b.git(&["add", "-A"]).ok();
    b.git(&["commit", "-q", "-m", "now"]).ok();
}

#[test]
fn a_deletion_touches_and_shared_paths_stop_nobody() {
    let stage = Stage::new();
    write(&stage.path("repo"), "src/old.rs", "old");
    stage.main().git(&["add", "."]).ok();
    stage.main().git(&["commit", "-q", "-m", "old"]).ok();
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    a.jit(&["reserve", "add", "src/*", "--shared"]).ok();
    b.git(&["rm", "-q", "src/old.rs"]).ok();
    b.git(&["commit", "-q", "-m", "gone"]).ok();
    b.git(&["reset", "-q", "--hard", "HEAD~1"]).ok();
    a.jit(&["reserve", "release", "--all"]).ok();
    a.jit(&["reserve", "add", "src/*"]).ok();
    b.git(&["rm", "-q", "src/old.rs"]).ok();
    b.git(&["commit", "-q", "-m", "gone"]).refused(&["src/old.rs is reserved by agent:a"]);
}

#[test]
fn the_configuration_says_whether_it_stops_or_warns() {
    for (word, stops, warns) in [("strict", true, false), ("warn", false, true), ("off", false, false)] {
        let stage = Stage::new();
        let text = format!("[enforcement]\nreservations = \"{word}\"\n");
        std::fs::write(stage.path("repo/.jit/config.toml"), text).unwrap();
        stage.main().git(&["add", "."]).ok();
        stage.main().git(&["commit", "-q", "-m", "configured"]).ok();
        let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
        a.jit(&["reserve", "add", "x"]).ok();
        write(&b.dir, "x", "x");
        b.git(&["add", "-A"]).ok();
        let done = b.git(&["commit", "-q", "-m", "x"]);
        assert_eq!(done.code != Some(0), stops, "{word}: {done}");
        assert_eq!(done.stderr.contains("is reserved by"), stops || warns, "{word}: {done}");
    }
}

#[test]
fn a_merge_brings_what_others_made_and_a_push_is_judged_too() {
    let stage = Stage::new();
    let (a, b) = (stage.agent("agent:a", "a"), stage.agent("agent:b", "b"));
    write(&a.dir, "src/x.rs", "x");
    a.git(&["add", "-A"]).ok();
    a.git(&["commit", "-q", "-m", "before it was reserved"]).ok();
    write(&b.dir, "docs/b.md", "b");
    b.git(&["add", "-A"]).ok();
    b.git(&["commit", "-q", "-m", "b"]).ok();
    let c = stage.agent("agent:c", "c");
    c.jit(&["reserve", "add", "src/**"]).ok();
    // A merge that takes a file as another side has it touches nothing.
    b.git(&["merge", "-q", "--no-edit", "a"]).ok();
    a.git(&["push", "-q", "origin", "a"]).refused(&["src/x.rs is reserved by agent:c"]);
    c.jit(&["reserve", "release", "--all"]).ok();
    a.git(&["push", "-q", "origin", "a"]).ok();
}

/// The first commit touches everything in it.
#[test]
fn a_first_commit_is_judged() {
    let stage = Stage::empty();
    let root = stage.path("");
    stage.run("git", "agent:main", &["init", "-q", "-b", "main", "repo"], &root).ok();
    let (main, other) = (stage.main(), stage.at("agent:b", "repo"));
    main.jit(&["init"]).ok();
    main.jit(&["hooks", "install"]).ok();
    main.jit(&["reserve", "add", "src/**"]).ok();
    write(&main.dir, "src/x.rs", "x");
    other.git(&["add", "-A"]).ok();
    other.git(&["commit", "-q", "-m", "first"]).refused(&["src/x.rs is reserved by agent:main"]);
    main.git(&["commit", "-q", "-m", "first"]).ok();
}
