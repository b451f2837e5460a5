//! Which commits come before which, which refs there are, and trees that are made here: by our reading and by git's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use holdfast_git::{ObjectId, Objects};
use holdfast_sys::os::OsFiles;
use proptest::prelude::*;

use crate::sandbox::{Sandbox, property};

fn open(sandbox: &Sandbox, dir: &Path) -> Objects<'static> {
    Objects::open(&OsFiles, &sandbox.found(dir), &sandbox.env(), dir).unwrap()
}

fn id(hex: &str) -> ObjectId {
    ObjectId::from_hex(hex.trim().as_bytes()).unwrap()
}

/// Commits: each with those before it, as steps back, and by how much its clock was wrong.
type History = Vec<(Vec<usize>, i64)>;

fn histories() -> impl Strategy<Value = History> {
    let commit = (proptest::collection::vec(1_usize..5, 0..3), -80_000_i64..80_000);
    proptest::collection::vec(commit, 2..16)
}

/// Makes the commits, and gives their names.
fn make(sandbox: &Sandbox, dir: &Path, history: &History) -> Vec<ObjectId> {
    let mut input = String::new();
    for (number, (back, skew)) in history.iter().enumerate() {
        let when = 1_700_000_000 + 60 * i64::try_from(number).unwrap() + skew;
        let mark = number + 1;
        writeln!(input, "commit refs/heads/b{number}\nmark :{mark}\ncommitter A <a> {when} +0000").unwrap();
        writeln!(input, "data 1\nx").unwrap();
        let before: BTreeSet<usize> = back.iter().filter_map(|back| mark.checked_sub(*back)).collect();
        for (at, parent) in before.iter().filter(|parent| **parent > 0).enumerate() {
            writeln!(input, "{} :{parent}", if at == 0 { "from" } else { "merge" }).unwrap();
        }
        writeln!(input, "M 100644 inline f\ndata 3\n{number:03}\n").unwrap();
    }
    let mut import = sandbox.command(dir);
    let mut import =
        import.args(["fast-import", "--quiet", "--force"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let listed =
        sandbox.git_text(dir, &["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/b*"]);
    let ids: BTreeMap<&str, ObjectId> =
        listed.lines().map(|line| line.split_once(' ').unwrap()).map(|(name, hex)| (name, id(hex))).collect();
    (0..history.len()).map(|number| ids[format!("b{number}").as_str()]).collect()
}

#[test]
fn histories_are_read_as_git_reads_them() {
    property(24, &(histories(), any::<bool>()), |(history, packed)| {
        let sandbox = Sandbox::new();
        let dir = sandbox.repository("repo");
        let commits = make(&sandbox, &dir, &history);
        if packed {
            sandbox.git(&dir, &["repack", "-adq"]);
        }
        let objects = open(&sandbox, &dir);
        let last = commits.len() - 1;
        for (one, other) in [(0, last), (last, 0), (last, last / 2), (last, last - 1), (last / 2, last / 3)] {
            let (one, other) = (commits[one], commits[other]);
            let (a, b) = (one.to_string(), other.to_string());
            let all = sandbox.ask(&dir, &["merge-base", "--all", &a, &b]).stdout;
            let all: Vec<ObjectId> = String::from_utf8(all).unwrap().lines().map(id).collect();
            let ours = objects.merge_base(&one, &other).unwrap();
            prop_assert_eq!(ours.is_none(), all.is_empty());
            prop_assert!(ours.is_none_or(|ours| all.contains(&ours)), "{ours:?} of {all:?}");
            let before = sandbox.ask(&dir, &["merge-base", "--is-ancestor", &a, &b]).status.success();
            prop_assert_eq!(objects.is_ancestor(&one, &other).unwrap(), before);
            let theirs = sandbox.git_text(&dir, &["rev-list", "--parents", &a, "--not", &b]);
            let theirs: BTreeSet<Vec<ObjectId>> =
                theirs.lines().map(|line| line.split(' ').map(id).collect()).collect();
            let ours = objects.beyond(&one, &[other]).unwrap();
            let mut seen = BTreeSet::new();
            let own: BTreeSet<ObjectId> = ours.iter().map(|(id, _)| *id).collect();
            for (id, parents) in &ours {
                prop_assert!(parents.iter().all(|parent| !own.contains(parent) || seen.contains(parent)));
                seen.insert(*id);
            }
            let flat = |(id, parents): (ObjectId, Vec<ObjectId>)| [vec![id], parents].concat();
            prop_assert_eq!(ours.into_iter().map(flat).collect::<BTreeSet<_>>(), theirs);
        }
        Ok(())
    });
}

#[test]
fn a_clone_that_was_cut_off_ends_there() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    for name in ["a", "b", "c"] {
        sandbox.file(dir.join(name), name);
        sandbox.commit(&dir, name);
    }
    let url = format!("file://{}", dir.display());
    sandbox.git(&sandbox.root, &["clone", "--quiet", "--depth=2", &url, "cut"]);
    let cut = sandbox.root.join("cut");
    let objects = open(&sandbox, &cut);
    let tip = id(&sandbox.git_text(&cut, &["rev-parse", "HEAD"]));
    let before = id(&sandbox.git_text(&cut, &["rev-parse", "HEAD^"]));
    assert_eq!(objects.beyond(&tip, &[]).unwrap().len(), 2);
    assert_eq!(objects.merge_base(&tip, &before).unwrap(), Some(before));
    // Where nothing says that it was cut off, what is missing is no end.
    std::fs::remove_file(cut.join(".git/shallow")).unwrap();
    assert!(open(&sandbox, &cut).beyond(&tip, &[]).is_err());
}

#[test]
fn refs_are_listed_as_git_lists_them() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    for name in ["x", "jit/one", "jit/one-3", "deep/er/still"] {
        sandbox.git(&dir, &["branch", name]);
    }
    sandbox.git(&dir, &["pack-refs", "--all"]);
    sandbox.commit(&dir, "second");
    sandbox.git(&dir, &["branch", "-f", "x"]);
    sandbox.git(&dir, &["branch", "jit/two"]);
    sandbox.git(&dir, &["branch", "-D", "-q", "deep/er/still"]);
    sandbox.git(&dir, &["symbolic-ref", "refs/heads/other", "refs/heads/x"]);
    sandbox.git(&dir, &["symbolic-ref", "refs/heads/nowhere", "refs/heads/none"]);
    sandbox.file(dir.join(".git/refs/heads/torn"), "");
    sandbox.file(dir.join(".git/refs/heads/held.lock"), "");
    for prefix in ["refs/heads", "refs/heads/jit", "refs/heads/ji", "refs/none"] {
        let theirs = sandbox.ask(&dir, &["for-each-ref", "--format=%(refname) %(objectname)", prefix]).stdout;
        let ours = sandbox.found(&dir).refs_below(&OsFiles, prefix).unwrap();
        let name = |name: &holdfast_git::RefName| String::from_utf8(name.as_bytes().to_vec()).unwrap();
        let ours: Vec<String> = ours.iter().map(|(known, id)| format!("{} {id}", name(known))).collect();
        assert_eq!(ours, String::from_utf8(theirs).unwrap().lines().collect::<Vec<_>>(), "{prefix}");
    }
}

