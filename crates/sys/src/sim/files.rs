//! The files of a simulated process: each method is one turn, its faults, and then the disk.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use super::call::{Attempt, Call, With};
use super::choice::{Choice, Fault};
use super::disk::{Access, HandleId};
use super::kernel::{Inner, Kernel, dead};
use super::state::Status;
use crate::{Error, Files, Handle, LockMode, Open, Result, Stat};

pub(super) struct SimFiles {
    pub(super) kernel: Arc<Kernel>,
    pub(super) me: usize,
}

struct SimHandle {
    kernel: Arc<Kernel>,
    me: usize,
    id: HandleId,
    path: PathBuf,
}

/// What a write does before it is over.
enum Part {
    /// All of it.
    All,
    /// Only so many bytes, and then this error if there is one.
    Some(usize, Option<Errno>),
}

impl Inner {
    /// Whether the disk fails.
    fn eio(&mut self) -> io::Result<()> {
        let failed = self.risk(Choice::Fault(Fault::Eio), 2, |left| &mut left.eio) != 0;
        if failed { Err(Errno::IO.into()) } else { Ok(()) }
    }

    /// Whether there is space for another name or file.
    fn enospc(&mut self) -> io::Result<()> {
        self.eio()?;
        let failed = self.risk(Choice::Fault(Fault::Enospc), 2, |left| &mut left.enospc) != 0;
        if failed || self.is_full() { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }

    /// Whether the disk is still full from the last time.
    fn is_full(&mut self) -> bool {
        let full = self.state.disk.full > 0;
        self.state.disk.full = self.state.disk.full.saturating_sub(1);
        full
    }

    fn eintr(&mut self) -> io::Result<()> {
        let cut = self.risk(Choice::Fault(Fault::Eintr), 2, |left| &mut left.eintr) != 0;
        if cut { Err(Errno::INTR.into()) } else { Ok(()) }
    }

    /// How much of `len` bytes is read or written before the system returns: at least one.
    fn short(&mut self, len: usize) -> usize {
        if len < 2 {
            return len;
        }
        match self.risk(Choice::Fault(Fault::Short), 4, |left| &mut left.short_io) {
            0 => len,
            1 => len / 2,
            2 => 1,
            _ => len - 1,
        }
    }

    fn part(&mut self, len: usize) -> io::Result<Part> {
        self.eintr()?;
        match self.risk(Choice::Fault(Fault::Eio), 3, |left| &mut left.eio) {
            0 => {}
            1 => return Err(Errno::IO.into()),
            _ => return Ok(Part::Some(len / 2, Some(Errno::IO))),
        }
        if self.is_full() {
            return Err(Errno::NOSPC.into());
        }
        match self.risk(Choice::Fault(Fault::Enospc), 3, |left| &mut left.enospc) {
            0 => {}
            1 => return Err(Errno::NOSPC.into()),
            _ if len < 2 => return Err(Errno::NOSPC.into()),
            _ => {
                // What fits is written; whoever comes for the rest finds the disk full.
                self.state.disk.full += 1;
                return Ok(Part::Some(len / 2, None));
            }
        }
        let short = self.short(len);
        Ok(if short == len { Part::All } else { Part::Some(short, None) })
    }

    fn write(&mut self, me: usize, id: HandleId, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let at = self.state.disk.may_write(id, bytes.len(), offset)?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let now_ms = self.state.wall_ms(me);
        let (len, error) = match self.part(bytes.len())? {
            Part::All => (bytes.len(), None),
            Part::Some(len, error) => (len, error),
        };
        if let Some(bytes) = bytes.get(..len).filter(|bytes| !bytes.is_empty()) {
            self.state.disk.write(id, bytes, at, now_ms)?;
        }
        error.map_or(Ok(len), |error| Err(error.into()))
    }

    fn read(&mut self, me: usize, id: HandleId, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.state.disk.access(id)?;
        self.eintr()?;
        self.eio()?;
        let len = self.state.disk.read(id, buffer, offset)?;
        let len = self.short(len);
        self.state.proc_mut(me).knows.bytes(buffer.get(..len).unwrap_or_default());
        Ok(len)
    }

    fn sync(&mut self, id: HandleId) -> io::Result<()> {
        match self.eio() {
            Ok(()) => Ok(self.state.disk.sync(id, None)?),
            Err(error) => {
                self.on_disk(|disk, ask| disk.sync(id, Some(ask)))?;
                Err(error)
            }
        }
    }

    /// Takes a lock if it is free. Changing one gives the old one up, which others may wait for.
    fn try_lock(&mut self, id: HandleId, mode: LockMode) -> io::Result<bool> {
        let given_up = self.state.disk.would_convert(id, mode);
        let taken = self.state.disk.try_lock(id, mode)?;
        self.state.unlocked(given_up);
        Ok(taken)
    }
}

impl SimHandle {
    fn call<'a>(&'a self, verb: &'static str, with: With<'a>) -> Call<'a> {
        Call::new(verb, &self.path, with)
    }

    /// One try for a lock. Only a wait is cut short by a signal.
    fn attempt(&self, inner: &mut Inner, mode: LockMode) -> io::Result<Attempt> {
        if inner.try_lock(self.id, mode)? {
            return Ok(Attempt::Taken);
        }
        inner.eintr()?;
        Ok(Attempt::Waits(inner.state.disk.opened(self.id)?))
    }
}

