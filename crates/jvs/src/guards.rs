//! Waiting for guards: never for ever, never without a word, and never while holding another one.
//!
//! A process that is stopped inside a guard keeps everybody out, and no lease can end that. So whoever waits
//! tries again and again up to a limit, says whom it waits for, and stops when a signal asks it to. Whoever needs
//! several guards takes all of them or none: if one is busy, the others are given back before it is waited for, so
//! that one who is stopped stops only those who need the same guard.

mod patient;

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::{Error, Handle, Identity, LockMode, Locker, Open, Result, Sys};

pub use patient::patient;

/// How long a guard is waited for unless something else is asked for. Nobody is inside for longer than a few
/// flushes take.
pub const DEFAULT_WAIT: Millis = Millis::from_secs(10);

/// After so long a wait it is said who is waited for.
const SILENCE: Millis = Millis::from_secs(1);

/// The longest time between two tries.
const LONGEST_PAUSE: u64 = 20;

/// How to wait.
#[derive(Clone)]
pub struct Waits {
    /// For how long at most.
    pub limit: Millis,
    /// Where to say whom one waits for.
    pub note: Arc<dyn Fn(&str) + Send + Sync>,
    /// The number of a signal that asked to stop; 0 until one does.
    pub signal: Arc<AtomicUsize>,
}

impl Default for Waits {
    fn default() -> Self {
        Self { limit: DEFAULT_WAIT, note: Arc::new(|_| {}), signal: Arc::default() }
    }
}

impl Waits {
    /// The signal that asked to stop, if one did.
    #[must_use]
    pub fn is_asked_to_stop(&self) -> Option<u8> {
        u8::try_from(self.signal.load(Ordering::SeqCst)).ok().filter(|signal| *signal != 0)
    }
}

/// A guard could not be had in time.
#[derive(Debug)]
pub struct Busy {
    /// The guard.
    pub path: PathBuf,
    /// Who is inside, as far as that can be told.
    pub inside: Vec<Locker>,
    /// How long it was waited for.
    pub waited: Millis,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; it was waited for {}", described(&self.inside), self.waited)
    }
}

impl std::error::Error for Busy {}

/// A signal came while a guard was waited for.
#[derive(Debug)]
pub struct Stopped {
    pub signal: u8,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signal {} came meanwhile", self.signal)
    }
}

impl std::error::Error for Stopped {}

/// Who is inside, for people.
#[must_use]
pub fn described(inside: &[Locker]) -> String {
    let one = |locker: &Locker| {
        let Locker { pid, command, running_ms, is_stopped } = locker;
        let mut known = Vec::new();
        known.extend((!command.is_empty()).then(|| command.clone()));
        known.extend(running_ms.map(|ms| format!("running for {} s", ms / 1_000)));
        known.extend(is_stopped.then(|| "stopped".to_owned()));
        let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        format!("process {pid}{known}")
    };
    match inside {
        [] => "a process that cannot be seen from here is inside".to_owned(),
        [locker] => format!("{} is inside", one(locker)),
        several => format!("{} are inside", several.iter().map(one).collect::<Vec<_>>().join(" and ")),
    }
}

/// One wait.
struct Wait<'a> {
    sys: &'a Sys,
    waits: &'a Waits,
    start: Stamp,
    tries: u32,
    noted: bool,
}

impl<'a> Wait<'a> {
    fn new(sys: &'a Sys, waits: &'a Waits) -> Result<Self> {
        Ok(Self { sys, waits, start: sys.clock.now()?, tries: 0, noted: false })
    }

    /// Pauses before the next try, or says why there is none.
    fn pause(&mut self, path: &Path, file: Identity) -> Result<()> {
        if let Some(signal) = self.waits.is_asked_to_stop() {
            return Err(Error::new("enter", path, io::Error::other(Stopped { signal })));
        }
        let waited = self.sys.clock.now()?.since(&self.start).forward();
        if !self.noted && waited >= SILENCE {
            self.noted = true;
            let inside = described(&self.sys.processes.lockers(file));
            (self.waits.note)(&format!("waiting for {}: {inside}", path.display()));
        }
        let left = self.waits.limit.get().saturating_sub(waited.get());
        if left == 0 {
            let inside = self.sys.processes.lockers(file);
            let busy = Busy { path: path.to_path_buf(), inside, waited };
            return Err(Error::new("enter", path, io::Error::new(io::ErrorKind::TimedOut, busy)));
        }
        self.tries = self.tries.saturating_add(1);
        let pause = 1_u64.checked_shl(self.tries / 2).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE).min(left);
        self.sys.clock.sleep(Millis::new(pause));
        Ok(())
    }
}

