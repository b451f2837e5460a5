//! The steps that are a call of another program. Those that compile do so with all features and in one way, so that they
//! share what is compiled; the C code of a dependency is compiled once.

use std::path::Path;

use super::memory::Memory;
use super::{Length, tally};
use crate::browser::{self, Engine, Package};
use crate::child::{Child, Ended, is_there};
use crate::fuzz;
use crate::programs;
use crate::report::Outcome;
use crate::tidy::Tree;

/// Whether every file is formatted.
pub(super) fn format(root: &Path) -> Outcome {
    let all = Child::cargo(root, &["fmt", "--all", "--check"]).run();
    let fuzz = Child::cargo(&root.join("fuzz"), &["fmt", "--check"]).run();
    verdict(&[all, fuzz])
}

/// Whether the compiler's and clippy's rules hold everywhere, and every link in the documentation leads somewhere. What they
/// are checked on is what the tests run.
pub(super) fn lints(root: &Path) -> Outcome {
    let words = ["test", "--no-run", "--quiet", "--workspace", "--all-targets", "--all-features"];
    verdict(&[Child::linting_cargo(root, &words).run()])
}

/// What shellcheck says of the scripts.
pub(super) fn shell_scripts(root: &Path) -> Outcome {
    if !is_there("shellcheck") {
        return Outcome::skipped("shellcheck is not installed: apt-get install shellcheck");
    }
    let tree = match Tree::load(root) {
        Ok(tree) => tree,
        Err(why) => return Outcome::one(false, why),
    };
    let checked: Vec<bool> =
        tree.shell_scripts().map(|(path, _)| Child::new(root, "shellcheck", &[path]).run().ok).collect();
    let passed = checked.iter().filter(|ok| **ok).count();
    Outcome::Ran { passed, failed: checked.len() - passed, note: String::new() }
}

/// The packages whose tests are about disks: what is durable there, what a full or failing one does.
const ON_DISK: &str = "package(holdfast-sys) | package(holdfast-store) | package(holdfast-jvs) | \
                       package(holdfast-kc) | package(holdfast-ic)";

