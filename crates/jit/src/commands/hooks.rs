//! `jit hooks`: install, remove and look at the hooks of this worktree, or of a bare repository.

use std::path::Path;

use holdfast_door::table;
use holdfast_git::config::Scope;
use holdfast_git::{Config, Environment, Found, Git, Objects, Repository, discover, hooks as git_hooks};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Hooks as Command;
use crate::context::Context;
use crate::output::Report;
use crate::vars;
use holdfast_tracker::code::Exit;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::hooks::install::{Directory, Hook, SERVER, State, WORKTREE};
use holdfast_tracker::hooks::push::CONTROL_PLANE;
use holdfast_tracker::workspace::Ground;

/// The merge driver of issues, as `.gitattributes` names it.
const DRIVER: &str = "merge.jit-issue";

/// The hooks of a repository, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct HooksOutput {
    /// The hooks.
    pub hooks: Vec<Shown>,
    /// Where git looks for them.
    pub directory: String,
    /// Whether they serve every repository of this user.
    pub shared: bool,
    /// How many.
    pub count: usize,
}

/// A hook.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    /// Its name.
    pub name: &'static str,
    /// How it stands with it: `installed`, `outdated`, `not_executable` or `missing`.
    #[schemars(with = "String")]
    pub state: State,
    /// Whether there is a hook besides ours.
    pub other: bool,
}

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    match command {
        Command::Install { pre_receive } => {
            let target = Target::find(context, pre_receive.as_deref())?;
            // What hooks cannot read they cannot judge: better said before than at the first commit.
            Objects::open(
                &*context.caller.sys.files,
                &target.repository,
                &target.env,
                &context.caller.start,
            )?;
            for name in target.names {
                target.directory.install(name)?;
            }
            target.configure(context)?;
            target.report(true)
        }
        Command::Uninstall { pre_receive } => {
            let target = Target::find(context, pre_receive.as_deref())?;
            for name in target.names {
                target.directory.uninstall(name)?;
            }
            target.forget()?;
            target.report(false)
        }
        Command::Status { pre_receive } => {
            let target = Target::find(context, pre_receive.as_deref())?;
            let report = target.report(true)?;
            let all = target.hooks()?.iter().all(|hook| hook.state == State::Installed);
            Ok(report.exit(if all { Exit::Ok } else { Exit::Problems }))
        }
    }
}

/// What of the hooks and the merge driver is not set up in this repository; nothing where that cannot be told.
#[must_use]
pub fn missing(context: &Context) -> Vec<&'static str> {
    let Ok(Site { hooks, has_driver }) = site(context) else { return Vec::new() };
    let mut missing = Vec::new();
    if hooks.iter().any(|hook| matches!(hook.state, State::Missing | State::NotExecutable)) {
        missing.push("hooks");
    }
    if !has_driver {
        missing.push("merge driver");
    }
    missing
}

/// How it stands with the hooks and the merge driver of a repository.
pub struct Site {
    /// The hooks that a worktree has.
    pub hooks: Vec<Hook>,
    /// Whether git knows the merge driver.
    pub has_driver: bool,
}

/// How it stands with the hooks and the merge driver of this repository.
///
/// # Errors
/// When that cannot be told.
pub fn site(context: &Context) -> Result<Site> {
    let target = Target::find(context, None)?;
    let has_driver = target.config.get(&format!("{DRIVER}.driver")).is_some();
    Ok(Site { hooks: target.hooks()?, has_driver })
}

/// Where hooks go.
struct Target<'a> {
    directory: Directory<'a>,
    names: &'static [&'static str],
    repository: Repository,
    env: Environment,
    config: Config,
    is_server: bool,
}

impl<'a> Target<'a> {
    fn find(context: &'a Context, bare: Option<&Path>) -> Result<Self> {
        let files = &*context.caller.sys.files;
        let none = |place: &Path| Error::NoHooks {
            directory: place.to_path_buf(),
            why: "it is not in a git repository".into(),
        };
        let (repository, env) = match bare {
            None => {
                let repository =
                    Ground::find(&context.caller)?.repository.ok_or_else(|| none(&context.caller.start))?;
                (repository, context.caller.git.clone())
            }
            Some(path) => {
                let env = elsewhere(&context.caller.git);
                let path = context.caller.start.join(path);
                match discover(files, &path, &env)? {
                    Found::Repository(repository) => (*repository, env),
                    Found::Nothing { .. } => return Err(none(&path)),
                }
            }
        };
        let config = Config::read(files, &env, Some(&repository))?;
        let path = git_hooks::directory(&repository, &config)?;
        let program = vars::program().and_then(|path| path.to_str().map(str::to_owned));
        let directory = Directory { sys: &context.caller.sys, path, program };
        let is_server = bare.is_some();
        let names: &[&str] = if is_server { &SERVER } else { &WORKTREE };
        Ok(Self { directory, names, repository, env, config, is_server })
    }

