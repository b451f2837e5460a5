//! Where runs work: worktrees that are made for them, used again, and taken away when nothing in them would be lost.
//! They are on no branch between two issues; whatever was committed in them is on the branch of its issue.

use std::collections::BTreeSet;
use std::path::Path;

use holdfast_git::Git;

use crate::error::{Error, Result};
use crate::session::Session;
use crate::worktrees::{self, RECORDS, target_tip, uncommitted};

/// As many branches as are removed by one call of git.
const MOST_AT_ONCE: usize = 200;

/// Whether git knows a worktree there, and it is there.
///
/// # Errors
/// When the worktrees cannot be listed.
pub fn is_there(session: &Session, root: &Path) -> Result<bool> {
    Ok(session.worktrees()?.iter().any(|entry| entry.root == root && !entry.gone))
}

/// Has a worktree leave the branch of the issue before, unless something in it is in no commit, and says whether it did.
/// Commits stay on that branch; the tracker's own files are known to the control plane.
///
/// # Errors
/// When git cannot do it.
pub fn clear(session: &Session, root: &Path) -> Result<bool> {
    if !uncommitted(root)?.is_empty() {
        return Ok(false);
    }
    let git = Git::in_dir(root);
    git.ask(&["reset", "-q", "--hard"], &[])?;
    forget_records(root)?;
    git.run(&["switch", "-q", "--detach", &target_tip(session)?])?;
    Ok(true)
}

/// Whether the target has all that is committed in a worktree.
///
/// # Errors
/// When git cannot tell.
pub fn is_part_of_target(session: &Session, root: &Path) -> Result<bool> {
    let args = ["merge-base", "--is-ancestor", "HEAD", &target_tip(session)?];
    Ok(Git::in_dir(root).ask(&args, &[])?.code == Some(0))
}

/// Takes back what a worktree has of issues that is in no commit. The control plane knows all of it.
///
/// # Errors
/// When git cannot be started.
pub fn forget_records(root: &Path) -> Result<()> {
    let git = Git::in_dir(root);
    let status = [&["status", "--porcelain=v1", "-z", "--no-renames", "--"][..], &RECORDS].concat();
    if git.run(&status)?.is_empty() {
        return Ok(());
    }
    for records in RECORDS {
        // Where no commit has any, there is nothing to take back.
        git.ask(&["restore", "-q", "--source=HEAD", "--staged", "--worktree", "--", records], &[])?;
    }
    git.ask(&[&["clean", "-fdq", "--"][..], &RECORDS].concat(), &[])?;
    Ok(())
}

/// Removes branches whose work has landed. One that some worktree is on, or that has more, stays.
///
/// # Errors
/// When git cannot be started.
pub fn forget(session: &Session, branches: &[String]) -> Result<()> {
    let repository = session.repository().ok_or_else(|| Error::NotInGit(session.caller.start.clone()))?;
    if branches.is_empty() {
        return Ok(());
    }
    let (git, tip) = (Git::in_dir(repository.common_dir()), target_tip(session)?);
    let merged = format!("--merged={tip}");
    let said = git.run(&["for-each-ref", &merged, "--format=%(refname:lstrip=2)", "refs/heads/jit/"])?;
    let said = String::from_utf8_lossy(&said);
    let landed: BTreeSet<&str> = said.lines().collect();
    let over: Vec<&str> = branches.iter().map(String::as_str).filter(|name| landed.contains(name)).collect();
    for some in over.chunks(MOST_AT_ONCE) {
        git.ask(&[&["branch", "-q", "-D", "--"][..], some].concat(), &[])?;
    }
    Ok(())
}

/// Takes a worktree away, unless it has something that is in no commit, or commits that are on no branch. Says whether
/// it did.
///
/// # Errors
/// When git cannot tell.
pub fn take_away(session: &Session, root: &Path) -> Result<bool> {
    if !is_there(session, root)? || !uncommitted(root)?.is_empty() {
        return Ok(false);
    }
    let alone = Git::in_dir(root).run(&["rev-list", "-1", "HEAD", "--not", "--branches", "--remotes"])?;
    if !alone.is_empty() {
        return Ok(false);
    }
    worktrees::take_away(session, root)?;
    leave(session, root);
    Ok(true)
}

/// Has git forget a worktree whose directory was removed by hand. One that somebody has locked stays known.
pub fn forget_gone(session: &Session, root: &Path) {
    let _ = worktrees::take_away(session, root);
}

/// Takes the directory away that a worktree was in. It stays while others are in it.
pub fn leave(session: &Session, root: &Path) {
    if let Some(above) = root.parent() {
        let _ = session.sys().files.remove_dir(above);
    }
}
