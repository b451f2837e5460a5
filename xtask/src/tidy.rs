//! The rules of the house that no compiler checks. Each is a function of the tree to its findings, so each
//! has a test that shows it finding something.

pub mod markdown;
pub mod modules;

mod changelog;
mod contents;
mod formats;
mod layers;
mod licences;
mod manifests;
mod metadata;
mod places;
mod refusals;
mod shell;
mod spdx;
mod specification;
mod text;
mod tree;
mod versions;
mod words;

use std::fmt;
use std::path::Path;

use crate::report::Outcome;
pub use tree::Tree;

/// Something that is not as the house wants it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// In which file.
    file: String,
    /// In which line; 0 for the file as a whole.
    line: usize,
    /// What is wrong, and what to do.
    what: String,
}

impl Finding {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.into(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

type Rule = (&'static str, fn(&Tree) -> Vec<Finding>);

const RULES: [Rule; 23] = [
    ("no file is too long", text::too_long),
    ("every source file says why it exists", text::without_header),
    ("nothing is left to do", words::left_to_do),
    ("no test is switched off", words::switched_off),
    ("no path of somebody's machine", words::machine_paths),
    ("no host of a registry", words::registry_hosts),
    ("every rule of the specification and every guarantee has its test", specification::untested_rules),
    ("every event is in the specification", places::unlisted_events),
    ("every medium passes the suite", places::untried_media),
    ("links lead somewhere", markdown::dead_links),
    ("every page is in the table of contents", contents::unlisted_pages),
    ("commands in the docs are tested or say why not", markdown::unmarked_commands),
    ("the changelog has a place for what is next", changelog::shape),
    ("shell scripts stop at the first failure", shell::careless_scripts),
    ("versions and lints are the workspace's", manifests::own_ways),
    ("one version everywhere", versions::others),
    ("every format states its number", formats::unstated),
    ("dependencies point down", layers::upward),
    ("only doors talk to terminals", layers::chatty),
    ("modules form no cycle", modules::cycles),
    ("refusals are told apart by name", refusals::catch_alls),
    ("licences are allowed", licences::licences),
    ("crates come from crates.io, and none is banned", licences::sources_and_bans),
];

/// Checks every rule and prints what it finds.
#[must_use]
pub fn run(root: &Path) -> bool {
    matches!(step(root), Outcome::Ran { failed: 0, .. })
}

/// The step of the test command.
pub(crate) fn step(root: &Path) -> Outcome {
    let tree = match Tree::load(root) {
        Ok(tree) => tree,
        Err(why) => {
            println!("{why}");
            return Outcome::one(false, why);
        }
    };
    let mut broken = Vec::new();
    for (name, rule) in RULES {
        let mut findings = rule(&tree);
        findings.sort();
        println!("{} {name}", if findings.is_empty() { "ok     " } else { "BROKEN " });
        for finding in &findings {
            println!("        {finding}");
        }
        if !findings.is_empty() {
            broken.push(name);
        }
    }
    Outcome::Ran { passed: RULES.len() - broken.len(), failed: broken.len(), note: broken.join("; ") }
}
