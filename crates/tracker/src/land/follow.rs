//! A worktree that has the target checked out has to follow it. If only the ref moved, everything that landed would look
//! like a staged change that takes it back, and the next `git commit -a` there would. So what has to be done is noted
//! durably before the ref moves; the next command of anybody does what a dying one did not come to.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use holdfast_git::ObjectId;
use holdfast_sys::{Guard, LockMode, Open};
use serde::{Deserialize, Serialize};

use super::moving;
use super::plumbing::{Dirty, Plumbing};
use super::under_way;
use crate::durable;
use crate::error::{Error, LandError, Result};
use crate::issues::Issue;
use crate::json;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::NOTES;

/// What the lock of an index holds while its worktree has to follow, so that whoever finds it knows whose it is.
const MARK: &[u8] = b"jit: this worktree has to follow its branch; any jit command does that\n";

/// Where files are kept that were half written when a landing was cut off.
const SET_ASIDE: &str = "landing-set-aside";

/// A longer file stays where it is.
const LONGEST: usize = 256 << 20;

/// That a worktree has to follow its branch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Note {
    branch: String,
    root: PathBuf,
    old: String,
    new: String,
}

/// A worktree that has to follow the target. From before the target moves until the worktree has followed, the lock of
/// its index is held: no commit can be made there that would take back what landed, also if whoever moves it dies.
pub(super) struct Follow<'a> {
    session: &'a Session,
    /// The directory that git keeps for the worktree.
    directory: PathBuf,
    path: PathBuf,
    note: Note,
    /// What differs there and has to make way, as it was found when the index was locked; none if that is not known. The
    /// copy of the index is then there, too.
    met: RefCell<Option<Vec<Dirty>>>,
}

/// The lock of whoever moves the target.
pub(super) fn lock(session: &Session) -> Result<Guard> {
    let access = session.prepare()?;
    Ok(Guard::open(session.sys(), &session.control().join("locks/landing.lock"), access.file())?)
}

impl<'a> Follow<'a> {
    /// The worktree that has the target checked out, noted and locked; none if no worktree has. Only under the lock of
    /// whoever moves the target, who then lets it [follow](Self::finish) or [stay](Self::cancel).
    ///
    /// # Errors
    /// When it has something that would be overwritten, or is in the middle of a merge.
    pub(super) fn prepare(
        session: &'a Session,
        branch: &str,
        old: &ObjectId,
        new: &ObjectId,
    ) -> Result<Option<Self>> {
        let known = session.worktrees()?;
        let entry = known.into_iter().find(|entry| !entry.gone && entry.branch.as_deref() == Some(branch));
        let Some(entry) = entry else { return Ok(None) };
        let directory = Plumbing::new(session, &entry.root).directory()?.to_path_buf();
        let dirty = |files: Vec<String>, what: &str| LandError::TargetDirty {
            branch: branch.to_owned(),
            root: entry.root.clone(),
            what: what.to_owned(),
            files,
        };
        if let Some((what, _)) = under_way::find(session, &directory) {
            return Err(dirty(Vec::new(), &format!("a {what} is under way there")).into());
        }
        let id = session.sys().entropy.lease_id(&session.sys().clock.now()?)?;
        let path = session.control().join(NOTES).join(format!("{id}.json"));
        let note = Note {
            branch: branch.to_owned(),
            root: entry.root.clone(),
            old: old.to_string(),
            new: new.to_string(),
        };
        let follow = Self { session, directory, path, note, met: RefCell::default() };
        let ready = follow.write_note().and_then(|()| {
            if !follow.take_index()? {
                return Err(dirty(Vec::new(), "git is at work there").into());
            }
            let (met, in_the_way) = follow.with_index(|plumbing| {
                let met = meeting(plumbing, old, new)?;
                let in_the_way = in_the_way(session, plumbing, &met, new)?;
                Ok((met, in_the_way))
            })?;
            follow.met.replace(Some(met));
            if in_the_way.is_empty() {
                Ok(())
            } else {
                Err(dirty(in_the_way, "it has changes of its own").into())
            }
        });
        match ready {
            Ok(()) => Ok(Some(follow)),
            Err(error) => {
                follow.cancel();
                Err(error)
            }
        }
    }

    fn write_note(&self) -> Result<()> {
        let (directory, file) = self.session.prepare()?.places();
        durable::make_dirs(self.session.sys(), self.path.parent().unwrap_or(&self.path), directory)?;
        Ok(durable::replace(self.session.sys(), &self.path, &json::file(&self.note), file)?)
    }

    fn index_lock(&self) -> PathBuf {
        self.directory.join("index.lock")
    }

