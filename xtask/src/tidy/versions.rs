//! One version everywhere: whatever names one names that of the workspace, and what looks for files of a release looks for
//! what `cargo xtask package` makes.

use serde_json::Value;
use toml::Table;

use super::{Finding, Tree};
use crate::package::table::{BINSTALL_PROGRAM, BINSTALL_URL, version_of};
use crate::programs::PROGRAMS;

const MANIFEST: &str = "Cargo.toml";
/// What installs a version that it names itself.
const ACTION: &str = "contrib/github-action/action.yml";

/// Whatever names another version than the workspace.
pub(super) fn others(tree: &Tree) -> Vec<Finding> {
    let Some(version) = tree.text(MANIFEST).and_then(version_of) else {
        return vec![Finding::new(MANIFEST, 0, "names no version of the workspace")];
    };
    let mut findings = Vec::new();
    let mut differs = |path: &str, named: Option<&str>| match named {
        Some(named) if named == version => {}
        Some(named) => {
            findings.push(Finding::new(
                path,
                0,
                format!("is of version {named}; the workspace is of {version}"),
            ));
        }
        None => findings.push(Finding::new(path, 0, "names no version")),
    };
    for (path, text) in tree.with_ending(&["/package.json"]) {
        let manifest: Option<Value> = serde_json::from_str(text).ok();
        differs(path, manifest.as_ref().and_then(|manifest| manifest.get("version")?.as_str()));
    }
    for (path, text) in tree.with_ending(&["/package-lock.json"]) {
        let lock: Option<Value> = serde_json::from_str(text).ok();
        differs(path, lock.as_ref().and_then(|lock| lock.get("version")?.as_str()));
        differs(path, lock.as_ref().and_then(|lock| lock.pointer("/packages/")?.get("version")?.as_str()));
    }
    for (path, text) in tree.with_ending(&["/Cargo.toml"]).filter(|(path, _)| path.starts_with("crates/")) {
        let manifest: Option<Table> = text.parse().ok();
        let package = manifest.as_ref().and_then(|manifest| manifest.get("package"));
        let inherits = package.and_then(|package| package.get("version")?.get("workspace")?.as_bool());
        let own = package.and_then(|package| package.get("version")?.as_str());
        differs(path, if inherits == Some(true) { Some(&version) } else { own });
    }
    if let Some(text) = tree.text(ACTION) {
        differs(ACTION, default_of(text, "version"));
    }
    findings.extend(binstall(tree));
    findings
}

/// The default of an input of an action.
fn default_of<'a>(text: &'a str, input: &str) -> Option<&'a str> {
    let begin = format!("  {input}:");
    let mut lines = text.lines().skip_while(|line| *line != begin).skip(1);
    lines.find_map(|line| line.trim().strip_prefix("default: "))
}

/// Programs for which binstall would look elsewhere.
fn binstall(tree: &Tree) -> Vec<Finding> {
    let wanted = [("pkg-url", BINSTALL_URL), ("bin-dir", BINSTALL_PROGRAM), ("pkg-fmt", "tgz")];
    let manifests = tree.with_ending(&["/Cargo.toml"]).filter_map(|(path, text)| {
        let manifest: Table = text.parse().ok()?;
        let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
        PROGRAMS.iter().any(|(package, _)| *package == name).then_some((path, manifest))
    });
    let mut findings = Vec::new();
    for (path, manifest) in manifests {
        let own = manifest.get("package").and_then(|package| package.get("metadata")?.get("binstall"));
        for (key, value) in wanted {
            if own.and_then(|own| own.get(key)?.as_str()) != Some(value) {
                let what = format!("lacks `{key} = \"{value}\"` in `[package.metadata.binstall]`");
                findings.push(Finding::new(path, 0, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: (&str, &str) = (MANIFEST, "[workspace.package]\nversion = '1.2.3'\n");

    fn found(path: &str, text: &str) -> usize {
        others(&Tree::of(&[WORKSPACE, (path, text)])).len()
    }

    #[test]
    fn another_version_is_found_wherever_one_is_named() {
        assert_eq!(others(&Tree::of(&[WORKSPACE])), []);
        assert_eq!(others(&Tree::default()).len(), 1);
        assert_eq!(found("packages/a/package.json", r#"{"version":"1.2.3"}"#), 0);
        assert_eq!(found("packages/a/package.json", r#"{"version":"1.2.4"}"#), 1);
        assert_eq!(found("packages/a/package.json", "{}"), 1);
        let lock = |own: &str, root: &str| {
            let lock = serde_json::json!({ "version": own, "packages": { "": { "version": root } } });
            found("packages/a/package-lock.json", &lock.to_string())
        };
        assert_eq!((lock("1.2.3", "1.2.3"), lock("1.2.3", "1.2.2"), lock("1.2.2", "1.2.2")), (0, 1, 2));
        assert_eq!(found("crates/a/Cargo.toml", "[package]\nname = 'a'\nversion.workspace = true\n"), 0);
        assert_eq!(found("crates/a/Cargo.toml", "[package]\nname = 'a'\nversion = '1.0.0'\n"), 1);
    }

    #[test]
    fn the_action_installs_the_version_of_the_workspace() {
        let action =
            |version: &str| format!("inputs:\n  version:\n    description: x\n    default: {version}\n");
        assert_eq!(found(ACTION, &action("1.2.3")), 0);
        assert_eq!(found(ACTION, &action("1.2.2")), 1);
        assert_eq!(found(ACTION, "inputs:\n"), 1);
    }

    #[test]
    fn a_program_that_binstall_would_not_find_is_found() {
        let manifest = "[package]\nname = 'holdfast-jit'\nversion.workspace = true\n";
        assert_eq!(found("crates/jit/Cargo.toml", manifest), 3);
        let table = format!(
            "{manifest}[package.metadata.binstall]\npkg-url = \"{BINSTALL_URL}\"\nbin-dir = \"{BINSTALL_PROGRAM}\"\npkg-fmt = \"tgz\"\n"
        );
        assert_eq!(found("crates/jit/Cargo.toml", &table), 0);
    }
}
