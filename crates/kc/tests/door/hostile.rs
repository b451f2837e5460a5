//! Vaults that somebody has been at: a clear error that names the file, never a panic, and never a lease that
//! was not granted.

use std::os::unix::fs::{PermissionsExt, symlink};

use holdfast_kc::error::Error;
use holdfast_kc::overlay::Edge;
use holdfast_kc::{
    lineage_lock_acquire, lineage_lock_status, lineage_overlay_add, lineage_overlay_list, vault, verify,
};
use holdfast_sys::Sys;

use crate::bench::{Bench, NOW};

/// Status, acquisition and listing all fail with an error that names this file.
fn refused(bench: &Bench, file: &str, why: &str) {
    let now = NOW.to_string();
    for words in [
        &["lineage", "lock", "status", "VAULT", "doc", "--now-ms", &now][..],
        &["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now],
        &["lineage", "lock", "release", "VAULT", "doc", &format!("blake3:{}", "0".repeat(64))],
        &["vault", "check", "VAULT"],
    ] {
        let answer = bench.run(words);
        assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED", "{why}");
        let path = bench.vault().join(file);
        assert!(answer.stderr.contains(&*path.to_string_lossy()), "{why}: {answer:?}");
        assert!(answer.stderr.contains(why), "{why}: {answer:?}");
    }
}

fn held() -> Bench {
    let bench = Bench::new(&["doc"]);
    bench.acquire("doc", "ann", NOW);
    bench
}

#[test]
fn a_database_that_is_not_this_program_s_is_refused_by_name() {
    for (statements, why) in [
        ("PRAGMA user_version = 5", "newer than this program"),
        ("PRAGMA user_version = 0", "its version is 0"),
        ("PRAGMA user_version = -1", "its version is -1"),
        ("PRAGMA application_id = 7", "it is not the database of a vault"),
        ("DROP TABLE lineage_overlays", "they are not those that this program makes"),
        ("CREATE VIEW more AS SELECT 1", "they are not those that this program makes"),
        (
            "CREATE TRIGGER thief AFTER INSERT ON lineage_edit_locks BEGIN DELETE FROM vault; END",
            "they are not those that this program makes",
        ),
        ("DELETE FROM vault", "is damaged"),
        ("UPDATE vault SET secret_id = ''", "not the one it was made with"),
    ] {
        let bench = held();
        bench.tamper(statements);
        refused(&bench, "lineage.sqlite3", why);
        assert!(bench.run(&["rpc", "VAULT"]).stderr.contains(why), "{why}");
    }
}

#[test]
fn a_row_that_was_not_written_here_is_refused_by_name() {
    for (statements, why) in [
        ("UPDATE lineage_edit_locks SET owner = 'bob'", "say different things"),
        ("UPDATE lineage_edit_locks SET expires_at_ms = 0", "say different things"),
        ("UPDATE lineage_edit_locks SET fence = 9", "fence 9 was granted, and record 1 is the last one"),
        ("UPDATE lineage_edit_locks SET fence = 0", "say different things"),
        ("UPDATE lineage_edit_locks SET lease_id = NULL", "say different things"),
        ("UPDATE lineage_edit_locks SET token = NULL", "not made with the secret"),
        ("UPDATE lineage_edit_locks SET record = NULL", "say different things"),
        ("UPDATE lineage_edit_locks SET record = 'x'", "the lock on doc"),
        ("UPDATE lineage_edit_locks SET record = replace(record, 'ann', 'bob')", "not made with the secret"),
        ("UPDATE lineage_edit_locks SET token = 'blake3:' || hex(zeroblob(32))", "not made with the secret"),
        ("UPDATE lineage_edit_locks SET token = ''", "not made with the secret"),
        ("DELETE FROM lineage_lock_events", "fence 1 was granted, and record 0 is the last one"),
        ("UPDATE lineage_lock_events SET sequence = 0", "fence 1 was granted, and record 0 is the last one"),
        ("UPDATE vault SET granted = 9", "fence 9 was granted, and record 1 is the last one"),
        ("UPDATE lineage_lock_events SET sequence = -5", "is damaged"),
        ("UPDATE lineage_lock_events SET sequence = 9007199254740991", "is no fence"),
        ("UPDATE lineage_lock_events SET sequence = 9223372036854775807", "is no fence"),
        ("UPDATE vault SET counter = 'x'", "the counter"),
        ("UPDATE vault SET counter = '00000000000000000000000001'", "another counter"),
    ] {
        let bench = held();
        bench.tamper(statements);
        refused(&bench, "lineage.sqlite3", why);
    }
}

#[test]
fn two_leases_with_one_id_hide_none_of_them() {
    let bench = Bench::new(&["a", "b"]);
    bench.acquire("a", "ann", NOW);
    bench.acquire("b", "ann", NOW);
    bench.tamper(
        "UPDATE lineage_edit_locks SET (lease_id, record) =
         (SELECT a.lease_id, replace(lineage_edit_locks.record, lineage_edit_locks.lease_id, a.lease_id)
          FROM lineage_edit_locks AS a WHERE a.doc_id = 'a') WHERE doc_id = 'b'",
    );
    let now = NOW.to_string();
    let all = bench.run(&["lineage", "lock", "status", "VAULT", "--now-ms", &now]);
    assert_eq!(all.failed(), "KC_LINEAGE_QUERY_FAILED");
    assert!(all.stderr.contains("a second time"), "{all:?}");
    for doc in ["a", "b"] {
        let refused = bench.run(&["lineage", "lock", "acquire", "VAULT", doc, "bob", "--now-ms", &now]);
        assert_eq!(refused.failed(), "KC_LINEAGE_LOCK_HELD", "{refused:?}");
    }
}

#[test]
fn a_check_finds_what_no_single_row_shows() {
    for (statements, why) in [
        ("DELETE FROM lineage_edit_locks", "1 rows are missing"),
        ("UPDATE lineage_lock_events SET previous = 3", "record 1 of its history"),
        ("UPDATE lineage_edit_locks SET last = 0", "records that it does not know"),
        ("UPDATE lineage_lock_events SET sequence = 7", "record 1 was the last one about it"),
        ("UPDATE lineage_lock_events SET event = 'released'", "says something else"),
        ("UPDATE lineage_lock_events SET event = 'renewed'", "record 1 of its history"),
        ("UPDATE lineage_lock_events SET doc_id = 'other'", "record 1 is not about it"),
        ("UPDATE lineage_lock_events SET expired_token = 'x'", "record 1 of its history"),
        ("UPDATE lineage_lock_events SET record = '{}'", "record 1 of its history"),
        (
            "UPDATE lineage_lock_events SET record = replace(record, 'ann', 'bob')",
            "not what its history leaves",
        ),
        (
            "INSERT INTO lineage_overlays VALUES ('o', 'gone', 'a', 'b', 'c', 'd', 1, 'e', 1)",
            "without a document or a grant",
        ),
    ] {
        let bench = held();
        bench.run(&["vault", "check", "VAULT"]).ok();
        bench.tamper(statements);
        let answer = bench.run(&["vault", "check", "VAULT"]);
        assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED");
        assert!(answer.stderr.contains(why), "{why}: {answer:?}");
    }
}

#[test]
fn a_secret_that_others_could_know_or_that_is_another_s_is_refused() {
    let broken = |change: &dyn Fn(&std::path::Path), file: &str, why: &str| {
        let bench = held();
        change(&bench.vault().join("secret"));
        refused(&bench, file, why);
    };
    let mode = |mode| {
        move |path: &std::path::Path| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    broken(&mode(0o644), "secret", "chmod 600");
    broken(&mode(0o640), "secret", "chmod 600");
    broken(&|path| std::fs::write(path, "").unwrap(), "secret", "holds no secret");
    broken(&|path| std::fs::write(path, "x".repeat(9_999)).unwrap(), "secret", "holds no secret");
    broken(&|path| std::fs::remove_file(path).unwrap(), "secret", "is there a backup");
    let other = format!("{}\n", "0".repeat(64));
    broken(&|path| std::fs::write(path, &other).unwrap(), "lineage.sqlite3", "not the one it was made with");
    broken(
        &|path| {
            std::fs::rename(path, path.with_extension("old")).unwrap();
            symlink(path.with_extension("old"), path).unwrap();
        },
        "secret",
        "cannot open",
    );
}

#[test]
fn a_database_that_is_a_link_a_directory_or_gone_is_refused() {
    for (change, why) in [
        (
            &(|path: &std::path::Path| {
                std::fs::rename(path, path.with_extension("old")).unwrap();
                symlink(path.with_extension("old"), path).unwrap();
            }) as &dyn Fn(&std::path::Path),
            "cannot open",
        ),
        (&|path| std::fs::remove_file(path).unwrap(), "it is missing"),
        (
            &|path| {
                std::fs::remove_file(path).unwrap();
                std::fs::create_dir(path).unwrap();
            },
            "cannot open",
        ),
    ] {
        let bench = held();
        change(&bench.database());
        refused(&bench, "lineage.sqlite3", why);
    }
}

#[test]
fn what_is_no_vault_is_left_as_it_is() {
    let bench = Bench::empty();
    assert_eq!(bench.run(&["doc", "add", "VAULT", "doc"]).failed(), "KC_LINEAGE_QUERY_FAILED");
    std::fs::write(bench.vault(), "a file").unwrap();
    let answer = bench.run(&["vault", "init", "VAULT"]);
    assert_eq!(answer.failed(), "KC_LINEAGE_QUERY_FAILED");
    assert!(answer.stderr.contains("is there already and is not a vault"), "{answer:?}");
    assert_eq!(std::fs::read(bench.vault()).unwrap(), b"a file");
    for nowhere in ["no/such/place/vault", "..", "/"] {
        assert_eq!(bench.run(&["vault", "init", nowhere]).failed(), "KC_LINEAGE_QUERY_FAILED", "{nowhere}");
    }
}

/// Whatever bit flips: an error, or the truth. A row that vanished with its page is found by the check.
#[test]
fn every_flipped_bit_is_an_error_or_harmless() {
    let good = Bench::new(&["doc", "other"]);
    let token = good.acquire("doc", "ann", NOW);
    let edge = Edge { from_node_id: "a", to_node_id: "b", relation: "cites", evidence: "seen" };
    lineage_overlay_add(&mut good.open(), "doc", &edge, &token, NOW, "ann").unwrap();
    let truth = lineage_lock_status(&mut good.open(), "doc", NOW).unwrap();
    let bytes = std::fs::read(good.database()).unwrap();
    let bench = good.copy();
    let (mut noticed, mut state) = (0, 11_u64);
    for _ in 0..700 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = usize::try_from(state >> 16).unwrap() % (bytes.len() * 8);
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(bench.database(), &flipped).unwrap();
        for beside in ["lineage.sqlite3-wal", "lineage.sqlite3-shm"] {
            let _ = std::fs::remove_file(bench.vault().join(beside));
        }
        let Ok(mut conn) = vault::open(&Sys::os(), &bench.vault()) else {
            noticed += 1;
            continue;
        };
        let status = lineage_lock_status(&mut conn, "doc", NOW);
        let sound = verify::verify(&mut conn).is_ok();
        noticed += usize::from(!sound);
        match status {
            Ok(status) if sound => assert_eq!(status, truth, "bit {bit}"),
            Ok(_) | Err(_) => {}
        }
        let _ = lineage_overlay_list(&mut conn, "doc");
        match lineage_lock_acquire(&mut conn, "doc", "bob", NOW) {
            Ok(_) => panic!("bit {bit}: the lease was granted twice"),
            Err(Error::Held(blocker)) => assert_eq!(blocker.lease.holder.agent.as_str(), "ann"),
            Err(_) => {}
        }
    }
    println!("{noticed} of 700 were noticed");
    assert!(noticed > 20);
}
