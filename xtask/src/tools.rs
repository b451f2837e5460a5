//! The programs that the test command needs. What is missing is installed where that is possible without
//! asking anybody; otherwise it is named together with the line to type.

use std::path::Path;

use crate::child::{Child, is_there};
use crate::report::Outcome;

/// A program from a Debian package.
struct Tool {
    program: &'static str,
    package: &'static str,
    purpose: &'static str,
}

const DEBIAN: [Tool; 11] = [
    Tool { program: "c++", package: "g++", purpose: "building the fuzzer" },
    Tool { program: "shellcheck", package: "shellcheck", purpose: "reading the shell scripts" },
    Tool { program: "strace", package: "strace", purpose: "failing disks against real programs" },
    Tool { program: "faketime", package: "faketime", purpose: "jumping clocks against real programs" },
    Tool { program: "etcd", package: "etcd-server", purpose: "claims that etcd keeps" },
    Tool { program: "promtool", package: "prometheus", purpose: "reading metrics and alert rules" },
    Tool { program: "tmux", package: "tmux", purpose: "the board in a real terminal" },
    Tool { program: "chromium", package: "chromium", purpose: "tabs that are killed, stopped and cached" },
    Tool { program: FIREFOX, package: "firefox-esr", purpose: "the same in Firefox" },
    Tool { program: "WebKitWebDriver", package: "webkit2gtk-driver", purpose: "the same in WebKit" },
    Tool { program: "Xvfb", package: "xvfb", purpose: "a screen for WebKit" },
];

const FIREFOX: &str = "firefox-esr";

/// The oldest one that the tests were seen to work with; with 140 they do not.
const OLDEST_FIREFOX: u32 = 153;

/// What the programs that are packed are built with; nothing else needs it.
const MUSL: Tool =
    Tool { program: "musl-gcc", package: "musl-tools", purpose: "programs with the C library in them" };

/// Components of the Rust toolchain, with the words that show that they are there.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "fmt"), ("clippy", "clippy")];

/// Looks for everything; installs what it can.
pub(crate) fn check(root: &Path) -> Outcome {
    let mut failed: Vec<String> = COMPONENTS.iter().filter_map(|tool| component(root, tool)).collect();
    if !is_there("git") {
        failed.push("git is missing: apt-get install git".into());
    }
    let missing = install(root, missing());
    for line in &failed {
        println!("{line}");
    }
    if failed.is_empty() {
        Outcome::Ran { passed: COMPONENTS.len() + 1, failed: 0, note: missing }
    } else {
        Outcome::Ran { passed: 0, failed: failed.len(), note: failed.join("; ") }
    }
}

/// What to say of a component that is not there and cannot be added.
fn component(root: &Path, (name, word): &(&str, &str)) -> Option<String> {
    let there = || Child::cargo(root, &[word, "--version"]).quiet().run().ok;
    if there() {
        return None;
    }
    Child::new(root, "rustup", &["component", "add", name]).run();
    (!there()).then(|| format!("{name} is missing: rustup component add {name}"))
}

/// What a program for another kind of machine is built with: Rust's own library, and a compiler for the C in it.
///
/// # Errors
/// What is missing and the line that brings it.
pub(crate) fn cross(root: &Path, triple: &str) -> Result<(), String> {
    let added = Child::new(root, "rustup", &["target", "add", triple]).quiet().run();
    if !added.ok {
        return Err(format!(
            "Rust has no library for {triple} here: rustup target add {triple}\n{}",
            added.err.trim()
        ));
    }
    if triple.ends_with("-musl") && !is_there(MUSL.program) {
        if is_root() && is_there("apt-get") {
            apt(root, &[MUSL.package]);
        }
        if !is_there(MUSL.program) {
            return Err(format!(
                "{} is missing for {}: apt-get install {}",
                MUSL.program, MUSL.purpose, MUSL.package
            ));
        }
    }
    Ok(())
}

/// Programs without which some tests of the workspace have nothing to say, and pass.
const TRIED_WITH: [&str; 5] = ["strace", "faketime", "etcd", "promtool", "tmux"];

/// Whether all tests of the workspace can try what they are about.
///
/// # Errors
/// The line that brings what is missing.
pub(crate) fn all_there() -> Result<(), String> {
    let missing = DEBIAN.iter().filter(|tool| TRIED_WITH.contains(&tool.program) && !is_there(tool.program));
    let missing: Vec<&str> = missing.map(|tool| tool.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("what is not there would pass untried: apt-get install {}", missing.join(" ")))
}

fn missing() -> Vec<&'static Tool> {
    DEBIAN.iter().filter(|tool| !is_there(tool.program) || is_old_firefox(tool.program)).collect()
}

/// Whether this is a Firefox that the tests of the dashboard cannot ask anything: what they ask is taken there for a script
/// that the page forbids.
fn is_old_firefox(program: &str) -> bool {
    program == FIREFOX
        && Child::new(Path::new("."), program, &["--version"])
            .quiet()
            .run()
            .out
            .split([' ', '.'])
            .find_map(|word| word.parse::<u32>().ok())
            .is_some_and(|major| major < OLDEST_FIREFOX)
}

/// Installs packages if this user may. Says what is still missing, and for what.
fn install(root: &Path, wanted: Vec<&Tool>) -> String {
    if wanted.is_empty() {
        return String::new();
    }
    let packages: Vec<&str> = wanted.iter().map(|tool| tool.package).collect();
    if is_root() && is_there("apt-get") {
        apt(root, &packages);
    }
    let still = missing();
    let named: Vec<String> =
        still.iter().map(|tool| format!("{} for {}", tool.program, tool.purpose)).collect();
    if named.is_empty() {
        return format!("installed {}", packages.join(", "));
    }
    let packages: Vec<&str> = still.iter().map(|tool| tool.package).collect();
    format!("missing: {}; to have them: apt-get install {}", named.join(", "), packages.join(" "))
}

/// The lists of a fresh machine are empty or old, and what is on an old one may still be had: so they are fetched first.
fn apt(root: &Path, packages: &[&str]) {
    let patience = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"];
    let apt = |words: &[&str]| {
        let words: Vec<&str> = patience.iter().chain(words).copied().collect();
        Child::new(root, "apt-get", &words).env("DEBIAN_FRONTEND", "noninteractive").quiet().run().ok
    };
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    apt(&["update"]);
    apt(&install);
}

fn is_root() -> bool {
    Child::new(Path::new("."), "id", &["-u"]).quiet().run().out.trim() == "0"
}
