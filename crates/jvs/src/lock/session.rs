//! The credentials of a session: what proves that a command comes from the shell that took the lock.
//!
//! A session belongs to the process that took it, and whatever that process starts acts for it: a subshell, a
//! pipeline, `timeout 20 jvs …`. The credentials are in a file of mode 0600 that goes by the number and the start
//! time of that process, and they are looked for at every process above the one that asks. So an ex-holder on
//! the same machine never picks up its successor's, and neither do two jobs of one terminal each other's. A file that others may read is not believed,
//! and neither is one of another user's. It need not survive the power: neither does the shell.

use std::path::{Path, PathBuf};

use holdfast_kernel::{Claim, Fence, Holder, Lease, LeaseId, Name};
use holdfast_store::{CounterId, whole};
use holdfast_sys::{Kind, Liveness, Open, ProcessId, Sys};
use serde::{Deserialize, Serialize};

use crate::error::{Class, Error, Result};
use crate::repo::{FORMAT, Repo, line};
use crate::worktree::Worktree;

/// A session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Where its file is.
    pub path: PathBuf,
    /// Who it is for others: `host:user:pid:start_time`.
    pub holder_id: String,
    /// The lock that it asked for last.
    pub lock_id: LeaseId,
    /// The token that it was given; none until it knows.
    pub fence: Option<Fence>,
    worktree_id: String,
    nonce: String,
    session_id: String,
    counter: Option<String>,
    process: Option<Owner>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    host: String,
    boot: Option<String>,
    namespace: u64,
    pid: u32,
    start: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    format: u64,
    worktree_id: String,
    holder_id: String,
    holder_nonce: String,
    session_id: String,
    lock_id: String,
    fencing_token: Option<u64>,
    counter: Option<String>,
    process: Option<Owner>,
}

/// The shell that a command was started from.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The process that a session which is taken now belongs to.
    pub process: ProcessId,
    /// Every process whose session may be used, the nearest first.
    pub above: Vec<ProcessId>,
    /// The user that it acts for.
    pub user: String,
}

impl Shell {
    /// The shell that started this process. A subshell is a copy of its shell and ends before it, so the shell
    /// is meant; the same goes for programs that only start another one.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn calling(sys: &Sys, user: &str) -> Result<Self> {
        let above = sys.processes.ancestors()?;
        let lasting = above.iter().find(|one| !one.is_copy && !one.is_passing());
        let process = match lasting.or(above.first()) {
            Some(one) => one.process.clone(),
            None => sys.processes.find(sys.processes.parent()?)?,
        };
        let above = above.into_iter().map(|one| one.process).collect();
        Ok(Self { process, above, user: user.to_owned() })
    }

    /// This very process, for a session that is handed on by other means.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn own(sys: &Sys, user: &str) -> Result<Self> {
        Ok(Self { process: sys.processes.me()?, above: Vec::new(), user: user.to_owned() })
    }

    /// Who it is for others.
    #[must_use]
    pub fn holder_id(&self) -> String {
        let ProcessId { host, pid, start, .. } = &self.process;
        format!("{}:{}:{pid}:{start}", plain(host), plain(&self.user))
    }
}

/// The text with nothing in it that could be taken for something else.
#[must_use]
pub fn plain(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept: String = text.chars().take(64).map(|c| if allowed(c) { c } else { '_' }).collect();
    if kept.is_empty() { "_".to_owned() } else { kept }
}

fn refused(path: &Path, why: &str) -> Error {
    Error::new(Class::LockNotHeld, format!("the session in {} is not believed: {why}", path.display()))
}

/// Where the session of a process on a worktree is.
#[must_use]
pub fn place(repo: &Repo, worktree: &Worktree, process: &ProcessId) -> PathBuf {
    let ProcessId { pid, start, .. } = process;
    repo.control("sessions").join(format!("{}.{pid}-{start}.json", worktree.worktree_id))
}

