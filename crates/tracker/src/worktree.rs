//! Which worktree this is. The identity is kept in `.jit/worktree.json`, stays the same when the worktree is
//! moved, and is never shared by a copy: (agent, worktree) is who holds a claim, so two worktrees with one
//! identity would be one holder.

use std::path::{Path, PathBuf};

use holdfast_kernel::{Name, Stamp};
use holdfast_sys::{Guard, LockMode, Open, Sys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::control::Access;
use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::layout;
use crate::notice::Notice;
use crate::times::rfc3339;
use crate::workspace::Workspace;

/// The file that an identity is kept in.
pub const FILE: &str = "worktree.json";

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
}

/// What has to be done about an identity.
enum Standing {
    /// Nothing.
    Settled(Record),
    /// There is none.
    Missing,
    /// The worktree was moved from there.
    Moved(Record),
    /// The worktree is a copy of one that is still there.
    Copied(Record),
}

impl Record {
    /// As the rules know it.
    ///
    /// # Errors
    /// When the file holds something that is no id.
    pub fn name(&self, data: &Path) -> Result<Name> {
        let well_formed = |id: &str| {
            id.strip_prefix("wt:")
                .is_some_and(|hex| hex.len() == 8 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        match Name::new(&self.worktree_id) {
            Ok(name) if well_formed(&self.worktree_id) => Ok(name),
            _ => Err(Error::BadFile {
                path: data.join(FILE),
                why: "its worktree_id is not wt: and 8 hex digits".into(),
            }),
        }
    }
}

/// The identity that a worktree has; none if it has none yet. Writes nothing.
///
/// # Errors
/// When there is one that cannot be used.
pub fn read(sys: &Sys, data: &Path) -> Result<Option<Record>> {
    let path = data.join(FILE);
    let Some(bytes) = durable::read(sys, &path, LONGEST)? else { return Ok(None) };
    let identity: Record = serde_json::from_slice(&bytes)
        .map_err(|error| Error::BadFile { path, why: format!("it is no worktree identity: {error}") })?;
    identity.name(data)?;
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
    let data = workspace.own_data()?;
    if let Standing::Settled(identity) = judge(&caller.sys, workspace, &data)? {
        return Ok(identity);
    }
    let access = prepare()?;
    // Two processes that start at once must not give one worktree two identities.
    let lock = workspace.control.join("locks/worktree.lock");
    let mut guard = Guard::open(&caller.sys, &lock, access.file())?;
    let _section = guard.enter(&caller.sys, LockMode::Exclusive)?;
    settle(caller, workspace, &data)
}

fn settle(caller: &Caller, workspace: &Workspace, data: &Path) -> Result<Record> {
    let now = caller.sys.clock.now()?;
    let identity = match judge(&caller.sys, workspace, data)? {
        Standing::Settled(identity) => return Ok(identity),
        Standing::Missing => match left_behind(&caller.sys, workspace, data)? {
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
        Standing::Copied(original) => {
            let identity = fresh(caller, workspace, &now)?;
            caller.notice(&Notice::WorktreeCopied {
                original: original.worktree_id,
                at: original.root,
                copy: identity.worktree_id.clone(),
            });
            identity
        }
    };
    layout::lay_out(&caller.sys, data)?;
    install(&caller.sys, data, &identity)?;
    Ok(identity)
}

/// Puts the file of an identity in its place. A lease may rest on what is seen there, so that must not be lost:
/// the file is durable under its first name before it gets its last one, and whatever a power loss takes back,
/// one of the two names is left. That is why the directory is flushed once more than `durable::replace` does.
fn install(sys: &Sys, data: &Path, identity: &Record) -> Result<()> {
    let text = json::file(identity);
    let beside = data.join(format!("{BESIDE}{:032x}", sys.entropy.nonce()?));
    let file = sys.files.open(&beside, Open::New { mode: 0o644 })?;
    file.write_all_at(&text, 0)?;
    file.sync()?;
    // The directory may be as young as the file.
    sys.files.sync_dir(data.parent().unwrap_or(data))?;
    sys.files.sync_dir(data)?;
    sys.files.rename(&beside, &data.join(FILE))?;
    sys.files.sync_dir(data)?;
    for name in unfinished(sys, data)? {
        sys.files.remove_file(&data.join(name))?;
    }
    Ok(())
}

/// The identity that this worktree had before a power loss took its name back.
fn left_behind(sys: &Sys, workspace: &Workspace, data: &Path) -> Result<Option<Record>> {
    for name in unfinished(sys, data)? {
        let bytes = durable::read(sys, &data.join(name), LONGEST)?.unwrap_or_default();
        let identity = serde_json::from_slice::<Record>(&bytes).ok();
        let own = |identity: &Record| identity.root == root(workspace) && identity.name(data).is_ok();
        if let Some(identity) = identity.filter(own) {
            return Ok(Some(identity));
        }
    }
    Ok(None)
}

/// The names of files that were about to become the identity's.
fn unfinished(sys: &Sys, data: &Path) -> Result<Vec<std::ffi::OsString>> {
    let names = match sys.files.list(data) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    Ok(names.into_iter().filter(|name| name.as_encoded_bytes().starts_with(BESIDE.as_bytes())).collect())
}

/// Compares what the file says with where it is.
fn judge(sys: &Sys, workspace: &Workspace, data: &Path) -> Result<Standing> {
    let Some(identity) = read(sys, data)? else { return Ok(Standing::Missing) };
    if identity.root == root(workspace) {
        return Ok(Standing::Settled(identity));
    }
    let elsewhere = Path::new(&identity.root).join(crate::workspace::DATA);
    // Nothing that can be read there means that nobody works there.
    let other = read(sys, &elsewhere).ok().flatten();
    if other.is_none_or(|other| other.worktree_id != identity.worktree_id) {
        return Ok(Standing::Moved(identity));
    }
    let here = sys.files.stat(&data.join(FILE))?.identity;
    let there = sys.files.stat(&elsewhere.join(FILE))?.identity;
    // One directory that is mounted at two places is one worktree.
    Ok(if here == there { Standing::Settled(identity) } else { Standing::Copied(identity) })
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
    })
}

/// A worktree of the repository.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Its identity, if it has one.
    pub worktree_id: Option<String>,
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
}

/// All worktrees of the repository; outside of git the one that there is. Writes nothing.
///
/// # Errors
/// When they cannot be listed.
pub fn all(caller: &Caller, workspace: &Workspace) -> Result<Vec<Entry>> {
    let sys = &caller.sys;
    let id =
        |root: &Path| read(sys, &root.join(crate::workspace::DATA)).ok().flatten().map(|it| it.worktree_id);
    let Some(repository) = &workspace.repository else {
        let root = workspace.root.clone().unwrap_or_default();
        let path = root.to_string_lossy().into_owned();
        return Ok(vec![Entry {
            worktree_id: id(&root),
            path,
            root,
            branch: None,
            main: true,
            current: true,
            gone: false,
        }]);
    };
    let known = repository.worktrees(&*sys.files)?.into_iter().filter(|worktree| !worktree.bare);
    Ok(known
        .map(|worktree| Entry {
            worktree_id: id(&worktree.path),
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
        })
        .collect())
}
