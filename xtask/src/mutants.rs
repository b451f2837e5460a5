//! `cargo xtask mutants`: changes the kernel in small ways, one at a time, and looks whether a test notices. What nobody
//! notices is explained in `spec/mutants.md`, or a test is missing.

use std::path::Path;

use crate::child::Child;
use crate::{package, programs};

const PAGE: &str = "spec/mutants.md";
/// How many of a hundred changes have to be noticed.
const LEAST: usize = 95;

/// Which tests judge, one after the other: each only what those before it let pass. Most changes are noticed by tests that
/// take a second; the others get the properties, which take minutes where nothing is optimised.
const JUDGES: [&[&str]; 2] = [
    &["--cargo-arg=--test=vectors", "--cargo-arg=--test=rules", "--", AT_ONCE, "-E", QUICK],
    &["--", AT_ONCE],
];
/// One test that notices is enough; what runs beside it is not waited for.
const AT_ONCE: &str = "--max-fail=1:immediate";
const QUICK: &str = "not test(/^patterns::(all|no)_/)";
/// How cargo-mutants ends when it has tried everything: all was noticed, something was not, something ran for ever.
const WHOLE: [&str; 3] = ["exit status: 0", "exit status: 2", "exit status: 3"];

/// What became of the changes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    noticed: usize,
    /// The names of the others, as the page has them.
    missed: Vec<String>,
}

/// Changes the kernel and says how many changes were noticed.
#[must_use]
pub fn run(root: &Path) -> bool {
    let page = root.join(PAGE);
    let said = std::fs::read_to_string(&page)
        .map_err(|why| format!("{}: {why}", page.display()))
        .and_then(|page| judged(&hunt(root)?, &page));
    match &said {
        Ok(text) => println!("ok      {text}"),
        Err(why) => eprintln!("{why}"),
    }
    said.is_ok()
}

/// Has cargo-mutants try every change in a copy of the tree; it tells in files what it saw.
fn hunt(root: &Path) -> Result<Score, String> {
    if !Child::cargo(root, &["mutants", "--version"]).quiet().run().ok {
        return Err("cargo-mutants is missing: cargo install --locked cargo-mutants".into());
    }
    let folder = programs::target(root).join("mutants");
    package::remove(&folder)?;
    let to = folder.display().to_string();
    let mut score = Score::default();
    for judge in JUDGES {
        // With `--iterate`, what was noticed once is not tried again.
        let words =
            ["mutants", "--iterate", "--package", "holdfast-kernel", "--test-package", "holdfast-kernel"];
        let how = ["--profile", "mutants", "--test-tool", "nextest", "--output", &to];
        let ended = Child::cargo(root, &[&words[..], &how, judge].concat())
            .env("CARGO_INCREMENTAL", "1")
            .without("RUSTC_WORKSPACE_WRAPPER")
            .without("CLIPPY_ARGS")
            .run();
        if !WHOLE.contains(&ended.how.as_str()) {
            return Err(format!("cargo mutants did not come to its end: {}", ended.how));
        }
        let seen = read(&folder.join("mutants.out"))?;
        score.noticed += seen.noticed;
        score.missed = seen.missed;
        if score.missed.is_empty() {
            break;
        }
    }
    Ok(score)
}

fn read(folder: &Path) -> Result<Score, String> {
    let list = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))
    };
    // A change that makes a test run for ever is noticed, too.
    let noticed = list("caught.txt")?.lines().count() + list("timeout.txt")?.lines().count();
    Ok(Score { noticed, missed: list("missed.txt")?.lines().map(name).collect() })
}

/// What a change is called without its place in the file, which moves with every line above it.
fn name(missed: &str) -> String {
    let mut parts = missed.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(change)) => format!("{file}:{change}"),
        _ => missed.to_owned(),
    }
}

/// The page has a row for each change that was missed, and none besides.
fn judged(score: &Score, page: &str) -> Result<String, String> {
    let all = score.noticed + score.missed.len();
    if all == 0 {
        return Err("nothing was changed".into());
    }
    let said = format!("{} of {all} changes were noticed ({} %)", score.noticed, score.noticed * 100 / all);
    if score.noticed * 100 < LEAST * all {
        return Err(format!("{said}; at least {LEAST} % have to be:\n{}", score.missed.join("\n")));
    }
    let rows = page.lines().filter_map(|line| Some(line.strip_prefix("| `crates/")?.split_once('`')?.0));
    let plain = |row: &str| format!("crates/{}", row.replace("\\|", "|"));
    let mut explained: Vec<String> = rows.map(plain).collect();
    let mut wrong = Vec::new();
    for missed in &score.missed {
        match explained.iter().position(|row| row == missed) {
            Some(at) => drop(explained.remove(at)),
            None => wrong.push(format!("not explained: {missed}")),
        }
    }
    wrong.extend(explained.iter().map(|row| format!("explained, but noticed or not there: {row}")));
    if wrong.is_empty() {
        Ok(said)
    } else {
        Err(format!("{said}; {PAGE} is not right:\n{}", wrong.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED: &str = "crates/kernel/src/time.rs: replace < with <= in a";
    const ROW: &str = "| `crates/kernel/src/time.rs: replace < with <= in a` | the same to everybody |\n";

    fn score(noticed: usize, missed: usize) -> Score {
        Score { noticed, missed: vec![MISSED.to_owned(); missed] }
    }

    #[test]
    fn what_nobody_noticed_is_explained_or_named() {
        assert_eq!(judged(&score(19, 1), ROW), Ok("19 of 20 changes were noticed (95 %)".into()));
        let why = judged(&score(19, 1), "").unwrap_err();
        assert!(why.contains("19 of 20") && why.contains(MISSED), "{why}");
        // Two of the same name need two explanations.
        assert!(judged(&score(38, 2), ROW).unwrap_err().contains("not explained"));
        assert!(judged(&score(38, 2), &ROW.repeat(2)).is_ok());
    }

    #[test]
    fn a_bar_is_one_also_where_a_table_needs_a_backslash_before_it() {
        let missed = vec!["crates/kernel/src/a.rs: replace | with ^ in a".to_owned()];
        let row = "| `crates/kernel/src/a.rs: replace \\| with ^ in a` | the same |\n";
        assert!(judged(&Score { noticed: 19, missed }, row).is_ok());
    }

    #[test]
    fn too_many_are_too_many_and_an_explanation_of_nothing_is_named() {
        assert!(judged(&score(18, 1), ROW).unwrap_err().contains("at least 95 %"));
        assert!(judged(&score(20, 0), ROW).unwrap_err().contains("noticed or not there"));
        assert!(judged(&Score::default(), "").is_err(), "nothing is not all");
    }

    #[test]
    fn what_was_written_down_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let missed = "crates/kernel/src/time.rs:30:9: replace < with <= in a\n";
        for (name, text) in [("caught.txt", "a\nb\n"), ("timeout.txt", "c\n"), ("missed.txt", missed)] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(read(folder.path()), Ok(score(3, 1)));
        std::fs::remove_file(folder.path().join("caught.txt")).unwrap();
        assert!(read(folder.path()).is_err());
    }
}
