//! Whatever is changed behind the program's back, `verify` says what it was.

use std::path::{Path, PathBuf};

use crate::bench::{Bench, Refusal};

fn published(bench: &Bench) -> (String, PathBuf) {
    bench.put("d/f", "text");
    let id = bench.snapshot();
    let path = bench.control("snapshots").join(&id);
    bench.jvs(&["verify", "--all"]).ok();
    (id, path)
}

fn flip(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn a_changed_payload_is_named() {
    for change in [
        |payload: &Path| std::fs::write(payload.join("d/f"), "texT").unwrap(),
        |payload: &Path| std::fs::write(payload.join("d/more"), "").unwrap(),
        |payload: &Path| std::fs::remove_file(payload.join("d/f")).unwrap(),
        |payload: &Path| std::fs::rename(payload.join("d/f"), payload.join("d/g")).unwrap(),
        |payload: &Path| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(payload.join("d/f"), std::fs::Permissions::from_mode(0o777)).unwrap();
        },
    ] {
        let bench = Bench::new();
        let (id, path) = published(&bench);
        change(&path.join("payload"));
        let told = bench.jvs(&["verify", "--snapshot", &id]).refused_as("E_PAYLOAD_HASH_MISMATCH").json();
        assert_eq!((&told["audit"], &told["failed"][0]["what"]), (&"ok".into(), &id.as_str().into()));
        bench.jvs(&["restore", &id, "--name", "bad"]).refused_as("E_PAYLOAD_HASH_MISMATCH");
        assert!(!bench.root().join("worktrees/bad").exists());
        assert_eq!(bench.findings(), Vec::<String>::new());
    }
}

#[test]
fn a_changed_descriptor_is_named() {
    let bench = Bench::new();
    let (id, path) = published(&bench);
    flip(&path.join("descriptor.json"), "\"files\":1", "\"files\":2");
    bench.jvs(&["verify", "--snapshot", &id]).refused_as("E_DESCRIPTOR_CORRUPT");
    assert_eq!(bench.history(), Vec::<String>::new(), "it is hidden");
    assert_eq!(bench.findings(), ["dangling_head", "partial_snapshot"]);
}

#[test]
fn a_changed_or_missing_ready_is_named() {
    let bench = Bench::new();
    let (id, path) = published(&bench);
    let ready = std::fs::read(path.join(".READY")).unwrap();
    flip(&path.join(".READY"), "\"descriptor_hash\":\"", "\"descriptor_hash\":\"0");
    bench.jvs(&["verify", "--snapshot", &id]).refused_as("E_PARTIAL_SNAPSHOT");
    std::fs::remove_file(path.join(".READY")).unwrap();
    bench.jvs(&["verify", "--all"]).refused_as("E_PARTIAL_SNAPSHOT");
    assert_eq!(bench.history(), Vec::<String>::new(), "it is hidden");
    bench.jvs(&["restore", &id]).refused_as("E_PARTIAL_SNAPSHOT");
    std::fs::write(path.join(".READY"), ready).unwrap();
    bench.jvs(&["verify", "--all"]).ok();
}

#[test]
fn a_snapshot_that_was_forged_as_a_whole_is_not_in_the_audit() {
    let (bench, other) = (Bench::new(), Bench::new());
    let (id, path) = published(&bench);
    other.put("d/f", "forged");
    let forged = other.snapshot();
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::rename(other.control("snapshots").join(&forged), bench.control("snapshots").join(&forged))
        .unwrap();
    let told = bench.jvs(&["verify", "--all"]).refused_as("E_AUDIT_CHAIN_BROKEN").json();
    assert!(told["message"].as_str().unwrap().contains(&forged), "{told}");
    assert!(!id.is_empty());
}

