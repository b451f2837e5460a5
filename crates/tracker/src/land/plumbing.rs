//! What is asked of git here: trees, commits and refs, and what differs in a worktree. What only has to be read is read
//! in this process, and so are objects and moves of refs made where they are plain; the git program is started where it must act, and where something can only be
//! read by it: refs in a table, objects that are still at a remote, messages in other encodings.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use holdfast_git::objects::Mode;
use holdfast_git::{Git, ObjectId, Objects, RefName};

use crate::error::{Error, Result};
use crate::leftovers::WORKING;
use crate::notice::Notice;
use crate::reach;
use crate::session::Session;
use crate::target::ORIGIN;
use crate::workspace::{self, DATA};
use crate::writes::Files;

/// A file larger than this is not looked into.
const LARGEST: usize = 256 << 20;

/// As many paths as are named one by one; where more matter, everything is looked at.
const MOST_NAMED: usize = 256;

/// How git ends when it does not know what was typed.
const USAGE: i32 = 129;

/// Git, seen from one worktree.
pub(super) struct Plumbing<'a> {
    session: &'a Session,
    root: PathBuf,
    git: Git,
    /// The objects; none where only git can read them.
    objects: Option<Objects<'a>>,
    /// Another index than the worktree's own.
    index: Option<PathBuf>,
    /// The directory that git keeps for this worktree, once it was looked for.
    directory: OnceLock<PathBuf>,
}

/// A file that differs from the last commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dirty {
    pub(super) path: Vec<u8>,
    /// Whether all that differs is in the index.
    pub(super) is_staged: bool,
    /// Whether something that differs is in the index.
    pub(super) is_in_index: bool,
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

/// Has git flush objects, refs and the index before anything leads to them. By itself it does not, and after a power loss a
/// branch may lead to objects that are empty, and an index be none.
pub(super) const FLUSHING: [&str; 4] =
    ["-c", "core.fsync=committed,reference,index", "-c", "core.fsyncMethod=fsync"];

impl<'a> Plumbing<'a> {
    pub(super) fn new(session: &'a Session, root: &Path) -> Self {
        let repository = session.repository();
        let objects = repository.and_then(|it| workspace::objects(&session.caller, it).ok());
        let git = match session.mark() {
            Some(mark) => Git::in_dir(root).env(WORKING, Some(mark.into())),
            None => Git::in_dir(root),
        };
        Self { session, root: root.to_path_buf(), git, objects, index: None, directory: OnceLock::new() }
    }

    /// The same with another index than the worktree's own.
    pub(super) fn with_index(session: &'a Session, root: &Path, index: &Path) -> Self {
        let git = Git::in_dir(root).env("GIT_INDEX_FILE", Some(OsString::from(index)));
        Self { git, index: Some(index.to_path_buf()), ..Self::new(session, root) }
    }

    pub(super) const fn session(&self) -> &Session {
        self.session
    }

    /// The file of the index; none if the environment has git use another one.
    pub(super) fn index(&self) -> Option<PathBuf> {
        match &self.index {
            Some(index) => Some(index.clone()),
            None if self.session.caller.git.index_file.is_some() => None,
            None => Some(self.directory().ok()?.join("index")),
        }
    }

