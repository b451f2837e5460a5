//! What a commit or a push touches that somebody else has reserved. Nothing is read of the change where nobody has
//! reserved anything.

use holdfast_git::{Git, ObjectId};
use holdfast_kernel::Lease;
use holdfast_store::View;

use super::findings::{Findings, Weight};
use super::site::Site;
use super::trailers::Named;
use crate::claims::lease::left;
use crate::code::Code;
use crate::error::{Problem, Result};
use crate::notice::Notice;
use crate::reserve::Others;
use crate::session::Session;
use crate::workspace::DATA;

/// Judges what is staged: each path that differs from every parent of the commit.
pub(super) fn staged(
    site: &Site<'_>,
    session: &Session,
    view: &View,
    parents: &[ObjectId],
    findings: &mut Findings,
) -> Result<()> {
    let weight = Weight::from(session.config().enforcement.reservations);
    if weight == Weight::Passes {
        return Ok(());
    }
    let others = Others::of(session, view)?;
    if others.is_empty() {
        return Ok(());
    }
    let git = site.git();
    let against = |tree: &str| -> Result<Vec<String>> {
        Ok(names(&git.run(&["diff-index", "--cached", "--name-only", "--no-renames", "-z", tree, "--"])?))
    };
    let mut touched = match parents.first() {
        Some(first) => against(&first.to_string())?,
        // The first commit touches whatever is staged.
        None => names(&git.run(&["ls-files", "--cached", "-z"])?),
    };
    for other in parents.iter().skip(1) {
        let differs = against(&other.to_string())?;
        touched.retain(|path| differs.contains(path));
    }
    add(&others, view, &touched, |_| false, weight, findings);
    Ok(())
}

/// The claims as they are. Where they cannot be read, nobody is kept from committing what is no issue's.
pub(super) fn seen(session: &Session) -> Option<View> {
    session.claims().view().map_err(|error| session.notice(&Notice::ClaimsUnknown(error.to_string()))).ok()
}

/// Judges paths that are about to be committed without a hook of git's.
///
/// # Errors
/// Why they must not be, or what failed.
pub fn check(session: &Session, paths: &[Vec<u8>]) -> Result<()> {
    let weight = Weight::from(session.config().enforcement.reservations);
    let Some(view) = Some(weight).filter(|weight| *weight != Weight::Passes).and_then(|_| seen(session))
    else {
        return Ok(());
    };
    let others = Others::of(session, &view)?;
    let touched: Vec<String> = paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    let mut findings = Findings::default();
    add(&others, &view, &touched, |_| false, weight, &mut findings);
    findings.settle(&*session.caller.listener, "commit")
}

/// Judges what a commit of a push touches. What was committed under a lease of the very holder that has reserved it
/// passes, whoever pushes it.
pub(super) fn pushed(
    git: &Git,
    (others, view): (&Others<'_>, &View),
    commit: &ObjectId,
    named: &[Named],
    weight: Weight,
    findings: &mut Findings,
) -> Result<()> {
    if others.is_empty() || weight == Weight::Passes {
        return Ok(());
    }
    let words = ["diff-tree", "-r", "-c", "--root", "--no-commit-id", "--name-only", "--no-renames", "-z"];
    let id = commit.to_string();
    let args: Vec<&str> = words.into_iter().chain([id.as_str()]).collect();
    let touched = names(&git.run(&args)?);
    let is_theirs = |lease: &Lease| {
        named.iter().any(|named| {
            let agent = named.agents.iter().any(|agent| agent == lease.holder.agent.as_str());
            agent && named.worktrees.iter().any(|place| place == lease.holder.place.as_str())
        })
    };
    add(others, view, &touched, is_theirs, weight, findings);
    Ok(())
}

fn add(
    others: &Others<'_>,
    view: &View,
    touched: &[String],
    passes: impl Fn(&Lease) -> bool,
    weight: Weight,
    findings: &mut Findings,
) {
    // Who may change issues is up to their claims.
    let own = format!("{DATA}/");
    for path in touched.iter().filter(|path| !path.starts_with(&own)) {
        for lease in others.of_path(path).into_iter().filter(|lease| !passes(lease)) {
            let message = format!(
                "{path} is reserved by {} ({}; {})",
                lease.holder,
                lease.resource,
                left(lease, &view.now)
            );
            let hint = format!(
                "keep it out: git restore --staged -- '{path}'; or wait for it: jit reserve add '{path}' --wait"
            );
            findings.add(weight, Problem::of(Code::Reserved, message, hint));
        }
    }
}

fn names(said: &[u8]) -> Vec<String> {
    let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
