//! What is staged, by our reading of the index and by git's.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use holdfast_git::changes::Change;
use holdfast_git::{Objects, Repository};
use holdfast_sys::os::OsFiles;
use proptest::prelude::*;

use crate::sandbox::{Sandbox, property};

fn staged(sandbox: &Sandbox, dir: &Path) -> Vec<Change> {
    let repository = sandbox.found(dir);
    let env = sandbox.env();
    let objects = Objects::open(&OsFiles, &repository, &env, dir).unwrap();
    let tree = head_tree(&repository, &objects);
    objects.staged((&repository, &env, dir), tree.as_ref(), b".jit").unwrap()
}

fn head_tree(repository: &Repository, objects: &Objects<'_>) -> Option<holdfast_git::ObjectId> {
    let head = repository.head_commit(&OsFiles).unwrap()?;
    Some(objects.commit(&head).unwrap().tree)
}

/// Old and new object and path of every change, as git tells them.
fn by_git(sandbox: &Sandbox, dir: &Path) -> Vec<(String, String, Vec<u8>)> {
    let args = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "HEAD", "--", ".jit"];
    let said = sandbox.git(dir, &args);
    let mut words = said.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(about), Some(path)) = (words.next().filter(|word| !word.is_empty()), words.next()) {
        let about = String::from_utf8(about.to_vec()).unwrap();
        let word = |at| about.split(' ').nth(at).unwrap().trim_start_matches(':').to_owned();
        found.push((word(0) + &word(2), word(1) + &word(3), path.to_vec()));
    }
    found.sort_by(|a, b| a.2.cmp(&b.2));
    found
}

fn by_us(changes: &[Change]) -> Vec<(String, String, Vec<u8>)> {
    use holdfast_git::objects::Mode;
    let text = |version: Option<(Mode, holdfast_git::ObjectId)>| match version {
        None => format!("000000{}", "0".repeat(40)),
        Some((Mode::Executable, id)) => format!("100755{id}"),
        Some((Mode::Symlink, id)) => format!("120000{id}"),
        Some((Mode::Submodule, id)) => format!("160000{id}"),
        Some((_, id)) => format!("100644{id}"),
    };
    let mut all: Vec<_> =
        changes.iter().map(|change| (text(change.old), text(change.new), change.path.clone())).collect();
    all.sort_by(|a, b| a.2.cmp(&b.2));
    all
}

fn write(dir: &Path, name: &[u8], content: &str) {
    let path = dir.join(OsStr::from_bytes(name));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

const NAMES: [&[u8]; 8] = [
    b".jit/issues/A/issue.json",
    b".jit/issues/A/labels.or-set.jsonl",
    b".jit/issues/A.b/issue.json",
    b".jit/issues/\xff\n\"odd name\"/issue.json",
    b".jit/config.toml",
    b".jit",
    b".jitter/x",
    b"src/main.rs",
];

/// One step of somebody's work: which file, and what happens to it.
fn steps() -> impl Strategy<Value = Vec<(usize, u8)>> {
    proptest::collection::vec((0..NAMES.len(), 0u8..5), 1..12)
}

fn act(sandbox: &Sandbox, dir: &Path, name: &[u8], what: u8) {
    let path = dir.join(OsStr::from_bytes(name));
    match what {
        0 | 1 if path.is_dir() || path.ancestors().skip(1).any(Path::is_file) => {}
        0 => write(dir, name, "zero"),
        1 => write(dir, name, "one"),
        2 => drop(std::fs::remove_file(&path)),
        3 if path.is_file() => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        _ => {
            sandbox.git(dir, &["commit", "--quiet", "--allow-empty", "-m", "step"]);
        }
    }
    sandbox.git(dir, &["add", "--all"]);
}

#[test]
fn what_is_staged_is_what_git_says() {
    for version in ["2", "3", "4"] {
        property(8, &steps(), |steps| {
            let mut sandbox = Sandbox::new();
            sandbox.set("GIT_INDEX_VERSION", version);
            let dir = sandbox.repository("r");
            for (name, what) in steps {
                act(&sandbox, &dir, NAMES[name], what);
                prop_assert_eq!(by_us(&staged(&sandbox, &dir)), by_git(&sandbox, &dir));
            }
            // Before its hooks run, git remembers the trees of all directories.
            sandbox.git(&dir, &["write-tree"]);
            prop_assert_eq!(by_us(&staged(&sandbox, &dir)), by_git(&sandbox, &dir));
            Ok(())
        });
    }
}

#[test]
fn forms_that_only_git_reads_are_asked_of_git() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("r");
    write(&dir, b".jit/issues/A/issue.json", "one");
    sandbox.commit(&dir, "issue");
    sandbox.git(&dir, &["update-index", "--split-index"]);
    write(&dir, b".jit/issues/A/issue.json", "two");
    write(&dir, b".jit/issues/\xff/issue.json", "new");
    sandbox.git(&dir, &["add", "--all"]);
    let changes = staged(&sandbox, &dir);
    assert_eq!(changes.len(), 2);
    assert_eq!(by_us(&changes), by_git(&sandbox, &dir));
    assert!(changes.iter().any(|change| change.path == b".jit/issues/\xff/issue.json"));
}