const fn text(mode: LockMode) -> With<'static> {
    With::Text(match mode {
        LockMode::Shared => "shared",
        LockMode::Exclusive => "exclusive",
    })
}

impl Handle for SimHandle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let call = self.call("read", With::Number(offset));
        self.kernel.call(self.me, &call, |inner| inner.read(self.me, self.id, buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize> {
        let call = self.call("write", With::Bytes(bytes, offset));
        self.kernel.call(self.me, &call, |inner| inner.write(self.me, self.id, bytes, offset))
    }

    fn append(&self, bytes: &[u8]) -> Result<usize> {
        let call = self.call("append to", With::Bytes(bytes, 0));
        self.kernel.call(self.me, &call, |inner| {
            if inner.state.disk.access(self.id)? != Access::Append {
                return Err(Errno::BADF.into());
            }
            inner.write(self.me, self.id, bytes, 0)
        })
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let call = self.call("cut", With::Number(len));
        self.kernel.call(self.me, &call, |inner| {
            let grows = inner.state.disk.content(self.id).is_ok_and(|content| len > content.len() as u64);
            if grows {
                inner.enospc()?
            } else {
                inner.eio()?
            }
            let now_ms = inner.state.wall_ms(self.me);
            Ok(inner.state.disk.truncate(self.id, len, now_ms)?)
        })
    }

    fn sync(&self) -> Result<()> {
        let call = self.call("flush", With::Nothing);
        self.kernel.call(self.me, &call, |inner| inner.sync(self.id))
    }

    fn stat(&self) -> Result<Stat> {
        let call = self.call("look at", With::Text("(the open file)"));
        self.kernel.call(self.me, &call, |inner| {
            let node = inner.state.disk.opened(self.id)?;
            Ok(inner.state.disk.stat(node))
        })
    }

    fn lock(&self, mode: LockMode) -> Result<()> {
        let call = self.call("lock", text(mode));
        let failed = |error| Error::new(call.verb, call.path, error);
        let Some(mut inner) = self.kernel.turn(self.me, &call) else {
            return Err(failed(dead()));
        };
        loop {
            let result = self.attempt(&mut inner, mode);
            inner.state.told(self.me, &call, &result);
            match result.map_err(failed)? {
                Attempt::Taken => return Ok(()),
                Attempt::Waits(node) => inner = self.kernel.park(inner, self.me, Status::Blocked(node)),
            }
        }
    }

    fn try_lock(&self, mode: LockMode) -> Result<bool> {
        let call = self.call("lock", text(mode));
        self.kernel.call(self.me, &call, |inner| inner.try_lock(self.id, mode))
    }

    fn unlock(&self) -> Result<()> {
        let call = self.call("unlock", With::Nothing);
        self.kernel.call(self.me, &call, |inner| {
            let node = inner.state.disk.unlock(self.id)?;
            inner.state.unlocked(node);
            Ok(())
        })
    }
}

impl Drop for SimHandle {
    fn drop(&mut self) {
        // Whoever dies has had all handles closed already.
        let call = self.call("close", With::Nothing);
        let act = |inner: &mut Inner| {
            let node = inner.state.disk.close(self.id);
            inner.state.unlocked(node);
            Ok(())
        };
        let visible = self.kernel.lock().state.disk.close_is_visible(self.id);
        let _ = if visible {
            self.kernel.call(self.me, &call, act)
        } else {
            self.kernel.quiet(self.me, &call, act)
        };
    }
}

impl SimFiles {
    /// A call on a path that gives something a name.
    fn naming(
        &self,
        verb: &'static str,
        path: &Path,
        with: With<'_>,
        act: impl FnOnce(&mut Inner, i64) -> rustix::io::Result<()>,
    ) -> Result<()> {
        self.kernel.call(self.me, &Call::new(verb, path, with), |inner| {
            inner.enospc()?;
            let now_ms = inner.state.wall_ms(self.me);
            Ok(act(inner, now_ms)?)
        })
    }

    fn removing(
        &self,
        verb: &'static str,
        path: &Path,
        act: impl FnOnce(&mut Inner, i64) -> rustix::io::Result<()>,
    ) -> Result<()> {
        self.kernel.call(self.me, &Call::new(verb, path, With::Nothing), |inner| {
            inner.eio()?;
            let now_ms = inner.state.wall_ms(self.me);
            Ok(act(inner, now_ms)?)
        })
    }
}

impl Files for SimFiles {
    fn open(&self, path: &Path, how: Open) -> Result<Box<dyn Handle>> {
        let id = self.kernel.call(self.me, &Call::new("open", path, With::How(how)), |inner| {
            match how {
                Open::Read | Open::Write => inner.eio()?,
                Open::Create { .. } | Open::New { .. } | Open::Append { .. } => inner.enospc()?,
            }
            let now_ms = inner.state.wall_ms(self.me);
            Ok(inner.state.disk.open(path, how, self.me, now_ms)?)
        })?;
        let kernel = Arc::clone(&self.kernel);
        Ok(Box::new(SimHandle { kernel, me: self.me, id, path: path.to_path_buf() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.naming("replace", to, With::From(from), |inner, now| inner.state.disk.rename(from, to, now))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        self.naming("create", to, With::From(from), |inner, now| inner.state.disk.rename_new(from, to, now))
    }

    fn link(&self, from: &Path, to: &Path) -> Result<()> {
        self.naming("link", to, With::From(from), |inner, now| inner.state.disk.link(from, to, now))
    }

    fn create_dir(&self, path: &Path, mode: u32) -> Result<()> {
        let with = With::Number(u64::from(mode));
        self.naming("make the directory", path, with, |inner, now| {
            inner.state.disk.create_dir(path, mode, now)
        })
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.removing("remove", path, |inner, now| inner.state.disk.remove_file(path, now))
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        self.removing("remove the directory", path, |inner, now| inner.state.disk.remove_dir(path, now))
    }

    fn stat(&self, path: &Path) -> Result<Stat> {
        self.kernel.call(self.me, &Call::new("look at", path, With::Nothing), |inner| {
            let node = inner.state.disk.find(path)?;
            Ok(inner.state.disk.stat(node))
        })
    }

    fn admit(&self, path: &Path, mode: u32, _: Option<u32>) -> Result<()> {
        let with = With::Number(u64::from(mode));
        self.naming("set the permissions of", path, with, |inner, _| inner.state.disk.set_mode(path, mode))
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>> {
        self.kernel.call(self.me, &Call::new("list", path, With::Nothing), |inner| {
            inner.eio()?;
            Ok(inner.state.disk.list(path)?)
        })
    }

    fn sync_dir(&self, path: &Path) -> Result<()> {
        self.kernel.call(self.me, &Call::new("flush the directory", path, With::Nothing), |inner| {
            let node = inner.state.disk.find(path)?;
            inner.eio()?;
            Ok(inner.state.disk.sync_dir(node)?)
        })
    }

    fn sync_all(&self, path: &Path) -> Result<()> {
        self.kernel.call(self.me, &Call::new("flush the file system of", path, With::Nothing), |inner| {
            let node = inner.state.disk.find(path)?;
            inner.eio()?;
            Ok(inner.state.disk.sync_all(node)?)
        })
    }
}
