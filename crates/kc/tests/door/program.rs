//! What the program says, word for word, and who may read its files.

use std::os::unix::fs::PermissionsExt;

use crate::bench::{Bench, KC, NOW};

#[test]
fn a_day_with_the_program() {
    let bench = Bench::empty();
    let now = NOW.to_string();
    let path = bench.vault().to_string_lossy().into_owned();
    let said = |words: &[&str]| bench.run(words).ok();
    assert_eq!(said(&["vault", "init", "VAULT"])["vault"], path.as_str());
    assert_eq!(said(&["vault", "init", "VAULT"])["created"], false);
    assert_eq!(said(&["doc", "add", "VAULT", "doc"])["created"], true);
    assert_eq!(said(&["doc", "add", "VAULT", "doc"])["created"], false);
    let lease =
        said(&["lineage", "lock", "acquire", "VAULT", "doc", "ann", "--now-ms", &now])["lease"].clone();
    assert_eq!((&lease["owner"], &lease["fence"]), (&"ann".into(), &1.into()));
    assert_eq!(lease["expires_at_ms"], NOW + 900_000);
    let token = lease["token"].as_str().unwrap();
    let held = bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "bob", "--now-ms", &now]);
    let expected = format!(
        "KC_LINEAGE_LOCK_HELD: doc is held by ann until {} (ms since 1970): try again in 900 s, or sooner if it \
         is released\n",
        NOW + 900_000
    );
    assert_eq!((held.code, held.stdout.as_str(), held.stderr), (Some(1), "", expected));
    let add = ["lineage", "overlay", "add", "VAULT", "doc", "p4", "p9", "cites", "a note", token];
    let overlay = said(&[&add[..], &["--created-by", "ann", "--now-ms", &now]].concat())["overlay"].clone();
    assert_eq!((&overlay["created_by"], &overlay["fence"]), (&"ann".into(), &1.into()));
    assert_eq!(said(&["lineage", "overlay", "list", "VAULT", "doc"])["overlays"][0], overlay);
    let id = overlay["overlay_id"].as_str().unwrap();
    let removed = said(&["lineage", "overlay", "remove", "VAULT", id, token, "--now-ms", &now]);
    assert_eq!(removed["removed_overlay_id"], id);
    assert_eq!(said(&["lineage", "lock", "release", "VAULT", "doc", token])["released"], true);
    let locks = said(&["lineage", "lock", "status", "VAULT"])["locks"].clone();
    assert_eq!((&locks[0]["doc_id"], &locks[0]["held"]), (&"doc".into(), &false.into()));
    assert_eq!(said(&["vault", "check", "VAULT"])["checked"]["events"], 2);
}

#[test]
fn without_a_moment_the_machine_s_clock_counts() {
    let bench = Bench::new(&["doc"]);
    let lease = bench.run(&["lineage", "lock", "acquire", "VAULT", "doc", "ann"]).ok()["lease"].clone();
    assert!(lease["acquired_at_ms"].as_i64().unwrap() > NOW);
    assert_eq!(bench.run(&["lineage", "lock", "status", "VAULT", "doc"]).ok()["lock"]["held"], true);
}

#[test]
fn all_documents_are_shown_in_the_order_of_their_ids() {
    let bench = Bench::new(&["b", "a", "Z", "ä", "c10", "c9"]);
    let locks = bench.run(&["lineage", "lock", "status", "VAULT"]).ok()["locks"].clone();
    let shown: Vec<&str> =
        locks.as_array().unwrap().iter().map(|lock| lock["doc_id"].as_str().unwrap()).collect();
    assert_eq!(shown, ["Z", "a", "b", "c10", "c9", "ä"]);
}

#[test]
fn only_their_owner_may_read_the_files_of_a_vault() {
    let bench = Bench::new(&["doc"]);
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(bench.vault()), 0o700);
    let _open = bench.open();
    bench.acquire("doc", "ann", NOW);
    let files: Vec<_> = std::fs::read_dir(bench.vault()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "database, its two helpers and the secret: {files:?}");
    assert!(files.iter().all(|file| mode(file.clone()) == 0o600), "{files:?}");
}

#[test]
fn help_has_examples_completions_complete_and_bad_usage_is_told_apart() {
    let bench = Bench::empty();
    for words in [
        &["--help"][..],
        &["lineage", "lock", "acquire", "--help"],
        &["lineage", "overlay", "add", "--help"],
        &["vault", "init", "--help"],
        &["rpc", "--help"],
    ] {
        let help = bench.run(words);
        assert!(help.code == Some(0) && help.stdout.contains("Example"), "{help:?}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.run(&["completions", shell]);
        assert!(script.code == Some(0) && script.stdout.contains("acquire"), "{shell}");
    }
    assert!(bench.run(&["man", "lineage", "lock"]).stdout.contains(".TH kc_cli-lineage-lock 1"));
    assert_eq!(bench.run(&["man", "frob"]).code, Some(1));
    let wrong = bench.run(&["lineage", "lock", "steal"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
}

#[test]
fn whoever_stops_reading_causes_no_noise() {
    let bench = Bench::new(&["doc"]);
    let script = format!("'{KC}' lineage lock status '{}' | true", bench.vault().display());
    let ended = bench.command("sh", &["-c", &script]).output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}
