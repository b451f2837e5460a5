//! Signs of life: a small file an agent in the control plane, and the loop that keeps claims alive while
//! their holder works. The loop ends by itself, because a claim that is kept alive for nobody is held for
//! ever.

mod daemon;

use std::path::Path;

use holdfast_kernel::Millis;
use holdfast_sys::{LockMode, Open, Sys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use daemon::Daemon;
pub use daemon::{End, Parent};

use crate::claims::heartbeat_file;
use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::session::Session;
use crate::times::rfc3339;
use crate::wait::Waits;

/// More than a sign of life can be.
const LONGEST: usize = 1 << 16;

/// A sign of life.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    /// The agent that is alive.
    pub agent_id: String,
    /// The worktree that it works in.
    pub worktree_id: String,
    /// On which branch.
    pub branch: Option<String>,
    /// The process that gave it.
    pub pid: u32,
    /// The moment of this sign of life.
    pub last_beat: String,
    /// When the next one is due.
    pub interval_secs: u64,
}

/// Writes a sign of life.
///
/// # Errors
/// When it cannot be written.
pub fn write(session: &Session, interval_secs: u64) -> Result<()> {
    let (sys, holder) = (session.sys(), session.holder()?);
    let beat = Beat {
        agent_id: holder.agent.to_string(),
        worktree_id: holder.place.to_string(),
        branch: session.branch()?,
        pid: std::process::id(),
        last_beat: rfc3339(&sys.clock.now()?),
        interval_secs,
    };
    let text = json::file(&beat);
    let access = session.prepare()?;
    let path = heartbeat_file(session.control(), holder.agent.as_str());
    Ok(durable::replace(sys, &path, &text, access.file())?)
}

/// All signs of life, by agent, and what could not be read.
///
/// # Errors
/// When they cannot be listed.
pub fn all(sys: &Sys, control: &Path) -> Result<(Vec<Beat>, Vec<Error>)> {
    let directory = control.join("heartbeat");
    let names = match sys.files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let (mut beats, mut problems) = (Vec::new(), Vec::new());
    for name in names.iter().filter(|name| is_beat(&name.to_string_lossy())) {
        match read(sys, &directory.join(name)) {
            Ok(beat) => beats.extend(beat),
            Err(error) => problems.push(error),
        }
    }
    Ok((beats, problems))
}

fn is_beat(name: &str) -> bool {
    name.ends_with(".json") && !name.starts_with('.')
}

fn read(sys: &Sys, path: &Path) -> Result<Option<Beat>> {
    let bad = |error: serde_json::Error| Error::BadFile { path: path.to_path_buf(), why: error.to_string() };
    let bytes = durable::read(sys, path, LONGEST)?;
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(bad)).transpose()
}

/// Beats and renews for whoever asks, until it is no longer needed. One loop per holder: a second one is refused.
///
/// # Errors
/// When one runs already, a signal, or what failed.
pub fn run(
    session: &Session,
    parent: &Parent<'_>,
    interval: Option<u64>,
    auto_renew: bool,
    patience: &dyn Waits,
) -> Result<End> {
    let (agent, coordination) = (session.agent()?, &session.config().coordination);
    let preferred = agent.file.behavior.heartbeat_interval.unwrap_or(coordination.heartbeat_interval_secs);
    let interval = Millis::from_secs(interval.unwrap_or(preferred).max(1));
    let renews = auto_renew || coordination.auto_renew_leases || agent.file.behavior.auto_heartbeat;
    let claims = session.claims_to_change()?;
    let holder = session.holder()?;
    let lock = format!("heartbeat-{}-{}.lock", holder.agent, holder.place);
    let lock = session.control().join("locks").join(lock);
    let lock = session.sys().files.open(&lock, Open::Create { mode: 0o600 })?;
    if !lock.try_lock(LockMode::Exclusive)? {
        return Err(Error::HeartbeatRuns(holder.to_string()));
    }
    Daemon { session, claims, holder, interval, renews, parent }.run(patience)
}
