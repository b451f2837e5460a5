//! `cargo xtask mutants`: changes the kernel, the store or the tracker's writes in small ways, one at a time, and looks whether
//! a test notices. What nobody notices is explained in `spec/mutants.md`, or a test is missing.

use std::path::Path;

use crate::args::Mutants;
use crate::child::Child;
use crate::{explained, package, programs};

const PAGE: &str = "spec/mutants.md";

/// What is changed, and who has to notice.
struct Area {
    name: &'static str,
    package: &'static str,
    /// What the files begin with.
    folder: &'static str,
    /// How many of a hundred changes have to be noticed.
    least: usize,
    /// How long tests may take at least.
    patience: &'static str,
    /// Which tests judge, one after the other: each only what those before it let pass.
    judges: &'static [&'static [&'static str]],
}

const AREAS: [Area; 3] = [
    Area {
        name: "kernel",
        package: "holdfast-kernel",
        folder: "crates/kernel/src/",
        least: 95,
        patience: PATIENT,
        // Most changes are noticed by tests that take a second; the others get the properties, which take minutes where
        // nothing is optimised.
        judges: &[
            &[KERNEL, "--cargo-arg=--test=vectors", "--cargo-arg=--test=rules", "--", AT_ONCE, "-E", QUICK],
            &[KERNEL, "--", AT_ONCE],
        ],
    },
    Area {
        name: "store",
        package: "holdfast-store",
        folder: "crates/store/src/",
        least: 90,
        patience: PATIENT,
        // Most changes are noticed by tests that take a few seconds together; the others get those besides that cut a medium
        // off everywhere or flip every bit of it.
        judges: &[
            &[STORE, SUITE, SUITES, FAST_KERNEL, "--", AT_ONCE, "-E", SHORT],
            &[STORE, SUITE, SUITES, FAST_KERNEL, "--", AT_ONCE],
        ],
    },
    Area {
        name: "writes",
        package: "holdfast-tracker",
        folder: "crates/tracker/src/writes/",
        least: 90,
        patience: VERY_PATIENT,
        judges: &[
            &["--test-package=holdfast-tracker", "--", AT_ONCE],
            &["--test-package=holdfast-jit", "--", AT_ONCE],
        ],
    },
];

const KERNEL: &str = "--test-package=holdfast-kernel";
const STORE: &str = "--test-package=holdfast-store";
/// The suite that media are held to is a test itself.
const SUITE: &str = "--exclude=crates/store/src/conformance.rs";
const SUITES: &str = "--exclude=crates/store/src/conformance/**";
/// The profile does not optimise the kernel, because there it is what is changed.
const FAST_KERNEL: &str = "--cargo-arg=--config=profile.mutants.package.holdfast-kernel.opt-level=2";
/// What is on a busy machine must not look like what runs for ever.
const PATIENT: &str = "--minimum-test-timeout=120";
/// The tests of jit start thousands of processes.
const VERY_PATIENT: &str = "--minimum-test-timeout=1800";
/// One test that notices is enough; what runs beside it is not waited for.
const AT_ONCE: &str = "--max-fail=1:immediate";
const QUICK: &str = "not test(/^patterns::(all|no)_/)";
const SHORT: &str = "not test(/every_(cut|bit_of)|as_a_whole$|on_real_files|many_threads_take_turns|^ten_thousand|\
                     ^two_never_own|^scripts_that_die|^a_(sweep_breaks|takeover_takes)|^fences_rise_across/)";
/// How cargo-mutants ends when it has tried everything: all was noticed, something was not, something ran for ever.
const WHOLE: [&str; 3] = ["exit status: 0", "exit status: 2", "exit status: 3"];

/// What became of the changes, each as cargo-mutants lists it: `file:line:column: change`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    noticed: Vec<String>,
    missed: Vec<String>,
}

impl Score {
    /// As it is once those that were missed have been tried again. cargo-mutants tries some besides that it was not asked
    /// for (fields that are left out), and those count neither way.
    fn and_then(mut self, again: &Self) -> Self {
        let (noticed, missed) = self.missed.into_iter().partition(|it| again.noticed.contains(it));
        self.noticed.extend::<Vec<_>>(noticed);
        Self { noticed: self.noticed, missed }
    }
}

