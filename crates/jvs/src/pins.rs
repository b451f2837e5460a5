//! Pins: snapshots that are kept whatever becomes of the heads. A pin is a file with the name of the snapshot; one that
//! is empty, or holds something else than this program writes, is a pin as well, because a snapshot that somebody
//! wanted to keep must not be lost over the form of a file.

use holdfast_store::{rfc3339, whole};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::audit::Audit;
use crate::error::{Error, Result};
use crate::names::OpId;
use crate::repo::{FORMAT, Repo, write_json};
use crate::snapshot;

/// A pin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pin {
    /// The snapshot that is kept.
    pub snapshot_id: OpId,
    /// Whether everything that it descends from is kept with it.
    pub with_ancestors: bool,
    pub reason: Option<String>,
    /// Who wanted that.
    pub by: Option<String>,
    /// Since when.
    pub at: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    format: u64,
    with_ancestors: bool,
    reason: Option<String>,
    by: String,
    at: String,
}

/// All pins, by snapshot.
///
/// # Errors
/// When they cannot be read.
pub fn all(repo: &Repo) -> Result<Vec<Pin>> {
    let names = repo.sys.files.list(&repo.control("pins"))?;
    // What a crash left beside a pin is none.
    names.iter().filter_map(|name| name.to_str()?.parse().ok()).map(|id| read(repo, id)).collect()
}

fn read(repo: &Repo, id: OpId) -> Result<Pin> {
    let bytes = whole::read(&repo.sys, &repo.control("pins").join(id.to_string()))?;
    let wire = bytes.and_then(|bytes| serde_json::from_slice::<Wire>(&bytes).ok());
    Ok(match wire {
        Some(Wire { with_ancestors, reason, by, at, .. }) => {
            Pin { snapshot_id: id, with_ancestors, reason, by: Some(by), at: Some(at) }
        }
        None => Pin { snapshot_id: id, with_ancestors: false, reason: None, by: None, at: None },
    })
}

/// Keeps a snapshot for good.
///
/// # Errors
/// When there is no such snapshot.
pub fn add(repo: &Repo, id: OpId, reason: Option<&str>) -> Result<Pin> {
    repo.alone(|| {
        snapshot::load(repo, id)?;
        let data =
            Map::from_iter([("snapshot_id".to_owned(), json!(id)), ("reason".to_owned(), json!(reason))]);
        Audit::of(repo).append("snapshot.pinned", None, data)?;
        write(repo, id, reason, false)
    })
}

/// Writes a pin down, durably. Only inside the repository's guard, alone, and once the audit has heard of it.
pub(crate) fn write(repo: &Repo, id: OpId, reason: Option<&str>, with_ancestors: bool) -> Result<Pin> {
    let (by, at) = (repo.actor.name.clone(), rfc3339(&repo.sys.clock.now()?));
    let wire = Wire { format: FORMAT, with_ancestors, reason: reason.map(ToOwned::to_owned), by, at };
    write_json(&repo.sys, &repo.control("pins").join(id.to_string()), &wire)?;
    read(repo, id)
}

/// Lets a snapshot go.
///
/// # Errors
/// When it is not pinned.
pub fn remove(repo: &Repo, id: OpId) -> Result<()> {
    repo.alone(|| {
        let path = repo.control("pins").join(id.to_string());
        if !repo.is_there(&path)? {
            return Err(Error::not_found("pin", &id.to_string(), "`jvs pins` lists all of them"));
        }
        let data = Map::from_iter([("snapshot_id".to_owned(), json!(id))]);
        Audit::of(repo).append("snapshot.unpinned", None, data)?;
        repo.sys.files.remove_file(&path)?;
        Ok(repo.sys.files.sync_dir(&repo.control("pins"))?)
    })
}
