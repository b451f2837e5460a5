//! Runs the tests of the workspace with programs that count what runs in them, and reads what they counted.
//!
//! The counters of a program are in a file that it maps into its memory, one for all processes that run it. So nothing is lost
//! when a process is killed, and nothing has to be handed on: where that file is, each program knows by itself (`AIM`), as the
//! tests start most of them with an environment that is empty but for a few names.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::counts::Counts;
use crate::child::Child;
use crate::report::Outcome;
use crate::suite::memory::Memory;
use crate::suite::tally;
use crate::{compiler, package, programs, tools};

/// Linked into every program: says where the counters are before those ask, and takes it out of the environment afterwards, as
/// tests look at that. `%c` has them mapped, `%m` makes one file of each program.
const AIM: &str = r#"#include <stdlib.h>
__attribute__((constructor(101))) static void before(void) { setenv("LLVM_PROFILE_FILE", COUNTERS "/%c%m.profraw", 1); }
__attribute__((constructor)) static void after(void) {
    unsetenv("LLVM_PROFILE_FILE");
    unsetenv("__LLVM_PROFILE_RT_INIT_ONCE");
}
"#;

/// Where the counters are, in the folder of what is built here.
const COUNTERS: &str = "counters";
/// The file beside them that lists the programs.
const PROGRAMS: &str = "programs.txt";

/// The oldest and the newest LLVM whose tools are looked for, besides those of Rust itself.
const VERSIONS: std::ops::RangeInclusive<u32> = 19..=24;

/// Counts what all tests of the workspace run, and says how those ended.
pub(super) fn measure(root: &Path) -> Result<(Counts, Option<Outcome>), String> {
    let (folder, tools) = (folder(root), Tools::find(root)?);
    tools::all_there()?;
    if !Child::cargo(root, &["nextest", "--version"]).quiet().run().ok {
        return Err("cargo-nextest is missing: cargo install cargo-nextest".into());
    }
    let counters = folder.join(COUNTERS);
    package::empty(&counters)?;
    let aim = aim(root, &folder, &counters)?;
    let words = ["test", "--no-run", "--workspace", "--all-features", "--lib", "--bins", "--tests"];
    let words = [&words[..], &["--quiet", "--message-format=json"]].concat();
    let built = built(counting(root, &folder, &aim, &words).quiet())?;
    package::write(&folder.join(PROGRAMS), built.join("\n").as_bytes())?;
    let tests = tested(root, &|words| counting(root, &folder, &aim, words));
    tools.read(root, &folder).map(|counts| (counts, Some(tests)))
}

/// What was counted last.
pub(super) fn last(root: &Path) -> Result<Counts, String> {
    Tools::find(root)?.read(root, &folder(root))
}

fn folder(root: &Path) -> PathBuf {
    programs::target(root).join("coverage")
}

/// What reads counters.
struct Tools {
    merge: String,
    export: String,
}

impl Tools {
    fn find(root: &Path) -> Result<Self, String> {
        Ok(Self { merge: tool(root, "llvm-profdata")?, export: tool(root, "llvm-cov")? })
    }

    fn read(&self, root: &Path, folder: &Path) -> Result<Counts, String> {
        let list = folder.join(PROGRAMS);
        let built = std::fs::read_to_string(&list).map_err(|why| format!("{}: {why}", list.display()))?;
        let merged = folder.join("all.profdata").display().to_string();
        let counters = folder.join(COUNTERS).display().to_string();
        said(root, &self.merge, &["merge", "-sparse", "-o", &merged, &counters])?;
        let profile = format!("-instr-profile={merged}");
        let mut words = vec!["export", "-format=text", "-skip-functions", "-skip-expansions", &profile];
        words.extend(built.lines().flat_map(|program| ["-object", program]));
        Counts::read(&said(root, &self.export, &words)?, &root.display().to_string())
    }
}

/// A tool of LLVM: of the Rust that is used here, or of the system.
fn tool(root: &Path, name: &str) -> Result<String, String> {
    let own = compiler::tools(root).map(|folder| folder.join(name).display().to_string());
    let others = VERSIONS.rev().map(|version| format!("{name}-{version}"));
    let mut names = own.into_iter().chain(others).chain([name.to_owned()]);
    let missing =
        || format!("{name} is missing: rustup component add llvm-tools, or apt-get install llvm-19");
    names.find(|name| is_there(root, name)).ok_or_else(missing)
}

fn is_there(root: &Path, program: &str) -> bool {
    Child::new(root, program, &["--version"]).quiet().run().ok
}