#[test]
fn a_name_that_was_only_announced_is_not_staged() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("r");
    write(&dir, b".jit/issues/A/issue.json", "one");
    sandbox.git(&dir, &["add", "--intent-to-add", ".jit"]);
    assert_eq!(staged(&sandbox, &dir), []);
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let sandbox = Sandbox::new();
    let dir = sandbox.unborn("r");
    assert_eq!(staged(&sandbox, &dir), []);
    write(&dir, b".jit/config.toml", "");
    sandbox.git(&dir, &["add", "--all"]);
    let changes = staged(&sandbox, &dir);
    assert_eq!((changes.len(), changes[0].old), (1, None));
}

#[test]
fn a_commit_of_some_files_has_an_index_of_its_own() {
    let mut sandbox = Sandbox::new();
    let dir = sandbox.repository("r");
    write(&dir, b".jit/config.toml", "a");
    sandbox.git(&dir, &["add", "--all"]);
    let other = dir.join(".git/other");
    std::fs::copy(dir.join(".git/index"), &other).unwrap();
    sandbox.git(&dir, &["reset", "--quiet"]);
    assert_eq!(staged(&sandbox, &dir), []);
    sandbox.set("GIT_INDEX_FILE", &other);
    assert_eq!(staged(&sandbox, &dir).len(), 1);
    // Relative to where git runs its hooks.
    sandbox.set("GIT_INDEX_FILE", ".git/other");
    assert_eq!(staged(&sandbox, &dir).len(), 1);
}

#[test]
fn two_trees_differ_as_git_says() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("r");
    write(&dir, b".jit/issues/A/issue.json", "one");
    write(&dir, b".jit/issues/B/issue.json", "one");
    sandbox.commit(&dir, "one");
    let repository = sandbox.found(&dir);
    let objects = Objects::open(&OsFiles, &repository, &sandbox.env(), &dir).unwrap();
    let before = head_tree(&repository, &objects).unwrap();
    std::fs::remove_dir_all(dir.join(".jit/issues/A")).unwrap();
    write(&dir, b".jit/issues/A", "a file where a directory was");
    write(&dir, b".jit/issues/B/issue.json", "two");
    sandbox.commit(&dir, "two");
    let after = head_tree(&repository, &objects).unwrap();
    let paths = |old, new| -> Vec<String> {
        let changes = objects.changes(old, new, b".jit/issues").unwrap();
        changes.iter().map(|change| String::from_utf8(change.path.clone()).unwrap()).collect()
    };
    let all = [".jit/issues/A", ".jit/issues/A/issue.json", ".jit/issues/B/issue.json"];
    assert_eq!(paths(Some(&before), Some(&after)), all);
    assert_eq!(paths(Some(&after), Some(&after)), Vec::<String>::new());
    assert_eq!(paths(None, Some(&after)), [".jit/issues/A", ".jit/issues/B/issue.json"]);
}
