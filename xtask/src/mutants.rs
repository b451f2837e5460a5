//! `cargo xtask mutants`: changes the code in small ways, one at a time, and looks whether a test notices. What nobody
//! notices is explained in `spec/mutants.md`, or it is a test that is missing.

use std::path::{Path, PathBuf};

use crate::child::Child;
use crate::programs;

const PAGE: &str = "spec/mutants.md";

/// A part of the code, the package whose tests judge it, the files of it (all if none is named), and how many of a hundred
/// changes have to be noticed.
const AREAS: [(&str, &str, Option<&str>, usize); 3] = [
    ("kernel", "holdfast-kernel", None, 95),
    ("store", "holdfast-store", None, 0),
    ("writes", "holdfast-tracker", Some("crates/tracker/src/writes/*.rs"), 0),
];

/// How a hunt ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    caught: usize,
    missed: Vec<String>,
}

/// Changes the code of an area, or of all of them; `shard` is a part of it, as `2/8`.
#[must_use]
pub fn run(root: &Path, name: Option<&str>, shard: Option<&str>) -> bool {
    let chosen: Vec<_> = AREAS.iter().filter(|(area, ..)| name.is_none_or(|name| name == *area)).collect();
    if chosen.is_empty() {
        eprintln!(
            "there is no area {}: {}",
            name.unwrap_or_default(),
            AREAS.map(|(area, ..)| area).join(", ")
        );
        return false;
    }
    if !Child::cargo(root, &["mutants", "--version"]).quiet().run().ok {
        eprintln!("cargo-mutants is missing: cargo install --locked cargo-mutants");
        return false;
    }
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    chosen.into_iter().fold(true, |good, (area, package, files, least)| {
        let score = hunt(root, area, package, *files, shard);
        let said = score.and_then(|score| judge(&score, &page, *least));
        match &said {
            Ok(text) => println!("ok      {area}: {text}"),
            Err(why) => println!("FAILED  {area}: {why}"),
        }
        good && said.is_ok()
    })
}

/// Runs cargo-mutants, which works in a copy of the tree, and reads what it wrote down.
fn hunt(
    root: &Path,
    area: &str,
    package: &str,
    files: Option<&str>,
    shard: Option<&str>,
) -> Result<Score, String> {
    let folder = programs::target(root).join("mutants").join(area);
    crate::package::remove(&folder)?;
    let to = folder.display().to_string();
    let mut words = vec![
        "mutants",
        "--package",
        package,
        "--test-package",
        package,
        "--output",
        &to,
        "--no-shuffle",
        "--all-features",
    ];
    words.extend(files.iter().flat_map(|files| ["--file", *files]));
    words.extend(shard.iter().flat_map(|shard| ["--shard", *shard]));
    // It ends with another status when something was missed; what counts is what it wrote.
    let ended = Child::cargo(root, &words).without("RUSTC_WORKSPACE_WRAPPER").run();
    read(&folder.join("mutants.out")).map_err(|why| format!("cargo mutants {}: {why}", ended.how))
}

fn read(folder: &Path) -> Result<Score, String> {
    let list = |name: &str| -> Result<Vec<String>, String> {
        let path: PathBuf = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    // A change that makes a test run for ever is noticed, too.
    Ok(Score { caught: list("caught.txt")?.len() + list("timeout.txt")?.len(), missed: list("missed.txt")? })
}

/// What a change is called without its place in the file, which moves with every line above it.
fn name(missed: &str) -> String {
    let mut parts = missed.splitn(4, ':');
    let file = parts.next().unwrap_or(missed);
    format!("{file}:{}", parts.nth(2).unwrap_or_default())
}

fn judge(score: &Score, page: &str, least: usize) -> Result<String, String> {
    let all = score.caught + score.missed.len();
    if all == 0 {
        return Err("nothing was changed".into());
    }
    let unexplained: Vec<String> =
        score.missed.iter().map(|missed| name(missed)).filter(|name| !page.contains(name.as_str())).collect();
    let said = format!("{} of {all} changes were noticed ({} %)", score.caught, score.caught * 100 / all);
    if score.caught * 100 < least * all {
        Err(format!("{said}; at least {least} % have to be"))
    } else if unexplained.is_empty() {
        Ok(said)
    } else {
        Err(format!("{said}; {PAGE} does not explain these:\n{}", unexplained.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_noticed_is_explained_or_named() {
        let missed = "crates/kernel/src/time.rs:30:9: replace a -> b with ()".to_owned();
        let score = Score { caught: 19, missed: vec![missed] };
        let why = judge(&score, "", 90).unwrap_err();
        assert!(why.contains("19 of 20") && why.contains("time.rs: replace a -> b with ()"), "{why}");
        let page = "| `crates/kernel/src/time.rs: replace a -> b with ()` | the same to everybody |";
        assert_eq!(judge(&score, page, 95), Ok("19 of 20 changes were noticed (95 %)".into()));
        assert!(judge(&score, page, 96).unwrap_err().contains("at least 96 %"));
        assert!(judge(&Score::default(), page, 0).is_err(), "nothing is not all");
    }

    #[test]
    fn what_was_written_down_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("caught.txt", "a\nb\n"), ("timeout.txt", "c\n"), ("missed.txt", "d\n")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(read(folder.path()), Ok(Score { caught: 3, missed: vec!["d".into()] }));
        std::fs::remove_file(folder.path().join("caught.txt")).unwrap();
        assert!(read(folder.path()).is_err());
    }
}
