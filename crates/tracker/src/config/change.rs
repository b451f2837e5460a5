//! Changing a setting: judged first, then written whole, and alone. A change that would make the
//! configuration worse than it is does not happen; one that mends it does, whatever else is still wrong.

use std::path::{Path, PathBuf};

use holdfast_sys::Sys;

use super::edit::{self, Awkward};
use super::key::Schema;
use super::keys::{AGENT, CONFIG};
use super::parse::{self, Settings};
use super::problem::{Problem, ProblemKind, Problems};
use super::replace;
use super::source::{LONGEST, Layer, Source};
use super::{AgentFile, Config, Error, Sources, Value};
use crate::durable;

/// Where everything that is configured is kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// The files of the configuration.
    pub sources: Sources,
    /// The user's `agent.toml`.
    pub agent: Option<PathBuf>,
}

/// For whom a setting is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// For the repository.
    Repository,
    /// For the user, in every repository.
    Global,
}

/// What was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The key.
    pub key: String,
    /// The file.
    pub path: PathBuf,
    /// What the file said before.
    pub before: Option<Value>,
    /// What it says.
    pub after: Option<Value>,
    /// Whether the file was written.
    pub changed: bool,
}

/// Sets a key.
///
/// # Errors
/// When there is no such key, it cannot have that value, or the file cannot be changed.
pub fn set(sys: &Sys, places: &Places, scope: Scope, key: &str, text: &str) -> Result<Change, Error> {
    let target = Target::of(places, scope, key)?;
    let Some(known) = target.schema.key(key) else { return Err(target.unknown(key)) };
    let value = known.form.parse(text).map_err(|fault| Error::BadValue { key: key.to_owned(), fault })?;
    target.make_dirs(sys)?;
    replace::alone(sys, &target.guard, target.file_mode, || target.change(sys, places, key, Some(value)))
}

/// Removes a key, so that what holds without it holds again.
///
/// # Errors
/// When there is no such key, neither in the program nor in the file, or the file cannot be changed.
pub fn reset(sys: &Sys, places: &Places, scope: Scope, key: &str) -> Result<Change, Error> {
    let target = Target::of(places, scope, key)?;
    if target.read(sys)?.text.is_ok_and(|text| text.is_none()) {
        // There is nothing to remove, and no reason to make directories for that.
        return target.unchanged(key, None);
    }
    target.make_dirs(sys)?;
    replace::alone(sys, &target.guard, target.file_mode, || target.change(sys, places, key, None))
}

/// The file that a setting is kept in.
struct Target {
    schema: &'static Schema,
    layer: Layer,
    path: PathBuf,
    guard: PathBuf,
    file_mode: u32,
    dir_mode: u32,
}

impl Target {
    fn of(places: &Places, scope: Scope, key: &str) -> Result<Self, Error> {
        let is_agents = AGENT.0.iter().any(|section| key.split('.').next() == Some(section.path));
        match scope {
            Scope::Repository if is_agents => Err(Error::NotForRepositories { key: key.to_owned() }),
            Scope::Repository => Self::repositorys(places),
            Scope::Global if is_agents => Self::users(&AGENT, Layer::Agent, places.agent.as_deref()),
            Scope::Global => Self::users(&CONFIG, Layer::User, places.sources.user.as_deref()),
        }
    }

    fn repositorys(places: &Places) -> Result<Self, Error> {
        let path = places.sources.repository.clone().ok_or(Error::Nowhere { place: "repository" })?;
        // Each worktree has its own file, so the guard is the worktree's own too. Git ignores it there.
        let guard = path.with_file_name("cache").join("config.lock");
        let (schema, layer) = (&CONFIG, Layer::Repository);
        // Everybody who works in the repository reads it; git keeps it.
        Ok(Self { schema, layer, path, guard, file_mode: 0o644, dir_mode: 0o755 })
    }

    fn users(schema: &'static Schema, layer: Layer, path: Option<&Path>) -> Result<Self, Error> {
        let path = path.ok_or(Error::Nowhere { place: "user's directory" })?.to_path_buf();
        let guard = path.with_extension("lock");
        Ok(Self { schema, layer, path, guard, file_mode: 0o600, dir_mode: 0o700 })
    }