/// Changes what was asked for and says how many changes were noticed.
#[must_use]
pub fn run(root: &Path, asked: &Mutants) -> bool {
    let page = root.join(PAGE);
    let said =
        std::fs::read_to_string(&page).map_err(|why| format!("{}: {why}", page.display())).and_then(|page| {
            let area = named(&asked.area)?;
            judged(area, &hunt(root, area, asked)?, &page, asked.one_in == 1)
        });
    match &said {
        Ok(text) => println!("ok      {text}"),
        Err(why) => eprintln!("{why}"),
    }
    said.is_ok()
}

fn named(name: &str) -> Result<&'static Area, String> {
    let names = || AREAS.map(|area| area.name).join(", ");
    AREAS.iter().find(|area| area.name == name).ok_or_else(|| format!("{name} is none of: {}", names()))
}

/// Has cargo-mutants try every change, or one in so many, in a copy of the tree; it tells in files what it saw.
fn hunt(root: &Path, area: &Area, asked: &Mutants) -> Result<Score, String> {
    if !Child::cargo(root, &["mutants", "--version"]).quiet().run().ok {
        return Err("cargo-mutants is missing: cargo install --locked cargo-mutants".into());
    }
    let folder = programs::target(root).join("mutants").join(area.name);
    package::empty(&folder)?;
    let (to, files) = (folder.display().to_string(), format!("{}**", area.folder));
    let shard = format!("{}/{}", asked.shard, asked.one_in);
    let mut which: Vec<String> = ["--shard", &shard, "--sharding", "round-robin"].map(String::from).into();
    let mut score: Option<Score> = None;
    for judge in area.judges {
        let words = ["mutants", "--package", area.package, "--file", &files];
        let how = ["--profile", "mutants", "--test-tool", "nextest", "--output", &to, area.patience];
        let which_now: Vec<&str> = which.iter().map(String::as_str).collect();
        let ended = Child::cargo(root, &[&words[..], &how, &which_now, judge].concat())
            .env("CARGO_INCREMENTAL", "1")
            .without("RUSTC_WORKSPACE_WRAPPER")
            .without("CLIPPY_ARGS")
            .run();
        if !WHOLE.contains(&ended.how.as_str()) {
            return Err(format!("cargo mutants did not come to its end: {}", ended.how));
        }
        let seen = read(&folder.join("mutants.out"))?;
        let now = match score.take() {
            None => seen,
            Some(before) => before.and_then(&seen),
        };
        which = vec!["--re".into(), only(&now.missed)];
        if score.insert(now).missed.is_empty() {
            break;
        }
    }
    Ok(score.unwrap_or_default())
}

/// An expression that fits these lines and no other.
fn only(lines: &[String]) -> String {
    let escaped = |line: &String| -> String {
        line.chars()
            .flat_map(|c| r"\.+*?()|[]{}^$#&-~".contains(c).then_some('\\').into_iter().chain([c]))
            .collect()
    };
    format!("^({})$", lines.iter().map(escaped).collect::<Vec<_>>().join("|"))
}

fn read(folder: &Path) -> Result<Score, String> {
    let list = |name: &str| {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok::<_, String>(text.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    // A change that makes a test run for ever is noticed, too.
    let noticed = [list("caught.txt")?, list("timeout.txt")?].concat();
    Ok(Score { noticed, missed: list("missed.txt")? })
}

/// What a change is called without its place in the file, which moves with every line above it.
fn name(missed: &str) -> String {
    let mut parts = missed.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(change)) => format!("{file}:{change}"),
        _ => missed.to_owned(),
    }
}

