//! Where runs work: worktrees that are made for them, used again, and taken away when nothing in them would be lost.
//! They are on no branch between two issues; whatever was committed in them is on the branch of its issue.

use std::path::{Path, PathBuf};

use holdfast_git::{Git, Repository};
use holdfast_sys::{Guard, LockMode};

use crate::durable;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::target::Target;
use crate::workspace::DATA;

/// What is in a worktree that a run is to begin in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ground {
    /// Nothing that is not kept elsewhere.
    Free,
    /// Files that are in no commit.
    Busy(Vec<String>),
}

fn repository(session: &Session) -> Result<&Repository> {
    session.repository().ok_or_else(|| Error::NotInGit(session.caller.start.clone()))
}

/// Where worktrees are made: beside the main one.
fn home(session: &Session) -> Result<PathBuf> {
    let repository = repository(session)?;
    let main = repository.main_work_tree(&*session.sys().files)?;
    let main = main.unwrap_or_else(|| repository.common_dir().to_path_buf());
    if let Some(dir) = &session.config().worktree.dir {
        return Ok(main.join(dir));
    }
    let name = main.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(main.with_file_name(format!("{}.worktrees", name.strip_suffix(".git").unwrap_or(&name))))
}

/// The place of the worktree with this name, whether or not it is there.
///
/// # Errors
/// Outside of git.
pub fn at(session: &Session, name: &str) -> Result<PathBuf> {
    Ok(home(session)?.join(name))
}

/// Whether git knows a worktree there, and it is there.
///
/// # Errors
/// When the worktrees cannot be listed.
pub fn is_there(session: &Session, root: &Path) -> Result<bool> {
    Ok(session.worktrees()?.iter().any(|entry| entry.root == root && !entry.gone))
}

/// Makes the worktree with this name, on no branch, where the target is. Git's own bookkeeping fails when two are made
/// at once, so one is made after the other.
///
/// # Errors
/// When something is there already, or git cannot make it.
pub fn make(session: &Session, name: &str) -> Result<PathBuf> {
    let (repository, root) = (repository(session)?, at(session, name)?);
    let access = session.prepare()?;
    let lock = session.control().join("locks/worktrees.lock");
    let mut guard = Guard::open(session.sys(), &lock, access.file())?;
    let _section = guard.enter(session.sys(), LockMode::Exclusive)?;
    if let Some(above) = root.parent() {
        durable::make_dirs(session.sys(), above, 0o755)?;
    }
    let git = Git::in_dir(session.root().unwrap_or_else(|| repository.common_dir()));
    let path = root.to_string_lossy().into_owned();
    git.run(&["worktree", "add", "-q", "--detach", "--", &path, &tip(session)?])?;
    Ok(root)
}

fn tip(session: &Session) -> Result<String> {
    let target = Target::find(&session.caller, repository(session)?, session.config())?;
    let tip = target.as_ref().and_then(Target::onto);
    Ok(tip.map_or_else(|| "HEAD".to_owned(), |tip| tip.to_string()))
}

/// What is in a worktree that would be lost with it.
///
/// # Errors
/// When git cannot tell.
pub fn look(root: &Path) -> Result<Ground> {
    let others = format!(":(exclude){DATA}");
    let said =
        Git::in_dir(root).run(&["status", "--porcelain=v1", "-z", "--no-renames", "--", ".", &others])?;
    let paths = said.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    let files: Vec<String> = paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    Ok(if files.is_empty() { Ground::Free } else { Ground::Busy(files) })
}

/// Has a worktree leave the branch of the issue before, if nothing in it is in no commit. Commits stay on that branch;
/// the tracker's own files are known to the control plane.
///
/// # Errors
/// When git cannot do it.
pub fn clear(session: &Session, root: &Path) -> Result<Ground> {
    let ground = look(root)?;
    if ground == Ground::Free {
        let git = Git::in_dir(root);
        git.ask(&["reset", "-q", "--hard"], &[])?;
        git.ask(&["clean", "-fdq", "--", DATA], &[])?;
        git.run(&["switch", "-q", "--detach", &tip(session)?])?;
    }
    Ok(ground)
}

/// Removes branches whose work has landed. One that some worktree is on, or that has more, stays.
///
/// # Errors
/// When git cannot be started.
pub fn forget(session: &Session, branches: &[String]) -> Result<()> {
    let git = Git::in_dir(repository(session)?.common_dir());
    let tip = tip(session)?;
    for branch in branches {
        let name = format!("refs/heads/{branch}");
        if git.ask(&["merge-base", "--is-ancestor", &name, &tip], &[])?.code == Some(0) {
            git.ask(&["branch", "-q", "-D", "--", branch], &[])?;
        }
    }
    Ok(())
}

/// Takes a worktree away, unless it has something that is in no commit, or commits that are on no branch. Says whether
/// it did.
///
/// # Errors
/// When git cannot tell.
pub fn take_away(session: &Session, root: &Path) -> Result<bool> {
    if !is_there(session, root)? || look(root)? != Ground::Free {
        return Ok(false);
    }
    let alone = Git::in_dir(root).run(&["rev-list", "-1", "HEAD", "--not", "--branches", "--remotes"])?;
    if !alone.is_empty() {
        return Ok(false);
    }
    let lock = session.control().join("locks/worktrees.lock");
    let mut guard = Guard::open(session.sys(), &lock, session.prepare()?.file())?;
    let _section = guard.enter(session.sys(), LockMode::Exclusive)?;
    let git = Git::in_dir(repository(session)?.common_dir());
    git.run(&["worktree", "remove", "--force", "--", &root.to_string_lossy()])?;
    // The directory above stays while others are in it.
    if let Some(above) = root.parent() {
        let _ = session.sys().files.remove_dir(above);
    }
    Ok(true)
}
