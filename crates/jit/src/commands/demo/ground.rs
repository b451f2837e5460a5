//! The repository that the demonstration happens in: a worktree for each agent, and some issues. It is
//! removed at the end unless somebody wants to look at it.
#![expect(clippy::disallowed_methods, reason = "it makes a directory for itself and starts its own agents")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Parser as _;
use holdfast_git::Git;

use super::{CAST, text};
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
        for agent in CAST {
            main.run(&["worktree", "add", "--quiet", &format!("../{agent}")])?;
        }
        Ok(ground)
    }

    /// Creates the issues and gives their ids and titles, the oldest first.
    pub(super) fn issues(&self) -> Result<Vec<(String, String)>> {
        let create = |title: &&str| {
            let made = self.jit("main", &["issue", "create", "--title", title])?;
            Ok((text(&made.document(), "/issue/id").to_owned(), (*title).to_owned()))
        };
        TITLES.iter().map(create).collect()
    }

    pub(super) fn path(&self, worktree: &str) -> PathBuf {
        self.root.join(worktree)
    }

    /// Starts an agent, which first asks for `wanted`.
    pub(super) fn start(&self, agent: &str, wanted: &str) -> Result<Child> {
        let failed =
            |source| Error::from(holdfast_sys::Error::new("start an agent in", &self.path(agent), source));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg("-C").arg(self.path(agent)).args(["--agent-id", &format!("agent:{agent}")]);
        command.args(["--json", "demo", "--act", wanted]).env("JIT_CONFIG_HOME", &self.root);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(failed)
    }

    /// Does in a worktree what the program would do if this was typed there.
    pub(super) fn jit(&self, worktree: &str, words: &[&str]) -> Result<Report> {
        let words = ["jit", "--quiet"].iter().chain(words);
        let Cli { command, .. } = Cli::try_parse_from(words).map_err(|error| {
            Error::Internal(format!("the demonstration typed what is no command: {error}"))
        })?;
        let global = Global {
            json: true,
            directory: Some(self.path(worktree)),
            agent_id: Some("person:director".to_owned()),
            ..Global::default()
        };
        // The settings of whoever watches have no part in this.
        let vars = Vars { config_home: Some(self.root.clone()), ..Vars::read() };
        commands::run(&Context::new(holdfast_sys::Sys::os(), &global, vars)?, command)
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
