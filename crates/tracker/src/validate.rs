//! Looks for problems and changes nothing.

mod data;

use holdfast_kernel::{Lease, Standing};
use holdfast_store::Error as StoreError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::claims::lease::Kind;
use crate::config::Problem;
use crate::error::{Error, Result};
use crate::gone;
use crate::session::Session;
use crate::times::span;
use crate::workspace::{DATA, Ground};
use crate::worktree::Entry;

/// One thing that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// Whether nothing is wrong with it.
    pub ok: bool,
    /// What is wrong with it.
    pub problems: Vec<String>,
    /// What is worth knowing although nothing is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Check {
    /// What is wrong with something; nothing if nothing is.
    #[must_use]
    pub const fn new(name: &'static str, problems: Vec<String>) -> Self {
        Self { name, ok: problems.is_empty(), problems, notes: Vec::new() }
    }

    /// Something that is in order, with what is worth knowing of it.
    const fn noted(name: &'static str, notes: Vec<String>) -> Self {
        Self { name, ok: true, problems: Vec::new(), notes }
    }
}

/// Looks at everything. Where the configuration is wrong, nothing else can be found, so that comes first.
///
/// # Errors
/// When it cannot be looked at.
pub fn all(caller: &Caller) -> Result<Vec<Check>> {
    let config = config(caller)?;
    if !config.ok {
        return Ok(vec![config]);
    }
    let session = Session::open(caller)?;
    let mut checks = vec![config];
    checks.extend(data::checks(&session)?);
    checks.extend(leases(&session)?);
    checks.push(divergence(&session)?);
    Ok(checks)
}

/// Looks at the configuration.
///
/// # Errors
/// When it cannot be looked at.
pub fn config(caller: &Caller) -> Result<Check> {
    let problems = config_problems(caller)?;
    Ok(Check::new("config", problems.iter().map(ToString::to_string).collect()))
}

/// Everything that is wrong with the configuration.
///
/// # Errors
/// When it cannot be looked at.
pub fn config_problems(caller: &Caller) -> Result<Vec<Problem>> {
    Ok(crate::config::validate(&caller.sys, &Ground::find(caller)?.places(caller))?)
}

/// Looks whether this branch has everything that the main branch has.
///
/// # Errors
/// When git stands in the way.
pub fn divergence(session: &Session) -> Result<Check> {
    let level = |repository| crate::divergence::is_level(&*session.sys().files, repository);
    if session.repository().is_none_or(level) {
        return Ok(Check::new("divergence", Vec::new()));
    }
    let git = holdfast_git::Git::in_dir(&session.caller.start);
    let problems = match crate::divergence::history_passes(&git, &["HEAD".to_owned()]) {
        Err(error @ Error::Config(_)) => vec![format!("{error}: {}", error.hint().unwrap_or_default())],
        done => done.map(|()| Vec::new())?,
    };
    Ok(Check::new("divergence", problems))
}

/// Looks at the claims and their log.
///
/// # Errors
/// When they cannot be looked at.
pub fn leases(session: &Session) -> Result<Vec<Check>> {
    let claims = session.claims();
    let log = match claims.medium.history(&mut |_| {}) {
        Ok(_) => Check::new("log", Vec::new()),
        Err(error @ StoreError::Damaged { .. }) => {
            let problem = format!("{error}: jit recover --dry-run says more");
            return Ok(vec![Check::new("log", vec![problem])]);
        }
        Err(error) => return Err(error.into()),
    };
    let view = claims.view()?;
    let worktrees = session.worktrees()?;
    let clone = session.clone_name()?;
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
        let is_elsewhere = crate::worktree::split(lease.holder.place.as_str()).1 != clone.as_deref();
        if !is_elsewhere && !has_issue(session, &worktrees, lease)? {
            problems.push(format!("the lease {} is on {}, which no worktree has", lease.id, lease.resource));
        }
        if gone::is_gone(lease, &worktrees) {
            problems.push(format!("the lease {} is held in {}, which is gone", lease.id, lease.holder.place));
        }
    }
    Ok(vec![log, Check::new("leases", problems)])
}

fn has_issue(session: &Session, worktrees: &[Entry], lease: &Lease) -> Result<bool> {
    if !Kind::Issue.has(lease) {
        return Ok(true);
    }
    for entry in worktrees {
        let directory = entry.root.join(DATA).join("issues").join(lease.resource.text());
        if crate::durable::is_dir(session.sys(), &directory).map_err(Error::from)? {
            return Ok(true);
        }
    }
    Ok(false)
}
