//! What a command stands on: the machine, the printer, where it was started, and which shell asks. The
//! environment is read here, once, and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is where the door reads its environment")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdfast_kernel::Millis;
use holdfast_sys::Sys;
use holdfast_sys::os::effective_user;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::Global;
use crate::error::{Class, Error, Result};
use crate::guards::{DEFAULT_WAIT, Waits};
use crate::lock::session::{self, Session, Shell};
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

    /// Lets signals end a wait, for commands that listen to them and so are not ended by them.
    ///
    /// # Errors
    /// When the system cannot listen.
    pub fn stop_waiting_at_signals(&self) -> Result<()> {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = Arc::clone(&self.waits.signal);
            let number = usize::try_from(signal).unwrap_or(usize::MAX);
            signal_hook::flag::register_usize(signal, flag, number)
                .map_err(|error| holdfast_sys::Error::new("listen for", Path::new("signals"), error))?;
        }
        Ok(())
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

    /// Where the session of this shell on a worktree is.
    #[must_use]
    pub fn session_path(&self, repo: &Repo, worktree: &Worktree) -> PathBuf {
        self.session_file.clone().unwrap_or_else(|| session::place(repo, worktree, &self.shell))
    }

    /// The session of this shell on a worktree, if it has one.
    ///
    /// # Errors
    /// When its file is not believed.
    pub fn session(&self, repo: &Repo, worktree: &Worktree) -> Result<Option<Session>> {
        Session::load(repo, worktree, &self.session_path(repo, worktree))
    }

    /// The session of this shell on a worktree.
    ///
    /// # Errors
    /// When it has none.
    pub fn needed_session(&self, repo: &Repo, worktree: &Worktree) -> Result<Session> {
        self.session(repo, worktree)?.ok_or_else(|| {
            let said = format!("this shell has no session on the worktree '{}'", worktree.name);
            Error::new(Class::LockNotHeld, said)
                .hint("run `jvs lock acquire` in this shell, or name the file with --session-file")
        })
    }
}
