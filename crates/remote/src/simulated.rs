//! A register for tests: a server whose memory is a directory, with every fault that a real one may have.
//!
//! Its steps are whole whatever happens: the history is written first, then the value is replaced in one rename, all
//! of it flushed before it is answered or read. What may go wrong is between the server and whoever asks it
//! ([`SwapFault`], [`ReadFault`]), and, if a test says so, that the server forgets what it has confirmed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::Millis;
use holdfast_store::whole;
use holdfast_sys::{Guard, LockMode, Open, Sys};
use serde::{Deserialize, Serialize};

use crate::head::LARGEST;
use crate::register::{Found, Mark, Next, Past, Register, Swap, Unreachable, Version};

/// What may happen to a swap on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwapFault {
    /// Nothing.
    None,
    /// It is answered with no, and was not done.
    Lost,
    /// It is done, and no answer comes.
    UnknownDone,
    /// It is not done, and no answer comes.
    UnknownNot,
    /// No answer comes, and it is done later.
    Later,
    /// It arrives twice, and the answer is the second one's.
    Doubled,
    /// It is done and confirmed, and then forgotten.
    Forgotten,
    /// It is done and confirmed, and then the server loses everything.
    Wiped,
}

/// What may happen to a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadFault {
    /// Nothing.
    None,
    /// No answer comes.
    Unreachable,
    /// The answer is the value before the last swap.
    Stale,
}

/// Says what happens next. Every call asks once.
pub trait Faults: Send + Sync {
    /// To a swap.
    fn swap(&self, sys: &Sys) -> SwapFault;

    /// To a read.
    fn read(&self, sys: &Sys) -> ReadFault;

    /// Whether a swap that is on its way arrives now.
    fn arrives(&self, sys: &Sys) -> bool {
        let _ = sys;
        true
    }
}

/// Nothing goes wrong.
#[derive(Clone, Copy, Debug)]
pub struct Calm;

impl Faults for Calm {
    fn swap(&self, _: &Sys) -> SwapFault {
        SwapFault::None
    }

    fn read(&self, _: &Sys) -> ReadFault {
        ReadFault::None
    }
}

/// So many of a hundred calls go wrong, in one of these ways, chosen by the machine's randomness.
#[derive(Clone, Debug)]
pub struct Rough {
    /// How many of a hundred.
    pub percent: u64,
    /// How swaps go wrong.
    pub swaps: Vec<SwapFault>,
    /// How reads go wrong.
    pub reads: Vec<ReadFault>,
}

impl Rough {
    fn pick<T: Copy>(&self, sys: &Sys, of: &[T], none: T) -> T {
        let Ok(dice) = sys.entropy.nonce() else { return none };
        if dice % 100 >= u128::from(self.percent) || of.is_empty() {
            return none;
        }
        let at = usize::try_from((dice >> 64) % of.len() as u128).unwrap_or(0);
        of.get(at).copied().unwrap_or(none)
    }
}

impl Faults for Rough {
    fn swap(&self, sys: &Sys) -> SwapFault {
        self.pick(sys, &self.swaps, SwapFault::None)
    }

    fn read(&self, sys: &Sys) -> ReadFault {
        self.pick(sys, &self.reads, ReadFault::None)
    }

    fn arrives(&self, sys: &Sys) -> bool {
        sys.entropy.nonce().is_ok_and(|dice| dice % 3 == 0)
    }
}

/// The file that says that the server has lost everything, so that nobody who sets the stage makes it anew.
pub const WIPED: &str = "wiped";

/// The simulated register.
#[derive(Clone)]
pub struct Simulated {
    sys: Sys,
    dir: PathBuf,
    faults: Arc<dyn Faults>,
    /// Whether what it confirmed is looked at again.
    checked: bool,
}

#[derive(Serialize, Deserialize)]
struct OnItsWay {
    expected: Option<String>,
    height: u64,
    head: Vec<u8>,
    step: Vec<u8>,
}