    /// What can be read in this process; none where git has to be asked.
    pub(super) fn read<T>(&self, look: impl FnOnce(&Objects<'a>) -> holdfast_git::Result<T>) -> Option<T> {
        self.objects.as_ref().and_then(|objects| look(objects).ok())
    }

    /// The directory that git keeps for this worktree.
    pub(super) fn directory(&self) -> Result<&Path> {
        if let Some(known) = self.directory.get() {
            return Ok(known);
        }
        let found = self.find_directory()?;
        Ok(self.directory.get_or_init(|| found))
    }

    fn find_directory(&self) -> Result<PathBuf> {
        let files = &*self.session.sys().files;
        let known = self.session.repository().map(|repository| repository.worktrees(files));
        let known = known.and_then(|known| known.ok()?.into_iter().find(|one| one.path == self.root));
        if let Some(known) = known {
            return Ok(known.git_dir);
        }
        let said = self.git.run(&["rev-parse", "--absolute-git-dir"])?;
        let line = said.strip_suffix(b"\n").unwrap_or(&said);
        Ok(PathBuf::from(OsString::from_vec(line.to_vec())))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) const fn git(&self) -> &Git {
        &self.git
    }

    /// Git, for what reaches the remote.
    pub(super) fn remote_git(&self) -> Result<Git> {
        let git = self.git.clone();
        match self.session.repository() {
            Some(repository) => Ok(reach::to(git, &self.session.caller, repository, ORIGIN)?),
            None => Ok(git),
        }
    }

    /// Has the remote say where these branches are, or all. If it does not, that is said, and why.
    pub(super) fn fetch(&self, refs: &[&str]) -> Result<bool> {
        let (git, caller) = (self.remote_git()?, &self.session.caller);
        let words = [&[ORIGIN], refs].concat();
        let said = reach::fetch(git, &caller.sys, self.session.repository(), &words, None);
        if let Err(why) = &said {
            self.session.notice(&Notice::NotFetched { remote: ORIGIN.to_owned(), why: why.clone() });
        }
        Ok(said.is_ok())
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
        let here = self.session.repository().filter(|_| self.session.root() == Some(&self.root));
        if let Some(Ok(Some(head))) = here.map(|here| workspace::head_commit(&self.session.caller, here)) {
            return Ok(head);
        }
        self.id(&["rev-parse", "--verify", "HEAD^{commit}"])
    }

    pub(super) fn tree(&self, commit: &ObjectId) -> Result<ObjectId> {
        match self.read(|objects| objects.commit(commit)) {
            Some(commit) => Ok(commit.tree),
            None => self.id(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")]),
        }
    }

    /// The commits before a commit.
    pub(super) fn parents(&self, commit: &ObjectId) -> Result<Vec<ObjectId>> {
        if let Some(commit) = self.read(|objects| objects.commit(commit)) {
            return Ok(commit.parents);
        }
        let said = self.text(&["log", "-1", "--format=%P", &commit.to_string()])?;
        Ok(said.split(' ').filter_map(|parent| ObjectId::from_hex(parent.as_bytes())).collect())
    }

    /// Where two commits parted; none if they have nothing in common.
    pub(super) fn base(&self, one: &ObjectId, other: &ObjectId) -> Result<Option<ObjectId>> {
        if let Some(base) = self.read(|objects| objects.merge_base(one, other)) {
            return Ok(base);
        }
        let said = self.git.ask(&["merge-base", &one.to_string(), &other.to_string()], &[])?;
        Ok(ObjectId::from_hex(said.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default()))
    }

    /// The commits of `tip` that `base` does not have, the oldest first, each with its parents.
    pub(super) fn commits(&self, base: &ObjectId, tip: &ObjectId) -> Result<Vec<(ObjectId, Vec<ObjectId>)>> {
        self.beyond(tip, &[*base])
    }

    /// The commits of `tip` that none of `others` has, the oldest first, each with its parents.
    pub(super) fn beyond(
        &self,
        tip: &ObjectId,
        others: &[ObjectId],
    ) -> Result<Vec<(ObjectId, Vec<ObjectId>)>> {
        if let Some(commits) = self.read(|objects| objects.beyond(tip, others)) {
            return Ok(commits);
        }
        let mut args: Vec<String> =
            ["rev-list", "--reverse", "--topo-order", "--parents"].map(ToOwned::to_owned).to_vec();
        args.extend([tip.to_string(), "--not".to_owned()]);
        args.extend(others.iter().map(ToString::to_string));
        let said = self.git.run(&args)?;
        let mut commits = Vec::new();
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut ids = line.split(|byte| *byte == b' ').filter_map(ObjectId::from_hex);
            let commit = odd(ids.next(), &["rev-list"])?;
            commits.push((commit, ids.collect()));
        }
        Ok(commits)
    }

    /// The paths that differ between two commits.
    pub(super) fn changed(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Vec<u8>>> {
        let differences = self.read(|objects| {
            let (old, new) = (objects.commit(old)?.tree, objects.commit(new)?.tree);
            objects.differences(&old, &new)
        });
        if let Some(differences) = differences {
            return Ok(differences.into_iter().map(|change| change.path).collect());
        }
        let args =
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &old.to_string(), &new.to_string()];
        self.paths(&args)
    }

    fn paths(&self, args: &[&str]) -> Result<Vec<Vec<u8>>> {
        let said = self.git.run(args)?;
        Ok(said.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect())
    }

    /// The paths that the index has otherwise than the last commit.
    pub(super) fn staged(&self) -> Result<Vec<Vec<u8>>> {
        if let Some(staged) = self.head().ok().and_then(|head| self.looked_at_index(&head)) {
            return Ok(staged);
        }
        self.paths(&["diff", "--cached", "-z", "--name-only", "--no-renames"])
    }

    /// What differs from the last commit, in the index or in files. Of the tracker's own files only what is staged need be
    /// told: they are written by every command, and looked at by whoever makes way for others.
    pub(super) fn dirty(&self) -> Result<Vec<Dirty>> {
        match self.looked_over() {
            Some(dirty) => Ok(dirty),
            None => self.status(&[]),
        }
    }

    /// What differs from the last commit among these paths, or anywhere if none is named.
    fn status(&self, paths: &[&Vec<u8>]) -> Result<Vec<Dirty>> {
        let args = ["--literal-pathspecs", "status", "--porcelain=v1", "-z", "--no-renames"];
        let mut args: Vec<OsString> = args.map(OsString::from).to_vec();
        args.extend(["--untracked-files=all", "--"].map(OsString::from));
        args.extend(paths.iter().map(|path| OsString::from_vec((*path).clone())));
        let said = self.git.run(&args)?;
        let entries = said.split(|byte| *byte == 0).filter(|entry| entry.len() > 3);
        Ok(entries
            .filter_map(|entry| {
                let (marks, path) = entry.split_at_checked(3)?;
                let is_untracked = marks.starts_with(b"??");
                let is_staged = !is_untracked && marks.get(1) == Some(&b' ');
                let is_in_index = !is_untracked && marks.first() != Some(&b' ');
                Some(Dirty { path: path.to_vec(), is_staged, is_in_index, is_untracked })
            })
            .collect())
    }

    /// What differs from a commit among these paths, in the index or in files.
    pub(super) fn dirty_among(&self, commit: &ObjectId, paths: &BTreeSet<Vec<u8>>) -> Result<Vec<Dirty>> {
        if let (1..=MOST_NAMED, Some(dirty)) = (paths.len(), self.looked_at(commit, paths)) {
            return Ok(dirty);
        }
        let mut dirty = match paths.len() {
            0 => Vec::new(),
            // What differs from the last commit git says in one answer.
            _ if !self.is_on(commit)? => self.dirty_against(commit)?,
            1..=MOST_NAMED => self.status(&paths.iter().collect::<Vec<_>>())?,
            _ => self.status(&[])?,
        };
        dirty.retain(|dirty| paths.contains(&dirty.path));
        Ok(dirty)
    }

    /// Whether this worktree is on a commit.
    fn is_on(&self, commit: &ObjectId) -> Result<bool> {
        let files = &*self.session.sys().files;
        let Some(repository) = self.session.repository() else { return Ok(false) };
        let known = repository.worktrees(files)?.into_iter().find(|one| one.path == self.root);
        let at = match known.map(|known| known.head) {
            Some(Ok(holdfast_git::Head::Detached(id))) => Some(id),
            Some(Ok(holdfast_git::Head::Branch(name))) => repository.resolve(files, &name).ok().flatten(),
            _ => None,
        };
        Ok(at.as_ref() == Some(commit))
    }

    /// What differs from a commit, which need not be the last one, in the index or in files.
    fn dirty_against(&self, commit: &ObjectId) -> Result<Vec<Dirty>> {
        let commit = commit.to_string();
        // Files that were only touched are no difference.
        self.git.ask(&["update-index", "-q", "--refresh"], &[])?;
        let mut known = self.paths(&["diff-index", "-z", "--name-only", "--no-renames", &commit])?;
        known.extend(self.paths(&[
            "diff-index",
            "--cached",
            "-z",
            "--name-only",
            "--no-renames",
            &commit,
        ])?);
        known.sort();
        known.dedup();
        let others = self.paths(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let one = |is_untracked: bool| {
            move |path| Dirty { path, is_staged: false, is_in_index: !is_untracked, is_untracked }
        };
        Ok(known.into_iter().map(one(false)).chain(others.into_iter().map(one(true))).collect())
    }

    /// Has the index and the files go from one commit to another. What is in no commit stays, or nothing is done.
    pub(super) fn go(&self, from: &str, to: &str) -> Result<()> {
        let args = ["read-tree", "-m", "-u", from, to];
        if self.git.ask(&args, &[])?.code == Some(0) {
            return Ok(());
        }
        // Files that were only touched are no difference.
        self.git.ask(&["update-index", "-q", "--refresh"], &[])?;
        self.git.run(&args)?;
        Ok(())
    }

    /// Merges two commits, or what one did since `base` into the other.
    pub(super) fn merge(
        &self,
        base: Option<&ObjectId>,
        ours: &ObjectId,
        theirs: &ObjectId,
    ) -> Result<Merged> {
        let mut args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]
            .map(ToOwned::to_owned)
            .to_vec();
        args.extend(base.map(|base| format!("--merge-base={base}")));
        args.extend([ours.to_string(), theirs.to_string()]);
        let said = self.git.ask(&args, &[])?;
        if let (Some(base), Some(USAGE)) = (base, said.code) {
            let (ours, theirs) = self.with_base(base, ours, theirs)?;
            return self.merge(None, &ours, &theirs);
        }
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

    /// Commits with the content of two others that parted at a third. Git before 2.40 cannot be told what to merge on: it
    /// has to find it. Nothing leads to them, so git takes them away in time.
    fn with_base(&self, base: &ObjectId, ours: &ObjectId, theirs: &ObjectId) -> Result<(ObjectId, ObjectId)> {
        let base = self.commit(&self.tree(base)?, &[], b"base\n", None)?;
        let on_it = |commit| self.commit(&self.tree(commit)?, &[base], b"side\n", None);
        Ok((on_it(ours)?, on_it(theirs)?))
    }

    /// The last commit up to a tip that changed a file, through first parents only.
    pub(super) fn last_change(&self, tip: &ObjectId, path: &str) -> Result<Option<ObjectId>> {
        if let Some(last) = self.read(|objects| objects.last_change(tip, path.as_bytes(), usize::MAX)) {
            return Ok(last);
        }
        let tip = tip.to_string();
        let said = self.text(&["log", "-1", "--first-parent", "--format=%H", &tip, "--", path])?;
        Ok(ObjectId::from_hex(said.as_bytes()))
    }

    /// The content of a file in a commit; none if it has none of that name.
    pub(super) fn show(&self, commit: &ObjectId, path: &str) -> Result<Option<Vec<u8>>> {
        let read = self.read(|objects| {
            let tree = objects.commit(commit)?.tree;
            match objects.entry(&tree, path.as_bytes())? {
                Some(entry) if !matches!(entry.mode, Mode::Tree | Mode::Submodule) => {
                    objects.blob(&entry.id, LARGEST).map(Some)
                }
                _ => Ok(None),
            }
        });
        if let Some(read) = read {
            return Ok(read);
        }
        // That there is none is told apart from one that cannot be read.
        let listed =
            self.git.run(&["--literal-pathspecs", "ls-tree", "-z", &commit.to_string(), "--", path])?;
        if !listed.windows(6).any(|word| word == b" blob ") {
            return Ok(None);
        }
        Ok(Some(self.git.run(&["cat-file", "blob", &format!("{commit}:{path}")])?))
    }

    /// A tree like this one, with these files in it; those without content are taken out.
    pub(super) fn with_files(&self, tree: &ObjectId, files: &Files) -> Result<ObjectId> {
        let sys = self.session.sys();
        let nonce = sys.entropy.nonce()?;
        if self.may_write()? {
            let contents =
                files.iter().map(|(path, content)| (path.as_bytes(), content.as_deref())).collect();
            if let Some(tree) = self.read(|objects| objects.with_files(tree, &contents, nonce)) {
                return Ok(tree);
            }
        }
        let index = self.directory()?.join(format!("jit-index-{nonce:032x}"));
        let git = Git::in_dir(&self.root).env("GIT_INDEX_FILE", Some(OsString::from(&index)));
        let made = fill(&git, tree, files);
        let _ = sys.files.remove_file(&index);
        made
    }

    /// A tree like this one, but with the tracker's files of another commit, or without any.
    pub(super) fn with_own_files_of(&self, tree: &ObjectId, commit: Option<&ObjectId>) -> Result<ObjectId> {
        let other = commit.map(|commit| self.tree(commit)).transpose()?;
        let nonce = self.session.sys().entropy.nonce()?;
        if self.may_write()? {
            let made =
                self.read(|objects| objects.with_entry_of(tree, DATA.as_bytes(), other.as_ref(), nonce));
            if let Some(made) = made {
                return Ok(made);
            }
        }
        let name = |entry: &[u8]| entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default().to_vec();
        let mut input = Vec::new();
        for (id, own) in [(Some(*tree), false), (other, true)] {
            let Some(id) = id else { continue };
            let said = self.git.run(&["ls-tree", "-z", &id.to_string()])?;
            let listed = said.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
            for entry in listed.filter(|entry| (name(entry) == DATA.as_bytes()) == own) {
                input.extend(entry);
                input.push(0);
            }
        }
        let args = ["mktree", "-z"];
        odd(ObjectId::from_hex(self.git.run_with(&args, &input)?.trim_ascii()), &args)
    }

    /// Makes durable what git has written. By itself it flushes neither objects nor refs, and one that the power takes away
    /// would be missed by whatever is told of it afterwards.
    pub(super) fn flush(&self) -> Result<()> {
        let Some(repository) = self.session.repository() else { return Ok(()) };
        match self.session.sys().files.sync_all(repository.common_dir()) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(()),
            flushed => Ok(flushed?),
        }
    }

    /// The commit that a branch here or at the remote is on, by the name that people type.
    pub(super) fn tip(&self, name: &str) -> Result<ObjectId> {
        match self.branch(name)? {
            Some(tip) => Ok(tip),
            None => self.id(&["rev-parse", "--verify", "--end-of-options", &format!("{name}^{{commit}}")]),
        }
    }

    /// The commit that a branch is on; none if there is none.
    pub(super) fn branch(&self, name: &str) -> Result<Option<ObjectId>> {
        let full = format!("refs/heads/{name}");
        let Some(known) = RefName::new(full.as_bytes()) else { return Ok(None) };
        let files = &*self.session.sys().files;
        if let Some(Ok(tip)) = self.session.repository().map(|repository| repository.resolve(files, &known)) {
            return Ok(tip);
        }
        let said = self.git.ask(&["rev-parse", "--quiet", "--verify", &format!("{full}^{{commit}}")], &[])?;
        Ok(ObjectId::from_hex(said.stdout.trim_ascii()))
    }
}

fn fill(git: &Git, tree: &ObjectId, files: &Files) -> Result<ObjectId> {
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

pub(super) fn odd(id: Option<ObjectId>, args: &[&str]) -> Result<ObjectId> {
    id.ok_or_else(|| Error::Internal(format!("git {} named no object", args.join(" "))))
}