/// Compiles what every program is linked with, and says where it is.
fn aim(root: &Path, folder: &Path, counters: &Path) -> Result<PathBuf, String> {
    let (source, object) = (folder.join("aim.c"), folder.join("aim.o"));
    package::write(&source, AIM.as_bytes())?;
    let place = format!("-DCOUNTERS=\"{}\"", counters.display());
    let words = ["-O1", &place, "-c", "-o", &object.display().to_string(), &source.display().to_string()];
    said(root, "cc", &words).map(|_| object)
}

/// A cargo whose programs count: those of this workspace, not what they are made of.
fn counting(root: &Path, folder: &Path, aim: &Path, words: &[&str]) -> Child {
    Child::cargo(root, words)
        .env("CARGO_TARGET_DIR", &folder.display().to_string())
        .env("RUSTC_WORKSPACE_WRAPPER", compiler::name())
        .env(compiler::COUNTING, &aim.display().to_string())
}

/// Builds all programs and tests, starts each once, and says where they are.
///
/// The first process of a program makes the file with its counters. If that one was killed meanwhile, all others would find
/// half a file; so it is one that nobody kills.
fn built(cargo: Child) -> Result<Vec<String>, String> {
    let ended = cargo.run();
    if !ended.ok {
        return Err(format!("the tests do not build\n{}", ended.err));
    }
    let built = executables(&ended.out);
    if built.is_empty() {
        return Err("cargo names no program that it has built".into());
    }
    for program in &built {
        Child::new(Path::new("."), program, &["--help"]).quiet().run();
    }
    Ok(built)
}

/// Runs the tests. What is durable does not matter here, so all files are in memory if there is room for them, but those of
/// tests that are about a disk. With the same seed each time, as what only chance reaches would come and go.
fn tested(root: &Path, cargo: &dyn Fn(&[&str]) -> Child) -> Outcome {
    let memory = Memory::new(root);
    let run = |filter: &str, memory: Option<&Memory>| {
        let words =
            ["nextest", "run", "--workspace", "--all-features", "--no-fail-fast", "--status-level=slow"];
        let tests = cargo(&[&words[..], &["--filterset", filter]].concat()).env("HOLDFAST_FIRST_SEED", "1");
        match memory {
            Some(memory) => tests.env("TMPDIR", &memory.path().to_string_lossy()).run(),
            None => tests.run(),
        }
    };
    let others = run("not package(holdfast-sys)", memory.as_ref());
    tally::sum(&[others, run("package(holdfast-sys)", None)])
}

/// The programs among what cargo says, line by line, of what it has built.
fn executables(said: &str) -> Vec<String> {
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named = messages.filter_map(|message| Some(message.get("executable")?.as_str()?.to_owned()));
    named.collect()
}

fn said(root: &Path, program: &str, words: &[&str]) -> Result<String, String> {
    let ended = Child::new(root, program, words).quiet().run();
    if ended.ok { Ok(ended.out) } else { Err(format!("{program}: {}\n{}", ended.how, ended.err.trim())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_names_the_programs() {
        let said = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                    {\"reason\":\"compiler-artifact\",\"executable\":\"/t/debug/jit\"}\n\
                    {\"reason\":\"build-finished\",\"success\":true}\nsomething else\n";
        assert_eq!(executables(said), ["/t/debug/jit"]);
    }

    #[test]
    fn a_tool_that_is_missing_is_named_with_what_brings_it() {
        let why = tool(Path::new("."), "no-such-tool").unwrap_err();
        assert!(why.contains("no-such-tool") && why.contains("apt-get install llvm-19"), "{why}");
    }

    #[test]
    fn whoever_is_killed_has_counted_and_the_environment_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (root, counters) = (folder.path(), folder.path().join("counters"));
        let object = aim(root, root, &counters).unwrap();
        let source = "fn main() { println!(\"{}\", std::env::vars_os().count()); std::process::abort() }";
        std::fs::write(root.join("main.rs"), source).unwrap();
        let words =
            [&["main.rs".to_owned()], &compiler::counting(&object.display().to_string())[..]].concat();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        said(root, "rustc", &words).unwrap();
        let ended = Child::new(root, "env", &["-i", "./main"]).quiet().run();
        assert_eq!((ended.ok, ended.out.as_str(), ended.err.as_str()), (false, "0\n", ""), "{}", ended.how);
        assert_eq!(std::fs::read_dir(counters).unwrap().count(), 1);
    }
}