type Served<T> = Result<T, Unreachable>;

impl Simulated {
    /// The server whose memory is `dir`.
    #[must_use]
    pub fn new(sys: &Sys, dir: &Path, faults: Arc<dyn Faults>) -> Self {
        Self { sys: sys.clone(), dir: dir.to_path_buf(), faults, checked: false }
    }

    /// Makes its directory if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn start(&self) -> Served<()> {
        for path in [self.dir.clone(), self.dir.join("log")] {
            match self.sys.files.create_dir(&path, 0o755) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(down(&error)),
                _ => self.sys.files.sync_dir(whole::parent(&path)).map_err(|error| down(&error))?,
            }
        }
        Ok(())
    }

    /// This one, whose confirmations are looked at again.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// Sets the value back to the one before, as a server does that was restored from a backup.
    ///
    /// # Errors
    /// When there is none.
    pub fn set_back(&self) -> Served<()> {
        self.serve(|server| {
            let before = server.before()?.ok_or_else(|| Unreachable("there is nothing before".into()))?;
            server.put("head.json", &before.value)
        })
    }

    /// Removes the value.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn delete(&self) -> Served<()> {
        self.serve(|server| server.remove("head.json"))
    }

    fn serve<T>(&self, work: impl FnOnce(&Self) -> Served<T>) -> Served<T> {
        let mut guard =
            Guard::open(&self.sys, &self.dir.join("server.lock"), 0o600).map_err(|error| down(&error))?;
        let _section = guard.enter(&self.sys, LockMode::Exclusive).map_err(|error| down(&error))?;
        // What another request left half-flushed is flushed before anybody is told of it.
        self.sys.files.sync_dir(&self.dir).map_err(|error| down(&error))?;
        work(self)
    }

    fn get(&self, name: &str) -> Served<Option<Vec<u8>>> {
        match self.sys.files.open(&self.dir.join(name), Open::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            file => {
                let bytes =
                    file.and_then(|file| file.read_from(0, 8 * LARGEST)).map_err(|error| down(&error))?;
                Ok(Some(bytes))
            }
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Served<()> {
        whole::replace(&self.sys, &self.dir.join(name), bytes, 0o600)
            .map_err(|error| Unreachable(error.to_string()))
    }

    fn remove(&self, name: &str) -> Served<()> {
        match self.sys.files.remove_file(&self.dir.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(down(&error)),
            _ => self.sys.files.sync_dir(&self.dir).map_err(|error| down(&error)),
        }
    }

    fn current(&self) -> Served<Option<Found>> {
        Ok(self.get("head.json")?.map(found))
    }

    /// The value before the last swap.
    fn before(&self) -> Served<Option<Found>> {
        let Some(now) = self.current()? else { return Ok(None) };
        let Some(height) = height_of(&now.value).and_then(|height| height.checked_sub(1)) else {
            return Ok(None);
        };
        Ok(self.get(&format!("log/{height}.head"))?.map(found))
    }

    /// Replaces the value if it is the expected one; says whether it did.
    fn apply(&self, way: &OnItsWay) -> Served<Option<Version>> {
        let now = self.current()?;
        if now.map(|found| found.version.0) != way.expected {
            return Ok(None);
        }
        self.put(&format!("log/{}.step", way.height), &way.step)?;
        self.put(&format!("log/{}.head", way.height), &way.head)?;
        self.put("head.json", &way.head)?;
        Ok(Some(version(&way.head)))
    }

    /// Lets a swap arrive that was on its way.
    fn deliver(&self) -> Served<()> {
        let Some(late) = self.get("late.json")? else { return Ok(()) };
        if self.faults.arrives(&self.sys) {
            let way: OnItsWay =
                serde_json::from_slice(&late).map_err(|error| Unreachable(error.to_string()))?;
            self.apply(&way)?;
            self.remove("late.json")?;
        }
        Ok(())
    }

    fn take(&self, way: &OnItsWay) -> Served<Swap> {
        self.deliver()?;
        let silence = || Swap::Unknown("no answer came".into());
        let told = |done: Option<Version>| done.map_or(Swap::Lost(None), Swap::Swapped);
        Ok(match self.faults.swap(&self.sys) {
            SwapFault::None => told(self.apply(way)?),
            SwapFault::Lost => Swap::Lost(Some("try again".into())),
            SwapFault::UnknownNot => silence(),
            SwapFault::UnknownDone => {
                self.apply(way)?;
                silence()
            }
            SwapFault::Later => {
                let bytes = serde_json::to_vec(way).map_err(|error| Unreachable(error.to_string()))?;
                self.put("late.json", &bytes)?;
                silence()
            }
            SwapFault::Doubled => {
                self.apply(way)?;
                told(self.apply(way)?)
            }
            SwapFault::Forgotten => {
                let before = self.current()?;
                let done = told(self.apply(way)?);
                if let (Swap::Swapped(_), Some(before)) = (&done, before) {
                    self.put("head.json", &before.value)?;
                }
                done
            }
            SwapFault::Wiped => {
                let done = told(self.apply(way)?);
                self.put(WIPED, b"")?;
                self.remove("head.json")?;
                done
            }
        })
    }
}

#[derive(Deserialize)]
struct Height {
    height: u64,
}

fn height_of(head: &[u8]) -> Option<u64> {
    serde_json::from_slice(head).ok().map(|Height { height }| height)
}

fn version(bytes: &[u8]) -> Version {
    Version(blake3::hash(bytes).to_hex().to_string())
}

fn found(value: Vec<u8>) -> Found {
    Found { version: version(&value), value }
}

fn down(error: &holdfast_sys::Error) -> Unreachable {
    Unreachable(format!("the server is down: {error}"))
}

impl Register for Simulated {
    fn name(&self) -> String {
        "the simulated register".into()
    }

    fn place(&self) -> PathBuf {
        self.dir.join("head.json")
    }

    fn read(&self) -> Served<Option<Found>> {
        self.serve(|server| {
            server.deliver()?;
            match server.faults.read(&server.sys) {
                ReadFault::None => server.current(),
                ReadFault::Unreachable => Err(Unreachable("no answer came".into())),
                ReadFault::Stale => {
                    server.before()?.map_or_else(|| server.current(), |before| Ok(Some(before)))
                }
            }
        })
    }

    fn confirms(&self, version: Option<&Version>) -> Served<bool> {
        self.serve(|server| Ok(server.current()?.map(|found| found.version).as_ref() == version))
    }

    fn descends(&self, _: &Found, seen: &Mark) -> Served<bool> {
        self.serve(|server| {
            let head = server.get(&format!("log/{}.head", seen.height))?;
            Ok(head.is_some_and(|head| version(&head) == seen.version))
        })
    }

    fn swap(&self, expected: Option<&Version>, next: &Next<'_>) -> Swap {
        let way = OnItsWay {
            expected: expected.map(|version| version.0.clone()),
            height: next.height,
            head: next.head.to_vec(),
            step: next.step.to_vec(),
        };
        self.serve(|server| server.take(&way)).unwrap_or_else(|error| Swap::Unknown(error.0))
    }

    fn past(&self, now: &Found) -> Served<Past> {
        self.serve(|server| {
            let last = height_of(&now.value).unwrap_or(0);
            let gone = || Unreachable("its history is gone".into());
            let first = server.get("log/1.head")?.ok_or_else(gone)?;
            let mut steps = Vec::new();
            for height in 2..=last {
                steps.push(server.get(&format!("log/{height}.step"))?.ok_or_else(gone)?);
            }
            Ok(Past { first, steps })
        })
    }

    fn must_be_checked(&self) -> bool {
        self.checked
    }

    fn wait(&self, version: &Version, most: Millis) -> Served<bool> {
        self.sys.clock.sleep(most);
        Ok(self.read()?.is_none_or(|found| found.version != *version))
    }
}