    /// Takes the lock of the index, or goes on with the one that somebody took for the same and died; says whether it did.
    fn take_index(&self) -> Result<bool> {
        let files = &self.session.sys().files;
        // It appears with what it holds, or whoever finds it would not know whose it is.
        let beside = self.own("lock");
        let _ = files.remove_file(&beside);
        let handle = files.open(&beside, Open::New { mode: 0o644 })?;
        handle.write_all_at(MARK, 0)?;
        // As durable as the move that it stands before: after a power loss too it is there, and known.
        handle.sync()?;
        let taken = files.link(&beside, &self.index_lock());
        files.remove_file(&beside)?;
        match taken {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => self.has_index(),
            taken => {
                taken?;
                files.sync_dir(&self.directory)?;
                Ok(true)
            }
        }
    }

    /// A file of this note in the directory that git keeps for the worktree.
    fn own(&self, name: &str) -> PathBuf {
        let note = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.directory.join(format!("jit-{name}-{note}"))
    }

    /// Whether the lock of the index is one of these. Only whoever moves the target makes them, so it is nobody's who lives.
    fn has_index(&self) -> Result<bool> {
        let held = durable::read(self.session.sys(), &self.index_lock(), 1 << 10)?;
        Ok(held.is_some_and(|held| held == MARK))
    }

    /// Does something with a copy of the index.
    fn with_index<T>(&self, act: impl FnOnce(&Plumbing<'_>) -> Result<T>) -> Result<T> {
        let (sys, index) = (self.session.sys(), self.directory.join("index"));
        let copy = self.own("index");
        let bytes = match sys.files.open(&index, Open::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            handle => Some(handle?.read_from(0, usize::MAX)?),
        };
        for left in [copy.clone(), lock_of(&copy)] {
            let _ = sys.files.remove_file(&left);
        }
        if let Some(bytes) = bytes {
            sys.files.open(&copy, Open::New { mode: 0o644 })?.write_all_at(&bytes, 0)?;
        }
        act(&Plumbing::with_index(self.session, &self.note.root, &copy))
    }

    /// Nothing has to be done any more: the target did not move, or the worktree has followed.
    pub(super) fn cancel(&self) {
        let files = &self.session.sys().files;
        if self.has_index().unwrap_or(false) {
            let _ = files.remove_file(&self.index_lock());
            // Before the note goes: without it nobody would know whose lock that is.
            let _ = files.sync_dir(&self.directory);
        }
        let copy = self.own("index");
        for left in [lock_of(&copy), copy] {
            let _ = files.remove_file(&left);
        }
        let _ = files.remove_file(&self.path);
    }

    /// Ends what [`Self::follow`] began, once that is durable: only then is nothing left to do, also for whoever comes after
    /// a power loss. If it was not possible, the note stays, and the next command tries again.
    pub(super) fn finish(&self, followed: Result<()>) {
        let done = followed.and_then(|()| {
            let files = &self.session.sys().files;
            files.rename(&self.own("index"), &self.directory.join("index"))?;
            files.sync_dir(&self.directory)?;
            Ok(())
        });
        self.close(done);
    }

    /// Has the files go where the branch is, and a copy of the index with them. Nothing of it is durable yet.
    pub(super) fn follow(&self) -> Result<()> {
        let id = |text: &str| ObjectId::from_hex(text.as_bytes());
        let (old, new) = (&self.note.old, &self.note.new);
        let met = self.met.take();
        let is_prepared = met.is_some();
        let go = |plumbing: &Plumbing<'_>| -> Result<()> {
            if let (Some(from), Some(to)) = (id(old), id(new)) {
                let met = match met {
                    Some(met) => met,
                    None => {
                        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
                        make_way(self.session, plumbing, &name, &from, &to)?
                    }
                };
                take_over(self.session, plumbing, &met, &from, &to)?;
            }
            plumbing.go(old, new)
        };
        // Nobody else can have changed the index since its copy was made.
        if is_prepared {
            go(&Plumbing::with_index(self.session, &self.note.root, &self.own("index")))
        } else {
            self.with_index(go)
        }
    }

    fn close(&self, done: Result<()>) {
        match done {
            Ok(()) => self.cancel(),
            Err(error) => {
                let root = self.note.root.display().to_string();
                self.session.notice(&Notice::NotFollowed { root, why: error.to_string() });
            }
        }
    }

