//! Which place is believed where the landing branch, a worktree and the clone say different things of where claims are kept.
//! The landing branch comes first, because all clones have that; but a place whose claims have left outranks whatever is
//! configured: nobody is led back to it.

use std::path::Path;

use holdfast_remote::{Head, State};
use holdfast_sys::Sys;

use super::chosen::{self, CLONES, Place};
use super::shared::memory_of;
use crate::caller::Caller;
use crate::config::{Config, Engine, Sources};
use crate::durable;
use crate::target::Target;
use crate::workspace::{self, DATA, Workspace};

/// A configuration that is longer is none, and what was seen is longer by little.
const LONGEST: usize = 2 << 20;

/// What a head has that the claims have left.
const MOVED: &[u8] = b"\"state\":\"moved\"";

/// Where the claims are kept that all clones share; none if they are kept in this clone.
///
/// # Errors
/// When what is configured or noted here does not say.
pub(super) fn find(caller: &Caller, workspace: &Workspace) -> Result<Option<Place>, holdfast_store::Error> {
    let (sys, config) = (&caller.sys, &workspace.config);
    let noted = chosen::noted(sys, &workspace.control)?;
    let here = chosen::find(config, noted.clone())?;
    let left = |place: &Place| left(sys, &workspace.control, place);
    if let Some(place) =
        here.as_ref().filter(|_| config.coordination.engine != Engine::Local && here == noted)
        && left(place).is_none()
    {
        return Ok(here);
    }
    let places: Vec<Place> =
        [landing(caller, workspace), here.clone(), noted].into_iter().flatten().collect();
    if let Some(open) = places.iter().find(|place| left(place).is_none()) {
        return Ok(Some(open.clone()));
    }
    // A clone that went on by itself has nothing here that names the place before; whoever has is told what to type.
    let is_alone = here.is_none() && places.iter().all(|place| left(place).as_deref() == Some(CLONES));
    Ok(if is_alone { None } else { places.into_iter().next() })
}

/// Where the landing branch says that they are kept, as it was when the remote was last asked; none if it does not, or if
/// what is checked out here is that: what is changed there is on its way to the branch.
fn landing(caller: &Caller, workspace: &Workspace) -> Option<Place> {
    let repository = workspace.repository.as_ref()?;
    // Where there is no remote, there is no clone that could know of another place.
    let tip = Target::find(caller, repository, &workspace.config).ok()??.remote?;
    if workspace::head_commit(caller, repository).ok()? == Some(tip) {
        return None;
    }
    let objects = workspace::objects(caller, repository).ok()?;
    let tree = objects.commit(&tip).ok()?.tree;
    let path = Path::new(DATA).join("config.toml");
    let file = objects.entry(&tree, path.as_os_str().as_encoded_bytes()).ok()??;
    let bytes = objects.blob(&file.id, LONGEST).ok()?;
    let config = Config::load_committed(&caller.sys, &Sources::default(), &path, Some(bytes)).ok()?;
    chosen::configured(&config).ok()?
}

/// Where the claims of a place have moved to, as far as this clone has seen; none if they have not.
fn left(sys: &Sys, control: &Path, place: &Place) -> Option<String> {
    let memory = memory_of(control, place, 0o600);
    // Nearly always they have not, and every command asks.
    let bytes = durable::read(sys, &memory.seen_path(), LONGEST).ok()??;
    if !bytes.windows(MOVED.len()).any(|part| part == MOVED) {
        return None;
    }
    let seen = memory.memory(sys).ok()?.seen?;
    match Head::decode(&seen.head(), control).ok()?.state {
        State::Moved(to) => Some(to),
        State::Open | State::Sealed => None,
    }
}
