//! What the media of this crate have in common, so that each file shows only the protocol that it is about:
//! how it excludes others, how it reads its state, how it makes the next state visible.

use std::path::{Path, PathBuf};

use holdfast_kernel::{Answer, Claim, Command, Fence, LeaseId, Policy, Stamp, Table, apply, check, decide};
use holdfast_store::{CounterId, Damage, Error, Held, Medium, Result, View};
use holdfast_sys::{Handle, LockMode, Open, Sys};

/// The permission bits of every file here.
pub(crate) const MODE: u32 = 0o644;

/// Where every medium of this crate lives.
pub(crate) const ROOT: &str = "/lock";

/// What a protocol keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) table: Table,
    pub(crate) next: Fence,
}

impl State {
    pub(crate) const EMPTY: Self = Self { table: Table::new(), next: Fence::FIRST };

    /// What a medium shows that is in this state.
    pub(crate) fn view(self, now: Stamp) -> View {
        View { table: self.table, counter: Some(COUNTER), next: self.next, now }
    }
}

/// Whether a step was made, or somebody else came first and everything has to be looked at again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Published {
    Done,
    Raced,
}

/// One way to keep a state in files.
pub(crate) trait Protocol: Send + Sync {
    /// Keeps others out until the handle is dropped; protocols that believe to need nothing have none.
    fn enter(&self, sys: &Sys) -> Result<Option<Box<dyn Handle>>>;

    /// Reads the state.
    fn load(&self, sys: &Sys) -> Result<State>;

    /// Makes the next state visible and, as far as the protocol cares, durable.
    fn publish(&self, sys: &Sys, before: &State, after: &State) -> Result<Published>;

    /// Makes sure that what was read cannot be lost any more, before somebody is told yes because of it.
    fn settle(&self, sys: &Sys) -> Result<()> {
        let _ = sys;
        Ok(())
    }

    /// Ends the section.
    fn leave(&self, sys: &Sys, section: Option<Box<dyn Handle>>) -> Result<()> {
        let _ = sys;
        drop(section);
        Ok(())
    }
}

/// A medium that follows a protocol.
pub(crate) struct Follower<P> {
    sys: Sys,
    protocol: P,
}

impl<P: Protocol> Follower<P> {
    pub(crate) fn open(sys: &Sys, protocol: P) -> Result<Box<dyn Medium>>
    where
        P: 'static,
    {
        make_root(sys)?;
        Ok(Box::new(Self { sys: sys.clone(), protocol }))
    }

    fn attempt(&self, policy: &Policy, command: &Command) -> Result<Option<Answer>> {
        let before = self.protocol.load(&self.sys)?;
        let now = self.sys.clock.now()?;
        let decision = decide(&before.table, policy, command, &now, before.next)?;
        if decision.events.is_empty() {
            self.protocol.settle(&self.sys)?;
            return Ok(Some(decision.answer));
        }
        let mut after = before.clone();
        for event in &decision.events {
            apply(&mut after.table, event).map_err(|error| damaged(Path::new(ROOT), &error.to_string()))?;
        }
        let next = before.next.plus(decision.events.len() as u64);
        after.next = next.ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
        let published = self.protocol.publish(&self.sys, &before, &after)?;
        Ok((published == Published::Done).then_some(decision.answer))
    }

    fn section<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let section = self.protocol.enter(&self.sys)?;
        let done = work();
        self.protocol.leave(&self.sys, section)?;
        done
    }
}

impl<P: Protocol> Medium for Follower<P> {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        loop {
            if let Some(answer) = self.section(|| self.attempt(policy, command))? {
                return Ok(answer);
            }
        }
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        self.section(|| {
            let state = self.protocol.load(&self.sys)?;
            let now = self.sys.clock.now()?;
            let lease = check(&state.table, claim, &now)?;
            self.protocol.settle(&self.sys)?;
            act(&Held::vouch(lease, COUNTER));
            Ok(())
        })
    }

    fn view(&self) -> Result<View> {
        self.section(|| {
            let state = self.protocol.load(&self.sys)?;
            Ok(state.view(self.sys.clock.now()?))
        })
    }
}

const COUNTER: CounterId = CounterId::new(LeaseId::new(1));

fn make_root(sys: &Sys) -> Result<()> {
    make(sys, Path::new(ROOT))
}

/// Makes a directory if it is not there.
pub(crate) fn make(sys: &Sys, path: &Path) -> Result<()> {
    match sys.files.create_dir(path, 0o755) {
        Ok(()) => Ok(sys.files.sync_dir(path.parent().unwrap_or(Path::new("/")))?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The file with this name.
pub(crate) fn at(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

pub(crate) fn damaged(path: &Path, what: &str) -> Error {
    let damage = Damage { place: "the file".to_owned(), what: what.to_owned() };
    Error::Damaged { path: path.to_path_buf(), damage }
}

/// What is in a file, if there is one.
pub(crate) fn read(sys: &Sys, path: &Path) -> Result<Option<Vec<u8>>> {
    match sys.files.open(path, Open::Read) {
        Ok(handle) => Ok(Some(handle.read_from(0, 1 << 20)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file from the beginning and makes its content durable, but not its name.
pub(crate) fn write(sys: &Sys, path: &Path, bytes: &[u8]) -> Result<()> {
    let handle = sys.files.open(path, Open::Create { mode: MODE })?;
    handle.truncate(0)?;
    handle.write_all_at(bytes, 0)?;
    Ok(handle.sync()?)
}

/// Writes a file beside, under a name that nobody else uses, and puts it in the place of `path`.
pub(crate) fn replace(sys: &Sys, path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(sys, path)?;
    write(sys, &beside, bytes)?;
    sys.files.rename(&beside, path)?;
    Ok(sys.files.sync_dir(Path::new(ROOT))?)
}

/// A name beside `path` that nobody else uses.
pub(crate) fn beside(sys: &Sys, path: &Path) -> Result<PathBuf> {
    let nonce = sys.entropy.nonce()?;
    Ok(path.with_extension(format!("{nonce:032x}")))
}

/// Opens a file and waits for its lock, whatever signals come.
pub(crate) fn lock(sys: &Sys, path: &Path) -> Result<Option<Box<dyn Handle>>> {
    let handle = sys.files.open(path, Open::Create { mode: MODE })?;
    loop {
        match handle.lock(LockMode::Exclusive) {
            Ok(()) => return Ok(Some(handle)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Appends all of `bytes`, whatever signals come.
pub(crate) fn append(handle: &dyn Handle, bytes: &[u8]) -> Result<()> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match handle.append(rest) {
            Ok(count) => written += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
