//! Commits, trees and blobs.

use std::path::{Path, PathBuf};

use holdfast_git::objects::{Mode, TreeFile};
use holdfast_git::{Error, ObjectId, Objects};
use holdfast_sys::os::OsFiles;

use crate::sandbox::Sandbox;

fn open(sandbox: &Sandbox, dir: &Path) -> Objects<'static> {
    Objects::open(&OsFiles, &sandbox.found(dir), &sandbox.env(), dir).unwrap()
}

fn head_tree(sandbox: &Sandbox, dir: &Path, objects: &Objects<'_>) -> ObjectId {
    let commit = sandbox.found(dir).head_commit(&OsFiles).unwrap().unwrap();
    objects.commit(&commit).unwrap().tree
}

/// `git ls-tree` in the form of ours.
fn theirs(sandbox: &Sandbox, dir: &Path, prefix: &str) -> Vec<TreeFile> {
    let list = sandbox.git(dir, &["ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", prefix]);
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let mode = match words.next().unwrap() {
            b"100644" => Mode::File,
            b"100755" => Mode::Executable,
            b"120000" => Mode::Symlink,
            b"160000" => Mode::Submodule,
            other => panic!("{other:?}"),
        };
        let id = ObjectId::from_hex(words.nth(1).unwrap()).unwrap();
        TreeFile { path: line[tab + 1..].to_vec(), mode, id }
    };
    list.split(|byte| *byte == 0).filter(|line| !line.is_empty()).map(entry).collect()
}

fn issues(sandbox: &Sandbox, dir: &Path, count: usize) {
    for n in 0..count {
        sandbox.file(dir.join(format!(".jit/issues/{n:03}/issue.json")), format!("{{\"id\":{n}}}\n"));
    }
    sandbox.commit(dir, "issues");
}

#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) {
    let objects = open(sandbox, dir);
    let tree = head_tree(sandbox, dir, &objects);
    for (ours, git) in
        [("", "."), (".jit/issues/", ".jit/issues/"), ("/.jit/issues", ".jit/issues"), ("none", "none")]
    {
        let files = objects.files_below(&tree, ours.as_bytes()).unwrap();
        assert_eq!(files, theirs(sandbox, dir, git), "{ours}");
    }
    for file in objects.files_below(&tree, b".jit").unwrap() {
        let content = sandbox.ask(dir, &["cat-file", "blob", &file.id.to_string()]).stdout;
        assert_eq!(objects.blob(&file.id, 1 << 20).unwrap(), content);
    }
}

#[test]
fn directories_are_named_as_in_a_commit() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("named");
    issues(&sandbox, &dir, 3);
    let objects = open(&sandbox, &dir);
    let tree = head_tree(&sandbox, &dir, &objects);
    let all = objects.entry(&tree, b".jit/issues").unwrap().unwrap().id;
    let mut seen = 0;
    objects
        .each_entry(&all, |_, mode, id| {
            let content = format!("{{\"id\":{seen}}}\n");
            let named = holdfast_git::hash::directory(&[("issue.json", content.as_bytes())]);
            assert_eq!((mode, Some(id)), (Mode::Tree, named));
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, 3);
    let file = objects.files_below(&all, b"").unwrap()[0].id;
    assert!(objects.each_entry(&file, |_, _, _| ()).is_err());
}

#[test]
fn loose_packed_and_both() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    issues(&sandbox, &main, 30);
    agree(&sandbox, &main);
    sandbox.git(&main, &["gc", "--quiet"]);
    agree(&sandbox, &main);
    issues(&sandbox, &main, 40);
    agree(&sandbox, &main);
}