/// Every test of the workspace. Most of them make small repositories and wait for the disk more than for anything else:
/// unless a long run is wanted, these have their files in memory, and run beside those that are about the disk and wait for it.
pub(super) fn tests(root: &Path, length: Length) -> Outcome {
    let start = first_seed(root).to_string();
    println!(
        "tests of chance begin with the seed {start}; HOLDFAST_FIRST_SEED={start} has the same ones again"
    );
    let run = |words: &[&str], folder: Option<&Path>| {
        let mut child = Child::linting_cargo(root, words).env("HOLDFAST_FIRST_SEED", &start);
        if let Some(cases) = length.cases {
            child = child.env("PROPTEST_CASES", &cases.to_string()).env("HOLDFAST_LONG", "1");
        }
        for (variable, value) in length.widened {
            child = child.env(variable, value);
        }
        if let Some(folder) = folder {
            child = child.env("TMPDIR", &folder.to_string_lossy());
        }
        child.run()
    };
    if !Child::cargo(root, &["nextest", "--version"]).quiet().run().ok {
        println!("cargo-nextest is not installed; cargo test does the same, one crate after the other");
        let words = ["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"];
        return tally::outcome(&run(&words, None));
    }
    let words = ["nextest", "run", "--workspace", "--all-features", "--no-fail-fast", "--status-level=slow"];
    let memory = if length.cases.is_none() { Memory::new(root) } else { None };
    let Some(memory) = memory else { return tally::outcome(&run(&words, None)) };
    let others = format!("not ({ON_DISK})");
    let in_memory = ["--test-threads", "3", "--filterset", &others];
    let on_disk = ["--profile", "disk", "--test-threads", "2", "--filterset", ON_DISK];
    std::thread::scope(|scope| {
        let on_disk = scope.spawn(|| run(&[&words[..], &on_disk].concat(), None));
        let in_memory = run(&[&words[..], &in_memory].concat(), Some(memory.path()));
        match on_disk.join() {
            Ok(on_disk) => tally::sum(&[in_memory, on_disk]),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Random schedules, crashes and clocks over the real media, with every assertion on.
pub(super) fn simulation(root: &Path, length: Length) -> Outcome {
    let (seeds, start) = (length.seeds.to_string(), first_seed(root).to_string());
    let Some(simulator) = programs::to_test(root, "holdfast-sim") else {
        return Outcome::one(false, "it does not build");
    };
    let ended = Child::new(root, &simulator, &["random", "--seeds", &seeds, "--start", &start]).run();
    let last = ended.out.lines().last().unwrap_or("it did not come to its end");
    Outcome::one(ended.ok, last)
}

/// The first seed: from the commit, so that every commit tries other worlds and the same one can be tried again.
fn first_seed(root: &Path) -> u32 {
    let commit = Child::new(root, "git", &["rev-parse", "HEAD"]).quiet().run().out;
    u32::from_str_radix(commit.get(..8).unwrap_or_default(), 16).unwrap_or(0)
}

/// The browser package without a browser: its types, its decisions against the vectors, and its doubles.
pub(super) fn project_lock(root: &Path) -> Outcome {
    match Package::prepare(root) {
        Ok(package) => tally::outcome(&package.script("test").run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// The pages of the server without a browser: their types, what they make of a history, and that what is committed for the
/// server to embed is what the compiler makes of them.
pub(super) fn dashboard(root: &Path) -> Outcome {
    match Package::named(root, "dashboard") {
        Ok(package) => tally::outcome(&package.script("test").run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// The pages of the server in Chromium and Firefox, with the real programs behind them.
pub(super) fn dashboard_in_browsers(root: &Path) -> Outcome {
    // The page shows the locks of the other doors, too.
    let others = ["jit-server", "jvs", "kc_cli", "ic"];
    let (Some(jit), true) =
        (programs::to_test(root, "jit"), others.iter().all(|name| programs::to_test(root, name).is_some()))
    else {
        return Outcome::one(false, "a program does not build");
    };
    let there = browser::CHROMIUM.is_there().and_then(|()| browser::FIREFOX.is_there());
    match there.and_then(|()| Package::named(root, "dashboard")) {
        Ok(package) => tally::outcome(&package.script("test:browser").env("JIT", &jit).run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// The official clients of the Model Context Protocol against `jit mcp`.
/// In a long run also the coding clients in use, which weigh over a gigabyte.
pub(super) fn protocol_clients(root: &Path, length: Length) -> Outcome {
    let Some(program) = programs::to_test(root, "jit") else {
        return Outcome::one(false, "jit does not build");
    };
    let script = if length.cases.is_some() { "test:all" } else { "test" };
    match Package::named(root, "mcp-trial") {
        Ok(package) => tally::outcome(&package.script(script).env("JIT", &program).run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// The browser package in Chromium: many tabs, killed, stopped and cached ones.
pub(super) fn project_lock_in_chromium(root: &Path, length: Length) -> Outcome {
    let rounds = length.rounds.to_string();
    in_browser(root, &browser::CHROMIUM, |script| script.env("HOLDFAST_BROWSER_ROUNDS", &rounds))
}

/// Its core in Firefox: what each situation gives, races, and tabs that are closed, killed and stopped.
pub(super) fn project_lock_in_firefox(root: &Path, length: Length) -> Outcome {
    in_browser(root, &browser::FIREFOX, |script| widened(script, length))
}

/// The same in WebKit.
pub(super) fn project_lock_in_webkit(root: &Path, length: Length) -> Outcome {
    in_browser(root, &browser::WEBKIT, |script| widened(script, length))
}

fn in_browser(root: &Path, engine: &Engine, with: impl FnOnce(Child) -> Child) -> Outcome {
    match engine.is_there().and_then(|()| Package::prepare(root)) {
        Ok(package) => tally::outcome(&with(package.script(engine.script)).run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// The browser package in apps that bundlers have made: some of them, or all in a long run.
pub(super) fn project_lock_with_bundlers(root: &Path, length: Length) -> Outcome {
    let package = browser::CHROMIUM.is_there().and_then(|()| Package::prepare(root));
    match package.and_then(Package::can_install_more) {
        Ok(package) => tally::outcome(&widened(package.script("test:bundlers"), length).run()),
        Err(why) => Outcome::skipped(why),
    }
}

/// Tells scripts of the package that a long run is wanted.
fn widened(script: Child, length: Length) -> Child {
    if length.cases.is_some() { script.env("HOLDFAST_LONG", "1") } else { script }
}

/// What cargo-deny adds to the licence rules of `tidy`: advisories, from a database that it fetches.
pub(super) fn licences(root: &Path) -> Outcome {
    if !Child::cargo(root, &["deny", "--version"]).quiet().run().ok {
        let why = "cargo-deny is not installed (cargo install cargo-deny); \
                   licences, sources and bans were checked by tidy, advisories were not";
        return Outcome::skipped(why);
    }
    let is_fetched = Child::cargo(root, &["deny", "fetch", "db"]).run().ok;
    let mut words = vec!["deny", "--all-features", "check", "--disable-fetch", "licenses", "bans", "sources"];
    words.extend(is_fetched.then_some("advisories"));
    let checked =
        verdict(&[Child::cargo(root, &words).run(), Child::cargo(&fuzz::folder(root), &words).run()]);
    match checked {
        Outcome::Ran { passed, failed: 0, .. } if !is_fetched => {
            let note = "advisories were not checked: their database cannot be fetched".into();
            Outcome::Ran { passed, failed: 0, note }
        }
        checked => checked,
    }
}

/// One check for each program that ended.
fn verdict(ended: &[Ended]) -> Outcome {
    let failed: Vec<&str> = ended.iter().filter(|ended| !ended.ok).map(|ended| ended.how.as_str()).collect();
    Outcome::Ran { passed: ended.len() - failed.len(), failed: failed.len(), note: failed.join(", ") }
}
