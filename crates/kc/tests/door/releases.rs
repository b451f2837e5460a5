//! Vaults of other versions: what each release wrote is gone on with, and what a later one wrote is left alone.

use holdfast_trial::{contents, last_release, releases};

use crate::bench::Bench;

#[test]
fn what_each_release_wrote_is_read_and_gone_on_with() {
    let bench = Bench::empty();
    for place in releases("kc", &bench.beside("kept")) {
        let vault = place.join("notes.vault");
        let vault = vault.to_str().unwrap();
        let run = |words: &[&str]| bench.run(words).ok();
        run(&["vault", "check", vault]);
        let overlays = run(&["lineage", "overlay", "list", vault, "chapter-1"]);
        assert_eq!(overlays["overlays"][0]["evidence"], "see the footnote", "{overlays}");
        // The turn that was not given back is over after a quarter of an hour; its token never works again.
        let now = "9999999999999";
        let taken = run(&["lineage", "lock", "acquire", vault, "chapter-2", "bob", "--now-ms", now]);
        let token = taken["lease"]["token"].as_str().or_else(|| taken["token"].as_str()).unwrap().to_owned();
        let old = std::fs::read_to_string(place.join("token")).unwrap();
        let add = ["lineage", "overlay", "add", vault, "chapter-2", "a", "b", "cites", "x"];
        let with =
            |token: &str| bench.run(&[&add[..], &[token, "--created-by", "bob", "--now-ms", now]].concat());
        with(old.trim()).failed();
        with(&token).ok();
        run(&["vault", "check", vault]);
    }
}

#[test]
fn a_vault_of_a_later_format_is_refused_and_left_alone() {
    let bench = Bench::empty();
    let vault = last_release("kc", &bench.beside("kept")).join("notes.vault");
    let database = vault.join("lineage.sqlite3");
    let mut bytes = std::fs::read(&database).unwrap();
    // The version of the tables, in the header of every database.
    bytes[60..64].copy_from_slice(&5_u32.to_be_bytes());
    std::fs::write(&database, bytes).unwrap();
    let before = contents(&vault);
    let vault_text = vault.to_str().unwrap();
    for words in [
        &["vault", "check", vault_text][..],
        &["doc", "add", vault_text, "chapter-3"],
        &["lineage", "lock", "acquire", vault_text, "chapter-1", "bob"],
    ] {
        let answer = bench.run(words);
        answer.failed();
        let told = concat!("kc_cli ", env!("CARGO_PKG_VERSION"), " is too old for it");
        assert!(answer.stderr.contains("format version 5") && answer.stderr.contains(told), "{answer:?}");
        assert_eq!(contents(&vault), before, "{words:?}");
    }
}
