//! What is asked of the git program here: trees, commits and refs, and what differs in a worktree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use holdfast_git::{Git, ObjectId, RefName};
use holdfast_sys::Sys;

use crate::error::{Error, Result};
use crate::workspace::DATA;
use crate::writes::Files;

/// The git program in one worktree.
pub(super) struct Plumbing {
    root: PathBuf,
    git: Git,
}

/// A file that differs from the last commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dirty {
    pub(super) path: Vec<u8>,
    /// Whether all that differs is in the index.
    pub(super) is_staged: bool,
    /// Whether git does not know it.
    pub(super) is_untracked: bool,
}

impl Dirty {
    /// Whether it belongs to the tracker.
    pub(super) fn is_ours(&self) -> bool {
        is_ours(&self.path)
    }
}

/// Whether a path from the root of a worktree belongs to the tracker.
pub(super) fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(DATA.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// What came of merging two trees.
pub(super) enum Merged {
    Clean(ObjectId),
    Conflict { tree: ObjectId, files: Vec<Vec<u8>> },
}

impl Plumbing {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), git: Git::in_dir(root) }
    }

    /// The same with another index than the worktree's own.
    pub(super) fn with_index(root: &Path, index: &Path) -> Self {
        let git = Git::in_dir(root).env("GIT_INDEX_FILE", Some(OsString::from(index)));
        Self { root: root.to_path_buf(), git }
    }

    /// The directory that git keeps for this worktree.
    pub(super) fn directory(&self) -> Result<PathBuf> {
        let said = self.git.run(&["rev-parse", "--absolute-git-dir"])?;
        let line = said.strip_suffix(b"\n").unwrap_or(&said);
        Ok(PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(line.to_vec())))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) const fn git(&self) -> &Git {
        &self.git
    }

    /// What git says to a question, without the end of the line.
    pub(super) fn text(&self, args: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.git.run(args)?).trim_end().to_owned())
    }

    pub(super) fn id(&self, args: &[&str]) -> Result<ObjectId> {
        let said = self.git.run(args)?;
        odd(ObjectId::from_hex(said.trim_ascii()), args)
    }

    pub(super) fn head(&self) -> Result<ObjectId> {
        self.id(&["rev-parse", "--verify", "HEAD^{commit}"])
    }

    pub(super) fn tree(&self, commit: &ObjectId) -> Result<ObjectId> {
        self.id(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])
    }

    /// Where two commits parted; none if they have nothing in common.
    pub(super) fn base(&self, one: &ObjectId, other: &ObjectId) -> Result<Option<ObjectId>> {
        let said = self.git.ask(&["merge-base", &one.to_string(), &other.to_string()], &[])?;
        Ok(ObjectId::from_hex(said.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default()))
    }

    /// The commits of `tip` that `base` does not have, the oldest first, each with its parents.
    pub(super) fn commits(&self, base: &ObjectId, tip: &ObjectId) -> Result<Vec<(ObjectId, Vec<ObjectId>)>> {
        let args = [
            "rev-list",
            "--reverse",
            "--topo-order",
            "--parents",
            &tip.to_string(),
            "--not",
            &base.to_string(),
        ];
        let said = self.git.run(&args)?;
        let mut commits = Vec::new();
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut ids = line.split(|byte| *byte == b' ').filter_map(ObjectId::from_hex);
            let commit = odd(ids.next(), &args)?;
            commits.push((commit, ids.collect()));
        }
        Ok(commits)
    }

    /// The paths that differ between two trees.
    pub(super) fn changed(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Vec<u8>>> {
        let args =
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &old.to_string(), &new.to_string()];
        let said = self.git.run(&args)?;
        Ok(said.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// The paths that the index has otherwise than the last commit.
    pub(super) fn staged(&self) -> Result<Vec<Vec<u8>>> {
        let said = self.git.run(&["diff", "--cached", "-z", "--name-only", "--no-renames"])?;
        Ok(said.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// What differs from the last commit, in the index or in files.
    pub(super) fn dirty(&self) -> Result<Vec<Dirty>> {
        let args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
        let said = self.git.run(&args)?;
        let entries = said.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        Ok(entries
            .filter_map(|entry| {
                let (marks, path) = entry.split_at_checked(3)?;
                let is_untracked = marks.starts_with(b"??");
                let is_staged = !is_untracked && marks.get(1) == Some(&b' ');
                Some(Dirty { path: path.to_vec(), is_staged, is_untracked })
            })
            .collect())
    }

    /// What differs from a commit, which need not be the last one, in the index or in files.
    pub(super) fn dirty_against(&self, commit: &ObjectId) -> Result<Vec<Dirty>> {
        let commit = commit.to_string();
        let paths = |args: &[&str]| -> Result<Vec<Vec<u8>>> {
            let said = self.git.run(args)?;
            Ok(said.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
        };
        // Files that were only touched are no difference.
        self.git.ask(&["update-index", "-q", "--refresh"], &[])?;
        let mut known = paths(&["diff-index", "-z", "--name-only", "--no-renames", &commit])?;
        known.extend(paths(&["diff-index", "--cached", "-z", "--name-only", "--no-renames", &commit])?);
        known.sort();
        known.dedup();
        let others = paths(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let one = |is_untracked| move |path| Dirty { path, is_staged: false, is_untracked };
        Ok(known.into_iter().map(one(false)).chain(others.into_iter().map(one(true))).collect())
    }

    /// Merges two commits, or what one did since `base` into the other.
    pub(super) fn merge(
        &self,
        base: Option<&ObjectId>,
        ours: &ObjectId,
        theirs: &ObjectId,
    ) -> Result<Merged> {
        let mut args = vec![
            "merge-tree".to_owned(),
            "--write-tree".to_owned(),
            "-z".to_owned(),
            "--name-only".to_owned(),
        ];
        args.push("--no-messages".to_owned());
        args.extend(base.map(|base| format!("--merge-base={base}")));
        args.extend([ours.to_string(), theirs.to_string()]);
        let said = self.git.ask(&args, &[])?;
        if !matches!(said.code, Some(0 | 1)) {
            return Err(holdfast_git::Error::Failed {
                command: args.join(" "),
                code: said.code,
                stderr: String::from_utf8_lossy(&said.stderr).into_owned(),
            }
            .into());
        }
        let mut parts = said.stdout.split(|byte| *byte == 0);
        let tree = odd(parts.next().and_then(ObjectId::from_hex), &["merge-tree"])?;
        if said.code == Some(0) {
            return Ok(Merged::Clean(tree));
        }
        let files = parts.take_while(|path| !path.is_empty()).map(<[u8]>::to_vec).collect();
        Ok(Merged::Conflict { tree, files })
    }

    /// The content of a file in a commit or tree; none if there is none.
    pub(super) fn show(&self, tree: &ObjectId, path: &str) -> Result<Option<Vec<u8>>> {
        let said = self.git.ask(&["cat-file", "blob", &format!("{tree}:{path}")], &[])?;
        Ok((said.code == Some(0)).then_some(said.stdout))
    }

    /// A tree like this one, with these files in it; those without content are taken out.
    pub(super) fn with_files(&self, sys: &Sys, tree: &ObjectId, files: &Files) -> Result<ObjectId> {
        let index = self.directory()?.join(format!("jit-index-{:032x}", sys.entropy.nonce()?));
        let git = Git::in_dir(&self.root).env("GIT_INDEX_FILE", Some(OsString::from(&index)));
        let made = self.fill(&git, tree, files);
        let _ = sys.files.remove_file(&index);
        made
    }

    fn fill(&self, git: &Git, tree: &ObjectId, files: &Files) -> Result<ObjectId> {
        git.run(&["read-tree", &tree.to_string()])?;
        let mut lines = Vec::new();
        for (path, content) in files {
            let line = match content {
                Some(bytes) => {
                    let blob = git.run_with(&["hash-object", "-w", "--stdin"], bytes)?;
                    format!("100644 {}\t{path}\0", String::from_utf8_lossy(blob.trim_ascii()))
                }
                None => format!("0 {}\t{path}\0", "0".repeat(40)),
            };
            lines.extend(line.into_bytes());
        }
        git.run_with(&["update-index", "-z", "--index-info"], &lines)?;
        let args = ["write-tree"];
        odd(ObjectId::from_hex(git.run(&args)?.trim_ascii()), &args)
    }

    /// A commit. With `like`, its author is that one's.
    pub(super) fn commit(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &[u8],
        like: Option<&ObjectId>,
    ) -> Result<ObjectId> {
        let mut git = Git::in_dir(&self.root);
        if let Some(like) = like {
            let said =
                self.text(&["log", "-1", "--format=%an%n%ae%n%ad", "--date=raw", &like.to_string()])?;
            for (name, value) in
                ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"].iter().zip(said.lines())
            {
                git = git.env(*name, Some(value.into()));
            }
        }
        let mut args = vec!["commit-tree".to_owned(), tree.to_string()];
        for parent in parents {
            args.extend(["-p".to_owned(), parent.to_string()]);
        }
        args.extend(["-F".to_owned(), "-".to_owned()]);
        odd(ObjectId::from_hex(git.run_with(&args, message)?.trim_ascii()), &["commit-tree"])
    }

    /// The message of a commit.
    pub(super) fn message(&self, commit: &ObjectId) -> Result<Vec<u8>> {
        Ok(self.git.run(&["log", "-1", "--format=%B", &commit.to_string()])?)
    }

    /// Moves a branch, if it is where it is thought to be; says whether it was.
    pub(super) fn swap(
        &self,
        branch: &str,
        old: Option<&ObjectId>,
        new: &ObjectId,
        why: &str,
    ) -> Result<bool> {
        let name = format!("refs/heads/{branch}");
        let old = old.map_or_else(|| "0".repeat(40), ToString::to_string);
        let said = self.git.ask(&["update-ref", "-m", why, &name, &new.to_string(), &old], &[])?;
        if said.code == Some(0) {
            return Ok(true);
        }
        let now = self.git.ask(&["rev-parse", "--quiet", "--verify", &name], &[])?;
        let now = ObjectId::from_hex(now.stdout.trim_ascii());
        if now.as_ref() == Some(new) {
            return Ok(true);
        }
        if now.map_or_else(|| "0".repeat(40), |now| now.to_string()) == old {
            let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
            return Err(holdfast_git::Error::Failed {
                command: "git update-ref".into(),
                code: said.code,
                stderr,
            }
            .into());
        }
        Ok(false)
    }

    /// The commit that a branch is on; none if there is none.
    pub(super) fn branch(&self, name: &str) -> Result<Option<ObjectId>> {
        let full = format!("refs/heads/{name}");
        if RefName::new(full.as_bytes()).is_none() {
            return Ok(None);
        }
        let said = self.git.ask(&["rev-parse", "--quiet", "--verify", &format!("{full}^{{commit}}")], &[])?;
        Ok(ObjectId::from_hex(said.stdout.trim_ascii()))
    }
}

fn odd(id: Option<ObjectId>, args: &[&str]) -> Result<ObjectId> {
    id.ok_or_else(|| Error::Internal(format!("git {} named no object", args.join(" "))))
}
