//! What knowing git costs, against git itself: one line each of work, peer, ours, ratio and aim. Only
//! ratios of one run mean anything.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and makes its own repositories")]
#![expect(clippy::disallowed_macros, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use holdfast_git::{Environment, Found, Head, Objects, Repository, discover};
use holdfast_sys::os::{OsFiles, effective_user};

const ISSUES: usize = 1_000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let main = repository(&root);
    let deep = main.join(".jit/issues/0001");
    let linked = root.join("linked");
    println!("{:<44} {:>12} {:>12} {:>8}  aim", "work", "git", "ours", "ratio");
    for (name, place) in
        [("main worktree", &main), ("three levels below", &deep), ("linked worktree", &linked)]
    {
        let peer = median(40, || run(place, &["symbolic-ref", "HEAD"]));
        let ours = median(2_000, || drop(black_box(branch(place))));
        row(&format!("repository and branch, {name}"), peer, ours, "< 100 us");
    }
    let peer = median(40, || run(&main, &["worktree", "list", "--porcelain"]));
    row(
        "list of 17 worktrees",
        peer,
        median(500, || drop(black_box(found(&main).worktrees(&OsFiles)))),
        "<= 1x",
    );
    let peer = median(20, || contents_by_git(&main));
    row("every issue of HEAD, 1,000 loose files", peer, median(20, || contents(&main)), "<= 1x");
    run(&main, &["gc", "--quiet"]);
    let peer = median(20, || contents_by_git(&main));
    row("every issue of HEAD, 1,000 packed files", peer, median(20, || contents(&main)), "<= 1x");
}

fn row(work: &str, peer: Duration, ours: Duration, aim: &str) {
    let ratio = ours.as_secs_f64() / peer.as_secs_f64();
    println!("{work:<44} {:>9.1} us {:>9.1} us {ratio:>7.3}x  {aim}", micros(peer), micros(ours));
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

fn median(times: usize, mut work: impl FnMut()) -> Duration {
    work();
    let mut spans: Vec<_> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    spans.sort();
    spans.get(times / 2).copied().unwrap_or_default()
}

fn found(dir: &Path) -> Repository {
    match discover(&OsFiles, dir, &Environment::empty(effective_user())) {
        Ok(Found::Repository(repository)) => *repository,
        other => panic!("{other:?}"),
    }
}

fn branch(dir: &Path) -> Head {
    found(dir).head(&OsFiles).unwrap()
}

fn contents(dir: &Path) {
    let repository = found(dir);
    let objects = Objects::open(&OsFiles, &repository, &Environment::empty(0), dir).unwrap();
    let head = repository.head_commit(&OsFiles).unwrap().unwrap();
    let tree = objects.commit(&head).unwrap().tree;
    let files = objects.files_below(&tree, b".jit/issues").unwrap();
    let bytes: usize = files.iter().map(|file| objects.blob(&file.id, 1 << 20).unwrap().len()).sum();
    assert!(files.len() == ISSUES && bytes > ISSUES);
}

/// The best that git can do: one process lists, one prints them all.
fn contents_by_git(dir: &Path) {
    let list = git(dir, &["ls-tree", "-r", "--object-only", "HEAD", ".jit/issues"]).output().unwrap().stdout;
    let mut batch = git(dir, &["cat-file", "--batch"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = batch.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut input, &list).unwrap());
        assert!(batch.wait_with_output().unwrap().stdout.len() > ISSUES);
    });
}

fn repository(root: &Path) -> PathBuf {
    let main = root.join("main");
    std::fs::create_dir(&main).unwrap();
    run(&main, &["init", "--quiet", "--initial-branch=main"]);
    for n in 0..ISSUES {
        let dir = main.join(format!(".jit/issues/{n:04}"));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(
            dir.join("issue.json"),
            format!("{{\"id\":{n},\"title\":\"{}\"}}", "word ".repeat(60)),
        )
        .unwrap();
    }
    run(&main, &["add", "--all"]);
    run(&main, &["commit", "--quiet", "-m", "issues"]);
    run(&main, &["worktree", "add", "--quiet", "../linked"]);
    for n in 1..16 {
        run(&main, &["worktree", "add", "--quiet", "--no-checkout", &format!("../linked-{n}")]);
    }
    main
}

fn git(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    command
}

fn run(dir: &Path, args: &[&str]) {
    assert!(git(dir, args).output().unwrap().status.success(), "git {args:?}");
}
