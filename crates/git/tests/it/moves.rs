//! Refs that are moved here, beside refs that git moves: what is on the disk afterwards is the same, byte for byte. What is
//! not that easy is left to git, with nothing changed.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use holdfast_git::{Config, Mover, ObjectId, RefName};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

const SECONDS: i64 = 1_700_000_000;
const WHY: &str = "checkout: moving from here to there";

/// A sandbox whose environment says who writes, to git and to us.
fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    for (name, value) in
        [("GIT_COMMITTER_NAME", "A U Thor"), ("GIT_COMMITTER_EMAIL", "a@example.org"), ("TZ", "UTC")]
    {
        sandbox.set(name, value);
    }
    sandbox
}

/// Everything in the git directory but the index, which has the times of files.
fn snapshot(sandbox: &Sandbox, git_dir: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let (mut open, mut all) = (vec![git_dir.to_path_buf()], BTreeMap::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stat = std::fs::symlink_metadata(&path).unwrap();
            let content = match () {
                () if path.ends_with("index") => continue,
                () if stat.is_dir() => String::new(),
                () if stat.is_symlink() => std::fs::read_link(&path).unwrap().display().to_string(),
                () => String::from_utf8_lossy(&std::fs::read(&path).unwrap())
                    .replace(sandbox.root.to_str().unwrap(), "<root>"),
            };
            if stat.is_dir() {
                open.push(path.clone());
            }
            let name = path.strip_prefix(git_dir).unwrap().to_path_buf();
            all.insert(name, (stat.permissions().mode(), content));
        }
    }
    all
}

/// Does something with whoever moves refs in `dir`; none where git has to.
fn moved<T>(sandbox: &Sandbox, dir: &Path, act: impl FnOnce(&Mover<'_>) -> T) -> Option<T> {
    let (repository, env) = (sandbox.found(dir), sandbox.env());
    let config = Config::read(&OsFiles, &env, Some(&repository)).unwrap();
    Mover::find(&OsFiles, &repository, &env, &config, SECONDS).unwrap().map(|mover| act(&mover))
}

fn branch(name: &str) -> RefName {
    RefName::new(format!("refs/heads/{name}").as_bytes()).unwrap()
}

fn commit(sandbox: &Sandbox, dir: &Path, name: &str) -> ObjectId {
    ObjectId::from_hex(&sandbox.git(dir, &["rev-parse", "--verify", name])).unwrap()
}

/// A way to a repository, and to the worktree in it that something is done in.
type Way<'a> = &'a dyn Fn(&Sandbox) -> PathBuf;

fn main_worktree(sandbox: &Sandbox) -> PathBuf {
    sandbox.repository("main")
}

fn linked(sandbox: &Sandbox) -> PathBuf {
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "-b", "topic", "../linked"]);
    sandbox.root.join("linked")
}

fn detached(sandbox: &Sandbox) -> PathBuf {
    let main = sandbox.repository("main");
    sandbox.git(&main, &["worktree", "add", "--quiet", "--detach", "../linked"]);
    sandbox.root.join("linked")
}

/// A linked worktree with something configured.
fn configured<'a>(key: &'a str, value: &'a str) -> impl Fn(&Sandbox) -> PathBuf + 'a {
    move |sandbox| {
        let dir = linked(sandbox);
        sandbox.git(&dir, &["config", key, value]);
        dir
    }
}

fn packed(sandbox: &Sandbox) -> PathBuf {
    let dir = linked(sandbox);
    sandbox.git(&dir, &["branch", "jit/older"]);
    sandbox.git(&dir, &["branch", "jit/news"]);
    sandbox.git(&dir, &["pack-refs", "--all"]);
    dir
}

