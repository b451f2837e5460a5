//! Which engine keeps the claims of a control plane. What was chosen once is noted there and outranks what the
//! configuration of a worktree says: a branch from before the choice must not lead its worktree back to claims that
//! nobody else sees.

use std::fmt;
use std::path::{Path, PathBuf};

use holdfast_store::{CounterId, Trouble};
use holdfast_sys::Sys;
use serde::{Deserialize, Serialize};

use crate::config::{Config, Engine};
use crate::durable;
use crate::json;

/// More than the note can be.
const LONGEST: usize = 1 << 16;

/// What is said of a register whose claims every clone keeps itself from then on.
pub const CLONES: &str = "the clones themselves: jit engine migrate --to local in each";

/// Where the claims of all clones are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What keeps them.
    pub keeper: Keeper,
    /// The counter that numbers them.
    pub counter: CounterId,
}

/// What keeps the claims of all clones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Keeper {
    /// A git server.
    Git {
        /// The remote.
        remote: String,
        /// The ref there.
        register: String,
    },
    /// A cluster of etcd.
    Etcd {
        /// Where its members are reached.
        endpoints: Vec<String>,
        /// What the claims are called there.
        namespace: String,
    },
}

impl Keeper {
    /// The engine that it is.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        match self {
            Self::Git { .. } => Engine::Git,
            Self::Etcd { .. } => Engine::Etcd,
        }
    }

    /// Whether two are the same place. A cluster stays the same when its members change.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Etcd { namespace, .. }, Self::Etcd { namespace: theirs, .. }) => namespace == theirs,
            (one, other) => one == other,
        }
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Git { remote, register } => write!(f, "{register} at {remote}"),
            Self::Etcd { endpoints, namespace } => write!(f, "{namespace} at {}", endpoints.join(", ")),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    schema_version: u32,
    counter: String,
    #[serde(flatten)]
    keeper: KeeperNote,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "snake_case")]
enum KeeperNote {
    Git {
        remote: String,
        #[serde(rename = "ref")]
        register: String,
    },
    Etcd {
        endpoints: Vec<String>,
        namespace: String,
    },
}

#[derive(Deserialize)]
struct Versioned {
    schema_version: u32,
}

type Result<T> = std::result::Result<T, holdfast_store::Error>;

/// The files of a clone for claims that it shares with others.
#[must_use]
pub fn directory(control: &Path) -> PathBuf {
    control.join("engine")
}

fn note(control: &Path) -> PathBuf {
    directory(control).join("engine.json")
}

/// Where the claims are kept that all clones share, as a configuration says and else the note of this clone; none if they
/// are kept in this clone.
pub(super) fn find(config: &Config, noted: Option<Place>) -> Result<Option<Place>> {
    match noted {
        Some(noted) if config.coordination.counter.is_none() => Ok(Some(noted)),
        noted => configured(config).map(|configured| configured.or(noted)),
    }
}

/// Where a configuration says that the claims of all clones are kept; none if in each clone.
pub(super) fn configured(config: &Config) -> Result<Option<Place>> {
    let asked = &config.coordination;
    if asked.engine == Engine::Local {
        return Ok(None);
    }
    let Some(counter) = asked.counter.as_deref() else {
        return Err(Trouble::Missing.because(
            "coordination.engine is set, but not coordination.counter: claims are kept where jit engine init made room \
             for them, and nowhere else",
        ));
    };
    let counter = counter.parse().map_err(|error| Trouble::Missing.because(format!("{error}")))?;
    Ok(Some(Place { keeper: asked_for(config)?, counter }))
}

/// What the configuration says keeps the claims.
fn asked_for(config: &Config) -> Result<Keeper> {
    let asked = &config.coordination;
    let absent = |why: &str| Err(Trouble::Missing.because(why.to_owned()));
    match (asked.engine, &asked.endpoints) {
        (Engine::Git, _) => {
            Ok(Keeper::Git { remote: asked.remote.clone(), register: asked.register.clone() })
        }
        (Engine::Etcd, Some(endpoints)) => {
            Ok(Keeper::Etcd { endpoints: endpoints.clone(), namespace: asked.namespace.clone() })
        }
        (Engine::Etcd, None) => {
            absent("coordination.engine is etcd, and coordination.endpoints names no member")
        }
        (Engine::Local, _) => absent("the claims are kept in this clone"),
    }
}

/// What was chosen for this clone, if anything was.
///
/// # Errors
/// When that cannot be read.
pub fn noted(sys: &Sys, control: &Path) -> Result<Option<Place>> {
    let path = note(control);
    let damaged = |what: String| holdfast_store::Error::Damaged {
        path: path.clone(),
        damage: holdfast_store::Damage { place: "the file".into(), what },
    };
    let Some(bytes) = durable::read(sys, &path, LONGEST)? else { return Ok(None) };
    let Versioned { schema_version } =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if schema_version != 1 {
        return Err(holdfast_store::Error::Newer { path, version: schema_version.into() });
    }
    let note: Note = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let counter = note.counter.parse().map_err(|error| damaged(format!("{error}")))?;
    let keeper = match note.keeper {
        KeeperNote::Git { remote, register } => Keeper::Git { remote, register },
        KeeperNote::Etcd { endpoints, namespace } => Keeper::Etcd { endpoints, namespace },
    };
    Ok(Some(Place { keeper, counter }))
}

/// Notes what was chosen for this clone.
///
/// # Errors
/// When it cannot be written.
pub fn choose(sys: &Sys, control: &Path, place: &Place, mode: u32) -> Result<()> {
    if noted(sys, control).is_ok_and(|noted| noted.as_ref() == Some(place)) {
        return Ok(());
    }
    let keeper = match place.keeper.clone() {
        Keeper::Git { remote, register } => KeeperNote::Git { remote, register },
        Keeper::Etcd { endpoints, namespace } => KeeperNote::Etcd { endpoints, namespace },
    };
    let note_of = Note { schema_version: 1, counter: place.counter.to_string(), keeper };
    Ok(durable::replace(sys, &note(control), &json::file(&note_of), mode)?)
}

/// Forgets what was chosen for this clone: it keeps its claims itself.
///
/// # Errors
/// When the note cannot be removed.
pub fn unchoose(sys: &Sys, control: &Path) -> Result<()> {
    match sys.files.remove_file(&note(control)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(sys.files.sync_dir(&directory(control))?),
    }
}
