//! Making a vault where the disk fills up or fails, or the program is killed: what was promised is there and opens,
//! and of everything else nothing is left.

use holdfast_trial::has;

use crate::bench::{Answer, Bench, KC};
use crate::small::{Small, names};

/// Runs the program under strace, which makes calls of it fail or kills it at one.
fn injected(bench: &Bench, fault: &str, words: &[&str]) -> Answer {
    let inject = format!("inject={fault}");
    let before = ["-f", "-qq", "-o", "/dev/null", "-e", &inject, KC];
    let mut strace = bench.command("strace", &[&before[..], words].concat());
    Answer::from(strace.env_remove("LD_LIBRARY_PATH").output().unwrap())
}

/// The vault at this path opens, is sound, and takes a document.
fn works(bench: &Bench, vault: &str) {
    bench.run(&["vault", "check", vault]).ok();
    assert_eq!(bench.run(&["doc", "add", vault, "doc"]).ok()["created"], true);
}

#[test]
fn a_vault_on_a_disk_that_fills_up_is_whole_or_not_there() {
    let (mut made, mut refused) = (0, 0);
    for kib in (4..=240).step_by(4) {
        let bench = Bench::empty();
        let place = bench.beside("small");
        let Some(small) = Small::mount(&place, &format!("size={kib}k")) else { return };
        let vault = place.join("vault").to_str().unwrap().to_owned();
        let answer = bench.run(&["vault", "init", &vault]);
        small.remount("size=8m");
        if answer.code == Some(0) {
            made += 1;
        } else {
            assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED", "{kib} KiB");
            assert_eq!(names(&place), Vec::<String>::new(), "{kib} KiB: {answer:?}");
            bench.run(&["vault", "init", &vault]).ok();
            refused += 1;
        }
        works(&bench, &vault);
        assert_eq!(names(&place), ["vault"], "{kib} KiB");
    }
    println!("{made} were made, {refused} were not");
    assert!(made > 0 && refused > 5, "{made} were made, {refused} were not");
}

#[test]
fn a_vault_whose_making_fails_anywhere_is_whole_or_not_there() {
    if !has("strace") {
        return;
    }
    for (fault, least) in [
        ("pwrite64:error=ENOSPC", 8),
        ("fsync,fdatasync:error=EIO", 4),
        ("ftruncate:error=EIO", 0),
        ("rename,renameat,renameat2:error=EIO", 1),
    ] {
        let mut felt = 0;
        for n in 1..=40 {
            let before = felt;
            for when in [format!("{n}"), format!("{n}+")] {
                let bench = Bench::empty();
                let answer = injected(&bench, &format!("{fault}:when={when}"), &["vault", "init", "VAULT"]);
                let left = names(bench.vault().parent().unwrap());
                let vault = bench.vault().to_str().unwrap().to_owned();
                match answer.code {
                    Some(0) => assert_eq!(left, ["vault"], "{fault} {when}"),
                    _ => {
                        assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED", "{fault} {when}");
                        assert!(left.iter().all(|name| name == "vault"), "{fault} {when}: {left:?} is left");
                        felt += 1;
                    }
                }
                // Where only the flush of its name failed it is there; made again, it is there for good.
                assert_eq!(bench.run(&["vault", "init", &vault]).ok()["created"], left.is_empty());
                works(&bench, &vault);
            }
            if felt == before {
                break;
            }
        }
        assert!(felt >= least, "{fault} was felt {felt} times");
    }
}

#[test]
fn what_a_killed_making_left_is_removed_by_the_next_one() {
    if !has("strace") {
        return;
    }
    let bench = Bench::empty();
    let here = bench.vault().parent().unwrap().to_path_buf();
    let mut littered = 0;
    for call in ["mkdir,mkdirat", "openat", "pwrite64", "fsync,fdatasync", "renameat2,rename", "unlink"] {
        for n in [1, 2, 3, 5, 8, 13] {
            let name = format!("vault-{}-{n}", &call[..4]);
            injected(&bench, &format!("{call}:signal=KILL:when={n}"), &["vault", "init", &name]);
            littered += usize::from(names(&here).iter().any(|name| name.starts_with('.')));
            // Of another name: nobody need try the same one again.
            bench.run(&["vault", "init", "next"]).ok();
            let left = names(&here);
            assert!(left.iter().all(|name| !name.starts_with('.')), "{call} {n}: {left:?}");
            if here.join(&name).exists() {
                works(&bench, &name);
            }
            std::fs::remove_dir_all(here.join("next")).unwrap();
        }
    }
    println!("{littered} left something");
    assert!(littered > 10, "only {littered} left anything to remove");
}

#[test]
fn what_a_living_program_is_at_is_left_alone() {
    let bench = Bench::empty();
    let here = bench.vault().parent().unwrap().to_path_buf();
    let staging = here.join(".kc_cli.new-0123456789abcdef0123456789abcdef");
    std::fs::create_dir(&staging).unwrap();
    // Whoever makes a vault holds this lock all the while.
    let secret = std::fs::File::create(staging.join("secret")).unwrap();
    secret.lock().unwrap();
    std::fs::write(staging.join(".lineage.sqlite3.new-0"), "half a database").unwrap();
    bench.run(&["vault", "init", "one"]).ok();
    assert_eq!(names(&staging), [".lineage.sqlite3.new-0", "secret"], "it was taken for left over");
    drop(secret);
    bench.run(&["vault", "init", "two"]).ok();
    assert_eq!(names(&here), ["one", "two"], "nobody is at it any more");
}

#[test]
fn a_vault_that_was_found_is_made_durable_too() {
    if !has("strace") {
        return;
    }
    let bench = Bench::new(&[]);
    let failed = injected(&bench, "fsync,fdatasync:error=EIO:when=1+", &["vault", "init", "VAULT"]);
    assert_eq!(failed.failed(), "KC_LINEAGE_QUERY_FAILED");
    assert!(failed.stderr.contains("run `kc_cli vault init` again"), "{failed:?}");
    assert_eq!(bench.run(&["vault", "init", "VAULT"]).ok()["created"], false);
}

#[test]
fn what_is_not_known_to_be_left_over_is_left_alone() {
    let bench = Bench::empty();
    let here = bench.vault().parent().unwrap().to_path_buf();
    let nonce = "0123456789abcdef0123456789abcdef";
    let kept = [format!(".kc_cli.new-{nonce}"), ".kc_cli.new-1".to_owned(), ".notes.new-2".to_owned()];
    for name in &kept {
        std::fs::create_dir(here.join(name)).unwrap();
        std::fs::write(here.join(name).join("secret"), "mine").unwrap();
        std::fs::write(here.join(name).join("letter"), "mine").unwrap();
    }
    std::os::unix::fs::symlink(
        here.join(&kept[0]),
        here.join(".kc_cli.new-0000000000000000000000000000000f"),
    )
    .unwrap();
    bench.run(&["vault", "init", "VAULT"]).ok();
    for name in &kept {
        assert_eq!(names(&here.join(name)), ["letter", "secret"], "{name}");
    }
    works(&bench, "vault");
}

#[test]
fn a_vault_may_have_the_longest_name_there_is() {
    let bench = Bench::empty();
    let name = "v".repeat(255);
    bench.run(&["vault", "init", &name]).ok();
    works(&bench, &name);
}