#[test]
fn from_a_linked_worktree_a_bare_one_and_a_borrower() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    issues(&sandbox, &main, 3);
    sandbox.git(&main, &["worktree", "add", "--quiet", "../linked"]);
    issues(&sandbox, &sandbox.root.join("linked"), 5);
    agree(&sandbox, &sandbox.root.join("linked"));
    sandbox.git(&sandbox.root, &["clone", "--quiet", "--bare", "main", "bare.git"]);
    agree(&sandbox, &sandbox.root.join("bare.git"));
    sandbox.git(&sandbox.root, &["clone", "--quiet", "--shared", "main", "borrower"]);
    issues(&sandbox, &sandbox.root.join("borrower"), 7);
    agree(&sandbox, &sandbox.root.join("borrower"));
}

#[test]
fn links_submodules_and_odd_names() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let outer = sandbox.with_submodule();
    std::os::unix::fs::symlink("/etc/passwd", outer.join("link")).unwrap();
    sandbox.file(outer.join(std::ffi::OsStr::from_bytes(b"odd/\xff\n\x1b")), "odd");
    let run = sandbox.file(outer.join("run"), "#!/bin/sh\n");
    std::fs::set_permissions(run, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.commit(&outer, "odd things");
    agree(&sandbox, &outer);
    let objects = open(&sandbox, &outer);
    let tree = head_tree(&sandbox, &outer, &objects);
    let mode = |path: &[u8]| objects.entry(&tree, path).unwrap().map(|entry| entry.mode);
    assert_eq!(mode(b"link"), Some(Mode::Symlink));
    assert_eq!(mode(b"sub"), Some(Mode::Submodule));
    assert_eq!(mode(b"run"), Some(Mode::Executable));
    assert_eq!(mode(b"odd"), Some(Mode::Tree));
    assert_eq!((mode(b"odd/x"), mode(b"run/x"), mode(b"nothing")), (None, None, None));
}

#[test]
fn commits() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.git(&main, &["checkout", "--quiet", "-b", "side"]);
    sandbox.commit(&main, "side");
    sandbox.git(&main, &["checkout", "--quiet", "main"]);
    sandbox.commit(&main, "ahead");
    sandbox.git(&main, &["merge", "--quiet", "--no-ff", "-m", "both\n\nJIT-Lease: x", "side"]);
    let objects = open(&sandbox, &main);
    let head = sandbox.found(&main).head_commit(&OsFiles).unwrap().unwrap();
    let commit = objects.commit(&head).unwrap();
    let parents: Vec<_> = commit.parents.iter().map(ToString::to_string).collect();
    assert_eq!(parents.join(" "), sandbox.git_text(&main, &["log", "-1", "--format=%P"]));
    assert_eq!(commit.tree.to_string(), sandbox.git_text(&main, &["log", "-1", "--format=%T"]));
    assert_eq!((commit.written_secs, &commit.message[..]), (1_700_000_000, &b"both\n\nJIT-Lease: x\n"[..]));
}

#[test]
fn what_is_not_there_or_too_large() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let objects = open(&sandbox, &main);
    let tree = head_tree(&sandbox, &main, &objects);
    let readme = objects.entry(&tree, b"README").unwrap().unwrap().id;
    let missing = ObjectId::from_hex(&[b'7'; 40]).unwrap();
    assert!(objects.has(&readme) && !objects.has(&missing));
    let said = |error: Error| error.to_string();
    assert!(said(objects.blob(&missing, 9).unwrap_err()).contains("there is no such object"));
    assert!(said(objects.blob(&readme, 5).unwrap_err()).contains("it is 6 bytes long; at most 5 are read"));
    assert!(said(objects.commit(&readme).unwrap_err()).contains("it is a blob"));
    assert_eq!(objects.blob(&readme, 6).unwrap(), b"hello\n");
}

/// The content of README in the last commit, and the file that it is kept in.
fn readme(sandbox: &Sandbox, dir: &Path) -> (ObjectId, PathBuf) {
    let id = sandbox.git_text(dir, &["rev-parse", "HEAD:README"]);
    let file = dir.join(".git/objects").join(&id[..2]).join(&id[2..]);
    (ObjectId::from_hex(id.as_bytes()).unwrap(), file)
}

