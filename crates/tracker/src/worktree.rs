//! Which worktree this is, and who works in it. The identity is kept in git's own directory of the worktree, so that it
//! survives `git clean -fdx` and goes with the worktree; it stays the same when the worktree is moved, and is never
//! shared by a copy: (agent, worktree) is who holds a claim, so two worktrees with one identity would be one holder.
//!
//! Outside of git it is `.jit/worktree.json`. Earlier versions kept it there everywhere; that is read, and moved over.
//! A copy of a linked worktree shares git's directory with the original, so it keeps its own identity there too.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_git::{Environment, Found, Git, Repository, Worktree, discover};
use holdfast_kernel::{Name, Stamp};
use holdfast_sys::{Guard, LockMode, Open, Sys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;
use crate::caller::Caller;
use crate::control::Access;
use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::layout;
use crate::notice::Notice;
use crate::times::rfc3339;
use crate::workspace::{DATA, Workspace};

/// The file that an identity is kept in, below `.jit/`.
pub const FILE: &str = "worktree.json";

/// The same in git's directory of the worktree.
const IN_GIT: &str = "jit-worktree.json";

/// How a file is called that is about to become the identity's.
const BESIDE: &str = ".worktree.json.new-";

/// More than anybody writes there.
const LONGEST: usize = 1 << 16;

/// The identity of a worktree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The version of this form.
    pub schema_version: u32,
    /// The id, `wt:` and eight hex digits.
    pub worktree_id: String,
    /// The branch that it was made on.
    pub branch: Option<String>,
    /// Where it is.
    pub root: String,
    /// When it was made.
    pub created_at: String,
    /// When it was found somewhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relocated_at: Option<String>,
    /// Who works here, unless somebody else is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What has to be done about an identity.
enum Standing {
    /// Nothing.
    Settled(Record),
    /// There is none.
    Missing,
    /// It is where earlier versions kept it.
    Old(Record),
    /// The worktree was moved from there.
    Moved(Record),
    /// The worktree is a copy of one that is still there, and may share git's directory with it.
    Copied { original: Record, shares: bool },
}

impl Record {
    /// As the rules know it.
    ///
    /// # Errors
    /// When the file holds something that is no id.
    pub fn name(&self, path: &Path) -> Result<Name> {
        let well_formed = |id: &str| {
            id.strip_prefix("wt:")
                .is_some_and(|hex| hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        match Name::new(&self.worktree_id) {
            Ok(name) if well_formed(&self.worktree_id) => Ok(name),
            _ => Err(Error::BadFile {
                path: path.to_path_buf(),
                why: "its worktree_id is not wt: and 8 hex digits".into(),
            }),
        }
    }
}

/// The identity that a worktree has; none if it has none yet. `git_dir` is git's directory of the worktree. Writes
/// nothing.
///
/// # Errors
/// When there is one that cannot be used.
pub fn read(sys: &Sys, git_dir: Option<&Path>, root: &Path) -> Result<Option<Record>> {
    Ok(find(sys, git_dir, root)?.map(|(record, _)| record))
}

/// As [`read`], and whether git's directory has one.
fn find(sys: &Sys, git_dir: Option<&Path>, root: &Path) -> Result<Option<(Record, bool)>> {
    let beside = || read_file(sys, &root.join(DATA).join(FILE));
    let Some(own) = git_dir.map_or(Ok(None), |git_dir| read_file(sys, &git_dir.join(IN_GIT)))? else {
        return Ok(beside()?.map(|record| (record, false)));
    };
    let here = root.to_string_lossy();
    if own.root == here {
        return Ok(Some((own, true)));
    }
    Ok(Some((beside()?.filter(|beside| beside.root == here).unwrap_or(own), true)))
}

fn read_file(sys: &Sys, path: &Path) -> Result<Option<Record>> {
    let Some(bytes) = durable::read(sys, path, LONGEST)? else { return Ok(None) };
    let identity: Record = serde_json::from_slice(&bytes).map_err(|error| Error::BadFile {
        path: path.to_path_buf(),
        why: format!("it is no worktree identity: {error}"),
    })?;
    identity.name(path)?;
    Ok(Some(identity))
}

/// The identity of this worktree, made or brought up to date if need be. `prepare` makes the control plane.
///
/// # Errors
/// When that is not possible.
pub fn ensure(
    caller: &Caller,
    workspace: &Workspace,
    prepare: &dyn Fn() -> Result<Access>,
) -> Result<Record> {
    if let Standing::Settled(identity) = judge(caller, workspace)? {
        return Ok(identity);
    }
    locked(caller, workspace, prepare, || settle(caller, workspace))
}

/// Says who works in this worktree, unless somebody else is named.
///
/// # Errors
/// When that is not possible.
pub fn assign(
    caller: &Caller,
    workspace: &Workspace,
    prepare: &dyn Fn() -> Result<Access>,
    agent: &AgentId,
) -> Result<Record> {
    locked(caller, workspace, prepare, || {
        let identity = Record { agent: Some(agent.to_string()), ..settle(caller, workspace)? };
        let home = Home::of(workspace)?;
        let in_git = home.git_dir.is_some_and(|git_dir| {
            read_file(&caller.sys, &git_dir.join(IN_GIT))
                .is_ok_and(|own| own.is_some_and(|own| own.worktree_id == identity.worktree_id))
        });
        home.install(&caller.sys, &identity, in_git)?;
        Ok(identity)
    })
}

/// Two processes that start at once must not give one worktree two identities.
fn locked<T>(
    caller: &Caller,
    workspace: &Workspace,
    prepare: &dyn Fn() -> Result<Access>,
    act: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let access = prepare()?;
    let lock = workspace.control.join("locks/worktree.lock");
    let mut guard = Guard::open(&caller.sys, &lock, access.file())?;
    let _section = guard.enter(&caller.sys, LockMode::Exclusive)?;
    act()
}

/// Where the identity of this worktree can be.
struct Home<'a> {
    git_dir: Option<&'a Path>,
    root: &'a Path,
    data: PathBuf,
}

impl<'a> Home<'a> {
    fn of(workspace: &'a Workspace) -> Result<Self> {
        let data = workspace.own_data()?;
        let root = workspace.root.as_deref().unwrap_or_else(|| Path::new(""));
        Ok(Self { git_dir: workspace.repository.as_ref().map(Repository::git_dir), root, data })
    }

    /// Puts an identity where it belongs; that of a copy which shares git's directory is put beside the issues.
    fn install(&self, sys: &Sys, identity: &Record, in_git: bool) -> Result<()> {
        let Some(git_dir) = self.git_dir.filter(|_| in_git) else {
            return install(sys, &self.data, FILE, identity);
        };
        install(sys, git_dir, IN_GIT, identity)?;
        match sys.files.remove_file(&self.data.join(FILE)) {
            Err(error) if is_absent(&error) => Ok(()),
            removed => {
                removed?;
                Ok(sys.files.sync_dir(&self.data)?)
            }
        }
    }
}

fn is_absent(error: &holdfast_sys::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn settle(caller: &Caller, workspace: &Workspace) -> Result<Record> {
    let now = caller.sys.clock.now()?;
    let home = Home::of(workspace)?;
    let mut in_git = home.git_dir.is_some();
    let identity = match judge(caller, workspace)? {
        Standing::Settled(identity) => return Ok(identity),
        Standing::Old(identity) => identity,
        Standing::Missing => match left_behind(&caller.sys, &home)? {
            Some(identity) => identity,
            None => fresh(caller, workspace, &now)?,
        },
        Standing::Moved(before) => {
            let root = root(workspace);
            caller.notice(&Notice::WorktreeMoved {
                worktree: before.worktree_id.clone(),
                from: before.root.clone(),
                to: root.clone(),
            });
            Record { root, relocated_at: Some(rfc3339(&now)), ..before }
        }
        Standing::Copied { original, shares } => {
            in_git &= !shares;
            let identity = fresh(caller, workspace, &now)?;
            caller.notice(&Notice::WorktreeCopied {
                original: original.worktree_id,
                at: original.root,
                copy: identity.worktree_id.clone(),
            });
            identity
        }
    };
    layout::lay_out(&caller.sys, &home.data)?;
    home.install(&caller.sys, &identity, in_git)?;
    Ok(identity)
}

/// Puts the file of an identity in its place. A lease may rest on what is seen there, so that must not be lost:
/// the file is durable under its first name before it gets its last one, and whatever a power loss takes back,
/// one of the two names is left. That is why the directory is flushed once more than `durable::replace` does.
fn install(sys: &Sys, data: &Path, name: &str, identity: &Record) -> Result<()> {
    let text = json::file(identity);
    let beside = data.join(format!("{BESIDE}{:032x}", sys.entropy.nonce()?));
    let file = sys.files.open(&beside, Open::New { mode: 0o644 })?;
    file.write_all_at(&text, 0)?;
    file.sync()?;
    // The directory may be as young as the file.
    sys.files.sync_dir(data.parent().unwrap_or(data))?;
    sys.files.sync_dir(data)?;
    sys.files.rename(&beside, &data.join(name))?;
    sys.files.sync_dir(data)?;
    for name in unfinished(sys, data)? {
        sys.files.remove_file(&data.join(name))?;
    }
    Ok(())
}

/// The identity that this worktree had before a power loss took its name back.
fn left_behind(sys: &Sys, home: &Home<'_>) -> Result<Option<Record>> {
    for directory in home.git_dir.into_iter().chain([home.data.as_path()]) {
        for name in unfinished(sys, directory)? {
            let path = directory.join(name);
            let bytes = durable::read(sys, &path, LONGEST)?.unwrap_or_default();
            let identity = serde_json::from_slice::<Record>(&bytes).ok();
            let here = home.root.to_string_lossy();
            let own = |identity: &Record| identity.root == here && identity.name(&path).is_ok();
            if let Some(identity) = identity.filter(own) {
                return Ok(Some(identity));
            }
        }
    }
    Ok(None)
}

/// The names of files that were about to become the identity's.
fn unfinished(sys: &Sys, data: &Path) -> Result<Vec<std::ffi::OsString>> {
    let names = match sys.files.list(data) {
        Err(error) if is_absent(&error) => Vec::new(),
        names => names?,
    };
    Ok(names.into_iter().filter(|name| name.as_encoded_bytes().starts_with(BESIDE.as_bytes())).collect())
}

/// Compares what the file says with where it is.
fn judge(caller: &Caller, workspace: &Workspace) -> Result<Standing> {
    let sys = &caller.sys;
    let home = Home::of(workspace)?;
    let Some((identity, in_git)) = find(sys, home.git_dir, home.root)? else {
        return Ok(Standing::Missing);
    };
    if identity.root == root(workspace) {
        let is_old = home.git_dir.is_some() && !in_git;
        return Ok(if is_old { Standing::Old(identity) } else { Standing::Settled(identity) });
    }
    let elsewhere = Path::new(&identity.root);
    let there = git_dir_of(caller, elsewhere);
    // Nothing that can be read there means that nobody works there.
    let other = read(sys, there.as_deref(), elsewhere).ok().flatten();
    if other.is_none_or(|other| other.worktree_id != identity.worktree_id) {
        return Ok(Standing::Moved(identity));
    }
    // The record lies in git's directory, which stays when the worktree itself is moved.
    let Ok(place) = sys.files.stat(elsewhere) else { return Ok(Standing::Moved(identity)) };
    // One directory that is mounted at two places is one worktree.
    if place.identity == sys.files.stat(home.root)?.identity {
        return Ok(Standing::Settled(identity));
    }
    let shares = there.is_some() && there.as_deref() == home.git_dir;
    Ok(Standing::Copied { original: identity, shares })
}

/// Git's directory of the worktree that is somewhere, if one is.
fn git_dir_of(caller: &Caller, root: &Path) -> Option<PathBuf> {
    let (git_dir, work_tree, common_dir) = (None, None, None);
    let environment = Environment { git_dir, work_tree, common_dir, ..caller.git.clone() };
    match discover(&*caller.sys.files, root, &environment) {
        Ok(Found::Repository(found)) if found.work_tree() == Some(root) => {
            Some(found.git_dir().to_path_buf())
        }
        _ => None,
    }
}

fn root(workspace: &Workspace) -> String {
    workspace.root.as_ref().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default()
}

fn fresh(caller: &Caller, workspace: &Workspace, now: &Stamp) -> Result<Record> {
    let digits = format!("{:032x}", caller.sys.entropy.nonce()?);
    Ok(Record {
        schema_version: 1,
        worktree_id: format!("wt:{}", digits.get(..8).unwrap_or_default()),
        branch: workspace.branch(caller)?,
        root: root(workspace),
        created_at: rfc3339(now),
        relocated_at: None,
        agent: None,
    })
}

/// Why git has a worktree locked that it is making.
const MAKING: &str = "initializing";

/// A worktree of the repository.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Its identity, if it has one.
    pub worktree_id: Option<String>,
    /// Who works there, unless somebody else is named.
    pub agent: Option<String>,
    /// Where it is, as far as that is text.
    pub path: String,
    /// Where it is, for this program.
    #[serde(skip)]
    pub root: PathBuf,
    /// Its branch, `HEAD` where there is none.
    pub branch: Option<String>,
    /// Whether it belongs to the repository itself.
    pub main: bool,
    /// Whether it is this one.
    pub current: bool,
    /// Whether nothing is there any more.
    pub gone: bool,
    /// Whether git is still making it, or was killed while it did.
    #[serde(skip)]
    pub unfinished: bool,
    /// What holders are called besides that are in this clone, where all clones share their claims.
    #[serde(skip)]
    pub clone: Option<String>,
}

impl Entry {
    /// Whether that is where a lease is held.
    #[must_use]
    pub fn is_place(&self, place: &str) -> bool {
        match split(place) {
            (id, Some(clone)) => {
                self.worktree_id.as_deref() == Some(id) && self.clone.as_deref() == Some(clone)
            }
            (id, None) => self.worktree_id.as_deref() == Some(id),
        }
    }
}

/// A worktree of a clone, as the place of a holder where all clones share their claims.
#[must_use]
pub fn place_in(worktree: &str, clone: &str) -> String {
    format!("{worktree}@{clone}")
}

/// The worktree of a place, and its clone where all clones share their claims.
#[must_use]
pub fn split(place: &str) -> (&str, Option<&str>) {
    place.split_once('@').map_or((place, None), |(worktree, clone)| (worktree, Some(clone)))
}

/// All worktrees of the repository; outside of git the one that there is. Writes nothing.
///
/// # Errors
/// When they cannot be listed.
pub fn all(caller: &Caller, workspace: &Workspace) -> Result<Vec<Entry>> {
    let sys = &caller.sys;
    let identity = |git_dir: Option<&Path>, root: &Path| read(sys, git_dir, root).ok().flatten();
    let Some(repository) = &workspace.repository else {
        let root = workspace.root.clone().unwrap_or_default();
        let path = root.to_string_lossy().into_owned();
        let known = identity(None, &root);
        return Ok(vec![Entry {
            agent: known.as_ref().and_then(|known| known.agent.clone()),
            worktree_id: known.map(|known| known.worktree_id),
            path,
            root,
            branch: None,
            main: true,
            current: true,
            gone: false,
            unfinished: false,
            clone: None,
        }]);
    };
    let known = repository.worktrees(&*sys.files)?.into_iter().filter(|worktree| !worktree.bare);
    // A worktree whose branch is not known would not follow it when it moves.
    let heads = match repository.has_reftable() {
        true => Git::in_dir(repository.common_dir()).heads()?,
        false => BTreeMap::new(),
    };
    let known = known.map(|worktree| match heads.get(&worktree.path) {
        Some(head) => Worktree { head: Ok(head.clone()), ..worktree },
        None => worktree,
    });
    Ok(known
        .map(|worktree| (identity(Some(&worktree.git_dir), &worktree.path), worktree))
        .map(|(known, worktree)| Entry {
            agent: known.as_ref().and_then(|known| known.agent.clone()),
            worktree_id: known.map(|known| known.worktree_id),
            path: worktree.path.to_string_lossy().into_owned(),
            root: worktree.path.clone(),
            branch: worktree
                .head
                .as_ref()
                .ok()
                .map(|head| head.branch().map_or_else(|| "HEAD".into(), ToString::to_string)),
            main: worktree.is_main(),
            current: worktree.current,
            gone: worktree.prunable.is_some(),
            unfinished: worktree.locked.as_deref() == Some(MAKING),
            clone: None,
        })
        .collect())
}
