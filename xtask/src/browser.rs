//! The packages that npm runs: the browser's tests and benchmark, and the official clients that judge `jit mcp`. What is not
//! there is installed if npm can, and said otherwise.

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
        Self::named(root, "project-lock")
    }

    /// As [`Package::prepare`], for the package of this name.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub(crate) fn named(root: &Path, name: &str) -> Result<Self, String> {
        let folder = root.join("packages").join(name);
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

/// A browser that the package is held to.
pub(crate) struct Engine {
    name: &'static str,
    /// The script of the package that runs it.
    pub(crate) script: &'static str,
    /// The programs that it is started with, and the Debian packages that have them.
    programs: &'static [(&'static str, &'static str)],
}

pub(crate) const CHROMIUM: Engine =
    Engine { name: "Chromium", script: "test:browser", programs: &[("chromium", "chromium")] };

pub(crate) const FIREFOX: Engine =
    Engine { name: "Firefox", script: "test:firefox", programs: &[("firefox-esr", "firefox-esr")] };

/// Its small browser comes with the driver's library, and needs a screen.
pub(crate) const WEBKIT: Engine = Engine {
    name: "WebKitGTK",
    script: "test:webkit",
    programs: &[("WebKitWebDriver", "webkit2gtk-driver"), ("Xvfb", "xvfb")],
};

impl Engine {
    /// Whether it can be run.
    ///
    /// # Errors
    /// What to install.
    pub(crate) fn is_there(&self) -> Result<(), String> {
        self.lacks(is_there)
    }

    fn lacks(&self, is_there: impl Fn(&str) -> bool) -> Result<(), String> {
        let missing: Vec<&str> = self
            .programs
            .iter()
            .filter(|(program, _)| !is_there(program))
            .map(|(_, package)| *package)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("{} is missing: apt-get install {}", self.name, missing.join(" ")))
    }
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
    fn what_a_browser_lacks_is_named() {
        assert_eq!(WEBKIT.lacks(|_| true), Ok(()));
        let lacks = |there: &str| WEBKIT.lacks(|program| program == there).unwrap_err();
        assert_eq!(lacks("WebKitWebDriver"), "WebKitGTK is missing: apt-get install xvfb");
        assert_eq!(lacks(""), "WebKitGTK is missing: apt-get install webkit2gtk-driver xvfb");
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
