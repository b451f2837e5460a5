//! A worktree on its way from one commit to another. Git writes the files one by one and the index last: where it is killed
//! in between, what it has written looks like work that is in no commit, and the worktree could go nowhere any more. So it
//! is noted where it goes, and whoever comes next has it arrive.

use std::path::{Path, PathBuf};

use holdfast_git::{Mover, ObjectId, Repository};
use holdfast_sys::Open;
use serde::{Deserialize, Serialize};

use super::follow;
use super::plumbing::{Dirty, FLUSHING, Plumbing};
use crate::durable;
use crate::error::Result;
use crate::json;
use crate::leftovers::OWN_BRANCHES;
use crate::notice::Notice;
use crate::session::Session;

/// Where it is noted, in the directory that git keeps for the worktree.
const FILE: &str = "jit-going.json";

/// More than a note can be.
const LONGEST: usize = 1 << 10;

/// What the logs of refs say of a branch that goes where its work has landed.
const LANDED: &str = "jit: landed";

#[derive(Serialize, Deserialize)]
struct Note {
    old: String,
    new: String,
    /// The branch to go to, if it is another one than the worktree is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
}

/// A worktree that goes elsewhere. Dropping it says that it has arrived, or stays where it is.
pub(super) struct Going<'a> {
    session: &'a Session,
    path: PathBuf,
}

impl<'a> Going<'a> {
    /// Notes where this worktree goes: with its branch, or to another one.
    pub(super) fn begin(
        session: &'a Session,
        from: &ObjectId,
        to: &ObjectId,
        branch: Option<&str>,
    ) -> Result<Option<Self>> {
        let Some(repository) = session.repository() else { return Ok(None) };
        let branch = branch.map(ToOwned::to_owned);
        let (path, note) = (place(repository), Note { old: from.to_string(), new: to.to_string(), branch });
        // Who is killed loses nothing of what it wrote: it need not be durable, and a half is none.
        let file = session.sys().files.open(&path, Open::Create { mode: session.access()?.file() })?;
        file.truncate(0)?;
        file.write_all_at(&json::file(&note), 0)?;
        Ok(Some(Self { session, path }))
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        let _ = self.session.sys().files.remove_file(&self.path);
    }
}

fn place(repository: &Repository) -> PathBuf {
    repository.git_dir().join(FILE)
}

/// Moves the branch of this worktree, and the worktree with it, from one commit to another. What is only the
/// tracker's and is in neither is taken over.
pub(super) fn advance(
    session: &Session,
    plumbing: &Plumbing<'_>,
    from: &ObjectId,
    to: &ObjectId,
) -> Result<()> {
    let _going = Going::begin(session, from, to, None)?;
    arrive(session, plumbing, &follow::meeting(plumbing, from, to)?, from, to)
}

/// The same, where it was looked at what has to make way.
fn arrive(
    session: &Session,
    plumbing: &Plumbing<'_>,
    met: &[Dirty],
    from: &ObjectId,
    to: &ObjectId,
) -> Result<()> {
    bring(session, plumbing, met, from, to)?;
    if !advance_here(plumbing, from, to) {
        plumbing.git().run(&["update-ref", "-m", LANDED, "HEAD", &to.to_string(), &from.to_string()])?;
    }
    Ok(())
}

/// Has index and files go from one commit to another.
fn bring(
    session: &Session,
    plumbing: &Plumbing<'_>,
    met: &[Dirty],
    from: &ObjectId,
    to: &ObjectId,
) -> Result<()> {
    follow::take_over(session, plumbing, met, from, to)?;
    plumbing.go(&from.to_string(), &to.to_string())
}

/// Moves the branch of this worktree in this process, where git would do no more than that; says whether it did. Only one
/// whose lock is taken away if it is left.
fn advance_here(plumbing: &Plumbing<'_>, from: &ObjectId, to: &ObjectId) -> bool {
    let Some(mover) = plumbing.mover().map(Mover::unflushed) else { return false };
    let Ok(Some(own)) = mover.own_branch() else { return false };
    own.as_bytes().starts_with(OWN_BRANCHES.as_bytes())
        && mover.advance(&own, from, to, LANDED).unwrap_or(false)
}

/// Has this worktree arrive where somebody who was killed had it go. What is neither of here nor of there was half
/// written, or changed since: it is kept beside, and makes way.
///
/// # Errors
/// When it cannot be told where that is.
pub(super) fn settle(session: &Session) -> Result<()> {
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else { return Ok(()) };
    let path = place(repository);
    let Some(bytes) = durable::read(session.sys(), &path, LONGEST)? else { return Ok(()) };
    if let Err(error) = go_on(session, root, &bytes) {
        session.notice(&Notice::BranchStays(error.to_string()));
    }
    Ok(session.sys().files.remove_file(&path)?)
}

fn go_on(session: &Session, root: &Path, note: &[u8]) -> Result<()> {
    let Ok(Note { old, new, branch }) = serde_json::from_slice(note) else { return Ok(()) };
    let id = |text: &str| ObjectId::from_hex(text.as_bytes());
    let (Some(from), Some(to)) = (id(&old), id(&new)) else { return Ok(()) };
    let plumbing = Plumbing::new(session, root);
    if plumbing.head()? != from {
        return Ok(());
    }
    let met = follow::make_way(session, &plumbing, &new, &from, &to)?;
    let Some(branch) = branch else { return arrive(session, &plumbing, &met, &from, &to) };
    bring(session, &plumbing, &met, &from, &to)?;
    // Somebody may have worked on that branch since: it stays theirs.
    let is_free = match plumbing.branch(&branch)? {
        Some(tip) => plumbing.base(&tip, &to)? == Some(tip),
        None => true,
    };
    let goes: &[&str] = if is_free { &["--no-track", "-C", &branch, &new] } else { &["--detach", &new] };
    plumbing.git().run(&[&FLUSHING[..], &["switch", "-q"], goes].concat())?;
    Ok(())
}
