//! The repository that the demonstration happens in, with some issues. It is removed at the end unless somebody wants
//! to look at it.
#![expect(clippy::disallowed_methods, reason = "it makes a directory for itself and removes it")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use holdfast_git::Git;

use super::text;
use crate::cli::{Cli, Global};
use crate::commands;
use crate::context::Context;
use crate::output::Report;
use crate::vars::Vars;
use holdfast_tracker::error::{Error, Result};

const TITLES: [&str; 9] = [
    "Draw the logo",
    "Fix the login page",
    "Write the release notes",
    "Speed up the search",
    "Update the licence",
    "Sort the imports",
    "Test the importer",
    "Translate the help",
    "Tidy up the tests",
];

pub(super) struct Ground {
    root: PathBuf,
    keep: bool,
}

impl Ground {
    pub(super) fn new(context: &Context, keep: bool) -> Result<Self> {
        let name = format!("jit-demo-{:016x}", context.caller.sys.entropy.nonce()? >> 64);
        let root = context.temporary.join(name);
        context.caller.sys.files.create_dir(&root, 0o700)?;
        let ground = Self { root, keep };
        let git = ground.git(&ground.root);
        git.run(&["init", "--quiet", "--initial-branch=main", "main"])?;
        ground.jit("main", &["init"])?;
        let main = ground.git(&ground.path("main"));
        main.run(&["add", "."])?;
        main.run(&["commit", "--quiet", "-m", "Track issues"])?;
        // What lands is committed by the workers, who have their names from here.
        main.run(&["config", "user.name", "jit demo"])?;
        main.run(&["config", "user.email", "demo@localhost"])?;
        Ok(ground)
    }

    /// Creates the issues and gives their ids and titles, the oldest first.
    pub(super) fn issues(&self) -> Result<Vec<(String, String)>> {
        let create = |title: &&str| {
            let made = self.jit("main", &["issue", "create", "--title", title])?;
            Ok((text(&made.document()?, "/issue/id").to_owned(), (*title).to_owned()))
        };
        TITLES.iter().map(create).collect()
    }

    pub(super) fn path(&self, worktree: &str) -> PathBuf {
        self.root.join(worktree)
    }

    /// What the pool finds in its environment: the settings of whoever watches have no part in this.
    pub(super) fn variables(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("JIT_CONFIG_HOME".into(), self.root.clone().into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
        ]
    }

    /// What landed on the main branch, the newest first.
    pub(super) fn landed(&self) -> Result<Vec<String>> {
        let said = self.git(&self.path("main")).run(&["log", "--format=%h %s", "main"])?;
        Ok(String::from_utf8_lossy(&said).lines().map(ToOwned::to_owned).collect())
    }

    /// Does in a worktree what the program would do if this was typed there.
    pub(super) fn jit(&self, worktree: &str, words: &[&str]) -> Result<Report> {
        let words = ["jit", "--quiet"].iter().chain(words);
        let Cli { command, .. } = Cli::try_parse_from(words).map_err(|error| {
            Error::Internal(format!("the demonstration typed what is no command: {error}"))
        })?;
        commands::run(&self.asking(worktree)?, command)
    }

    /// The pool as somebody who asks, in the main worktree.
    pub(super) fn context(&self) -> Result<Context> {
        let mut context = self.asking("main")?;
        context.caller.typed_agent = Some("agent:demo".into());
        Ok(context)
    }

    fn asking(&self, worktree: &str) -> Result<Context> {
        let global = Global {
            json: true,
            directory: Some(self.path(worktree)),
            agent_id: Some("person:director".to_owned()),
            ..Global::default()
        };
        // The settings of whoever watches have no part in this.
        let config_home = Some(self.root.clone());
        Context::new(holdfast_sys::Sys::os(), &global, Vars { config_home, ..Vars::read() })
    }

    fn git(&self, dir: &Path) -> Git {
        let git = Git::in_dir(dir).env("GIT_CONFIG_GLOBAL", Some("/dev/null".into()));
        let git = git.env("GIT_DIR", None).env("GIT_WORK_TREE", None).env("GIT_INDEX_FILE", None);
        ["AUTHOR", "COMMITTER"].iter().fold(git, |git, role| {
            git.env(format!("GIT_{role}_NAME"), Some("jit demo".into()))
                .env(format!("GIT_{role}_EMAIL"), Some("demo@localhost".into()))
        })
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if !self.keep {
            // It is below the directory for temporary files: whatever is left is removed from there some day.
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}
