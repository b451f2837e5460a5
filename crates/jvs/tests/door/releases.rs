//! Repositories of other versions: what each release wrote is gone on with, and what a later one wrote is left alone.

use holdfast_trial::{contents, last_release, releases, rewrite};

use crate::bench::{Bench, Refusal as _};

#[test]
fn what_each_release_wrote_is_read_and_gone_on_with() {
    let bench = Bench::new();
    for place in releases("jvs", bench.dir()) {
        let main = place.join("vault/main");
        let run = |args: &[&str]| bench.run_at(&main, args);
        let notes = |document: &serde_json::Value| -> Vec<String> {
            let snapshots = document["snapshots"].as_array().unwrap();
            snapshots.iter().map(|one| one["note"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(notes(&run(&["history"]).ok().json()), ["and more", "the first words"]);
        run(&["verify", "--all"]).ok();
        run(&["audit", "verify"]).ok();
        assert_eq!(run(&["pins"]).ok().json()["pins"].as_array().unwrap().len(), 1);
        // The lock that nobody gave back is over; the next one has a larger token.
        let taken = run(&["lock", "acquire"]).ok().json();
        assert!(taken["lock"]["fencing_token"].as_u64().unwrap() > 1, "{taken}");
        std::fs::write(main.join("greeting"), "goodbye\n").unwrap();
        run(&["snapshot", "on with it"]).ok();
        run(&["lock", "release"]).ok();
        assert_eq!(notes(&run(&["history"]).ok().json()).len(), 3);
        run(&["verify", "--all"]).ok();
    }
}

#[test]
fn a_repository_of_a_later_format_is_refused_and_left_alone() {
    let bench = Bench::new();
    let vault = last_release("jvs", bench.dir()).join("vault");
    std::fs::write(vault.join(".jvs/format_version"), "2\n").unwrap();
    let before = contents(&vault);
    for args in
        [&["history"][..], &["lock", "acquire"], &["snapshot"], &["doctor", "--repair"], &["verify", "--all"]]
    {
        let answer = bench.run_at(&vault.join("main"), args).refused_as("E_FORMAT_UNSUPPORTED");
        let hint = answer.json()["hint"].as_str().unwrap().to_owned();
        assert!(hint.contains(concat!("jvs ", env!("CARGO_PKG_VERSION"), " is too old")), "{args:?}: {hint}");
        assert_eq!(contents(&vault), before, "{args:?}");
    }
    // The same of a lock alone.
    std::fs::write(vault.join(".jvs/format_version"), "1\n").unwrap();
    let locks = std::fs::read_dir(vault.join(".jvs/locks")).unwrap().map(|entry| entry.unwrap().path());
    let lock = locks.into_iter().find(|path| path.extension().is_some_and(|end| end == "lock")).unwrap();
    rewrite(&lock, "{\"format\":1,", "{\"format\":2,");
    let before = contents(&vault.join(".jvs/locks"));
    bench.run_at(&vault.join("main"), &["lock", "acquire"]).refused_as("E_FORMAT_UNSUPPORTED");
    assert_eq!(contents(&vault.join(".jvs/locks")), before);
}
