//! What is made in a repository by this process where that is plain: commits, and moves of refs. Where git would do it
//! otherwise than can be told from here, or somebody wants to know of it, the git program does it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use holdfast_git::objects::{Commit, Made, person};
use holdfast_git::signature::{self, Role};
use holdfast_git::{Git, Mover, ObjectId};

use super::plumbing::{Plumbing, odd};
use crate::error::Result;

impl Plumbing<'_> {
    /// Whether new objects can be written here. Where several users share them git gives each file to all of them, and
    /// where they have two names each git writes down both.
    pub(super) fn may_write(&self) -> Result<bool> {
        let config = self.session().git_config()?;
        let is_own = |value: &Option<Vec<u8>>| matches!(value.as_deref(), Some(b"false" | b"umask" | b"0"));
        Ok(config.get("core.sharedrepository").is_none_or(|entry| is_own(&entry.value))
            && config.get("extensions.compatobjectformat").is_none())
    }

    /// Whoever moves refs here as the git of this worktree would; none if that git has to.
    pub(super) fn mover(&self) -> Option<Mover<'_>> {
        let session = self.session();
        let repository = session.repository().filter(|_| session.root() == Some(self.root()))?;
        let (config, env) = (session.git_config().ok()?, &session.caller.git);
        Mover::find(&*session.sys().files, repository, env, config, self.seconds()?).ok().flatten()
    }

    /// The moment it is, as git counts.
    fn seconds(&self) -> Option<i64> {
        let now = self.session().sys().clock.now().ok()?;
        i64::try_from(now.wall_ms() / 1_000).ok()
    }

    /// A commit. With `like`, its author is that one's.
    pub(super) fn commit(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &[u8],
        like: Option<&ObjectId>,
    ) -> Result<ObjectId> {
        if let Some(made) = self.commit_here(tree, parents, message, like)? {
            return Ok(made);
        }
        let mut git = Git::in_dir(self.root());
        if let Some(like) = like {
            let author = self.author(like)?;
            for (name, value) in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"].iter().zip(author)
            {
                git = git.env(*name, Some(value));
            }
        }
        let mut args = vec!["commit-tree".to_owned(), tree.to_string()];
        for parent in parents {
            args.extend(["-p".to_owned(), parent.to_string()]);
        }
        args.extend(["-F".to_owned(), "-".to_owned()]);
        odd(ObjectId::from_hex(git.run_with(&args, message)?.trim_ascii()), &["commit-tree"])
    }

    /// The same in this process; none where git has to.
    fn commit_here(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &[u8],
        like: Option<&ObjectId>,
    ) -> Result<Option<ObjectId>> {
        let session = self.session();
        let config = session.git_config()?;
        let is_own = session.root() == Some(self.root());
        if !is_own || config.get("i18n.commitencoding").is_some() || !self.may_write()? {
            return Ok(None);
        }
        let (files, env) = (&*session.sys().files, &session.caller.git);
        let by = |role| signature::of(files, env, config, role, self.seconds()?);
        let author = match like {
            Some(like) => self.plain(like).map(|like| like.author).filter(|it| signature::is_kept(it)),
            None => by(Role::Author),
        };
        let (Some(author), Some(committer)) = (author, by(Role::Committer)) else { return Ok(None) };
        let made = Made { tree, parents, author: &author, committer: &committer, message };
        let nonce = session.sys().entropy.nonce()?;
        Ok(self.read(|objects| objects.make_commit(&made, nonce)).flatten())
    }

    /// A commit whose texts are in UTF-8, as far as it can be read here.
    fn plain(&self, id: &ObjectId) -> Option<Commit> {
        self.read(|objects| objects.commit(id)).filter(|commit| commit.encoding.is_none())
    }

    /// Name, address and time of whoever wrote the change of a commit.
    fn author(&self, id: &ObjectId) -> Result<Vec<OsString>> {
        let commit = self.plain(id);
        if let Some((name, address, time)) = commit.as_ref().and_then(|commit| person(&commit.author)) {
            let time = [b"@", time].concat();
            return Ok([name.to_vec(), address.to_vec(), time].map(OsString::from_vec).to_vec());
        }
        let said = self.text(&["log", "-1", "--format=%an%n%ae%n%ad", "--date=raw", &id.to_string()])?;
        Ok(said.lines().map(OsString::from).collect())
    }

    /// The message of a commit.
    pub(super) fn message(&self, commit: &ObjectId) -> Result<Vec<u8>> {
        match self.plain(commit) {
            Some(commit) => Ok(commit.message),
            None => Ok(self.git().run(&["log", "-1", "--format=%B", &commit.to_string()])?),
        }
    }
}
