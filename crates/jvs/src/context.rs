//! What a command stands on: the machine, the printer, where it was started, and which shell asks. The
//! environment is read here, once, and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_kernel::{Lease, Millis};
use holdfast_sys::os::effective_user;
use holdfast_sys::{Liveness, ProcessId, Sys};
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::Global;
use crate::error::{Class, Error, Result};
use crate::guards::{DEFAULT_WAIT, Waits};
use crate::holder::{self, holder_of};
use crate::lock::Lock;
use crate::lock::session::{self, Session, Shell, plain};
use crate::names::{MAIN, WorktreeName};
use crate::output::Printer;
use crate::payload::{OsTrees, Trees};
use crate::repo::{Actor, Repo};
use crate::worktree::{Worktree, containing};

/// What a command stands on.
pub struct Context {
    /// The machine.
    pub sys: Sys,
    /// Its trees.
    pub trees: Arc<dyn Trees>,
    /// Where output goes.
    pub printer: Printer,
    /// The directory to work in.
    pub start: PathBuf,
    /// The shell that asks.
    pub shell: Shell,
    session_file: Option<PathBuf>,
    waits: Waits,
    wait: Option<Millis>,
}

impl Context {
    /// The context that the flags and the environment give.
    ///
    /// # Errors
    /// When it cannot be told where or from whom the program was started.
    pub fn new(sys: Sys, global: &Global, printer: Printer) -> Result<Self> {
        let here = std::env::current_dir()
            .map_err(|error| holdfast_sys::Error::new("find", Path::new("the current directory"), error))?;
        let start = here.join(global.directory.clone().unwrap_or_default());
        let start = std::fs::canonicalize(&start)
            .map_err(|error| holdfast_sys::Error::new("enter", &start, error))?;
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let user = set("USER").or_else(|| set("LOGNAME")).map(|user| user.to_string_lossy().into_owned());
        let shell = Shell::calling(&sys, &user.unwrap_or_else(|| effective_user().to_string()))?;
        let session_file = global.session_file.clone().or_else(|| set("JVS_SESSION_FILE").map(PathBuf::from));
        let session_file = session_file.map(|file| start.join(file));
        let note = Arc::new(move |text: &str| printer.note(text));
        let limit = global.wait.unwrap_or(DEFAULT_WAIT);
        let waits = Waits { limit, note, signal: Arc::default() };
        let (trees, wait) = (Arc::new(OsTrees), global.wait);
        Ok(Self { sys, trees, printer, start, shell, session_file, waits, wait })
    }

    /// How long to wait for a lock that somebody else has: not at all, unless that was asked for.
    #[must_use]
    pub fn wait_for_lock(&self) -> Millis {
        self.wait.unwrap_or(Millis::ZERO)
    }