/// The page has a row for each change that was missed and, if all were tried, none besides.
fn judged(area: &Area, score: &Score, page: &str, all_were_tried: bool) -> Result<String, String> {
    let noticed = score.noticed.len();
    let all = noticed + score.missed.len();
    if all == 0 {
        return Err("nothing was changed".into());
    }
    let said = format!("{}: {noticed} of {all} changes were noticed ({} %)", area.name, noticed * 100 / all);
    if noticed * 100 < area.least * all {
        return Err(format!("{said}; at least {} % have to be:\n{}", area.least, score.missed.join("\n")));
    }
    let mut rows = explained::rows(page);
    rows.retain(|row| row.starts_with(area.folder));
    let missed = score.missed.iter().map(|line| name(line)).collect();
    let stray = all_were_tried.then_some("explained, but noticed or not there");
    explained::judge(said, missed, rows, PAGE, stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED: &str = "crates/kernel/src/time.rs:30:9: replace < with <= in a";
    const ROW: &str = "| `crates/kernel/src/time.rs: replace < with <= in a` | the same to everybody |\n";

    fn score(noticed: usize, missed: usize) -> Score {
        let names = |count: usize, name: &str| vec![name.to_owned(); count];
        Score { noticed: names(noticed, "noticed"), missed: names(missed, MISSED) }
    }

    fn whole(score: &Score, page: &str) -> Result<String, String> {
        judged(named("kernel").unwrap(), score, page, true)
    }

    #[test]
    fn what_nobody_noticed_is_explained_or_named() {
        assert_eq!(whole(&score(19, 1), ROW), Ok("kernel: 19 of 20 changes were noticed (95 %)".into()));
        let why = whole(&score(19, 1), "").unwrap_err();
        assert!(why.contains("19 of 20") && why.contains(&name(MISSED)), "{why}");
        // Two of the same name need two explanations.
        assert!(whole(&score(38, 2), ROW).unwrap_err().contains("not explained"));
        assert!(whole(&score(38, 2), &ROW.repeat(2)).is_ok());
    }

    #[test]
    fn a_bar_is_one_also_where_a_table_needs_a_backslash_before_it() {
        let missed = vec!["crates/kernel/src/a.rs:1:2: replace | with ^ in a".to_owned()];
        let row = "| `crates/kernel/src/a.rs: replace \\| with ^ in a` | the same |\n";
        assert!(whole(&Score { missed, ..score(19, 0) }, row).is_ok());
    }

    #[test]
    fn too_many_are_too_many_and_an_explanation_of_nothing_is_named() {
        assert!(whole(&score(18, 1), ROW).unwrap_err().contains("at least 95 %"));
        assert!(whole(&score(20, 0), ROW).unwrap_err().contains("noticed or not there"));
        assert!(whole(&Score::default(), "").is_err(), "nothing is not all");
    }

    #[test]
    fn of_a_sample_only_what_was_missed_has_to_be_explained() {
        let kernel = named("kernel").unwrap();
        assert!(judged(kernel, &score(20, 0), ROW, false).is_ok());
        assert!(judged(kernel, &score(20, 1), "", false).unwrap_err().contains("not explained"));
    }

    #[test]
    fn each_area_has_explanations_of_its_own() {
        let store = named("store").unwrap();
        assert!(judged(store, &score(20, 0), ROW, true).is_ok());
        assert!(named("dashboard").is_err_and(|why| why.contains("kernel, store, writes")));
    }

    #[test]
    fn what_was_missed_is_tried_again_and_nothing_else() {
        let lines = ["a.rs:1:2: replace f -> Vec<u8> with vec![]", "a.rs:3:4: replace | with & in g"];
        let fits = r"^(a\.rs:1:2: replace f \-> Vec<u8> with vec!\[\]|a\.rs:3:4: replace \| with \& in g)$";
        assert_eq!(only(&lines.map(String::from)), fits);
    }

    #[test]
    fn what_was_tried_again_without_having_been_missed_is_not_counted() {
        let lines = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect::<Vec<_>>();
        let first = Score { noticed: lines(&["a"]), missed: lines(&["b", "c"]) };
        let again = Score { noticed: lines(&["b", "a", "else"]), missed: lines(&["c", "other"]) };
        assert_eq!(first.and_then(&again), Score { noticed: lines(&["a", "b"]), missed: lines(&["c"]) });
    }

    #[test]
    fn what_was_written_down_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("caught.txt", "noticed\nnoticed\n"), ("timeout.txt", "noticed\n"), ("missed.txt", MISSED)]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(read(folder.path()), Ok(score(3, 1)));
        std::fs::remove_file(folder.path().join("caught.txt")).unwrap();
        assert!(read(folder.path()).is_err());
    }
}
