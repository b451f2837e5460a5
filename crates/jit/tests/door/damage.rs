//! Files that a crash, a disk or a person left in a bad state.

use std::io::Write as _;

use crate::bench::Bench;

#[test]
fn a_torn_tail_is_set_aside_and_the_next_command_is_right() {
    let bench = Bench::new();
    let (issue, lease) = bench.claimed("agent:a");
    for torn in
        [&b"{\"schema_version\":1,\"sequence\":2,\"op\":\"rel"[..], b"\0\0\0\0\0\0", b"\n\n", b"\xff\xfe\n"]
    {
        let mut log = std::fs::OpenOptions::new().append(true).open(bench.control("claims.jsonl")).unwrap();
        log.write_all(torn).unwrap();
        bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
        let again = bench.jit(&["--json", "claim", "acquire", &issue]).ok().json();
        assert_eq!(
            (&again["already_held"], &again["lease"]["lease_id"]),
            (&true.into(), &lease.as_str().into())
        );
        bench.jit(&["claim", "renew", &lease]).ok();
        bench.jit(&["validate", "leases"]).ok();
    }
    let names = std::fs::read_dir(bench.control("")).unwrap();
    let torn = names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().contains(".torn-"));
    assert_eq!(torn.count(), 4, "nothing is thrown away");
}

#[test]
fn an_index_that_is_missing_truncated_stale_or_hostile_is_not_believed() {
    let bench = Bench::new();
    let path = bench.control("claims.index.json");
    let early = std::fs::read(&path).unwrap_or_default();
    let (issue, lease) = bench.claimed("agent:a");
    let good = std::fs::read(&path).unwrap();
    let empty = br#"{"schema_version":1,"sequence":1,"active":[],"stale_threshold_secs":3600}"#.to_vec();
    let mut flipped = good.clone();
    flipped[good.len() / 3] ^= 1;
    let bad = [
        Vec::new(),
        b"not json".to_vec(),
        empty,
        good[..good.len() / 2].to_vec(),
        flipped,
        early,
        vec![0; 1 << 16],
    ];
    for content in bad {
        std::fs::write(&path, &content).unwrap();
        bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
        std::fs::write(&path, &content).unwrap();
        let again = bench.jit(&["--json", "claim", "acquire", &issue]).ok().json();
        assert_eq!(
            (&again["already_held"], &again["lease"]["lease_id"]),
            (&true.into(), &lease.as_str().into())
        );
    }
    std::fs::remove_file(&path).unwrap();
    bench.run("agent:b", &["claim", "acquire", &issue]).fails(4);
    bench.jit(&["claim", "release", &lease]).ok();
    bench.run("agent:b", &["claim", "acquire", &issue]).ok();
}

#[test]
fn damage_stops_everything_until_it_is_repaired() {
    let bench = Bench::new();
    let (kept, _) = bench.claimed("agent:a");
    for _ in 0..3 {
        let (_, lease) = bench.claimed("agent:b");
        bench.run("agent:b", &["claim", "release", &lease]).ok();
    }
    let path = bench.control("claims.jsonl");
    let mut log = std::fs::read(&path).unwrap();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    std::fs::write(&path, &log).unwrap();
    std::fs::remove_file(bench.control("claims.index.json")).unwrap();
    let refused = bench.run("agent:b", &["--json", "claim", "acquire", &kept]).fails(10);
    assert_eq!(refused.json()["error"]["code"], "DAMAGED");
    assert!(refused.stderr.contains("jit recover"), "{refused}");
    bench.jit(&["validate", "leases"]).fails(7);
    bench.jit(&["recover", "--dry-run"]).fails(7);
    assert_eq!(std::fs::read(&path).unwrap(), log, "a dry run changes nothing");
    bench.jit(&["recover"]).ok();
    bench.run("agent:b", &["claim", "acquire", &kept]).fails(4);
    let again = bench.jit(&["--json", "claim", "acquire", &kept]).ok().json();
    assert_eq!(again["already_held"], true);
    bench.jit(&["validate", "leases"]).ok();
}

