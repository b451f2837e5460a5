//! Which way dependencies point: down. Doors stand on media, media on the kernel and the system layer, and
//! the kernel on nothing. A crate that has no place here is a finding, so that every one gets a place.

use super::metadata::Package;
use super::{Finding, Tree};

const KERNEL: &str = "holdfast-kernel";
const SYS: &str = "holdfast-sys";
const STORE: &str = "holdfast-store";
const GIT: &str = "holdfast-git";
const REMOTE: &str = "holdfast-remote";
const TRACKER: &str = "holdfast-tracker";
const SIM: &str = "holdfast-sim";
const KC: &str = "holdfast-kc";
const DOOR: &str = "holdfast-door";
const TRIAL: &str = "holdfast-trial";
const HOSTILE: &str = "holdfast-hostile";

/// Each crate and what it may stand on. Doors are not in each other's lists.
const LAYERS: [(&str, &[&str]); 19] = [
    (KERNEL, &[]),
    (SYS, &[KERNEL]),
    (STORE, &[KERNEL, SYS]),
    (GIT, &[KERNEL, SYS]),
    (REMOTE, &[KERNEL, SYS, STORE, GIT]),
    (DOOR, &[SYS]),
    (TRACKER, &[KERNEL, SYS, STORE, GIT, REMOTE]),
    ("holdfast-jit", &[KERNEL, SYS, STORE, GIT, REMOTE, TRACKER, DOOR]),
    ("holdfast-board", &[KERNEL, SYS, TRACKER, DOOR]),
    ("holdfast-server", &[KERNEL, SYS, STORE, TRACKER, DOOR]),
    ("holdfast-jvs", &[KERNEL, SYS, STORE, GIT, DOOR]),
    (KC, &[KERNEL, SYS, STORE, GIT, DOOR]),
    ("holdfast-ic", &[KERNEL, SYS, STORE, GIT, DOOR]),
    (SIM, &[KERNEL, SYS, STORE, REMOTE]),
    (TRIAL, &[KERNEL, SYS, STORE]),
    ("holdfast-benches", &[KERNEL, SYS, STORE, GIT, REMOTE, SIM, KC, TRIAL]),
    (HOSTILE, &[KERNEL, SYS, STORE, TRACKER]),
    ("holdfast-fuzz", &[KERNEL, SYS, STORE, TRACKER, HOSTILE]),
    ("xtask", &[]),
];

/// What the kernel may be built from beside itself: it has to stay readable to the last line.
const KERNEL_NEEDS: [&str; 2] = ["thiserror", "ulid"];

/// Crates that write to a terminal or read from one.
const CHATTY: [&str; 19] = [
    "anstream",
    "anstyle",
    "clap",
    "clap_complete",
    "clap_mangen",
    "colored",
    "comfy-table",
    "console",
    "crossterm",
    "dialoguer",
    "env_logger",
    DOOR,
    "indicatif",
    "miette",
    "owo-colors",
    "ratatui",
    "ratatui-core",
    "ratatui-crossterm",
    "tracing-subscriber",
];

/// The layers that never talk to a terminal.
const SILENT: [&str; 6] = [KERNEL, SYS, STORE, GIT, REMOTE, TRACKER];

/// Dependencies that point up or sideways.
pub(super) fn upward(tree: &Tree) -> Vec<Finding> {
    let ours: Vec<&Package> = tree.packages().iter().filter(|package| package.is_ours()).collect();
    let mut findings = Vec::new();
    for package in &ours {
        let Some((_, below)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
            findings.push(finding(package, "has no place in the layers: give it one in tidy/layers.rs"));
            continue;
        };
        for need in &package.needs {
            // A crate's own tests may ask for the crate itself, with other features, and for what is made for tests.
            let testing = need.for_tests && [&package.name, SIM, TRIAL].contains(&need.name.as_str());
            let is_ours = ours.iter().any(|other| other.name == need.name);
            if is_ours && !testing && !below.contains(&need.name.as_str()) {
                findings.push(finding(package, &format!("must not stand on {}", need.name)));
            }
        }
    }
    findings.extend(kernel_needs(&ours));
    findings
}

fn kernel_needs(ours: &[&Package]) -> Vec<Finding> {
    let kernel = ours.iter().filter(|package| package.name == KERNEL);
    let foreign = |name: &str| !KERNEL_NEEDS.contains(&name) && !name.starts_with("holdfast-");
    let pairs = kernel.flat_map(|package| package.needs.iter().map(move |need| (package, need)));
    pairs
        .filter(|(_, need)| !need.for_tests && foreign(&need.name))
        .map(|(package, need)| finding(package, &format!("must not be built from {}", need.name)))
        .collect()
}

/// Layers below the doors that could print.
pub(super) fn chatty(tree: &Tree) -> Vec<Finding> {
    let silent = tree.packages().iter().filter(|package| SILENT.contains(&package.name.as_str()));
    let pairs = silent.flat_map(|package| package.needs.iter().map(move |need| (package, need)));
    pairs
        .filter(|(_, need)| !need.for_tests && CHATTY.contains(&need.name.as_str()))
        .map(|(package, need)| {
            finding(package, &format!("must not talk to a terminal through {}", need.name))
        })
        .collect()
}

fn finding(package: &Package, what: &str) -> Finding {
    Finding::new("Cargo.toml", 0, format!("{} {what}", package.name))
}

#[cfg(test)]
mod tests {
    use super::super::metadata::Need;
    use super::*;

    fn package(name: &str, needs: &[&str]) -> Package {
        let needs = needs.iter().map(|name| Need { name: (*name).into(), for_tests: false }).collect();
        Package { name: name.into(), needs, ..Package::default() }
    }

    fn found(rule: fn(&Tree) -> Vec<Finding>, packages: Vec<Package>) -> Vec<String> {
        rule(&Tree::default().with_packages(packages)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn down_is_allowed() {
        let packages =
            vec![package(KERNEL, &["ulid"]), package(SYS, &[KERNEL, "rustix"]), package(STORE, &[SYS])];
        assert!(found(upward, packages).is_empty());
    }

    #[test]
    fn up_and_sideways_are_found() {
        let packages = vec![package(KERNEL, &[STORE]), package(STORE, &[])];
        assert_eq!(found(upward, packages), ["holdfast-kernel must not stand on holdfast-store"]);
        let packages = vec![package("holdfast-jit", &["holdfast-jvs"]), package("holdfast-jvs", &[])];
        assert_eq!(found(upward, packages), ["holdfast-jit must not stand on holdfast-jvs"]);
    }

    #[test]
    fn a_crate_without_a_place_and_a_fat_kernel_are_found() {
        assert_eq!(found(upward, vec![package("holdfast-more", &[])]).len(), 1);
        assert_eq!(
            found(upward, vec![package(KERNEL, &["serde"])]),
            ["holdfast-kernel must not be built from serde"]
        );
    }

    #[test]
    fn a_layer_that_could_print_is_found() {
        assert_eq!(found(chatty, vec![package(STORE, &["clap"])]).len(), 1);
        assert!(found(chatty, vec![package("holdfast-jit", &["clap"])]).is_empty());
    }
}