impl Session {
    /// A session with fresh credentials.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn fresh(sys: &Sys, worktree: &Worktree, shell: &Shell, path: PathBuf) -> Result<Self> {
        let now = sys.clock.now()?;
        let ProcessId { host, boot, namespace, pid, start } = shell.process.clone();
        let boot = boot.map(|boot| boot.to_string());
        Ok(Self {
            path,
            holder_id: shell.holder_id(),
            lock_id: sys.entropy.lease_id(&now)?,
            fence: None,
            worktree_id: worktree.worktree_id.clone(),
            nonce: format!("{:032x}", sys.entropy.nonce()?),
            session_id: sys.entropy.lease_id(&now)?.to_string(),
            counter: None,
            process: Some(Owner { host, boot, namespace, pid, start }),
        })
    }

    /// The session in a file, if there is one; it must be for this worktree.
    ///
    /// # Errors
    /// When the file is not a session's, or others could have read or written it.
    pub fn load(repo: &Repo, worktree: &Worktree, path: &Path) -> Result<Option<Self>> {
        match Self::read(repo, path)? {
            Some(session) if session.worktree_id != worktree.worktree_id => {
                Err(refused(path, &format!("it is for another worktree than '{}'", worktree.name)))
            }
            session => Ok(session),
        }
    }

    /// The session in a file, if there is one, whatever worktree it is for.
    ///
    /// # Errors
    /// When the file is not a session's, or others could have read or written it.
    pub fn read(repo: &Repo, path: &Path) -> Result<Option<Self>> {
        let sys = &repo.sys;
        let refused = |why: &str| refused(path, why);
        let stat = match sys.files.stat(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            stat => stat?,
        };
        if stat.kind != Kind::File {
            return Err(refused("it is not a file"));
        }
        if stat.mode & 0o077 != 0 {
            return Err(refused("others may read or write it").hint(format!("chmod 600 {}", path.display())));
        }
        if stat.owner != repo.actor.user {
            return Err(refused("it belongs to another user"));
        }
        let Some(bytes) = whole::read(sys, path)? else { return Ok(None) };
        let wire: Wire = serde_json::from_slice(&bytes).map_err(|error| refused(&error.to_string()))?;
        Self::from_wire(wire, path).map(Some).ok_or_else(|| refused("a field holds what cannot be there"))
    }

    fn from_wire(wire: Wire, path: &Path) -> Option<Self> {
        let Wire { format, worktree_id, holder_id, holder_nonce, session_id, lock_id, .. } = wire;
        (format == FORMAT).then_some(())?;
        Some(Self {
            path: path.to_path_buf(),
            holder_id,
            lock_id: lock_id.parse().ok()?,
            fence: wire.fencing_token.map(Fence::new).transpose().ok()?,
            worktree_id,
            nonce: holder_nonce,
            session_id,
            counter: wire.counter,
            process: wire.process,
        })
    }

    /// Writes the session down if nothing is in its place; says whether it did.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(&self, sys: &Sys) -> Result<bool> {
        let beside = self.write_beside(sys)?;
        match sys.files.rename_new(&beside, &self.path) {
            Ok(()) => Ok(true),
            Err(error) => {
                let _ = sys.files.remove_file(&beside);
                if error.kind() == std::io::ErrorKind::AlreadyExists { Ok(false) } else { Err(error.into()) }
            }
        }
    }

    /// The session once it knows what it was granted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn granted(mut self, sys: &Sys, lease: &Lease, counter: CounterId) -> Result<Self> {
        self.lock_id = lease.id;
        self.fence = Some(lease.fence);
        self.counter = Some(counter.to_string());
        let beside = self.write_beside(sys)?;
        sys.files.rename(&beside, &self.path).inspect_err(|_| drop(sys.files.remove_file(&beside)))?;
        Ok(self)
    }

    /// Unlike [`holdfast_store::whole`] this flushes nothing: a session ends with the machine.
    fn write_beside(&self, sys: &Sys) -> Result<PathBuf> {
        let name = self.path.file_name().ok_or_else(|| refused(&self.path, "that is no name of a file"))?;
        let mut name = name.to_os_string();
        name.push(format!(".{:032x}.tmp", sys.entropy.nonce()?));
        let beside = self.path.with_file_name(name);
        let file = sys.files.open(&beside, Open::New { mode: 0o600 })?;
        file.write_all_at(&line(&self.wire())?, 0).inspect_err(|_| drop(sys.files.remove_file(&beside)))?;
        Ok(beside)
    }

    fn wire(&self) -> Wire {
        Wire {
            format: FORMAT,
            worktree_id: self.worktree_id.clone(),
            holder_id: self.holder_id.clone(),
            holder_nonce: self.nonce.clone(),
            session_id: self.session_id.clone(),
            lock_id: self.lock_id.to_string(),
            fencing_token: self.fence.map(Fence::get),
            counter: self.counter.clone(),
            process: self.process.clone(),
        }
    }

    /// This session, asking for a lock that nobody asked for yet.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn asking(mut self, sys: &Sys) -> Result<Self> {
        self.lock_id = sys.entropy.lease_id(&sys.clock.now()?)?;
        Ok(self)
    }

    /// Who holds what this session holds.
    ///
    /// # Errors
    /// When its credentials cannot be a holder's.
    pub fn holder(&self) -> Result<Holder> {
        let name = |text: &str| {
            Name::new(text).map_err(|error| Error::new(Class::LockNotHeld, format!("the session: {error}")))
        };
        Ok(Holder { agent: name(&self.nonce)?, place: name(&self.session_id)? })
    }

    /// What the session presents to write.
    ///
    /// # Errors
    /// When it does not know its token.
    pub fn claim(&self, resource: &Name) -> Result<Claim> {
        let fence = self.fence.ok_or_else(|| {
            Error::new(Class::LockNotHeld, "this session has no token")
                .hint("run `jvs lock acquire` once more; if the lock is yours, it says so")
        })?;
        Ok(Claim { resource: resource.clone().into(), lease: self.lock_id, holder: self.holder()?, fence })
    }

    /// Whether the shell that it belongs to is known to be gone.
    #[must_use]
    pub fn is_orphan(&self, sys: &Sys) -> bool {
        let Some(Owner { host, boot, namespace, pid, start }) = self.process.clone() else { return false };
        let boot = boot.and_then(|hex| u128::from_str_radix(&hex, 16).ok()).map(holdfast_kernel::BootId::new);
        sys.processes.liveness(&ProcessId { host, boot, namespace, pid, start }) == Liveness::Dead
    }

    /// Forgets the session. One that is gone already is no failure.
    pub fn forget(&self, sys: &Sys) {
        let _ = sys.files.remove_file(&self.path);
    }
}
