//! `jit doctor`: what is wrong with the set-up here, and the line that mends it. It looks at what others check one by one
//! and changes nothing; where something cannot be looked at, that is what is wrong.

use std::path::Path;

use clap::ValueEnum as _;
use holdfast_git::Git;
use holdfast_kernel::{Lease, Millis};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Client;
use crate::commands::hooks;
use crate::context::Context;
use crate::output::Report;
use crate::output::leases::Called;
use crate::setup::{AGENTS, Change, Outcome, Wish, apply};
use crate::vars;
use holdfast_tracker::Session;
use holdfast_tracker::code::Exit;
use holdfast_tracker::engine;
use holdfast_tracker::error::Result;
use holdfast_tracker::gone::is_gone;
use holdfast_tracker::hooks::install::State;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::recover::recover;
use holdfast_tracker::times::span;
use holdfast_tracker::validate;

/// The oldest git that can merge without a worktree, which landing does.
const OLDEST_GIT: (u32, u32) = (2, 38);

/// What was looked at, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DoctorOutput {
    /// What was looked at.
    pub checks: Vec<Examined>,
}

/// One thing that was looked at.
#[derive(Serialize, JsonSchema)]
pub struct Examined {
    /// The name of the check.
    pub name: &'static str,
    /// Whether nothing is wrong with it.
    pub ok: bool,
    /// What is there, if that says something.
    pub found: String,
    /// What is wrong with it.
    pub problems: Vec<Trouble>,
}

/// Something that is wrong.
#[derive(Serialize, JsonSchema)]
pub struct Trouble {
    /// What.
    pub problem: String,
    /// What to type, or to do where nothing can be typed.
    pub fix: Option<String>,
}

/// What is there, and what is wrong with it.
type Look = Result<(String, Vec<Trouble>)>;

/// Looks at everything.
///
/// # Errors
/// Never: what stands in the way of looking is told with the rest.
pub fn run(context: &Context) -> Result<Report> {
    let mut checks =
        vec![examined("git", git(&context.caller.start)), examined("programs", Ok(programs(context)))];
    match context.session() {
        Err(error) => checks.push(examined("repository", Err(error))),
        Ok(session) => checks.extend([
            examined("configuration", configuration(context)),
            examined("identity", identity(&session)),
            examined("hooks", git_hooks(context, &session)),
            examined("clients", clients(context, &session)),
            examined("claims", claims(&session)),
            examined("clock", clock(&session)),
            examined("worktrees", worktrees(&session)),
            examined("engine", engine_of(&session)),
        ]),
    }
    let ok = checks.iter().all(|check| check.ok);
    let text = text(&checks);
    let brief: Vec<&str> = checks.iter().filter(|check| !check.ok).map(|check| check.name).collect();
    let brief = brief.join("\n");
    let exit = if ok { Exit::Ok } else { Exit::Problems };
    Ok(Report::new(text, &DoctorOutput { checks }).brief(brief).exit(exit))
}

fn examined(name: &'static str, look: Look) -> Examined {
    let (found, problems) = look.unwrap_or_else(|error| {
        let fix = error.hint();
        (String::new(), vec![Trouble { problem: error.to_string(), fix }])
    });
    Examined { name, ok: problems.is_empty(), found, problems }
}

fn trouble(problem: impl Into<String>, fix: impl Into<String>) -> Trouble {
    Trouble { problem: problem.into(), fix: Some(fix.into()) }
}

fn text(checks: &[Examined]) -> String {
    let mut text = String::new();
    for check in checks {
        let word = if check.ok { "ok" } else { "problems" };
        let found = if check.found.is_empty() { String::new() } else { format!(" ({})", check.found) };
        text.push_str(&format!("{}: {word}{found}\n", check.name));
        for Trouble { problem, fix } in &check.problems {
            text.push_str(&format!("  {problem}\n"));
            if let Some(fix) = fix {
                text.push_str(&format!("  fix: {fix}\n"));
            }
        }
    }
    text
}