    /// Does what was noted, if the branch did move; says whether it did.
    fn settle(&self) -> Result<bool> {
        let (branch, new) = (&self.note.branch, &self.note.new);
        let plumbing = Plumbing::new(self.session, &self.note.root);
        let head = plumbing.git().ask(&["symbolic-ref", "--quiet", "HEAD"], &[])?;
        if String::from_utf8_lossy(&head.stdout).trim_end() != format!("refs/heads/{branch}") {
            return Ok(false);
        }
        let has = ["merge-base", "--is-ancestor", new, &format!("refs/heads/{branch}")];
        if plumbing.git().ask(&has, &[])?.code != Some(0) {
            return Ok(false);
        }
        if !self.take_index()? {
            return Err(Error::Internal(format!("{} is there", self.index_lock().display())));
        }
        self.follow()?;
        plumbing.flush()?;
        Ok(true)
    }
}

/// The lock that git takes to write a file.
fn lock_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Does what landings that were cut off left to do.
///
/// # Errors
/// When it cannot be told what that is.
pub fn settle(session: &Session) -> Result<()> {
    let directory = session.control().join(NOTES);
    let list = || match session.sys().files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        names => names,
    };
    if list()?.is_empty() && session.sys().files.stat(&moving::path(session)).is_err() {
        return Ok(());
    }
    let mut lock = lock(session)?;
    let _section = lock.enter(session.sys(), LockMode::Exclusive)?;
    // A branch that git is still moving is followed by whoever comes after that.
    if !moving::settle(session)? {
        return Ok(());
    }
    let names = list()?;
    // They are named after the moments at which they were made.
    for name in names {
        let path = directory.join(&name);
        let Some(bytes) = durable::read(session.sys(), &path, 1 << 16)? else { continue };
        let Ok(note) = serde_json::from_slice::<Note>(&bytes) else { continue };
        if !durable::is_dir(session.sys(), &note.root)? {
            let _ = session.sys().files.remove_file(&path);
            continue;
        }
        let git_directory = Plumbing::new(session, &note.root).directory()?.to_path_buf();
        let follow = Follow { session, directory: git_directory, path, note, met: RefCell::default() };
        match follow.settle() {
            Ok(false) => follow.cancel(),
            settled => follow.finish(settled.map(drop)),
        }
    }
    Ok(())
}

/// What differs in the worktree of somebody who was cut off. When it was looked at before the branch moved nothing was
/// in the way, so a file that is neither what it was nor what landed was half written when the power went, or changed
/// since. It is kept under that name, and makes way.
pub(super) fn make_way(
    session: &Session,
    plumbing: &Plumbing<'_>,
    name: &str,
    from: &ObjectId,
    to: &ObjectId,
) -> Result<Vec<Dirty>> {
    let sys = session.sys();
    let (met, mut left) = (meeting(plumbing, from, to)?, Vec::new());
    let paths: BTreeSet<Vec<u8>> = met.iter().map(|dirty| dirty.path.clone()).collect();
    let index = plumbing.index();
    let indexed = index.and_then(|index| plumbing.read(|objects| objects.indexed(&index, &paths)).flatten());
    let tree = plumbing.tree(to)?;
    // Where the index has followed already, a file that differs was changed since.
    let is_behind = |path: &Vec<u8>| {
        let landed = plumbing.read(|objects| objects.entry(&tree, path));
        let landed = landed.map(|entry| entry.map(|entry| (entry.mode, entry.id)));
        indexed.as_ref().zip(landed).is_some_and(|(indexed, landed)| indexed.get(path).copied() != landed)
    };
    for dirty in met {
        let path = String::from_utf8_lossy(&dirty.path).into_owned();
        let file = plumbing.root().join(&path);
        let is_own = compare(session, plumbing, &dirty, to)? == Compared::Own;
        if !is_own || !is_behind(&dirty.path) || !durable::is_file(sys, &file)? {
            left.push(dirty);
            continue;
        }
        let at = session.control().join(SET_ASIDE).join(name).join(&path);
        let (directory, mode) = session.prepare()?.places();
        durable::make_dirs(sys, at.parent().unwrap_or(&at), directory)?;
        let bytes = durable::read(sys, &file, LONGEST)?.unwrap_or_default();
        durable::replace(sys, &at, &bytes, mode)?;
        sys.files.remove_file(&file)?;
        session.notice(&Notice::SetAside { path, at: at.display().to_string() });
    }
    Ok(left)
}

/// What a worktree has of its own that going from one commit to another would overwrite.
fn in_the_way(
    session: &Session,
    plumbing: &Plumbing<'_>,
    met: &[Dirty],
    to: &ObjectId,
) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for dirty in met {
        if compare(session, plumbing, dirty, to)? == Compared::Own {
            files.push(String::from_utf8_lossy(&dirty.path).into_owned());
        }
    }
    Ok(files)
}

