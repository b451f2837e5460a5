//! What is noted of a run while it lasts, in the control plane: the briefing, the number of the guardian, and what may be
//! left behind. The guardian takes it away when it ends, last of all. One whose guardian is gone without having done so
//! was killed, and its command may still be there: whoever comes next ends it, found in its control group, if it has one,
//! and by the mark in its environment.

use std::path::{Path, PathBuf};

use holdfast_kernel::Millis;
use holdfast_sys::os::{self, ControlGroup};
use holdfast_sys::{Handle, LockMode, Open, Sys};
use serde::{Deserialize, Serialize};

use super::place;
use crate::durable;
use crate::error::{Error, Result};
use crate::json;
use crate::leftovers::Leftovers;
use crate::noted::Noted;
use crate::session::Session;

/// The variable that marks every process of a run.
pub const MARKER: &str = "JIT_RUN";

/// More than a note can be.
const LONGEST: usize = 1 << 16;

/// How often processes that were found are looked for again: they may have started others in the last moment.
const AGAIN: Millis = Millis::new(20);

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// What marks its processes.
    pub mark: String,
    /// Where it is noted.
    pub directory: PathBuf,
}

/// What is noted besides who stands for the run.
#[derive(Default)]
struct Besides {
    leftovers: Option<Leftovers>,
    made: Option<PathBuf>,
    control_group: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Note {
    schema_version: u32,
    #[serde(flatten)]
    process: Noted,
    /// What a killed git may leave in its worktree.
    #[serde(default)]
    leftovers: Option<Leftovers>,
    /// The worktree that was made for it.
    #[serde(default)]
    made: Option<PathBuf>,
    /// The control group of its command, whether it could be made or not.
    #[serde(default)]
    control_group: Option<PathBuf>,
}

impl Record {
    /// A run that nobody else has. Nothing is noted yet.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn new(session: &Session) -> Result<Self> {
        Self::marked(session, &format!("{:032x}", session.sys().entropy.nonce()?))
    }

    /// The run with this mark.
    ///
    /// # Errors
    /// When that is no mark.
    pub fn marked(session: &Session, mark: &str) -> Result<Self> {
        if !is_mark(mark) {
            let why = "must be 32 hex digits".to_owned();
            return Err(Error::BadValue { what: "the mark of a run", given: mark.to_owned(), why });
        }
        Ok(Self { mark: mark.to_owned(), directory: session.control().join("runs") })
    }

    /// Where the outcome of a landing is told.
    #[must_use]
    pub fn outcome(&self) -> PathBuf {
        self.directory.join(format!("{}.out", self.mark))
    }

    fn note(&self) -> PathBuf {
        self.directory.join(format!("{}.json", self.mark))
    }

    fn briefing(&self) -> PathBuf {
        self.directory.join(format!("{}.md", self.mark))
    }

    /// Notes that this process is about to make a worktree for the run, so that it is taken away if nobody gets to.
    ///
    /// # Errors
    /// When that cannot be written, or this machine cannot tell processes apart.
    pub fn makes(&self, session: &Session, root: &Path) -> Result<()> {
        self.write(session, Besides { made: Some(root.to_path_buf()), ..Besides::default() })
    }

    /// Notes that this process is its guardian, before anything is started that would have to be ended. Gives what git
    /// may leave behind in the worktree, and where the command is to be started.
    ///
    /// # Errors
    /// When that cannot be written, or this machine cannot tell processes apart.
    pub(super) fn guarded(&self, session: &Session) -> Result<(Option<Leftovers>, Option<ControlGroup>)> {
        let made = self.read(session.sys()).and_then(|note| note.made);
        let leftovers = session.repository().map(|git| Leftovers::before(session.sys(), git));
        let control = ControlGroup::place(&self.group());
        let control_group = control.as_ref().map(|control| control.path().to_path_buf());
        self.write(session, Besides { leftovers: leftovers.clone(), made, control_group })?;
        Ok((leftovers, control.filter(ControlGroup::make)))
    }

    /// The name of the control group of its command.
    fn group(&self) -> String {
        format!("jit-{}", self.mark)
    }

    fn write(&self, session: &Session, besides: Besides) -> Result<()> {
        let process = Noted::me(session.sys())?;
        let Besides { leftovers, made, control_group } = besides;
        let note = Note { schema_version: 1, process, leftovers, made, control_group };
        let (directory, file) = session.prepare()?.places();
        durable::make_dirs(session.sys(), &self.directory, directory)?;
        Ok(durable::replace(session.sys(), &self.note(), &json::file(&note), file)?)
    }