/// Whether git can do what landing asks of it.
fn git(start: &Path) -> Look {
    let said = Git::in_dir(start).run(&["--version"])?;
    let said = String::from_utf8_lossy(&said).trim().trim_start_matches("git version ").to_owned();
    let mut numbers = said.split('.').map_while(|part| part.parse::<u32>().ok());
    let (major, minor) = (numbers.next(), numbers.next());
    let (oldest_major, oldest_minor) = OLDEST_GIT;
    let problem = match (major, minor) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST_GIT => None,
        (Some(_), Some(_)) => Some(format!("git {said} cannot merge without a worktree, so nothing lands")),
        _ => Some(format!("what git says of its version is not understood: {said}")),
    };
    let fix = format!("install git {oldest_major}.{oldest_minor} or later");
    Ok((said, problem.map(|problem| trouble(problem, fix)).into_iter().collect()))
}

/// Whether the programs that belong together are of one version: those beside this one, and the `jit` that a shell
/// finds.
fn programs(context: &Context) -> (String, Vec<Trouble>) {
    let own = env!("CARGO_PKG_VERSION");
    let mut problems = Vec::new();
    let here = vars::program().unwrap_or_else(|| "jit".into());
    for program in ["jit-server", "jit-board"].map(super::beside::place) {
        if matches!(holdfast_tracker::durable::is_file(&context.caller.sys, &program), Ok(true)) {
            match version_of(&program) {
                Some(version) if version == own => {}
                Some(version) => problems.push(trouble(
                    format!("{} is version {version}, jit is {own}", program.display()),
                    "install both from one release",
                )),
                None => problems.push(trouble(
                    format!("{} does not say its version", program.display()),
                    "install it again, with jit",
                )),
            }
        }
    }
    if let Some(version) = version_of(Path::new("jit")).filter(|version| version != own) {
        problems.push(trouble(
            format!("the jit on the PATH is version {version}, this one is {own}"),
            format!("put {} on the PATH before the other", here.display()),
        ));
    }
    (format!("jit {own}"), problems)
}

/// What a program says its version is; none if it is not there or says something else.
#[expect(clippy::disallowed_methods, reason = "a program has to be asked")]
fn version_of(program: &Path) -> Option<String> {
    let said = std::process::Command::new(program)
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, version) = said.lines().next()?.split_once(' ')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| version.chars().filter(|c| !c.is_control()).take(40).collect())
}

fn configuration(context: &Context) -> Look {
    let check = validate::config(&context.caller)?;
    let problems = check.problems.into_iter();
    let problems = problems.map(|problem| trouble(problem, "jit config validate says where")).collect();
    Ok((String::new(), problems))
}

fn identity(session: &Session) -> Look {
    Ok((session.agent()?.id.to_string(), Vec::new()))
}

fn git_hooks(context: &Context, session: &Session) -> Look {
    if session.repository().is_none() {
        return Ok(("not in git".to_owned(), Vec::new()));
    }
    let site = hooks::site(context)?;
    let mut problems: Vec<Trouble> = Vec::new();
    for (state, what) in [
        (State::Missing, "not installed, so commits and pushes of a lost claim are not refused"),
        (State::NotExecutable, "not executable, so git does not run it"),
        (State::Outdated, "of another version, or for another jit than this one"),
    ] {
        let those = site.hooks.iter().filter(|hook| hook.state == state);
        let names: Vec<&str> = those.map(|hook| hook.name).collect();
        if !names.is_empty() {
            problems.push(trouble(format!("{}: {what}", names.join(", ")), "jit hooks install"));
        }
    }
    if !site.has_driver {
        let what = "git does not know the merge driver of issues, so merges stop where they need not";
        problems.push(trouble(what, "jit hooks install"));
    }
    Ok((String::new(), problems))
}