/// Makes way for going from one commit to another: what is there already is only noted in the index, also what somebody
/// that was cut off on the same way has left; files of the tracker that the commit to go to has in a later version are
/// let go of: they were written and never committed.
pub(super) fn take_over(
    session: &Session,
    plumbing: &Plumbing<'_>,
    met: &[Dirty],
    from: &ObjectId,
    to: &ObjectId,
) -> Result<()> {
    let (mut there, mut known) = (Vec::new(), Vec::new());
    for dirty in met {
        let path = String::from_utf8_lossy(&dirty.path).into_owned();
        match compare(session, plumbing, dirty, to)? {
            Compared::Own => {}
            Compared::Same => there.push(path),
            // Git puts what it shall be in the place of a file that is not there, and of one that differs it does not.
            Compared::Earlier if dirty.is_untracked || !dirty.is_in_index => {
                match session.sys().files.remove_file(&plumbing.root().join(&path)) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    removed => removed?,
                }
            }
            Compared::Earlier => known.push(path),
        }
    }
    let have = |command: &[&str], paths: &[String]| -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut args = [&["--literal-pathspecs"], command, &["--"]].concat();
        args.extend(paths.iter().map(String::as_str));
        plumbing.git().run(&args)?;
        Ok(())
    };
    // One that is to go may be gone from the index too.
    have(&["reset", "--quiet", &to.to_string()], &there)?;
    have(&["restore", "--quiet", &format!("--source={from}"), "--staged", "--worktree"], &known)
}

/// What differs in a worktree and between two commits too.
pub(super) fn meeting(plumbing: &Plumbing<'_>, from: &ObjectId, to: &ObjectId) -> Result<Vec<Dirty>> {
    let changed: BTreeSet<Vec<u8>> = plumbing.changed(from, to)?.into_iter().collect();
    plumbing.dirty_among(from, &changed)
}

/// How a file in a worktree compares with the commit to go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compared {
    /// It is what the commit has.
    Same,
    /// It is the tracker's, and the commit has something later.
    Earlier,
    /// It is nobody else's.
    Own,
}

fn compare(session: &Session, plumbing: &Plumbing<'_>, dirty: &Dirty, to: &ObjectId) -> Result<Compared> {
    let path = String::from_utf8_lossy(&dirty.path).into_owned();
    let (sys, file) = (session.sys(), plumbing.root().join(&path));
    let there = plumbing.show(to, &path)?;
    let here = match sys.files.stat(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        stat if stat.is_ok() && durable::is_file(sys, &file)? => {
            match durable::read(sys, &file, crate::issues::LONGEST) {
                Ok(bytes) => bytes,
                Err(_) => return Ok(Compared::Own),
            }
        }
        _ => return Ok(Compared::Own),
    };
    Ok(match (here, there) {
        (here, there) if here == there => Compared::Same,
        (None, Some(_)) if dirty.is_ours() => Compared::Earlier,
        // Whatever writes files of the tracker writes them whole: an empty one is what a power loss has left.
        (Some(here), Some(_)) if dirty.is_ours() && here.is_empty() => Compared::Earlier,
        (Some(here), Some(there)) if dirty.is_ours() && is_earlier(&path, &here, &there) => Compared::Earlier,
        _ => Compared::Own,
    })
}

/// Whether one version of a file of the tracker is before another.
fn is_earlier(path: &str, here: &[u8], there: &[u8]) -> bool {
    if path.ends_with(".jsonl") {
        let lines = |bytes: &[u8]| -> BTreeSet<Vec<u8>> {
            bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        };
        return lines(here).is_subset(&lines(there));
    }
    let parse = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    let (Some(here), Some(there)) = (parse(here), parse(there)) else { return false };
    let number = |value: &serde_json::Value| value.get("fence").and_then(serde_json::Value::as_u64);
    let text = |value: &serde_json::Value, key: &str| {
        value.get(key).and_then(|it| it.as_str()).map(ToOwned::to_owned)
    };
    if path.ends_with("/issue.json") {
        let one_log = text(&here, "fence_log") == text(&there, "fence_log");
        if !one_log && has_ended_elsewhere(&here, &there) {
            return true;
        }
        let fences = if one_log { number(&here) <= number(&there) } else { number(&here).is_none() };
        return fences && text(&here, "updated_at") <= text(&there, "updated_at");
    }
    path.starts_with(".jit/gates/results/") && text(&here, "at") <= text(&there, "at")
}

/// Whether an issue is over in a version of another log that this one, which is not, was not taken back from.
fn has_ended_elsewhere(here: &serde_json::Value, there: &serde_json::Value) -> bool {
    let parse = |value: &serde_json::Value| serde_json::from_value::<Issue>(value.clone()).ok();
    let (Some(here), Some(there)) = (parse(here), parse(there)) else { return false };
    let is_known = here.reopened.contains(&there.updated_at);
    there.fence_log.is_some() && there.state.is_over() && !here.state.is_over() && !is_known
}
