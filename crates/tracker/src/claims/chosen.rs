//! Which engine keeps the claims of a control plane. What was chosen once is noted there and outranks what the
//! configuration of a worktree says: a branch from before the choice must not lead its worktree back to claims that
//! nobody else sees.

use std::path::{Path, PathBuf};

use holdfast_store::{CounterId, Trouble};
use holdfast_sys::Sys;
use serde::{Deserialize, Serialize};

use crate::config::{Config, Engine};
use crate::durable;
use crate::json;

/// More than the note can be.
const LONGEST: usize = 1 << 16;

/// Where the claims of all clones are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The remote whose server keeps them.
    pub remote: String,
    /// The ref there.
    pub register: String,
    /// The counter that numbers them.
    pub counter: CounterId,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    schema_version: u32,
    engine: String,
    remote: String,
    #[serde(rename = "ref")]
    register: String,
    counter: String,
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

/// Where the claims are kept that all clones share; none if they are kept in this clone.
pub(super) fn find(sys: &Sys, control: &Path, config: &Config) -> Result<Option<Place>> {
    let noted = noted(sys, control)?;
    let asked = &config.coordination;
    if asked.engine == Engine::Local {
        return Ok(noted);
    }
    let Some(counter) = asked.counter.as_deref() else {
        return match noted {
            Some(noted) => Ok(Some(noted)),
            None => Err(Trouble::Missing.because(
                "coordination.engine is set, but not coordination.counter: claims are kept where jit engine init \
                 made room for them, and nowhere else",
            )),
        };
    };
    let counter = counter.parse().map_err(|error| Trouble::Missing.because(format!("{error}")))?;
    Ok(Some(Place { remote: asked.remote.clone(), register: asked.register.clone(), counter }))
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
    let note: Note = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if (note.schema_version, note.engine.as_str()) != (1, Engine::Git.as_str()) {
        return Err(holdfast_store::Error::Newer { path, version: note.schema_version.into() });
    }
    let counter = note.counter.parse().map_err(|error| damaged(format!("{error}")))?;
    Ok(Some(Place { remote: note.remote, register: note.register, counter }))
}

/// Notes what was chosen for this clone.
///
/// # Errors
/// When it cannot be written.
pub fn choose(sys: &Sys, control: &Path, place: &Place, mode: u32) -> Result<()> {
    if noted(sys, control).is_ok_and(|noted| noted.as_ref() == Some(place)) {
        return Ok(());
    }
    let note_of = Note {
        schema_version: 1,
        engine: Engine::Git.as_str().into(),
        remote: place.remote.clone(),
        register: place.register.clone(),
        counter: place.counter.to_string(),
    };
    Ok(durable::replace(sys, &note(control), &json::file(&note_of), mode)?)
}