/// Git in one sandbox and we in another do the same: everything is the same afterwards.
fn agree(name: &str, way: Way<'_>, git: &dyn Fn(&Sandbox, &Path), ours: &dyn Fn(&Sandbox, &Path) -> bool) {
    let look = |act: &dyn Fn(&Sandbox, &Path)| {
        let sandbox = sandbox();
        let dir = way(&sandbox);
        act(&sandbox, &dir);
        assert_eq!(sandbox.git_text(&dir, &["status", "--porcelain"]), "", "{name}");
        sandbox.git(&dir, &["fsck", "--strict"]);
        let common = sandbox.git_path(&dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        (sandbox.git_text(&dir, &["status"]), snapshot(&sandbox, &common))
    };
    let theirs = look(git);
    let mine = look(&|sandbox, dir| assert!(ours(sandbox, dir), "{name}: it was left to git"));
    assert_eq!(theirs, mine, "{name}");
}

#[test]
fn a_branch_that_is_made_here_is_the_one_that_git_makes() {
    let ways: [(&str, Way<'_>); 7] = [
        ("main", &main_worktree),
        ("linked", &linked),
        ("detached", &detached),
        ("packed", &packed),
        ("logged", &configured("core.logAllRefUpdates", "true")),
        ("not logged", &configured("core.logAllRefUpdates", "false")),
        ("umask", &configured("core.sharedRepository", "umask")),
    ];
    for (name, way) in ways {
        let git = |sandbox: &Sandbox, dir: &Path| {
            let at = commit(sandbox, dir, "HEAD");
            let input = format!("create refs/heads/jit/new {at}\nsymref-update HEAD refs/heads/jit/new\n");
            let file = sandbox.file("input", input);
            let mut command = sandbox.command(dir);
            command.args(["update-ref", "-m", WHY, "--no-deref", "--stdin"]);
            assert!(command.stdin(std::fs::File::open(file).unwrap()).status().unwrap().success());
        };
        let ours = |sandbox: &Sandbox, dir: &Path| {
            let at = commit(sandbox, dir, "HEAD");
            moved(sandbox, dir, |mover| mover.branch_off(&branch("jit/new"), &at, WHY).unwrap()).unwrap()
        };
        agree(name, way, &git, &ours);
    }
}

/// The branch of this worktree, and one that no worktree here has checked out.
#[test]
fn a_branch_that_is_moved_here_is_where_git_moves_it() {
    let ways: [(&str, Way<'_>); 4] = [
        ("main", &main_worktree),
        ("linked", &linked),
        ("packed", &packed),
        ("not logged", &configured("core.logAllRefUpdates", "false")),
    ];
    for (name, way) in ways {
        for own in [true, false] {
            let ahead = |sandbox: &Sandbox, dir: &Path| {
                sandbox.git(dir, &["branch", "--force", "other", "HEAD"]);
                sandbox.git(dir, &["pack-refs", "--all"]);
                let (old, tree) = (commit(sandbox, dir, "HEAD"), commit(sandbox, dir, "HEAD^{tree}"));
                let (old_text, tree) = (old.to_string(), tree.to_string());
                let new = sandbox.git(dir, &["commit-tree", &tree, "-p", &old_text, "-m", "next"]);
                (old, ObjectId::from_hex(&new).unwrap())
            };
            let git = |sandbox: &Sandbox, dir: &Path| {
                let (old, new) = ahead(sandbox, dir);
                let name = if own { "HEAD" } else { "refs/heads/other" };
                sandbox.git(dir, &["update-ref", "-m", WHY, name, &new.to_string(), &old.to_string()]);
            };
            let ours = |sandbox: &Sandbox, dir: &Path| {
                let (old, new) = ahead(sandbox, dir);
                moved(sandbox, dir, |mover| {
                    let name = if own { mover.own_branch().unwrap().unwrap() } else { branch("other") };
                    mover.advance(&name, &old, &new, WHY).unwrap()
                })
                .unwrap()
            };
            agree(&format!("{name}, own: {own}"), way, &git, &ours);
        }
    }
}

#[test]
fn nobody_moves_refs_here_where_git_would_do_more() {
    let ways: [(&str, Way<'_>); 6] = [
        ("a hook", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.file("main/.git/hooks/reference-transaction", "#!/bin/sh\n");
            dir
        }),
        ("a hook elsewhere", &|sandbox| {
            let dir = configured("core.hooksPath", "own-hooks")(sandbox);
            sandbox.file("linked/own-hooks/reference-transaction", "#!/bin/sh\n");
            dir
        }),
        ("a configured hook", &configured("hook.tell.command", "true")),
        ("a group", &configured("core.sharedRepository", "group")),
        ("links", &configured("core.preferSymlinkRefs", "true")),
        ("everything is logged", &configured("core.logAllRefUpdates", "always")),
    ];
    for (name, way) in ways {
        let sandbox = sandbox();
        let dir = way(&sandbox);
        assert!(moved(&sandbox, &dir, |_| ()).is_none(), "{name}");
    }
    for (name, value) in [
        ("GIT_COMMITTER_DATE", "1700000000 +0000"),
        ("GIT_COMMITTER_NAME", " 'x' "),
        ("GIT_COMMITTER_EMAIL", ""),
        ("GIT_OBJECT_DIRECTORY", "elsewhere"),
        ("TZ", "<odd>5"),
    ] {
        let mut sandbox = sandbox();
        let dir = linked(&sandbox);
        let (repository, before) = (sandbox.found(&dir), sandbox.env());
        let config = Config::read(&OsFiles, &before, Some(&repository)).unwrap();
        let find = |env| Mover::find(&OsFiles, &repository, env, &config, SECONDS).unwrap().is_some();
        assert!(find(&before), "{name}");
        sandbox.set(name, value);
        assert!(!find(&sandbox.env()), "{name}");
    }
}

#[test]
fn nobody_moves_refs_here_that_are_in_a_table_or_have_long_names() {
    let sandbox = sandbox();
    for flag in ["--ref-format=reftable", "--object-format=sha256"] {
        let dir = sandbox.dir(flag.rsplit('=').next().unwrap());
        if !sandbox.ask(&dir, &["init", "--quiet", flag]).status.success() {
            continue;
        }
        sandbox.commit(&dir, "first");
        assert!(moved(&sandbox, &dir, |_| ()).is_none(), "{flag}");
    }
}

/// What is in the way of a branch leaves everything as it was.
#[test]
fn a_branch_that_cannot_be_made_is_left_to_git() {
    let ways: [(&str, Way<'_>); 9] = [
        ("it is there", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit/new"]);
            dir
        }),
        ("it is packed", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit/new"]);
            sandbox.git(&dir, &["pack-refs", "--all"]);
            dir
        }),
        ("its directory is a branch", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit"]);
            dir
        }),
        ("its directory is a packed branch", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit"]);
            sandbox.git(&dir, &["pack-refs", "--all"]);
            dir
        }),
        ("it is a directory", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit/new/er"]);
            dir
        }),
        ("it is a packed directory", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.git(&dir, &["branch", "jit/new/er"]);
            sandbox.git(&dir, &["pack-refs", "--all"]);
            dir
        }),
        ("it is locked", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.file("main/.git/refs/heads/jit/new.lock", "");
            dir
        }),
        ("HEAD is locked", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.file("main/.git/worktrees/linked/HEAD.lock", "");
            dir
        }),
        ("HEAD is elsewhere", &|sandbox| {
            let dir = linked(sandbox);
            sandbox.commit(&dir, "second");
            dir
        }),
    ];
    for (name, way) in ways {
        let sandbox = sandbox();
        let dir = way(&sandbox);
        let (at, git_dir) = (commit(&sandbox, &dir, "main"), sandbox.root.join("main/.git"));
        // A directory is no ref.
        let look = || {
            let mut all = snapshot(&sandbox, &git_dir);
            all.retain(|path, _| !path.ends_with("refs/heads/jit"));
            all
        };
        let before = look();
        let made = moved(&sandbox, &dir, |mover| mover.branch_off(&branch("jit/new"), &at, WHY).unwrap());
        assert_eq!(made, Some(false), "{name}");
        assert_eq!(before, look(), "{name}");
    }
}

#[test]
fn a_branch_that_is_elsewhere_or_another_one_is_left_to_git() {
    let sandbox = sandbox();
    let dir = linked(&sandbox);
    let old = commit(&sandbox, &dir, "HEAD");
    sandbox.commit(&dir, "second");
    let new = commit(&sandbox, &dir, "HEAD");
    sandbox.git(&dir, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let git_dir = sandbox.root.join("main/.git");
    let before = snapshot(&sandbox, &git_dir);
    for (name, from, to) in
        [("main", &new, &old), ("topic", &old, &new), ("alias", &old, &new), ("none", &old, &new)]
    {
        let done = moved(&sandbox, &dir, |mover| mover.advance(&branch(name), from, to, WHY).unwrap());
        assert_eq!(done, Some(false), "{name}");
        assert_eq!(before, snapshot(&sandbox, &git_dir), "{name}");
    }
    sandbox.file("main/.git/refs/heads/main.lock", "");
    let done = moved(&sandbox, &dir, |mover| mover.advance(&branch("main"), &old, &new, WHY).unwrap());
    assert_eq!(done, Some(false));
    assert!(git_dir.join("refs/heads/main.lock").exists(), "the lock is somebody else's");
}