thread_local! {
    /// The guards that this thread is inside of, alone, each with whose turn it was when it was entered.
    static INSIDE: RefCell<Vec<(usize, PathBuf)>> = const { RefCell::new(Vec::new()) };
}

fn is_inside(strand: usize, path: &Path) -> bool {
    INSIDE.with_borrow(|inside| inside.iter().any(|(whose, one)| *whose == strand && one == path))
}

/// A guard to enter.
pub struct Wanted {
    /// Its file.
    pub path: PathBuf,
    /// Alone, or together with others.
    pub mode: LockMode,
    /// Whether to make the file if it is not there. If not, and there is none, nobody is inside.
    pub make: bool,
}

/// Guards that this thread is inside of, until this is dropped.
#[must_use]
pub struct Inside {
    handles: Vec<Box<dyn Handle>>,
    alone: usize,
    strand: usize,
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(|inside| {
            for _ in 0..self.alone {
                let last = inside.iter().rposition(|(whose, _)| *whose == self.strand);
                last.map(|last| inside.remove(last));
            }
        });
        for handle in self.handles.iter().rev() {
            // Closing it unlocks as well.
            let _ = handle.unlock();
        }
    }
}

/// Enters all these guards, or none. `sys` is a [`patient`] one.
///
/// # Errors
/// When one of them cannot be had in time.
pub fn enter(sys: &Sys, waits: &Waits, wanted: &[Wanted]) -> Result<Inside> {
    let mut wait = Wait::new(sys, waits)?;
    loop {
        let handles = Vec::with_capacity(wanted.len());
        let mut inside = Inside { handles, alone: 0, strand: sys.processes.strand() };
        let busy = wanted.iter().find_map(|one| enter_one(sys, one, &mut inside).transpose());
        let (path, handle) = match busy.transpose()? {
            None => return Ok(inside),
            Some(busy) => busy,
        };
        // Nothing is held while it is waited for.
        drop(inside);
        let file = handle.stat()?.identity;
        wait.pause(&path, file)?;
        while !handle.try_lock(LockMode::Shared)? {
            wait.pause(&path, file)?;
        }
    }
}