    /// Tells git about the merge driver, or a server where the claims are.
    fn configure(&self, context: &Context) -> Result<()> {
        if self.is_server {
            return self.show_claims(context);
        }
        let program = match &self.directory.program {
            Some(path) => {
                let path = holdfast_tracker::hooks::quoted(path);
                format!("\"$([ -x {path} ] && echo {path} || command -v jit || echo {path})\"")
            }
            None => "jit".to_owned(),
        };
        let driver = format!("{program} merge-driver %O %A %B %L %P");
        self.set("name", "issues of jit, field by field")?;
        self.set("driver", &driver)
    }

    fn set(&self, key: &str, value: &str) -> Result<()> {
        let key = format!("{DRIVER}.{key}");
        if self.config.get(&key).and_then(|entry| entry.value.as_deref()) != Some(value.as_bytes()) {
            self.git(&["--replace-all", &key, value])?;
        }
        Ok(())
    }

    /// Lets the server look into the claims of the repository that this is run in.
    fn show_claims(&self, context: &Context) -> Result<()> {
        let Ok(session) = context.session() else { return Ok(()) };
        let Some(control) = session.control().to_str() else { return Ok(()) };
        let known = self.config.all(CONTROL_PLANE).filter_map(|entry| entry.value.as_deref());
        if known.into_iter().any(|known| known == control.as_bytes()) {
            return Ok(());
        }
        self.git(&["--add", CONTROL_PLANE, control])
    }

    /// Takes back what was configured.
    fn forget(&self) -> Result<()> {
        let local = |key: &str| self.config.all(key).any(|entry| entry.origin.scope == Scope::Local);
        if self.is_server && local(CONTROL_PLANE) {
            self.git(&["--unset-all", CONTROL_PLANE])?;
        }
        if !self.is_server && (local("merge.jit-issue.driver") || local("merge.jit-issue.name")) {
            self.git(&["--remove-section", DRIVER])?;
        }
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let file = self.repository.common_dir().join("config");
        let file = file.to_string_lossy();
        let args = [&["config", "--file", &file], args].concat();
        Git::in_dir(self.repository.common_dir()).run(&args)?;
        Ok(())
    }

    fn hooks(&self) -> Result<Vec<Hook>> {
        self.names.iter().map(|name| self.directory.status(name)).collect()
    }

    fn report(&self, wanted: bool) -> Result<Report> {
        let hooks = self.hooks()?;
        let rows: Vec<_> = hooks.iter().map(row).collect();
        let path = self.directory.path.to_string_lossy().into_owned();
        let mut text = format!("hooks in {path}\n{}", table(["HOOK", "STATE", ""], &rows));
        let shared = self.config.get("core.hookspath").filter(|_| wanted).and_then(|entry| {
            matches!(entry.origin.scope, Scope::System | Scope::Global).then(|| entry.origin.to_string())
        });
        if let Some(origin) = &shared {
            text.push_str(&format!("these hooks serve every repository of this user: {origin}\n"));
        }
        let brief: Vec<_> = rows.iter().map(|[name, state, _]| format!("{name} {state}")).collect();
        let shown = |hook: &Hook| Shown { name: hook.name, state: hook.state, other: hook.other };
        let document = HooksOutput {
            hooks: hooks.iter().map(shown).collect(),
            directory: path,
            shared: shared.is_some(),
            count: hooks.len(),
        };
        Ok(Report::new(text, &document).brief(brief.join("\n")))
    }
}

/// The environment without what says which repository this is.
fn elsewhere(env: &Environment) -> Environment {
    Environment { git_dir: None, work_tree: None, common_dir: None, index_file: None, ..env.clone() }
}

fn row(hook: &Hook) -> [String; 3] {
    let state = match hook.state {
        State::Installed => "installed",
        State::Outdated => "outdated: jit hooks install",
        State::NotExecutable => "not executable: git does not run it",
        State::Missing => "not installed",
    };
    let other = if hook.other { "with a hook of your own" } else { "" };
    [hook.name.to_owned(), state.to_owned(), other.to_owned()]
}
