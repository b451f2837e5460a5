//! Locks of other versions: what each release wrote is gone on with, and what a later one wrote is left alone.

use std::process::Command;

use holdfast_trial::{contents, last_release, releases, rewrite};

use crate::site::{IC, Said, Site};

fn ic(root: &std::path::Path, words: &[&str]) -> Said {
    Command::new(IC)
        .args(words)
        .env("IC_LOCK_ROOT", root)
        .env_remove("IC_LOCK_WITHIN")
        .output()
        .unwrap()
        .into()
}

#[test]
fn what_each_release_wrote_is_read_and_gone_on_with() {
    let site = Site::new();
    for place in releases("ic", &site.path("kept")) {
        let root = place.join("locks");
        let listed = ic(&root, &["lock", "list"]);
        assert!(listed.code == 0 && listed.out.starts_with("build\tmain\t"), "{listed:?}");
        // Its holder is of another boot, or gone: whoever asks gets the lock, with a larger fence.
        let script = "echo $IC_LOCK_FENCE";
        let words = ["lock", "run", "build", "main", "--timeout", "30s", "--", "sh", "-c", script];
        let said = ic(&root, &words);
        assert!(said.code == 0 && said.out.trim().parse::<u64>().unwrap() > 3, "{said:?}");
        assert_eq!(ic(&root, &["lock", "list"]).out, "");
    }
}

#[test]
fn a_lock_of_a_later_format_is_refused_and_left_alone() {
    let site = Site::new();
    let root = last_release("ic", &site.path("kept")).join("locks");
    rewrite(&root.join("build/main/owner.json"), "{\"format\":1,", "{\"format\":2,");
    let before = contents(&root.join("build"));
    for words in
        [&["lock", "acquire", "build", "main"][..], &["lock", "release", "build", "main"], &["lock", "clean"]]
    {
        let said = ic(&root, words);
        assert_eq!(contents(&root.join("build")), before, "{words:?}: {said:?}");
        if words.contains(&"acquire") {
            let told = concat!("ic ", env!("CARGO_PKG_VERSION"), " is too old for it");
            assert!(
                said.code != 0 && said.err.contains("format version 2") && said.err.contains(told),
                "{said:?}"
            );
        } else {
            assert!(said.err.contains("later version") || said.code != 0, "{words:?}: {said:?}");
        }
    }
}
