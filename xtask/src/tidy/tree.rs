//! The repository as the rules see it: the text of every file that is or could be committed, and what
//! cargo says about the packages. Rules get it in memory, so that their tests need no files.

use std::collections::BTreeMap;
use std::path::Path;

use super::metadata::Package;
use crate::child::Child;

/// The files and packages of the repository.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
    others: Vec<String>,
    packages: Vec<Package>,
}

impl Tree {
    /// Reads everything that git would commit, and asks cargo about both workspaces.
    ///
    /// # Errors
    /// When git or cargo fails, or a lock file is not up to date.
    pub fn load(root: &Path) -> Result<Self, String> {
        let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Child::new(root, "git", &words).quiet().run();
        if !listed.ok {
            return Err(format!("git cannot list the files: {}", listed.err.trim()));
        }
        let mut tree = Self::default();
        for path in listed.out.split('\0').filter(|path| root.join(path).is_file()) {
            match std::fs::read_to_string(root.join(path)) {
                Ok(text) => drop(tree.files.insert(path.into(), text)),
                Err(_) => tree.others.push(path.into()),
            }
        }
        for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
            tree.packages.extend(Package::load(root, manifest)?);
        }
        Ok(tree)
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Every file of text.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every file of text whose name ends with one of these.
    pub(crate) fn with_ending(&self, endings: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
    }

    /// Every script for a shell, whatever its name.
    pub(crate) fn shell_scripts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, text)| path.ends_with(".sh") || is_for_a_shell(text))
    }

    /// Whether the path leads to a file or to a folder with files in it.
    pub(crate) fn leads_somewhere(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mut paths = self.files.keys().chain(&self.others);
        path.is_empty() || paths.any(|there| there == path || there.starts_with(&folder))
    }

    /// What cargo says about the packages: those of this repository and those they are built from.
    pub(crate) fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// A tree of these files.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        Self { files, ..Self::default() }
    }

    /// The same tree with these packages.
    #[cfg(test)]
    pub(super) fn with_packages(mut self, packages: Vec<Package>) -> Self {
        self.packages = packages;
        self
    }
}

fn is_for_a_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!")
        && ["sh", "bash", "dash"]
            .iter()
            .any(|shell| first.ends_with(&format!("/{shell}")) || first.ends_with(&format!(" {shell}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_known_by_their_name_or_their_first_line() {
        let tree =
            Tree::of(&[("a.sh", ""), (".ci/run", "#!/usr/bin/env bash\n"), ("x.py", "#!/bin/python\n")]);
        let scripts: Vec<&str> = tree.shell_scripts().map(|(path, _)| path).collect();
        assert_eq!(scripts, [".ci/run", "a.sh"]);
    }

    #[test]
    fn folders_lead_somewhere_if_something_is_in_them() {
        let tree = Tree::of(&[("docs/a.md", "")]);
        assert!(
            tree.leads_somewhere("docs")
                && tree.leads_somewhere("docs/")
                && tree.leads_somewhere("docs/a.md")
        );
        assert!(!tree.leads_somewhere("doc") && !tree.leads_somewhere("docs/b.md"));
    }
}