/// What git makes of a tree and files, by way of an index.
fn filled(sandbox: &Sandbox, dir: &Path, tree: &str, files: &[(&str, Option<&str>)]) -> ObjectId {
    sandbox.git(dir, &["read-tree", tree]);
    for (path, content) in files {
        sandbox.git(dir, &["update-index", "--force-remove", "--", path]);
        if let Some(content) = content {
            let beside = sandbox.file("content", content);
            let blob = sandbox.git_text(dir, &["hash-object", "-w", beside.to_str().unwrap()]);
            let entry = format!("100644,{blob},{path}");
            sandbox.git(dir, &["update-index", "--add", "--replace", "--cacheinfo", &entry]);
        }
    }
    id(&sandbox.git_text(dir, &["write-tree"]))
}

#[test]
fn trees_are_made_as_git_makes_them() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("repo");
    for path in ["a/b/c", "a/d", "a.b", "a-", ".jit/issues/1/issue.json", ".jit/x"] {
        sandbox.file(dir.join(path), path);
    }
    std::os::unix::fs::symlink("a/d", dir.join("link")).unwrap();
    let script = sandbox.file(dir.join("run"), "#!");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.commit(&dir, "files");
    let tree = sandbox.git_text(&dir, &["rev-parse", "HEAD^{tree}"]);
    let objects = open(&sandbox, &dir);
    let cases: [&[(&str, Option<&str>)]; 7] = [
        &[(".jit/issues/1/issue.json", Some("other")), (".jit/issues/2/issue.json", Some("two"))],
        &[("a/b/c", None)],
        &[("a/b/c", None), ("a/d", None), ("new/deep/er", Some(""))],
        &[("a", Some("a file in the place of a directory"))],
        &[("a.b/c", Some("a directory in the place of a file")), ("none/there", None)],
        &[],
        &[(".jit/x", None), (".jit/issues/1/issue.json", None)],
    ];
    for (number, files) in (1_u128..).zip(cases) {
        let contents =
            files.iter().map(|(path, content)| (path.as_bytes(), content.map(str::as_bytes))).collect();
        let ours = objects.with_files(&id(&tree), &contents, number).unwrap();
        assert_eq!(ours, filled(&sandbox, &dir, &tree, files), "{files:?}");
        sandbox.git(&dir, &["cat-file", "-e", &format!("{ours}^{{tree}}")]);
    }
    let without = objects.with_entry_of(&id(&tree), b".jit", None, 100).unwrap();
    let taken = [(".jit/issues/1/issue.json", None), (".jit/x", None)];
    assert_eq!(without, filled(&sandbox, &dir, &tree, &taken));
    assert_eq!(objects.with_entry_of(&without, b".jit", Some(&id(&tree)), 101).unwrap(), id(&tree));
    let other = objects.with_files(&id(&tree), &[(&b"run"[..], Some(&b"!"[..]))].into(), 102).unwrap();
    let changed = objects.differences(&id(&tree), &other).unwrap();
    assert_eq!(changed.iter().map(|change| change.path.as_slice()).collect::<Vec<_>>(), [b"run"]);
    let fsck = sandbox.ask(&dir, &["fsck", "--strict", "--no-dangling"]);
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stderr));
    let left = std::fs::read_dir(dir.join(".git/objects")).unwrap();
    assert!(left.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with("tmp_obj")));
}