#[test]
fn a_file_that_is_not_the_whole_object_is_an_error() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let (id, file) = readme(&sandbox, &main);
    let packed = |object: &[u8]| miniz_oxide::deflate::compress_to_vec_zlib(object, 6);
    let read = |bytes: &[u8]| {
        // Git makes these files read-only.
        let _ = std::fs::remove_file(&file);
        std::fs::write(&file, bytes).unwrap();
        open(&sandbox, &main).blob(&id, 100)
    };
    let whole = packed(b"blob 6\0hello\n");
    assert_eq!(read(&whole).unwrap(), b"hello\n");
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let odd: [&[u8]; 5] = [b"blob 7\0hello\n", b"blob 5\0hello\n", b"blob 6hello\n", b"", b"\0"];
    let odd = odd.iter().map(|object| packed(object));
    // libgit2 never comes back from one that was cut short.
    let cut = (0..whole.len()).map(|len| whole[..len].to_vec());
    for bytes in odd.chain([flipped, b"garbage".to_vec()]).chain(cut) {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains("it is damaged"), "{bytes:x?}: {error}");
    }
    // A link is none of git's making, but git follows it.
    std::fs::remove_file(&file).unwrap();
    let elsewhere = main.join("elsewhere");
    std::fs::write(&elsewhere, &whole).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(open(&sandbox, &main).blob(&id, 100).unwrap(), b"hello\n");
}

#[test]
fn an_object_that_was_cut_short_where_it_is_borrowed_from_is_an_error() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let clone = sandbox.dir("clone");
    sandbox.git(&main, &["clone", "--quiet", "--shared", ".", clone.to_str().unwrap()]);
    let (id, file) = readme(&sandbox, &main);
    assert_eq!(open(&sandbox, &clone).blob(&id, 100).unwrap(), b"hello\n");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let error = open(&sandbox, &clone).blob(&id, 100).unwrap_err().to_string();
    assert!(error.contains("it is damaged"), "{error}");
}

#[test]
fn a_tree_that_spells_out_too_much() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let mut inner = sandbox.git_text(&main, &["rev-parse", "HEAD:README"]);
    let mut kind = "100644 blob";
    for _ in 0..5 {
        let lines: String = (0..100).map(|n| format!("{kind} {inner}\t{n:02}\n")).collect();
        inner = pipe(&sandbox, &main, &["mktree"], lines.as_bytes());
        kind = "040000 tree";
    }
    let objects = open(&sandbox, &main);
    let tree = ObjectId::from_hex(inner.as_bytes()).unwrap();
    let error = objects.files_below(&tree, b"").unwrap_err();
    assert!(error.to_string().contains("too many files"), "{error}");
    assert_eq!(objects.files_below(&tree, b"01/02/03/04").unwrap().len(), 100);
}