#[test]
fn an_issue_that_cannot_be_read_is_named_and_never_followed() {
    let bench = Bench::new();
    let good = bench.issue("good");
    let issues = bench.repo().join(".jit/issues");
    let place = |n: u8| {
        let directory = issues.join(format!("01ZZZZZZZZZZZZZZZZZZZZZZZ{n}"));
        std::fs::create_dir(&directory).unwrap();
        directory.join("issue.json")
    };
    std::fs::write(place(1), "{").unwrap();
    std::fs::copy(issues.join(&good).join("issue.json"), place(2)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place(3)).unwrap();
    std::fs::File::create(place(4)).unwrap().set_len(1 << 30).unwrap();
    std::fs::write(place(5), b"\xff\xfe").unwrap();
    let listed = bench.jit(&["--json", "issue", "list"]).ok();
    assert_eq!(listed.json()["count"], 1);
    for n in 1..=5 {
        assert!(listed.stderr.contains(&format!("ZZZ{n}")), "{n}: {listed}");
    }
    assert!(!listed.stderr.contains("root:"), "{listed}");
    assert_eq!(bench.jit(&["--json", "claim", "next"]).ok().json()["lease"]["issue_id"], good.as_str());
}

/// Puts something else in the place of a file.
fn replace(path: &std::path::Path, with: &str) {
    let _ = std::fs::remove_file(path);
    match with {
        "directory" => std::fs::create_dir(path).unwrap(),
        _ => std::os::unix::fs::symlink("/dev/null", path).unwrap(),
    }
}

#[test]
fn a_directory_or_a_link_in_the_place_of_a_file_is_an_error_with_a_way_out() {
    for odd in ["directory", "link"] {
        for name in ["claims.jsonl", "claims.index.json"] {
            let bench = Bench::new();
            let (kept, _) = bench.claimed("agent:a");
            replace(&bench.control(name), odd);
            let refused = bench.run("agent:b", &["--json", "claim", "acquire", &kept]).fails(10);
            assert_eq!(refused.json()["error"]["code"], "DAMAGED", "{odd} {name}: {refused}");
            assert!(
                refused.stderr.contains("not a file") && refused.stderr.contains("jit recover"),
                "{refused}"
            );
            bench.jit(&["recover", "--dry-run"]).fails(7);
            bench.jit(&["recover"]).ok();
            bench.run("agent:b", &["claim", "acquire", &kept]).fails(4);
            bench.jit(&["claim", "history"]).ok();
            bench.jit(&["recover", "--dry-run"]).ok();
        }
        let bench = Bench::new();
        let (kept, _) = bench.claimed("agent:a");
        let lock = bench.control("locks/claims.lock");
        replace(&lock, odd);
        let refused = bench.run("agent:b", &["--json", "claim", "acquire", &kept]).fails(10);
        let hint = refused.json()["error"]["hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint.starts_with("mv ") && hint.contains("claims.lock"), "{odd}: {refused}");
        std::fs::rename(&lock, lock.with_extension("aside")).unwrap();
        bench.run("agent:b", &["claim", "acquire", &kept]).fails(4);
    }
}

#[test]
fn a_log_of_a_later_version_is_called_that() {
    let bench = Bench::new();
    bench.claimed("agent:a");
    let path = bench.control("claims.jsonl");
    let log = std::fs::read_to_string(&path).unwrap();
    let last = log.lines().last().unwrap();
    let newer = last.replacen("\"schema_version\":1,", "\"schema_version\":3,\"also\":[],", 1);
    for later in [
        log.replacen("\"schema_version\":1", "\"schema_version\":3", 1),
        log.replace("\"schema_version\":1", "\"schema_version\":3"),
        format!("{log}{newer}\n"),
    ] {
        std::fs::write(&path, &later).unwrap();
        for with_index in [true, false] {
            // Nobody reads again what the index covers.
            if !with_index || !later.starts_with(&log) {
                let _ = std::fs::remove_file(bench.control("claims.index.json"));
            }
            for command in [&["claim", "next"][..], &["claim", "history"], &["recover"]] {
                let refused = bench.run("agent:b", &[&["--json"], command].concat()).fails(10);
                let error = &refused.json()["error"];
                assert_eq!(error["code"], "NEWER_FORMAT", "{command:?}: {refused}");
                let hint = format!(
                    "jit {} is too old for it: install the version that wrote it",
                    env!("CARGO_PKG_VERSION")
                );
                assert_eq!(error["hint"], hint.as_str());
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), later, "nothing was touched");
        }
    }
}
