//! `jit validate`: looks for problems and changes nothing. The exit code is the verdict.

mod data;

use holdfast_kernel::{Lease, Standing};
use holdfast_store::Error as StoreError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::claims::Claims;
use crate::cli::Validate as Command;
use crate::context::Context;
use crate::error::{Error, Exit, Result};
use crate::output::Report;
use crate::times::span;
use crate::workspace::{DATA, Workspace};
use crate::worktree::{self, Entry};

/// What was looked at, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// Whether nothing is wrong with it.
    pub ok: bool,
    /// What is wrong with it.
    pub problems: Vec<String>,
}

impl Check {
    pub(super) const fn new(name: &'static str, problems: Vec<String>) -> Self {
        Self { name, ok: problems.is_empty(), problems }
    }
}

/// Does what was typed.
///
/// # Errors
/// When it cannot be looked at.
pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let checks = match command {
        Command::Leases => leases(context)?,
        Command::Config => vec![Check::new("config", config(context)?)],
        Command::Divergence => vec![Check::new("divergence", divergence(context)?)],
        Command::All => all(context)?,
    };
    let mut text = String::new();
    for check in &checks {
        text.push_str(&format!("{}: {}\n", check.name, if check.ok { "ok" } else { "problems" }));
        for problem in &check.problems {
            text.push_str(&format!("  {problem}\n"));
        }
    }
    let exit = if checks.iter().all(|check| check.ok) { Exit::Ok } else { Exit::Problems };
    Ok(Report::new(text, &Document { checks }).exit(exit))
}

/// Everything. Where the configuration is wrong, nothing else can be found, so that comes first.
fn all(context: &Context) -> Result<Vec<Check>> {
    let config = Check::new("config", config(context)?);
    if !config.ok {
        return Ok(vec![config]);
    }
    let workspace = Workspace::open(context)?;
    let mut checks = vec![config];
    checks.extend(data::checks(context, &workspace)?);
    checks.extend(leases(context)?);
    Ok(checks)
}

fn config(context: &Context) -> Result<Vec<String>> {
    let problems = super::config::validate(context)?;
    Ok(problems.iter().map(ToString::to_string).collect())
}

/// Whether this branch has everything that the main branch has.
fn divergence(context: &Context) -> Result<Vec<String>> {
    let workspace = Workspace::open(context)?;
    if workspace.repository.is_none() {
        return Ok(Vec::new());
    }
    let git = holdfast_git::Git::in_dir(&context.start);
    match crate::divergence::history_passes(&git, &["HEAD".to_owned()]) {
        Err(error @ Error::Config(_)) => Ok(vec![format!("{error}: {}", error.hint().unwrap_or_default())]),
        done => done.map(|()| Vec::new()),
    }
}

fn leases(context: &Context) -> Result<Vec<Check>> {
    let workspace = Workspace::open(context)?;
    let claims = Claims::to_read(context, &workspace);
    let log = match claims.log.history(&mut |_| {}) {
        Ok(_) => Check::new("log", Vec::new()),
        Err(error @ StoreError::Damaged { .. }) => {
            let problem = format!("{error}: jit recover --dry-run says more");
            return Ok(vec![Check::new("log", vec![problem])]);
        }
        Err(error) => return Err(error.into()),
    };
    let view = claims.view()?;
    let worktrees = worktree::all(context, &workspace)?;
    let mut problems = Vec::new();
    for lease in view.table.iter().filter(|lease| !lease.standing(&view.now).is_over()) {
        if let Standing::Stale { silent } = lease.standing(&view.now) {
            problems.push(format!(
                "the lease {} of {} is stale: silent for {}",
                lease.id,
                lease.holder,
                span(silent)
            ));
        }
        if !has_issue(context, &worktrees, lease)? {
            problems.push(format!("the lease {} is on {}, which no worktree has", lease.id, lease.resource));
        }
        if !worktrees.iter().any(|entry| entry.worktree_id.as_deref() == Some(lease.holder.place.as_str())) {
            problems.push(format!("the lease {} is held in {}, which is gone", lease.id, lease.holder.place));
        }
    }
    Ok(vec![log, Check::new("leases", problems)])
}

fn has_issue(context: &Context, worktrees: &[Entry], lease: &Lease) -> Result<bool> {
    for entry in worktrees {
        let directory = entry.root.join(DATA).join("issues").join(lease.resource.as_str());
        if crate::durable::is_dir(&context.sys, &directory).map_err(Error::from)? {
            return Ok(true);
        }
    }
    Ok(false)
}