    /// Writes the briefing, and gives its path.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn brief(&self, session: &Session, text: &str) -> Result<PathBuf> {
        let path = self.briefing();
        durable::replace(session.sys(), &path, text.as_bytes(), session.access()?.file())?;
        Ok(path)
    }

    /// Takes away what is noted. What stays is taken away by whoever comes next.
    pub fn remove(&self, sys: &Sys) {
        // Whoever was killed while it wrote one of them has left the half of it.
        let half = format!(".{}.", self.mark);
        let names = sys.files.list(&self.directory).unwrap_or_default();
        for name in names.iter().filter(|name| name.to_string_lossy().starts_with(&half)) {
            let _ = sys.files.remove_file(&self.directory.join(name));
        }
        let _ = sys.files.remove_file(&self.outcome());
        let _ = sys.files.remove_file(&self.briefing());
        let _ = sys.files.remove_file(&self.note());
    }

    fn read(&self, sys: &Sys) -> Option<Note> {
        let bytes = durable::read(sys, &self.note(), LONGEST).ok().flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Ends what is left of a run if whoever stood for it was killed. Gives the number of processes that were ended.
    fn sweep(&self, session: &Session) -> usize {
        let sys = session.sys();
        // One that was removed meanwhile had a guardian until then.
        let Some(note) = self.read(sys) else { return 0 };
        if !note.process.is_dead(sys) {
            return 0;
        }
        let ended = self.end_all(sys);
        note.leftovers.iter().for_each(|leftovers| leftovers.remove(sys));
        self.close(session);
        ended
    }

    /// Ends every process of a run whose guardian is gone, and says how many were found.
    pub fn end_all(&self, sys: &Sys) -> usize {
        let noted = self.read(sys).and_then(|note| note.control_group);
        let control = noted.and_then(|path| ControlGroup::noted(&path, &self.group()));
        let mut all = control.as_ref().map_or(0, ControlGroup::count);
        // Those without the mark, too. Nobody who is killed has more to say, however long that takes the system.
        while control.as_ref().is_some_and(|control| !control.remove()) {
            control.iter().for_each(ControlGroup::kill);
            sys.clock.sleep(AGAIN);
        }
        loop {
            match os::kill_marked(MARKER, &self.mark) {
                0 => return all,
                found => all += found,
            }
            sys.clock.sleep(AGAIN);
        }
    }

    /// Takes away what was made for the run, and what is noted of it.
    pub(super) fn close(&self, session: &Session) {
        if let Some(root) = self.read(session.sys()).and_then(|note| note.made) {
            // One with work in it stays, and so does one that git cannot remove: `git worktree list` shows it.
            let _ = place::take_away(session, &root);
        }
        self.remove(session.sys());
    }
}

/// The lock that the guardian of a run has on its worktree: two runs there would be one holder.
fn lock(session: &Session) -> Result<Box<dyn Handle>> {
    let place = session.holder()?.place.to_string();
    let path = session.control().join("locks").join(format!("run-{place}.lock"));
    let mode = session.prepare()?.file();
    Ok(session.sys().files.open(&path, Open::Create { mode })?)
}

/// Has this process be the only one that guards a run in this worktree, for as long as the handle is there.
///
/// # Errors
/// When another one does.
pub(super) fn alone(session: &Session) -> Result<Box<dyn Handle>> {
    let lock = lock(session)?;
    if lock.try_lock(LockMode::Exclusive)? { Ok(lock) } else { Err(under_way(session)) }
}

/// Refuses to go on while a run is under way in this worktree.
///
/// # Errors
/// When one is.
pub fn busy(session: &Session) -> Result<()> {
    if lock(session)?.try_lock(LockMode::Exclusive)? { Ok(()) } else { Err(under_way(session)) }
}

fn under_way(session: &Session) -> Error {
    let root = session.root().unwrap_or(&session.caller.start);
    Error::RunUnderWay(root.to_path_buf())
}

/// Ends what runs left behind whose guardians were killed, before somebody begins what they worked on. Gives the number
/// of processes that were ended.
///
/// # Errors
/// When the runs cannot be listed.
pub fn sweep(session: &Session) -> Result<usize> {
    let (sys, mut ended) = (session.sys(), 0);
    let directory = session.control().join("runs");
    let names = match sys.files.list(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        names => names.map_err(Error::from)?,
    };
    for name in names {
        let name = name.to_string_lossy();
        let (mark, is_half) = match name.strip_prefix('.') {
            Some(half) => (half.split('.').next(), true),
            None => (name.strip_suffix(".json"), false),
        };
        let Some(mark) = mark.filter(|mark| is_mark(mark)) else { continue };
        let record = Record { mark: mark.to_owned(), directory: directory.clone() };
        if !is_half {
            ended += record.sweep(session);
        } else if !durable::is_file(sys, &record.note())? && os::marked(MARKER, mark).is_empty() {
            // Its guardian was killed before it had written who it is.
            record.remove(sys);
        }
    }
    Ok(ended)
}

fn is_mark(mark: &str) -> bool {
    mark.len() == 32 && mark.bytes().all(|byte| byte.is_ascii_hexdigit())
}
