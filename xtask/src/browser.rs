//! The browser package: its tests and its benchmark, through npm. What is not there is installed if npm can,
//! and said otherwise.

use std::path::{Path, PathBuf};

use crate::child::{Child, Ended, is_there};

/// The oldest Node that the test runner works with.
const OLDEST_NODE: u32 = 20;

/// The package, ready to run its scripts.
pub(crate) struct Package {
    folder: PathBuf,
}

impl Package {
    /// Looks for Node, and has npm install what the lock file names unless it is there already.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub(crate) fn prepare(root: &Path) -> Result<Self, String> {
        let folder = root.join("packages/project-lock");
        let node = Child::new(&folder, "node", &["--version"]).quiet().run();
        if !is_there("npm") || major(&node.out).is_none_or(|major| major < OLDEST_NODE) {
            return Err(format!(
                "npm and Node {OLDEST_NODE} or later are needed: install them from nodejs.org"
            ));
        }
        let package = Self { folder };
        if package.npm(&["ls", "--all"]).quiet().run().ok {
            return Ok(package);
        }
        let installed = package.npm(&["ci"]).run();
        let why = || format!("npm cannot install what the tests need: {}", last_line(&installed));
        installed.ok.then_some(()).ok_or_else(why)?;
        Ok(package)
    }

    /// Whether npm can install what is not in the lock file: the bundlers that the package is tried with.
    ///
    /// # Errors
    /// That it cannot.
    pub(crate) fn can_install_more(self) -> Result<Self, String> {
        let seen = self.npm(&["view", "esbuild", "version"]).quiet().run().ok;
        seen.then_some(self).ok_or_else(|| "npm cannot reach the bundlers that are to be installed".into())
    }

    /// A script of the package.
    pub(crate) fn script(&self, name: &str) -> Child {
        self.npm(&["run", name])
    }

    fn npm(&self, words: &[&str]) -> Child {
        Child::new(&self.folder, "npm", words).env("NO_COLOR", "1").env("CI", "1")
    }
}

/// Whether there is a browser to run.
pub(crate) fn is_there_a_browser() -> Result<(), String> {
    is_there("chromium").then_some(()).ok_or_else(|| "Chromium is missing: apt-get install chromium".into())
}

/// `v20.20.2` is 20.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

fn last_line(ended: &Ended) -> &str {
    ended.err.lines().rev().find(|line| line.starts_with("npm error")).unwrap_or(&ended.how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major(""), None);
        assert_eq!(major("20"), None);
    }

    #[test]
    fn what_npm_complains_about_last_is_told() {
        let ended = |err: &str| Ended {
            ok: false,
            how: "exit status: 1".into(),
            out: String::new(),
            err: err.into(),
        };
        let text = "npm error code ENOTFOUND\nnpm error network\nelse\n";
        assert_eq!(last_line(&ended(text)), "npm error network");
        assert_eq!(last_line(&ended("")), "exit status: 1");
    }
}
