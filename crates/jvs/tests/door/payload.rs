//! What goes into a snapshot comes out of it, byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{XattrFlags, lgetxattr, lsetxattr};

use crate::bench::{Bench, Refusal, long};

/// Everything about a tree that a round trip keeps: kind, mode, time, content or target, and which names are
/// the same file.
fn portrait(root: &Path) -> BTreeMap<Vec<u8>, String> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![root.to_path_buf()];
    let mut inodes: BTreeMap<u64, usize> = BTreeMap::new();
    while let Some(directory) = ahead.pop() {
        let mut entries: Vec<_> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_symlink() {
                format!("{:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                ahead.push(path.clone());
                String::new()
            } else if meta.len() < 1 << 24 {
                blake3::hash(&std::fs::read(&path).unwrap()).to_hex().to_string()
            } else {
                format!("{} bytes in {} blocks at most", meta.len(), meta.blocks().next_power_of_two())
            };
            let next = inodes.len();
            let link = if meta.is_file() && meta.nlink() > 1 {
                *inodes.entry(meta.ino()).or_insert(next)
            } else {
                0
            };
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            let mode = meta.permissions().mode();
            found.insert(name, format!("{mode:o} {}.{} {link} {content}", meta.mtime(), meta.mtime_nsec()));
        }
    }
    found
}

fn round_trip(bench: &Bench) {
    let id = bench.snapshot();
    bench.jvs(&["verify", "--snapshot", &id]).ok();
    bench.jvs(&["restore", &id, "--name", "back"]).ok();
    assert_eq!(portrait(&bench.root().join("worktrees/back")), portrait(&bench.main()));
}

#[test]
fn odd_files_survive_a_round_trip() {
    let bench = Bench::new();
    let main = bench.main();
    std::fs::create_dir_all(main.join("empty/inside")).unwrap();
    std::fs::write(main.join("zero"), "").unwrap();
    for name in
        [&b"new\nline"[..], b"\xff\xfe not utf-8", b" space ", b"-dash", b"a\tb", b"back\\slash", b"\x1b[31m"]
    {
        std::fs::write(main.join(OsStr::from_bytes(name)), name).unwrap();
    }
    std::fs::write(main.join("x"), "script").unwrap();
    std::fs::set_permissions(main.join("x"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    std::fs::hard_link(main.join("x"), main.join("empty/x-too")).unwrap();
    std::fs::hard_link(main.join("x"), main.join("y")).unwrap();
    symlink("x", main.join("link")).unwrap();
    symlink("/nowhere/at/all", main.join("dangling")).unwrap();
    symlink("..", main.join("empty/up")).unwrap();
    symlink(OsStr::from_bytes(b"\xffodd\n"), main.join("odd-link")).unwrap();
    std::fs::create_dir(main.join("read-only")).unwrap();
    std::fs::write(main.join("read-only/kept"), "kept").unwrap();
    std::fs::set_permissions(main.join("read-only/kept"), std::fs::Permissions::from_mode(0o400)).unwrap();
    std::fs::set_permissions(main.join("read-only"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let deep: String = (0..40).map(|n| format!("deep{n}/")).collect();
    std::fs::create_dir_all(main.join(&deep)).unwrap();
    std::fs::write(main.join(deep).join("f"), "deep").unwrap();
    let attributed = lsetxattr(main.join("zero"), "user.jvs", b"v\0\xff", XattrFlags::empty()).is_ok();
    round_trip(&bench);
    if attributed {
        let mut value = [0; 16];
        let len = lgetxattr(bench.root().join("worktrees/back/zero"), "user.jvs", &mut value[..]).unwrap();
        assert_eq!(&value[..len], b"v\0\xff");
    } else {
        println!("skipped: this file system has no extended attributes");
    }
    let ids: Vec<String> = bench.history();
    bench.put("later", "gone again");
    let restored =
        bench.run_at(&bench.root(), &["restore", &ids[0], "--inplace", "--reason", "r", "--force"]).ok();
    assert!(!bench.main().join("later").exists(), "{restored}");
    assert_eq!(portrait(&bench.main()), portrait(&bench.root().join("worktrees/back")));
    bench.run_at(&bench.root(), &["worktree", "remove", "back"]).ok();
}

#[test]
fn a_sparse_file_stays_sparse_and_keeps_its_bytes() {
    let bench = Bench::new();
    let size: u64 = if long() { 5 << 30 } else { 256 << 20 };
    let file = std::fs::File::create(bench.main().join("sparse")).unwrap();
    file.set_len(size).unwrap();
    file.write_at(b"in the middle", size / 2).unwrap();
    file.write_at(b"at the end", size - 10).unwrap();
    drop(file);
    round_trip(&bench);
    let back = std::fs::File::open(bench.root().join("worktrees/back/sparse")).unwrap();
    let mut text = [0; 13];
    back.read_exact_at(&mut text, size / 2).unwrap();
    assert_eq!(&text, b"in the middle");
    let meta = back.metadata().unwrap();
    assert_eq!(meta.len(), size);
    assert!(meta.blocks() * 512 < size / 16, "{} blocks", meta.blocks());
}

#[test]
fn many_files_survive_a_round_trip() {
    let bench = Bench::new();
    let count = if long() { 100_000 } else { 2_000 };
    for directory in 0..count / 100 {
        let path = bench.main().join(format!("d{directory}"));
        std::fs::create_dir(&path).unwrap();
        (0..100)
            .for_each(|n| std::fs::write(path.join(format!("f{n}")), format!("{directory}/{n}")).unwrap());
    }
    round_trip(&bench);
}

#[test]
fn pipes_and_sockets_are_left_out_and_counted() {
    let bench = Bench::new();
    bench.put("f", "x");
    let _socket = std::os::unix::net::UnixListener::bind(bench.main().join("s")).unwrap();
    bench.jvs(&["lock", "acquire"]).ok();
    let taken = bench.jvs(&["snapshot"]).ok();
    assert_eq!(taken.json()["snapshot"]["skipped"], 1);
    assert!(taken.stderr.contains("not in the snapshot"), "{taken}");
    bench.jvs(&["verify"]).ok();
}

#[test]
fn a_payload_that_is_a_link_leads_nowhere() {
    let bench = Bench::new();
    bench.put("f", "x");
    bench.jvs(&["lock", "acquire"]).ok();
    let elsewhere = bench.dir().join("elsewhere");
    std::fs::rename(bench.main(), &elsewhere).unwrap();
    symlink(&elsewhere, bench.main()).unwrap();
    bench.run_at(&bench.root(), &["snapshot"]).refused_as("E_PATH_ESCAPE");
    assert_eq!(std::fs::read_dir(bench.control("staging")).unwrap().count(), 0);
}
