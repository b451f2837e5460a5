//! Manifests of the workspace's crates: lints and versions are written once, in the workspace.

use toml::{Table, Value};

use super::{Finding, Tree};

/// The tables of a manifest that ask for other crates.
const NEEDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Manifests that go their own way.
pub(super) fn own_ways(tree: &Tree) -> Vec<Finding> {
    let members = tree.with_ending(&["/Cargo.toml"]).filter(|(path, _)| !path.starts_with("fuzz/"));
    members.flat_map(|(path, text)| own_way(path, text)).collect()
}

fn own_way(path: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(why) => return vec![Finding::new(path, 0, format!("cannot be read: {why}"))],
    };
    let mut findings = Vec::new();
    if !manifest.get("lints").is_some_and(is_the_workspaces) {
        findings.push(Finding::new(path, 0, "lacks `[lints] workspace = true`"));
    }
    for (name, need) in NEEDS.iter().filter_map(|key| manifest.get(*key)?.as_table()).flatten() {
        if !is_the_workspaces(need) && !is_itself(need) {
            findings.push(Finding::new(
                path,
                0,
                format!("{name}: its version belongs into the workspace's table"),
            ));
        }
    }
    findings
}

fn is_the_workspaces(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// A crate's own tests may ask for the crate itself, with other features.
fn is_itself(need: &Value) -> bool {
    need.get("path").and_then(Value::as_str) == Some(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifest: &str) -> usize {
        own_ways(&Tree::of(&[("crates/a/Cargo.toml", manifest)])).len()
    }

    #[test]
    fn own_lints_and_own_versions_are_found() {
        let lints = "[lints]\nworkspace = true\n";
        assert_eq!(found(lints), 0);
        assert_eq!(found(&format!("[dependencies]\nulid.workspace = true\n{lints}")), 0);
        assert_eq!(found("[package]\nname = 'a'\n"), 1);
        assert_eq!(found(&format!("[dev-dependencies]\nulid = '3'\n{lints}")), 1);
        assert_eq!(found(&format!("[dev-dependencies]\na = {{ path = '.' }}\n{lints}")), 0);
        assert_eq!(found("["), 1);
    }
}