fn pipe(sandbox: &Sandbox, dir: &Path, args: &[&str], input: &[u8]) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = sandbox.command(dir);
    let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_hook_sees_what_is_being_pushed() {
    let mut sandbox = Sandbox::new();
    let bare = sandbox.bare("bare.git");
    let pusher = sandbox.root.join("pusher");
    sandbox.git(&sandbox.root, &["clone", "--quiet", "bare.git", "pusher"]);
    issues(&sandbox, &pusher, 2);
    let hook = "#!/bin/sh\nread old new ref\nprintf '%s\\n' \"$PWD\" \"$GIT_DIR\" \"$GIT_OBJECT_DIRECTORY\" \
                \"$GIT_ALTERNATE_OBJECT_DIRECTORIES\" \"$new\" > seen\ncp -r \"$GIT_OBJECT_DIRECTORY\" kept\n";
    let hook = sandbox.file("bare.git/hooks/pre-receive", hook);
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.git(&pusher, &["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]);
    let seen = std::fs::read_to_string(bare.join("seen")).unwrap();
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(Path::new(seen[0]), bare);
    // The quarantine is gone by the time we look, so its copy stands in for it.
    assert!(!seen[2].is_empty() && !Path::new(seen[2]).exists());
    sandbox.set("GIT_DIR", seen[1]);
    sandbox.set("GIT_OBJECT_DIRECTORY", "kept");
    sandbox.set("GIT_ALTERNATE_OBJECT_DIRECTORIES", seen[3]);
    let objects = open(&sandbox, &bare);
    let pushed = objects.commit(&ObjectId::from_hex(seen[4].as_bytes()).unwrap()).unwrap();
    assert_eq!(objects.files_below(&pushed.tree, b".jit/issues").unwrap().len(), 2);
    assert!(objects.has(&pushed.parents[0]), "what was there before is seen too");
}

#[test]
fn what_cannot_be_read_here_is_said() {
    let sandbox = Sandbox::new();
    let dir = sandbox.dir("sha256");
    sandbox.git(&dir, &["init", "--quiet", "--object-format=sha256"]);
    let repository = sandbox.found(&dir);
    assert!(matches!(Objects::open(&OsFiles, &repository, &sandbox.env(), &dir), Err(Error::Sha256 { .. })));
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"odd-\xff");
    let odd = sandbox.dir(odd);
    sandbox.git(&odd, &["init", "--quiet"]);
    let error = Objects::open(&OsFiles, &sandbox.found(&odd), &sandbox.env(), &odd).err().unwrap();
    assert!(error.to_string().contains("its path is not UTF-8"), "{error}");
}

/// What `git log` says of a path, and what we say.
#[track_caller]
fn same_history(sandbox: &Sandbox, dir: &Path, path: &str) -> usize {
    let log = sandbox.git_text(dir, &["log", "--format=%H", "--", path]);
    let theirs: Vec<String> = log.lines().map(ToOwned::to_owned).collect();
    let head = sandbox.found(dir).head_commit(&OsFiles).unwrap().unwrap();
    let ours = open(sandbox, dir).history(&head, path.as_bytes(), 100).unwrap();
    assert_eq!(ours.iter().map(|change| change.commit.to_string()).collect::<Vec<_>>(), theirs, "{path}");
    theirs.len()
}

#[test]
fn the_history_of_a_path_is_what_git_log_says() {
    let sandbox = Sandbox::new();
    let dir = sandbox.repository("r");
    let save = |path: &str, content: &str, message: &str| {
        sandbox.file(dir.join(path), content);
        sandbox.commit(&dir, message);
    };
    save("docs/a.md", "1", "one");
    save("other", "1", "elsewhere");
    sandbox.git(&dir, &["checkout", "-q", "-b", "side"]);
    save("docs/a.md", "2", "side");
    sandbox.git(&dir, &["checkout", "-q", "-"]);
    save("other", "2", "elsewhere again");
    sandbox.git(&dir, &["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    save("docs/a.md", "3", "three\n\nand more");
    assert_eq!(same_history(&sandbox, &dir, "docs/a.md"), 3);
    assert!(same_history(&sandbox, &dir, "docs") == 3 && same_history(&sandbox, &dir, "none") == 0);
    sandbox.git(&dir, &["rm", "-q", "docs/a.md"]);
    sandbox.commit(&dir, "gone");
    assert_eq!(same_history(&sandbox, &dir, "docs/a.md"), 4);

    let head = sandbox.found(&dir).head_commit(&OsFiles).unwrap().unwrap();
    let changes = open(&sandbox, &dir).history(&head, b"docs/a.md", 2).unwrap();
    let told: Vec<_> = changes.iter().map(|it| (it.subject.as_slice(), it.content.is_some())).collect();
    assert_eq!(told, [(&b"gone"[..], false), (&b"three"[..], true)]);
}