/// Enters one guard without waiting; gives it back if it is busy.
fn enter_one(sys: &Sys, wanted: &Wanted, inside: &mut Inside) -> Result<Option<(PathBuf, Box<dyn Handle>)>> {
    if is_inside(inside.strand, &wanted.path) {
        return Ok(None);
    }
    let how = if wanted.make { Open::Create { mode: 0o600 } } else { Open::Read };
    let handle = match sys.files.open(&wanted.path, how) {
        Err(error) if !wanted.make && error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Whoever may only read may still look, and looking needs the guard.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            sys.files.open(&wanted.path, Open::Read)?
        }
        handle => handle?,
    };
    if !handle.try_lock(wanted.mode)? {
        return Ok(Some((wanted.path.clone(), handle)));
    }
    // A guard that somebody removed excludes nobody: its name must lead to the file that is locked.
    let named = match sys.files.stat(&wanted.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        named => Some(named?),
    };
    if named.is_none_or(|named| Some(named.identity) != handle.stat().ok().map(|stat| stat.identity)) {
        return Ok(Some((wanted.path.clone(), handle)));
    }
    // Where locks do not exclude, a second handle gets what this one has.
    if sys.files.open(&wanted.path, Open::Read)?.try_lock(LockMode::Exclusive)? {
        let why = "file locks do not exclude on this file system; keep it on a local disk";
        return Err(Error::new("lock", &wanted.path, io::Error::new(io::ErrorKind::Unsupported, why)));
    }
    inside.handles.push(handle);
    if wanted.mode == LockMode::Exclusive {
        inside.alone += 1;
        INSIDE.with_borrow_mut(|all| all.push((inside.strand, wanted.path.clone())));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use holdfast_sys::Guard;

    use super::*;

    fn wanted(path: &Path, mode: LockMode) -> Wanted {
        Wanted { path: path.to_path_buf(), mode, make: true }
    }

    fn impatient(ms: u64) -> Waits {
        Waits { limit: Millis::new(ms), ..Waits::default() }
    }

    #[test]
    fn a_guard_that_one_is_inside_of_is_entered_again_and_left_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let (path, waits) = (dir.path().join("g"), impatient(50));
        let sys = patient(&Sys::os(), &waits);
        let inside = enter(&sys, &waits, &[wanted(&path, LockMode::Exclusive)]).unwrap();
        let mut guard = Guard::open(&sys, &path, 0o600).unwrap();
        for mode in [LockMode::Shared, LockMode::Exclusive] {
            drop(guard.enter(&sys, mode).unwrap());
        }
        // Another thread is not inside, although the process is.
        let other = std::thread::scope(|scope| {
            scope
                .spawn(|| Guard::open(&sys, &path, 0o600).unwrap().enter(&sys, LockMode::Shared).is_err())
                .join()
        });
        assert!(other.unwrap());
        drop(inside);
        drop(guard.enter(&sys, LockMode::Exclusive).unwrap());
    }

    #[test]
    fn nothing_is_held_while_another_guard_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("1"), dir.path().join("2"));
        let waits = impatient(60_000);
        let sys = patient(&Sys::os(), &waits);
        let busy = enter(&sys, &waits, &[wanted(&second, LockMode::Exclusive)]).unwrap();
        let (entered, answer) = channel();
        std::thread::scope(|scope| {
            let both = [wanted(&first, LockMode::Exclusive), wanted(&second, LockMode::Exclusive)];
            let (sys, waits) = (&sys, &waits);
            scope.spawn(move || entered.send(enter(sys, waits, &both).is_ok()).unwrap());
            for _ in 0..50 {
                // It needs both, so it must be waiting; all the same the first one can be had again and again.
                drop(enter(sys, waits, &[wanted(&first, LockMode::Exclusive)]).unwrap());
            }
            assert!(answer.try_recv().is_err());
            drop(busy);
            assert!(answer.recv().unwrap());
        });
    }

    #[test]
    fn a_wait_ends_at_its_limit_and_names_who_is_inside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g");
        let notes = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&notes);
        let note = move |text: &str| heard.lock().unwrap().push(text.to_owned());
        let waits = Waits { limit: Millis::new(1_200), note: Arc::new(note), ..Waits::default() };
        let sys = patient(&Sys::os(), &waits);
        let _inside = enter(&sys, &waits, &[wanted(&path, LockMode::Shared)]).unwrap();
        let error = enter(&sys, &waits, &[wanted(&path, LockMode::Exclusive)]).err().unwrap();
        let busy: &Busy = error.source.get_ref().unwrap().downcast_ref().unwrap();
        assert!(busy.inside.iter().any(|one| one.pid == std::process::id()), "{busy:?}");
        assert!(busy.waited >= waits.limit);
        let notes = notes.lock().unwrap();
        assert!(matches!(notes.as_slice(), [one] if one.contains("waiting for")), "{notes:?}");
    }

    #[test]
    fn a_signal_ends_a_wait() {
        let dir = tempfile::tempdir().unwrap();
        let (path, waits) = (dir.path().join("g"), impatient(60_000));
        let sys = patient(&Sys::os(), &waits);
        let _inside = enter(&sys, &waits, &[wanted(&path, LockMode::Exclusive)]).unwrap();
        waits.signal.store(15, Ordering::SeqCst);
        let stopped = std::thread::scope(|scope| {
            scope
                .spawn(|| Guard::open(&sys, &path, 0o600).unwrap().enter(&sys, LockMode::Shared).err())
                .join()
        });
        let error = stopped.unwrap().unwrap();
        let stopped: &Stopped = error.source.get_ref().unwrap().downcast_ref().unwrap();
        assert_eq!(stopped.signal, 15);
    }
}