/// Whether what was written for a coding client is as this version would write it. One that was never set up is no
/// problem.
fn clients(context: &Context, session: &Session) -> Look {
    let Some(root) = session.root() else { return Ok((String::new(), Vec::new())) };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for client in Client::value_variants().iter().filter(|client| client.is_written()) {
        let own = |change: &&Change| change.path != AGENTS || client.pieces().len() == 1;
        let there = apply(&context.caller.sys, root, *client, Wish::LookToTakeOut)?;
        if !there.iter().filter(own).any(|c| matches!(c.outcome, Outcome::Changed | Outcome::Removed)) {
            continue;
        }
        found.push(client.word());
        for change in apply(&context.caller.sys, root, *client, Wish::Look)? {
            let fix = format!("jit setup {}", client.word());
            match change.outcome {
                Outcome::Same => {}
                Outcome::LeftAlone(why) => {
                    problems.push(trouble(format!("{} cannot be kept current: {why}", change.path), fix));
                }
                Outcome::Changed | Outcome::Removed => {
                    problems.push(trouble(format!("{} is outdated", change.path), fix));
                }
            }
        }
    }
    Ok((if found.is_empty() { "none set up".to_owned() } else { found.join(", ") }, problems))
}

/// Whether the claims can be read, and under locks that exclude.
fn claims(session: &Session) -> Look {
    let Some(recovery) = recover(session, false)? else {
        return Ok(("nothing claimed yet".to_owned(), Vec::new()));
    };
    let problems = recovery.findings.iter();
    Ok((String::new(), problems.map(|found| trouble(found.to_string(), "jit recover")).collect()))
}

/// Whether a claim was made by a clock that is ahead of this one: nobody takes over from such a claim.
fn clock(session: &Session) -> Look {
    let view = session.claims().view()?;
    let ahead = view.table.iter().filter_map(|lease| Some((lease, lease.ahead_of(&view.now)?)));
    let issues = Issues::new(session);
    let problems = ahead.map(|(lease, ahead): (&Lease, Millis)| {
        let (agent, what) = (&lease.holder.agent, Called::of(&issues, lease).phrase());
        trouble(
            format!("the claim of {agent} on {what} is dated {} ahead", span(ahead)),
            "set the clock of whichever machine is wrong (timedatectl shows it)",
        )
    });
    Ok((String::new(), problems.collect()))
}

/// Whether claims are held in worktrees that are gone, and worktrees were not made to their end.
fn worktrees(session: &Session) -> Look {
    let worktrees = session.worktrees()?;
    let view = session.claims().view()?;
    let live = view.table.iter().filter(|lease| !lease.standing(&view.now).is_over());
    let gone = live.filter(|lease| is_gone(lease, &worktrees));
    let issues = Issues::new(session);
    let problem = |lease: &Lease| {
        let what = Called::of(&issues, lease).phrase();
        format!("{what} is held by {} in a worktree that is gone", lease.holder.agent)
    };
    let unfinished = worktrees.iter().filter(|entry| entry.unfinished).map(|entry| {
        let what = format!("{} is not finished: git makes it, or was killed while it did", entry.path);
        trouble(what, format!("jit worktree remove {}", entry.path))
    });
    let problems =
        gone.map(|lease| trouble(problem(lease), "jit worktree prune")).chain(unfinished).collect();
    Ok((format!("{} here", worktrees.len()), problems))
}

/// Whether the place that claims are kept in answers and is as it should be.
fn engine_of(session: &Session) -> Look {
    let status = engine::status(session, false)?;
    if status.shared.is_none() {
        return Ok(("local: claims are this clone's alone".to_owned(), Vec::new()));
    }
    let checked = engine::check(session)?;
    let problems = checked.checks.into_iter().flat_map(|check| check.problems);
    let problems = problems.map(|problem| Trouble { problem, fix: None }).collect();
    Ok((format!("{}, {}", status.engine, status.place), problems))
}