#[test]
fn a_changed_audit_is_named_and_stops_every_steal() {
    let bench = Bench::new();
    published(&bench);
    let path = bench.control("audit/audit.jsonl");
    let good = std::fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    let cases: [(Vec<u8>, bool); 4] = [
        (
            String::from_utf8(good.clone())
                .unwrap()
                .replacen("lock.acquired", "lock.Acquired", 1)
                .into_bytes(),
            false,
        ),
        (lines.iter().skip(1).copied().collect::<Vec<_>>().concat(), false),
        ([lines[0], lines[2], lines[1]].concat(), false),
        (
            String::from_utf8(good.clone())
                .unwrap()
                .replacen("snapshot.published", "snapshot.Published", 1)
                .into_bytes(),
            true,
        ),
    ];
    for (bytes, at_the_end) in cases {
        std::fs::write(&path, bytes).unwrap();
        bench.jvs(&["audit", "verify"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        let told = bench.jvs(&["verify", "--all"]).refused_as("E_AUDIT_CHAIN_BROKEN").json();
        assert_eq!(told["audit"], "broken");
        assert_eq!(bench.findings(), ["audit_broken"]);
        if at_the_end {
            // Nothing happens whose line could not be written behind the others.
            bench.jvs(&["lock", "renew"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        }
    }
    bench.heals();
    bench.jvs(&["lock", "renew"]).ok();
    let kept = std::fs::read_dir(bench.control("audit")).unwrap();
    let kept =
        kept.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "damaged"));
    assert_eq!(kept.count(), 1, "what was broken is kept");
}

#[test]
fn lines_that_were_cut_off_the_audit_are_missed() {
    let bench = Bench::new();
    published(&bench);
    let path = bench.control("audit/audit.jsonl");
    let good = std::fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 3);
    std::fs::write(&path, lines[..2].concat()).unwrap();
    bench.jvs(&["verify", "--all"]).refused_as("E_AUDIT_CHAIN_BROKEN");
    std::fs::write(&path, lines[..1].concat()).unwrap();
    bench.jvs(&["audit", "verify"]).refused_as("E_AUDIT_CHAIN_BROKEN");
}

#[test]
fn a_torn_line_is_named_and_set_aside() {
    let bench = Bench::new();
    published(&bench);
    let path = bench.control("audit/audit.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes.extend_from_slice(b"{\"entry\":{\"seq\":4,");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(bench.findings(), ["torn_audit_tail"]);
    bench.jvs(&["lock", "renew"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new(), "the next line took its place");
    let lines = std::fs::read(&path).unwrap();
    assert!(lines.len() > whole && !lines.windows(18).any(|part| part == b"{\"entry\":{\"seq\":4,\x00"));
    bench.heals();
}

#[test]
fn the_audit_is_rotated_and_its_chain_goes_on() {
    let bench = Bench::new();
    bench.jvs(&["lock", "acquire"]).ok();
    // A segment is archived once it is long enough; a few long lines take it there.
    let path = bench.control("audit/audit.jsonl");
    let note = "n".repeat(900);
    let mut rotated = false;
    for _ in 0..3 {
        grow(&path, &note);
        bench.jvs(&["lock", "renew"]).ok();
        rotated |= std::fs::read_dir(bench.control("audit"))
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("audit-"));
    }
    assert!(rotated);
    let seen = bench.jvs(&["audit", "verify"]).ok().json();
    assert!(seen["segments"].as_u64().unwrap() >= 3, "{seen}");
}

/// Adds good lines to the log until it is long.
fn grow(path: &Path, note: &str) {
    let mut log = std::fs::read_to_string(path).unwrap();
    while log.len() < 1 << 20 {
        let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        let seq = last["entry"]["seq"].as_u64().unwrap() + 1;
        let prev = last["hash"].as_str().unwrap();
        let entry = format!(
            "{{\"seq\":{seq},\"prev\":\"{prev}\",\"at\":\"2026-01-01T00:00:00.000Z\",\"actor\":\"a\",\
             \"event\":\"note\",\"worktree_id\":null,\"data\":{{\"note\":\"{note}\"}}}}"
        );
        let hash = blake3::hash(entry.as_bytes()).to_hex();
        log.push_str(&format!("{{\"entry\":{entry},\"hash\":\"{hash}\"}}\n"));
    }
    std::fs::write(path, log).unwrap();
}

/// The record of main, which is the only worktree.
fn record(bench: &Bench) -> PathBuf {
    let mut all = std::fs::read_dir(bench.control("worktrees")).unwrap();
    all.next().unwrap().unwrap().path()
}

#[test]
fn a_snapshot_that_vanished_is_missed_until_it_is_written_off() {
    let bench = Bench::new();
    let (first, path) = published(&bench);
    bench.put("d/f", "more");
    let second = bench.snapshot();
    std::fs::remove_dir_all(path).unwrap();
    let told = bench.jvs(&["verify", "--all"]).refused_as("E_PARTIAL_SNAPSHOT").json();
    assert_eq!(
        (&told["failed"][0]["what"], &told["audit"]),
        (&first.as_str().into(), &"ok".into()),
        "{told}"
    );
    assert_eq!(
        bench.jvs(&["audit", "verify"]).refused_as("E_PARTIAL_SNAPSHOT").json()["snapshot_id"],
        *first
    );
    assert_eq!(bench.findings(), ["missing_snapshot"]);
    bench.jvs(&["lock", "renew"]).ok();
    bench.heals();
    assert_eq!(bench.history(), [second]);
    let seen = bench.jvs(&["audit"]).ok().json();
    let lost = seen["entries"].as_array().unwrap().iter().find(|entry| entry["event"] == "snapshot.lost");
    assert_eq!(lost.unwrap()["data"]["snapshot_id"], *first);
}

#[test]
fn a_head_that_was_set_back_is_noticed() {
    let bench = Bench::new();
    let (first, _) = published(&bench);
    let old = std::fs::read(record(&bench)).unwrap();
    bench.put("d/f", "more");
    let second = bench.snapshot();
    let good = std::fs::read_to_string(record(&bench)).unwrap();
    for bad in [old, good.replacen(&format!("\"{second}\""), "null", 1).into_bytes()] {
        std::fs::write(record(&bench), bad).unwrap();
        let told = bench.jvs(&["verify", "--all"]).refused_as("E_DESCRIPTOR_CORRUPT").json();
        assert!(told["message"].as_str().unwrap().contains(&second), "{told}");
        bench.jvs(&["audit", "verify"]).refused_as("E_DESCRIPTOR_CORRUPT");
        assert_eq!(bench.findings(), ["moved_head"]);
    }
    std::fs::write(record(&bench), good).unwrap();
    bench.jvs(&["verify", "--all"]).ok();
    // A head that goes back because somebody asked for it is in the audit.
    bench.run_at(&bench.root(), &["restore", &first, "--inplace", "--reason", "back"]).ok();
    bench.jvs(&["verify", "--all"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new());
}

#[test]
fn a_log_that_was_cut_at_any_line_is_missed_and_nothing_is_added_to_it() {
    let bench = Bench::new();
    published(&bench);
    bench.jvs(&["lock", "renew"]).ok();
    bench.jvs(&["lock", "release"]).ok();
    bench.jvs(&["audit", "verify"]).ok();
    let path = bench.control("audit/audit.jsonl");
    let good = std::fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 5, "made, acquired, published, renewed, released");
    for kept in 0..lines.len() {
        std::fs::write(&path, lines[..kept].concat()).unwrap();
        bench.jvs(&["audit", "verify"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        bench.jvs(&["verify", "--all"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        assert_eq!(bench.findings(), ["audit_broken"], "{kept}");
        bench.jvs(&["lock", "acquire"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        assert_eq!(std::fs::read(&path).unwrap(), lines[..kept].concat());
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bench.findings(), ["audit_broken"]);
    std::fs::write(&path, &good).unwrap();
    bench.jvs(&["audit", "verify"]).ok();
    // Without its anchor the log says itself that there was one.
    let anchor = bench.control("audit/audit.anchor");
    for spoilt in [None, Some(&b""[..]), Some(b"0 0 0\n"), Some(&[0; 356])] {
        match spoilt {
            None => std::fs::remove_file(&anchor).unwrap(),
            Some(bytes) => std::fs::write(&anchor, bytes).unwrap(),
        }
        bench.jvs(&["audit", "verify"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        bench.jvs(&["lock", "acquire"]).refused_as("E_AUDIT_CHAIN_BROKEN");
        assert_eq!(bench.findings(), ["audit_broken"]);
    }
    bench.heals();
    std::fs::write(&path, lines[..2].concat()).unwrap();
    bench.heals();
    bench.jvs(&["lock", "acquire"]).ok();
    bench.jvs(&["audit", "verify"]).ok();
}

/// The log as an earlier version wrote it: nothing says that there is an anchor, and there is none.
#[test]
fn a_log_without_an_anchor_gets_one_with_its_next_line() {
    let bench = Bench::new();
    let path = bench.control("audit/audit.jsonl");
    let entry = "{\"seq\":1,\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\
                 \"at\":\"2026-01-01T00:00:00.000Z\",\"actor\":\"a\",\"event\":\"repo.created\",\"worktree_id\":null,\
                 \"data\":{}}";
    let hash = blake3::hash(entry.as_bytes()).to_hex();
    std::fs::write(&path, format!("{{\"entry\":{entry},\"hash\":\"{hash}\"}}\n")).unwrap();
    let anchor = bench.control("audit/audit.anchor");
    std::fs::remove_file(&anchor).unwrap();
    bench.jvs(&["audit", "verify"]).ok();
    assert_eq!(bench.findings(), Vec::<String>::new());
    bench.jvs(&["lock", "acquire"]).ok();
    assert!(anchor.exists());
    let seen = bench.jvs(&["audit"]).ok().json();
    let events: Vec<_> =
        seen["entries"].as_array().unwrap().iter().map(|entry| entry["event"].clone()).collect();
    assert_eq!(events, ["repo.created", "audit.anchored", "lock.acquired"]);
    bench.jvs(&["audit", "verify"]).ok();
}
