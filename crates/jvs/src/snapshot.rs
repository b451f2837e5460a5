//! Published snapshots: a directory with the payload, the descriptor that says what it is, and `.READY`, which
//! vouches for both. A snapshot is there only if all three are and agree; anything else is hidden.

use std::path::{Path, PathBuf};

use holdfast_store::whole;
use holdfast_sys::Kind;
use serde::{Deserialize, Serialize};

use crate::error::{Class, Error, Result};
use crate::names::{OpId, WorktreeName};
use crate::payload::RootHash;
use crate::repo::{FORMAT, Repo, line};

/// The directory of a snapshot that holds the payload.
pub const PAYLOAD: &str = "payload";
const DESCRIPTOR: &str = "descriptor.json";
const READY: &str = ".READY";

/// What is promised about the moment of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Consistency {
    /// Nobody wrote to the payload meanwhile.
    #[default]
    Quiesced,
    /// Somebody may have.
    BestEffort,
}

impl Consistency {
    /// The risk that a snapshot of this kind carries.
    #[must_use]
    pub const fn risk(self) -> Option<&'static str> {
        match self {
            Self::Quiesced => None,
            Self::BestEffort => Some("best_effort"),
        }
    }
}

/// What a snapshot is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// The version of this file.
    pub format: u64,
    /// Its id.
    pub snapshot_id: OpId,
    /// The worktree that it is of.
    pub worktree_id: String,
    /// What that was called.
    pub worktree: WorktreeName,
    /// The snapshot before it.
    pub parent: Option<OpId>,
    /// When it was published.
    pub created_at: String,
    /// What somebody wrote about it.
    pub note: Option<String>,
    /// What is promised about its moment.
    pub consistency: Consistency,
    /// What speaks against relying on it.
    pub risk: Option<String>,
    /// The token that it was published under; none without a lock.
    pub fencing_token: Option<u64>,
    /// The counter that the token was drawn from.
    pub fence_counter: Option<String>,
    /// The lock that it was published under.
    pub lock_id: Option<String>,
    /// `reflink` if it shares all blocks with the payload of that moment, otherwise `copy`.
    pub engine: String,
    /// The hash of everything in the payload.
    pub payload_root_hash: String,
    /// How many files there are.
    pub files: u64,
    /// How many directories.
    pub directories: u64,
    /// How many symbolic links.
    pub symlinks: u64,
    /// How many bytes are in the files.
    pub bytes: u64,
    /// How many pipes, sockets and devices were left out.
    pub skipped: u64,
    /// Whether somebody else held the lock, so that it did not become the head.
    #[serde(default, skip_serializing_if = "is_false")]
    pub aside: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "that is how serde asks")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// What vouches for a snapshot. It has a hash of its own, so that it can be told which file was changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    format: u64,
    snapshot_id: OpId,
    descriptor_hash: String,
    payload_root_hash: String,
    checksum: String,
}

impl Ready {
    fn new(descriptor: &Descriptor, descriptor_hash: &str) -> Result<Self> {
        let mut ready = Self {
            format: FORMAT,
            snapshot_id: descriptor.snapshot_id,
            descriptor_hash: descriptor_hash.to_owned(),
            payload_root_hash: descriptor.payload_root_hash.clone(),
            checksum: String::new(),
        };
        ready.checksum = blake3::hash(&line(&ready)?).to_hex().to_string();
        Ok(ready)
    }

    fn is_itself(&self) -> Result<bool> {
        let bare = Self { checksum: String::new(), ..self.clone() };
        Ok(blake3::hash(&line(&bare)?).to_hex().as_str() == self.checksum)
    }
}

impl Descriptor {
    /// Puts descriptor and `.READY` into a directory, durably; gives the hash of the descriptor.
    ///
    /// # Errors
    /// When that failed.
    pub fn write(&self, repo: &Repo, directory: &Path) -> Result<String> {
        let bytes = line(self)?;
        let hash = blake3::hash(&bytes).to_hex().to_string();
        whole::replace(&repo.sys, &directory.join(DESCRIPTOR), &bytes, 0o644)?;
        whole::replace(&repo.sys, &directory.join(READY), &line(&Ready::new(self, &hash)?)?, 0o644)?;
        Ok(hash)
    }

    /// The hash of the payload.
    ///
    /// # Errors
    /// When the descriptor holds none.
    pub fn root(&self) -> Result<RootHash> {
        self.payload_root_hash
            .parse()
            .map_err(|_| Error::new(Class::DescriptorCorrupt, "the payload hash in the descriptor is none"))
    }
}

/// The descriptor of a published snapshot and its hash; the payload is not read.
///
/// # Errors
/// When one of the three parts is missing or does not agree; the class says which.
pub fn load(repo: &Repo, id: OpId) -> Result<(Descriptor, String)> {
    let directory = repo.snapshot(id);
    if !repo.is_there(&directory)? {
        return Err(Error::not_found("snapshot", &id.to_string(), "`jvs history` lists the snapshots"));
    }
    let ready = ready(repo, id, &directory.join(READY))?;
    let path = directory.join(DESCRIPTOR);
    let Some(bytes) = whole::read(&repo.sys, &path)? else { return Err(partial(&path, "it is missing")) };
    let hash = blake3::hash(&bytes).to_hex().to_string();
    if hash != ready.descriptor_hash {
        return Err(Error::corrupt(&path, "it is not the descriptor that was published"));
    }
    let descriptor: Descriptor =
        serde_json::from_slice(&bytes).map_err(|error| Error::corrupt(&path, error))?;
    if descriptor.snapshot_id != id || descriptor.payload_root_hash != ready.payload_root_hash {
        return Err(Error::corrupt(&path, "it is about another snapshot"));
    }
    payload(repo, id)?;
    Ok((descriptor, hash))
}

fn ready(repo: &Repo, id: OpId, path: &Path) -> Result<Ready> {
    let Some(bytes) = whole::read(&repo.sys, path)? else { return Err(partial(path, "it is missing")) };
    let ready: Ready = serde_json::from_slice(&bytes).map_err(|error| partial(path, error))?;
    if line(&ready)? != bytes || !ready.is_itself()? || ready.snapshot_id != id {
        return Err(partial(path, "it is not the one that was published"));
    }
    Ok(ready)
}

fn partial(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::new(Class::PartialSnapshot, format!("{} cannot vouch for its snapshot: {why}", path.display()))
        .hint("`jvs doctor --strict` lists what is incomplete")
        .detail("path", path.to_string_lossy().into_owned())
}

/// Where the payload of a published snapshot is.
///
/// # Errors
/// When it is missing, or no directory.
pub fn payload(repo: &Repo, id: OpId) -> Result<PathBuf> {
    let path = repo.snapshot(id).join(PAYLOAD);
    match repo.sys.files.stat(&path) {
        Ok(stat) if stat.kind == Kind::Directory => Ok(path),
        Ok(_) => Err(Error::path_escape(&path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(partial(&path, "it is missing")),
        Err(error) => Err(error.into()),
    }
}

/// Every snapshot that is whole, the oldest first.
///
/// # Errors
/// When they cannot be listed.
pub fn all(repo: &Repo) -> Result<Vec<Descriptor>> {
    let ids = repo.ids("snapshots")?;
    Ok(ids.into_iter().filter_map(|id| load(repo, id).ok()).map(|(descriptor, _)| descriptor).collect())
}
