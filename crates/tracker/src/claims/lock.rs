//! A note beside the lock that says who took it last. It is for people who wonder why something waits: the
//! lock itself is the kernel's, and the note is believed only while that lock is held.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use holdfast_sys::{Open, Sys};
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;
use crate::durable;
use crate::json;
use crate::notice::Notice;
use crate::times::rfc3339;

/// The note is written in place and always has this length, so that a shorter one leaves nothing behind.
const LENGTH: usize = 512;

/// A note beside the lock.
pub(super) struct LockNote {
    sys: Sys,
    path: PathBuf,
    writer: Arc<OnceLock<AgentId>>,
    max_age_secs: u64,
    mode: u32,
}

#[derive(Serialize, Deserialize)]
struct Content {
    pid: u32,
    agent_id: String,
    created_at: String,
}

impl LockNote {
    pub(super) fn new(
        sys: &Sys,
        control: &Path,
        writer: &Arc<OnceLock<AgentId>>,
        max_age_secs: u64,
        mode: u32,
    ) -> Self {
        let path = control.join("locks/claims.lock.meta");
        Self { sys: sys.clone(), path, writer: Arc::clone(writer), max_age_secs, mode }
    }

    /// Notes that this process has the lock. A note that cannot be written is missed by nobody else.
    pub(super) fn write(&self) {
        let Ok(now) = self.sys.clock.now() else { return };
        let agent_id = self.writer.get().map_or_else(|| "system:jit".to_owned(), ToString::to_string);
        let content = Content { pid: std::process::id(), agent_id, created_at: rfc3339(&now) };
        let mut text = json::text(&content).into_bytes();
        text.resize(LENGTH.max(text.len() + 1), b' ');
        if let Some(end) = text.last_mut() {
            *end = b'\n';
        }
        if let Ok(file) = self.sys.files.open(&self.path, Open::Create { mode: self.mode }) {
            let _ = file.write_all_at(&text, 0);
        }
    }

    /// Why to be suspicious of whoever has the lock.
    pub(super) fn suspicion(&self) -> Option<Notice> {
        let bytes = durable::read(&self.sys, &self.path, 1 << 16).ok()??;
        let note: Content = serde_json::from_slice(&bytes).ok()?;
        let since: jiff::Timestamp = note.created_at.parse().ok()?;
        let now = i64::try_from(self.sys.clock.now().ok()?.wall_ms()).ok()?;
        let age = u64::try_from(now.saturating_sub(since.as_millisecond())).ok()? / 1_000;
        (age > self.max_age_secs).then(|| Notice::LockHeldLong {
            path: self.path.with_extension("").display().to_string(),
            secs: age,
            pid: note.pid,
            agent: note.agent_id,
        })
    }
}
