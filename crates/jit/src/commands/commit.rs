//! `jit commit`: `git commit` with the checks and trailers of the hooks, for repositories where they are not
//! installed. Git runs them from a directory of ours for this one commit; hooks that are there run as well.

use std::ffi::OsString;
use std::path::Path;

use holdfast_git::{Config, Git, Repository, hooks as git_hooks};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Commit;
use crate::context::Context;
use crate::output::Report;
use crate::vars;
use holdfast_tracker::code::Exit;
use holdfast_tracker::durable;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::hooks::install::{Directory, State, WORKTREE};

/// Every hook that a commit may run.
const HOOKS: [&str; 9] = [
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-rewrite",
    "reference-transaction",
    "post-index-change",
    "pre-auto-gc",
];

/// Asks jit where jit has something to say, then runs the hook that is there.
const FORWARD: &str = "#!/bin/sh\n# Written by `jit commit`.\nname=${0##*/}\ncase $name in\n\
    pre-commit|prepare-commit-msg|commit-msg) \"$JIT_PROGRAM\" hook \"$name\" \"$@\" || exit $? ;;\nesac\n\
    [ ! -x \"$JIT_HOOKS/$name\" ] || exec \"$JIT_HOOKS/$name\" \"$@\"\n";

/// What came of a commit, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct CommitOutput {
    /// What came of it.
    pub commit: Outcome,
}

/// What came of a commit.
#[derive(Serialize, JsonSchema)]
pub struct Outcome {
    /// Whether git committed.
    pub ok: bool,
    /// The commit that HEAD is on; none on a branch without one.
    pub head: Option<String>,
}

/// Commits.
///
/// # Errors
/// When git cannot be asked. That git did not commit is no error of ours: git has said why.
pub fn run(context: &Context, typed: &Commit) -> Result<Report> {
    let session = context.session()?;
    let repository = session.repository().ok_or_else(|| Error::NotInGit(context.caller.start.clone()))?;
    let config = Config::read(&*context.caller.sys.files, &context.caller.git, Some(repository))?;
    let hooks = git_hooks::directory(repository, &config)?;
    let mut git = Git::in_dir(&context.caller.start);
    let mut args: Vec<OsString> = Vec::new();
    if !are_installed(context, &hooks)? {
        args.extend(["-c".into(), through(context, repository)?]);
        let program = vars::program().unwrap_or_else(|| "jit".into());
        git = git.env("JIT_HOOKS", Some(hooks.into())).env("JIT_PROGRAM", Some(program.into()));
    }
    if let Ok(agent) = session.agent() {
        git = git.env("JIT_AGENT_ID", Some(agent.id.to_string().into()));
    }
    args.push("commit".into());
    args.extend(typed.arguments.iter().cloned());
    let code = if context.printer.is_json() {
        git.run(&args)?;
        Some(0)
    } else {
        git.attended(&args)?
    };
    let commit = Outcome { ok: code == Some(0), head: git.head_commit()?.map(|id| id.to_string()) };
    let exit = if commit.ok { Exit::Ok } else { Exit::Failed };
    Ok(Report::new("", &CommitOutput { commit }).exit(exit))
}

fn are_installed(context: &Context, hooks: &Path) -> Result<bool> {
    let directory = Directory { sys: &context.caller.sys, path: hooks.to_path_buf(), program: None };
    let states = WORKTREE.iter().map(|name| directory.status(name));
    let states = states.collect::<Result<Vec<_>>>()?;
    Ok(states.iter().all(|hook| matches!(hook.state, State::Installed | State::Outdated)))
}

/// The setting that makes git run its hooks through us.
fn through(context: &Context, repository: &Repository) -> Result<OsString> {
    let directory = repository.common_dir().join("jit/hooks");
    durable::make_dirs(&context.caller.sys, &directory, 0o700)?;
    for name in HOOKS {
        let path = directory.join(name);
        if durable::read(&context.caller.sys, &path, 1 << 16)?.as_deref() != Some(FORWARD.as_bytes()) {
            durable::replace(&context.caller.sys, &path, FORWARD.as_bytes(), 0o700)?;
        }
    }
    let mut setting = OsString::from("core.hooksPath=");
    setting.push(directory);
    Ok(setting)
}
