//! Vaults that cannot be written: what is in them can be read, nothing is made beside them, and a change is refused.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use holdfast_kc::{doc_add, lineage_lock_status, vault};
use holdfast_sys::Sys;

use crate::bench::{Answer, Bench, KC, NOW};
use crate::small::{Small, names};

/// Somebody who may write nothing that is not theirs.
const NOBODY: u32 = 65_534;

/// Runs the program as somebody whom permissions hold back.
fn unprivileged(directory: &Path, words: &[&str]) -> Answer {
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|us| std::os::unix::fs::MetadataExt::uid(&us) == 0);
    let mut command = Command::new(if is_root { "setpriv" } else { KC });
    if is_root {
        let nobody = NOBODY.to_string();
        command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups", KC]);
    }
    command.args(words).current_dir(directory).stdin(Stdio::null());
    Answer::from(command.output().unwrap())
}

/// Sets the modes of the vault's files and of its directory, and gives them to whoever runs the program.
fn permit(vault: &Path, directory: u32, file: u32) {
    let own = |path: &Path| drop(chown(path, Some(NOBODY), Some(NOBODY)));
    for name in names(vault) {
        let path = vault.join(name);
        own(&path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(file)).unwrap();
    }
    own(vault);
    std::fs::set_permissions(vault, std::fs::Permissions::from_mode(directory)).unwrap();
}

/// Everything that can be read is, everything else is refused, and no file is made or removed.
fn only_reads(run: &dyn Fn(&[&str]) -> Answer, vault: &Path, owner: &str) {
    let (now, v) = (NOW.to_string(), vault.to_str().unwrap());
    let before = names(vault);
    let lock = run(&["lineage", "lock", "status", v, "doc", "--now-ms", &now]).ok()["lock"].clone();
    assert_eq!((&lock["held"], &lock["owner"]), (&true.into(), &owner.into()));
    run(&["lineage", "lock", "status", v, "--now-ms", &now]).ok();
    run(&["lineage", "overlay", "list", v, "doc"]).ok();
    run(&["vault", "check", v]).ok();
    for words in
        [&["lineage", "lock", "acquire", v, "free", "bob", "--now-ms", &now][..], &["doc", "add", v, "more"]]
    {
        let refused = run(words);
        assert_eq!(refused.failed(), "KC_LINEAGE_QUERY_FAILED", "{words:?}");
        assert!(refused.stderr.contains("read-only"), "{refused:?}");
    }
    assert_eq!(names(vault), before, "files were made or removed");
}

/// A vault in a directory that everybody may enter.
fn open_to_all() -> Bench {
    let bench = Bench::new(&["doc", "free"]);
    std::fs::set_permissions(bench.vault().parent().unwrap(), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    bench.acquire("doc", "ann", NOW);
    bench
}

#[test]
fn a_vault_whose_files_may_only_be_read_can_be_read() {
    for (directory, file) in [(0o500, 0o400), (0o700, 0o400), (0o500, 0o600)] {
        let bench = open_to_all();
        permit(&bench.vault(), directory, file);
        let here = bench.vault().parent().unwrap().to_path_buf();
        println!("{directory:o} {file:o}");
        only_reads(&|words| unprivileged(&here, words), &bench.vault(), "ann");
        permit(&bench.vault(), 0o700, 0o600);
    }
}

#[test]
fn a_vault_on_a_disk_that_is_read_only_can_be_read() {
    let bench = Bench::empty();
    let place = bench.beside("small");
    let Some(small) = Small::mount(&place, "size=4m") else { return };
    let path = place.join("vault");
    vault::init(&Sys::os(), &path).unwrap();
    let mut conn = vault::open(&Sys::os(), &path).unwrap();
    doc_add(&mut conn, "doc").unwrap();
    doc_add(&mut conn, "free").unwrap();
    holdfast_kc::lineage_lock_acquire(&mut conn, "doc", "ann", NOW).unwrap();
    drop(conn);
    small.remount("ro");
    only_reads(&|words| bench.run(words), &path, "ann");
    small.remount("rw");
}

/// A program that was killed leaves its log: it holds what the database does not.
#[test]
fn a_log_that_was_left_is_read_or_refused_and_never_overlooked() {
    let bench = open_to_all();
    let left = bench.copy();
    std::fs::set_permissions(left.vault().parent().unwrap(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut conn = bench.open();
    holdfast_kc::lineage_lock_acquire(&mut conn, "free", "bob", NOW).unwrap();
    for name in names(&bench.vault()) {
        std::fs::copy(bench.vault().join(&name), left.vault().join(&name)).unwrap();
    }
    drop(conn);
    assert!(names(&left.vault()).contains(&"lineage.sqlite3-wal".to_owned()));
    let here = left.vault().parent().unwrap().to_path_buf();
    let (now, v) = (NOW.to_string(), left.vault().to_str().unwrap().to_owned());
    let words = ["lineage", "lock", "status", &v, "free", "--now-ms", &now];
    permit(&left.vault(), 0o500, 0o400);
    let lock = unprivileged(&here, &words).ok()["lock"].clone();
    assert_eq!((&lock["held"], &lock["owner"]), (&true.into(), &"bob".into()), "with all its files");
    permit(&left.vault(), 0o700, 0o600);
    std::fs::remove_file(left.vault().join("lineage.sqlite3-shm")).unwrap();
    permit(&left.vault(), 0o500, 0o400);
    let refused = unprivileged(&here, &words);
    assert_eq!(refused.failed(), "KC_LINEAGE_QUERY_FAILED");
    assert!(
        refused.stderr.contains("lineage.sqlite3-wal") && refused.stderr.contains("can be written"),
        "{refused:?}"
    );
    permit(&left.vault(), 0o700, 0o600);
    chown(left.vault(), Some(0), Some(0)).ok();
}

/// Whoever can only read sees what others write, however long it has been open.
#[test]
fn a_reader_of_a_read_only_place_sees_what_others_do_elsewhere() {
    let bench = Bench::empty();
    let place = bench.beside("small");
    let Some(_small) = Small::mount(&place, "size=4m") else { return };
    let (path, mirror) = (place.join("vault"), bench.beside("mirror"));
    vault::init(&Sys::os(), &path).unwrap();
    let mut writer = vault::open(&Sys::os(), &path).unwrap();
    doc_add(&mut writer, "doc").unwrap();
    drop(writer);
    std::fs::create_dir(&mirror).unwrap();
    let mount = |words: &[&str]| Command::new("mount").args(words).arg(&mirror).status().unwrap().success();
    assert!(mount(&["--bind", place.to_str().unwrap()]) && mount(&["-o", "remount,bind,ro"]));
    let seen = std::panic::catch_unwind(|| {
        let mut reader = vault::open(&Sys::os(), &mirror.join("vault")).unwrap();
        for round in 0..20 {
            let now = NOW + round * 900_000;
            assert!(!lineage_lock_status(&mut reader, "doc", now).unwrap().held, "{round}");
            let mut writer = vault::open(&Sys::os(), &path).unwrap();
            holdfast_kc::lineage_lock_acquire(&mut writer, "doc", "ann", now).unwrap();
            if round % 2 == 0 {
                drop(writer);
                assert!(lineage_lock_status(&mut reader, "doc", now).unwrap().held, "{round}");
            } else {
                assert!(
                    lineage_lock_status(&mut reader, "doc", now).unwrap().held,
                    "{round}, while it is open"
                );
            }
        }
    });
    assert!(Command::new("umount").arg(&mirror).status().unwrap().success());
    seen.unwrap();
}
