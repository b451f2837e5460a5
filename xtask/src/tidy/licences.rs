//! The essential rules of `deny.toml`, from what cargo knows by itself: no tool has to be installed for
//! them. The file is the one place where they are written.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::metadata::Package;
use super::{Finding, Tree, spdx};

const RULES: &str = "deny.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Crates whose licence is not on the list.
pub(super) fn licences(tree: &Tree) -> Vec<Finding> {
    let rules = match rules(tree) {
        Ok(rules) => rules,
        Err(finding) => return vec![finding],
    };
    let accept = |licence: &str| list(&rules, "licenses", "allow").any(|name| name.as_str() == Some(licence));
    let bad = tree.packages().iter().filter(|package| !spdx::is_allowed(&package.licence, &accept));
    let what = |package: &Package| {
        let Package { name, version, licence, .. } = package;
        format!("{name} {version} has the licence `{licence}`, which {RULES} does not allow")
    };
    bad.map(|package| Finding::new("Cargo.lock", 0, what(package))).collect()
}

/// Crates from elsewhere, banned ones, and second versions of those that there must be only one of.
pub(super) fn sources_and_bans(tree: &Tree) -> Vec<Finding> {
    let rules = match rules(tree) {
        Ok(rules) => rules,
        Err(finding) => return vec![finding],
    };
    let banned = bans(&rules, false);
    let finding = |package: &Package, what: &str| {
        Finding::new("Cargo.lock", 0, format!("{} {} {what}", package.name, package.version))
    };
    let mut findings = Vec::new();
    for package in tree.packages() {
        if !package.is_ours() && package.source != CRATES_IO {
            findings.push(finding(package, &format!("comes from {}", package.source)));
        }
        if banned.contains(&package.name.as_str()) {
            findings.push(finding(package, "is banned"));
        }
    }
    findings.extend(twice(tree, &bans(&rules, true)));
    findings
}

fn twice(tree: &Tree, single: &[&str]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in tree.packages().iter().filter(|package| single.contains(&package.name.as_str())) {
        let known = versions.entry(&package.name).or_default();
        if !known.contains(&package.version.as_str()) {
            known.push(&package.version);
        }
    }
    versions.retain(|_, versions| versions.len() > 1);
    let what = |name, versions: &[&str]| format!("{name} is there in the versions {}", versions.join(", "));
    versions.iter().map(|(name, versions)| Finding::new("Cargo.lock", 0, what(name, versions))).collect()
}

fn rules(tree: &Tree) -> Result<Table, Finding> {
    let text = tree.text(RULES).ok_or_else(|| Finding::new(RULES, 0, "is missing"))?;
    text.parse().map_err(|why| Finding::new(RULES, 0, format!("cannot be read: {why}")))
}

/// The entries of a list of the rules.
fn list<'a>(rules: &'a Table, section: &str, key: &str) -> impl Iterator<Item = &'a Value> {
    let list = rules.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// The names of the crates that must not be there (`single` not set), or not in two versions (set).
fn bans(rules: &Table, single: bool) -> Vec<&str> {
    let is_single =
        |entry: &&Value| entry.get("deny-multiple-versions").and_then(Value::as_bool) == Some(true);
    let entries = list(rules, "bans", "deny").filter(|entry| is_single(entry) == single);
    entries.filter_map(|entry| entry.get("crate").unwrap_or(entry).as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = "[licenses]\nallow = ['MIT']\n[bans]\ndeny = [{ crate = 'openssl', reason = 'x' }, \
                        { crate = 'rustix', deny-multiple-versions = true }]\n";

    fn package(name: &str, version: &str, licence: &str, source: &str) -> Package {
        let [name, version, licence, source] = [name, version, licence, source].map(Into::into);
        Package { name, version, licence, source, needs: Vec::new() }
    }

    fn found(rule: fn(&Tree) -> Vec<Finding>, packages: Vec<Package>) -> usize {
        rule(&Tree::of(&[(RULES, DENY)]).with_packages(packages)).len()
    }

    #[test]
    fn a_licence_that_is_not_on_the_list_is_found() {
        assert_eq!(found(licences, vec![package("a", "1.0.0", "MIT OR GPL-3.0", CRATES_IO)]), 0);
        assert_eq!(found(licences, vec![package("a", "1.0.0", "GPL-3.0", CRATES_IO)]), 1);
        assert_eq!(found(licences, vec![package("a", "1.0.0", "", CRATES_IO)]), 1);
    }

    #[test]
    fn crates_from_elsewhere_banned_and_doubled_ones_are_found() {
        assert_eq!(found(sources_and_bans, vec![package("a", "1.0.0", "MIT", CRATES_IO)]), 0);
        assert_eq!(found(sources_and_bans, vec![package("a", "1.0.0", "MIT", "git+https://a.example/a")]), 1);
        assert_eq!(found(sources_and_bans, vec![package("openssl", "1.0.0", "MIT", CRATES_IO)]), 1);
        let two = ["0.38.1", "1.1.0"].map(|version| package("rustix", version, "MIT", CRATES_IO));
        assert_eq!(found(sources_and_bans, two.into()), 1);
    }

    #[test]
    fn without_rules_nothing_passes() {
        assert_eq!(licences(&Tree::default()).len(), 1);
        assert_eq!(sources_and_bans(&Tree::of(&[(RULES, "[")])).len(), 1);
    }
}
