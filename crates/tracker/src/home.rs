//! Where a control plane lives. Its log numbers grants under a name, so a copy that went on under the same name would
//! grant the same fences a second time: a copy gets a name of its own.
//!
//! `locks/home.json` notes the path. Whoever writes looks for an empty file whose name is made of the path and the
//! directory's own number; neither goes with a copy, so one look is enough as long as nothing was moved or copied.

use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, Identity, LockMode, Open};
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::claims::log_at;
use crate::config::Config;
use crate::control::Access;
use crate::durable;
use crate::error::Result;
use crate::json;
use crate::notice::Notice;

/// More than a note can be.
const LONGEST: usize = 1 << 16;

/// Where a control plane lives.
#[derive(Serialize, Deserialize)]
struct Home {
    schema_version: u32,
    path: String,
}

/// A control plane that is about to be written to.
pub(crate) struct Place<'a> {
    pub(crate) caller: &'a Caller,
    /// Where it is.
    pub(crate) control: &'a Path,
    /// Which directory its locks are in.
    pub(crate) locks: Identity,
    pub(crate) access: Access,
    pub(crate) config: &'a Config,
}

impl Place<'_> {
    /// Notes that the control plane lives here, if it does. One that is a copy goes on under a name of its own.
    ///
    /// # Errors
    /// When that is not possible.
    pub(crate) fn settle(&self) -> Result<()> {
        let sys = &self.caller.sys;
        let sign = self.sign();
        match sys.files.stat(&sign) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            found => return Ok(found.map(|_| ())?),
        }
        let mut guard = Guard::open(sys, &self.locks().join("home.lock"), self.access.file())?;
        let _section = guard.enter(sys, LockMode::Exclusive)?;
        if let Some(original) = self.original()? {
            self.rename(&original)?;
        }
        let home = Home { schema_version: 1, path: self.control.to_string_lossy().into_owned() };
        durable::replace(sys, &self.note(), &json::file(&home), self.access.file())?;
        sys.files.open(&sign, Open::Create { mode: self.access.file() })?;
        Ok(())
    }

    fn locks(&self) -> PathBuf {
        self.control.join("locks")
    }

    fn note(&self) -> PathBuf {
        self.locks().join("home.json")
    }

    /// The file that is there if the control plane is known to live here.
    fn sign(&self) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.control.as_os_str().as_encoded_bytes());
        hasher.update(&self.locks.inode.to_le_bytes());
        let digits: String = hasher.finalize().to_hex().chars().take(16).collect();
        self.locks().join(format!("home-{digits}"))
    }

    /// Where the control plane is that this one is a copy of, if it is one. A path with nothing below it, or with
    /// something else, was moved here.
    fn original(&self) -> Result<Option<PathBuf>> {
        let sys = &self.caller.sys;
        let Some(bytes) = durable::read(sys, &self.note(), LONGEST)? else { return Ok(None) };
        // What cannot be read says nothing.
        let Ok(home) = serde_json::from_slice::<Home>(&bytes) else { return Ok(None) };
        let path = PathBuf::from(home.path);
        let there = sys.files.stat(&path.join("locks")).ok().map(|stat| stat.identity);
        // One directory that is mounted at two places is one control plane.
        if path == self.control || there.is_none_or(|there| there == self.locks) {
            return Ok(None);
        }
        let counter = |at: &Path| log_at(sys, at, self.access.file()).counter().ok().flatten();
        let own = counter(self.control);
        Ok((own.is_some() && own == counter(&path)).then_some(path))
    }

    fn rename(&self, original: &Path) -> Result<()> {
        let log = log_at(&self.caller.sys, self.control, self.access.file());
        let counter = log.go_on_as_another(&self.config.policy())?;
        self.caller.notice(&Notice::ClaimsCopied {
            original: original.display().to_string(),
            log: counter.to_string(),
        });
        Ok(())
    }
}
