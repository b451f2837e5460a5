//! The one table that packages are made from: which targets there are, what each package system calls them, and the
//! version, which is the workspace's.

use std::path::Path;

use toml::Table;

/// A kind of machine.
#[derive(Debug)]
pub(crate) struct Target {
    /// What Rust calls it.
    pub(crate) triple: &'static str,
    /// Whether it is built here. The others are named so that nobody has to guess: they need a machine or a toolchain
    /// of their own.
    pub(crate) here: bool,
    /// What Debian calls its processor.
    pub(crate) debian: Option<&'static str>,
    /// What node calls the system and its processor.
    pub(crate) node: (&'static str, &'static str),
    /// What Homebrew calls them.
    pub(crate) homebrew: (&'static str, &'static str),
}

pub(crate) const TARGETS: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        here: true,
        debian: Some("amd64"),
        node: ("linux", "x64"),
        homebrew: ("linux", "intel"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        here: false,
        debian: Some("arm64"),
        node: ("linux", "arm64"),
        homebrew: ("linux", "arm"),
    },
    Target {
        triple: "x86_64-apple-darwin",
        here: false,
        debian: None,
        node: ("darwin", "x64"),
        homebrew: ("macos", "intel"),
    },
    Target {
        triple: "aarch64-apple-darwin",
        here: false,
        debian: None,
        node: ("darwin", "arm64"),
        homebrew: ("macos", "arm"),
    },
];

/// What everything is called together.
pub(crate) const NAME: &str = "holdfast";
/// One line about it.
pub(crate) const SUMMARY: &str = "issues and claims for several coding agents on one git repository";
pub(crate) const LICENCE: &str = "MIT OR Apache-2.0";
/// The scope and the name of the npm package.
pub(crate) const NPM: &str = "@holdfast/jit";
/// The versions of node that the launcher is held to.
pub(crate) const NODE: &str = ">=20";
/// What an image is made from.
pub(crate) const IMAGE: &str = "debian:bookworm-slim";
/// Where binstall looks for a tarball, and for a program in it. The address is the repository's, as its manifest says.
pub(crate) const BINSTALL_URL: &str =
    "{ repo }/releases/download/v{ version }/holdfast-{ version }-{ target }.tar.gz";
pub(crate) const BINSTALL_PROGRAM: &str = "holdfast-{ version }-{ target }/bin/{ bin }{ binary-ext }";

pub(crate) fn built_here() -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().filter(|target| target.here)
}

/// The name of a tarball without its ending, and of the directory in it.
pub(crate) fn archive(version: &str, triple: &str) -> String {
    format!("{NAME}-{version}-{triple}")
}

/// The version of the workspace.
///
/// # Errors
/// When its manifest cannot be read or names none.
pub(crate) fn version(root: &Path) -> Result<String, String> {
    let path = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    version_of(&text).ok_or_else(|| format!("{} names no version of the workspace", path.display()))
}

/// The version that the manifest of the workspace names.
pub(crate) fn version_of(manifest: &str) -> Option<String> {
    let manifest: Table = manifest.parse().ok()?;
    Some(manifest.get("workspace")?.get("package")?.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_binstall_looks_for_is_what_is_made() {
        let filled = |text: &str| {
            let values = [
                ("{ version }", "1.2.3"),
                ("{ target }", "a-b-c"),
                ("{ bin }", "jit"),
                ("{ binary-ext }", ""),
            ];
            values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let name = archive("1.2.3", "a-b-c");
        assert_eq!(filled(BINSTALL_PROGRAM), format!("{name}/bin/jit"));
        assert!(filled(BINSTALL_URL).ends_with(&format!("/v1.2.3/{name}.tar.gz")));
    }

    #[test]
    fn the_version_is_the_workspaces() {
        assert_eq!(version_of("[workspace.package]\nversion = '1.2.3'\n"), Some("1.2.3".into()));
        assert_eq!(version_of("[package]\nversion = '1.2.3'\n"), None);
    }
}