    /// Lets signals end a wait, for commands that listen to them and so are not ended by them, until this is dropped.
    ///
    /// # Errors
    /// When the system cannot listen.
    pub fn stop_waiting_at_signals(&self) -> Result<Listening> {
        let mut listening = Listening { ids: Vec::new(), flag: Arc::clone(&self.waits.signal) };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::clone(&self.waits.signal);
            let number = usize::try_from(signal).unwrap_or(usize::MAX);
            let id = signal_hook::flag::register_usize(signal, flag, number)
                .map_err(|error| holdfast_sys::Error::new("listen for", Path::new("signals"), error))?;
            listening.ids.push(id);
        }
        Ok(listening)
    }

    /// Who works here.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { name: self.shell.holder_id(), user: effective_user() }
    }

    /// The repository that the directory is in.
    ///
    /// # Errors
    /// When it is in none.
    pub fn repo(&self) -> Result<Repo> {
        let root = Repo::discover(&self.sys, &self.start)?;
        Repo::open(&self.sys, &self.trees, &root, &self.actor(), &self.waits)
    }

    /// The name of the worktree that is meant: the one that was typed, else the one that the directory is
    /// in, else the one that every repository has.
    ///
    /// # Errors
    /// When it is no name.
    pub fn name(&self, repo: &Repo, typed: Option<&str>) -> Result<WorktreeName> {
        match typed {
            Some(name) => WorktreeName::new(name),
            None => containing(&repo.root, &self.start).map_or_else(|| WorktreeName::new(MAIN), Ok),
        }
    }

    /// The worktree that is meant.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn worktree(&self, repo: &Repo, typed: Option<&str>) -> Result<Worktree> {
        Worktree::named(repo, &self.name(repo, typed)?)
    }

    /// Where the session is that a lock is taken for: the one that has the lock already, if it is of this shell or
    /// of one above it, else one of this shell's own.
    ///
    /// # Errors
    /// When a session is not believed.
    pub fn session_path(&self, repo: &Repo, worktree: &Worktree) -> Result<PathBuf> {
        if let Some(file) = &self.session_file {
            return Ok(file.clone());
        }
        let held =
            self.sessions(repo, worktree)?.into_iter().find(|session| is_held(repo, worktree, session));
        let own = || session::place(repo, worktree, &self.shell.process);
        Ok(held.map_or_else(own, |session| session.path))
    }

    /// The sessions on a worktree of this shell and of all above it, the nearest first.
    fn sessions(&self, repo: &Repo, worktree: &Worktree) -> Result<Vec<Session>> {
        let places = self.shell.above.iter().map(|process| session::place(repo, worktree, process));
        let mut found = Vec::new();
        for path in places {
            found.extend(Session::load(repo, worktree, &path)?);
        }
        Ok(found)
    }

    /// The session of this shell on a worktree, or of one above it, if there is one: the one that has the lock, if
    /// there are several.
    ///
    /// # Errors
    /// When its file is not believed.
    pub fn session(&self, repo: &Repo, worktree: &Worktree) -> Result<Option<Session>> {
        if let Some(file) = &self.session_file {
            return Session::load(repo, worktree, file);
        }
        let mut all = self.sessions(repo, worktree)?;
        let held = match all.len() {
            0 | 1 => None,
            _ => all.iter().position(|session| is_held(repo, worktree, session)),
        };
        Ok((!all.is_empty()).then(|| all.swap_remove(held.unwrap_or(0))))
    }

    /// The session of this shell on a worktree, or of one above it.
    ///
    /// # Errors
    /// When there is none.
    pub fn needed_session(&self, repo: &Repo, worktree: &Worktree) -> Result<Session> {
        if let Some(session) = self.session(repo, worktree)? {
            return Ok(session);
        }
        let said = match &self.session_file {
            Some(file) => format!("there is no session in {}", file.display()),
            None => format!("neither this shell nor one above it has a session on '{}'", worktree.name),
        };
        let error = Error::new(Class::LockNotHeld, said).hint("run `jvs lock acquire` first");
        Err(self.explained(repo, &worktree.name, error))
    }

    /// Whether a lease is the one of this shell, or of one above it.
    fn is_mine(&self, repo: &Repo, name: &WorktreeName, lease: &Lease) -> bool {
        let session = Worktree::named(repo, name).and_then(|worktree| self.session(repo, &worktree));
        matches!(session, Ok(Some(session)) if session.lock_id == lease.id)
    }

    /// An error about a lock, with what is known of the process that has it: whether it is there, and what to do.
    #[must_use]
    pub fn explained(&self, repo: &Repo, name: &WorktreeName, error: Error) -> Error {
        if !matches!(error.class(), Class::LockConflict | Class::LockNotHeld) {
            return error;
        }
        let held = || -> Result<Option<Lease>> {
            let view = Lock::of(repo, &Worktree::named(repo, name)?)?.view()?;
            Ok(view.table.iter().next().cloned())
        };
        let Ok(Some(lease)) = held() else { return error };
        if error.class() == Class::LockConflict && self.is_mine(repo, name, &lease) {
            let said = format!("this shell holds the lock of '{name}' already");
            let hint = "run the command by itself, it acts under that lock; or first `jvs lock release`";
            return Error::new(Class::LockConflict, said).hint(hint);
        }
        match holder::process_of(&lease).map(|(host, pid, start)| self.is_running(&host, pid, start)) {
            Some(Some(true)) if error.class() == Class::LockNotHeld => error.hint(format!(
                "the lock is held by {}, which did not start this command: run it there, or name its session with \
                 --session-file",
                holder_of(&lease)
            )),
            Some(Some(false)) => error
                .hint(format!(
                    "the process that took the lock has ended ({}): wait until the lease is over, or end it with `jvs \
                     lock break --reason <text>`",
                    holder_of(&lease)
                ))
                .detail("holder_is_gone", true),
            _ => error,
        }
    }

    /// Whether a process of this machine is running; none if it is not of this machine.
    fn is_running(&self, host: &str, pid: u32, start: u64) -> Option<bool> {
        (plain(&self.shell.process.host) == host).then_some(())?;
        let process = ProcessId { pid, start, ..self.shell.process.clone() };
        match self.sys.processes.liveness(&process) {
            Liveness::Alive => Some(true),
            Liveness::Dead => Some(false),
            Liveness::Unknown => None,
        }
    }
}

/// Waits end at signals while this is there.
#[must_use]
pub struct Listening {
    ids: Vec<SigId>,
    flag: Arc<AtomicUsize>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
        self.flag.store(0, Ordering::SeqCst);
    }
}

/// Whether the lock of a worktree is that of a session. What cannot be read is no reason to prefer one session.
fn is_held(repo: &Repo, worktree: &Worktree, session: &Session) -> bool {
    let view = Lock::of(repo, worktree).and_then(|lock| lock.view());
    view.is_ok_and(|view| {
        view.table
            .get(session.lock_id)
            .is_some_and(|lease| session.holder().is_ok_and(|one| one == lease.holder))
    })
}