    fn make_dirs(&self, sys: &Sys) -> Result<(), Error> {
        // The file's own directory is the guard's, or the one above it.
        match self.guard.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            Some(dir) => Ok(durable::make_dirs(sys, dir, self.dir_mode)?),
            None => Ok(()),
        }
    }

    fn read(&self, sys: &Sys) -> Result<Source, Error> {
        Ok(Source::read(sys, self.layer, &self.path)?)
    }

    /// Sets or removes a key. Only inside the section of the guard.
    fn change(&self, sys: &Sys, places: &Places, key: &str, value: Option<Value>) -> Result<Change, Error> {
        let old = self.read(sys)?;
        let (settings, problems) = parse::parse(self.schema, &old);
        self.refuse_broken(problems)?;
        let Some(text) = self.edit(old.text(), key, value.as_ref())? else {
            return self.unchanged(key, value);
        };
        let new = Source { text: Ok(Some(text)), ..old.clone() };
        let before = settings.get(key).map(|placed| placed.value.clone());
        self.verify(&new, settings, key, value.as_ref())?;
        self.refuse_worse(sys, places, &new, key)?;
        let changed = new.text() != old.text();
        if changed {
            replace::replace(sys, &self.path, new.text(), self.mode(sys)?)?;
        }
        Ok(Change { key: key.to_owned(), path: self.path.clone(), before, after: value, changed })
    }

    /// What cannot be read as a whole cannot be changed in part.
    fn refuse_broken(&self, problems: Vec<Problem>) -> Result<(), Error> {
        use ProblemKind::{DuplicateKey, Syntax, Unreadable};
        let is_broken = |problem: &Problem| matches!(problem.fault.kind, Unreadable | Syntax | DuplicateKey);
        let broken: Vec<_> = problems.into_iter().filter(is_broken).collect();
        if broken.is_empty() { Ok(()) } else { Err(Error::Invalid(Problems(broken))) }
    }

    fn edit(&self, text: &str, key: &str, value: Option<&Value>) -> Result<Option<String>, Error> {
        let path: Vec<_> = key.split('.').collect();
        let edited = match value {
            Some(value) => edit::set(text, &path, &value.to_string()).map(Some),
            None => edit::remove(text, &path),
        };
        edited.map_err(|Awkward(byte)| self.by_hand(text, key, byte))
    }

    fn by_hand(&self, text: &str, key: &str, byte: usize) -> Error {
        let before = text.as_bytes().iter().take(byte);
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        Error::ByHand { path: self.path.clone(), line, key: key.to_owned() }
    }

    /// Whatever the editor did to the text, the file must say what it said but for this one key.
    fn verify(&self, new: &Source, mut old: Settings, key: &str, value: Option<&Value>) -> Result<(), Error> {
        let (settings, problems) = parse::parse(self.schema, new);
        old.remove(key);
        let mut left = settings;
        let set = left.remove(key).map(|placed| placed.value);
        let same = old.len() == left.len()
            && old.iter().zip(&left).all(|((a, x), (b, y))| a == b && x.value == y.value);
        let fits = new.text().len() <= LONGEST && self.refuse_broken(problems).is_ok();
        if same && fits && set.as_ref() == value { Ok(()) } else { Err(self.by_hand(new.text(), key, 0)) }
    }

    /// Two values that are fine alone may not be together.
    fn refuse_worse(&self, sys: &Sys, places: &Places, new: &Source, key: &str) -> Result<(), Error> {
        let mut sources = match self.layer {
            Layer::Agent => AgentFile::sources(sys, places.agent.as_deref())?,
            _ => places.sources.read(sys)?,
        };
        let before = self.faults(&sources);
        for source in sources.iter_mut().filter(|source| source.layer == self.layer) {
            *source = new.clone();
        }
        match self.faults(&sources).into_iter().find(|problem| !before.iter().any(|old| same(old, problem))) {
            Some(Problem { fault, .. }) => Err(Error::BadValue { key: key.to_owned(), fault }),
            None => Ok(()),
        }
    }

    fn faults(&self, sources: &[Source]) -> Vec<Problem> {
        match self.layer {
            Layer::Agent => AgentFile::examine(sources).1,
            _ => Config::examine(sources).1,
        }
    }

    /// As the file has it, so that nobody is shut out or let in by a change of its content.
    fn mode(&self, sys: &Sys) -> Result<u32, Error> {
        match sys.files.stat(&self.path) {
            Ok(stat) => Ok(stat.mode),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(self.file_mode),
            Err(error) => Err(error.into()),
        }
    }

    /// The file does not have the key: that is what was asked for, if there is such a key.
    fn unchanged(&self, key: &str, value: Option<Value>) -> Result<Change, Error> {
        if self.schema.key(key).is_none() {
            return Err(self.unknown(key));
        }
        Ok(Change {
            key: key.to_owned(),
            path: self.path.clone(),
            before: None,
            after: value,
            changed: false,
        })
    }

    fn unknown(&self, key: &str) -> Error {
        Error::UnknownKey { key: super::problem::shown(key), near: self.schema.near(key) }
    }
}

/// Whether two problems are one, though lines have moved.
fn same(a: &Problem, b: &Problem) -> bool {
    a.path == b.path && a.key == b.key && a.fault.kind == b.fault.kind
}
