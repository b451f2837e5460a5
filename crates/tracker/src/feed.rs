//! What happens, as it happens: claims and changes of issues in one stream, with a cursor to go on from later. Nothing
//! here writes a byte.
//!
//! A cursor says for each log how far it was read. It names positions and nothing else, so one that somebody made up can
//! at worst ask for events again; one that does not lead anywhere any more is told apart, and whoever has it begins anew.

mod cursor;
mod follow;
mod tail;
mod traces;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast_sys::Sys;
use serde_json::Value;

use crate::claims::events;
use crate::config::keys;
use crate::durable;
use crate::error::{Error, Result};
use crate::session::Session;
use cursor::Cursor;
pub use follow::Follow;
use tail::{Line, Tail};
pub use traces::Traces;

/// The log of what happened to claims, beside those of the worktrees.
const CLAIMS: &str = "control";

/// How much of a log is looked through for whoever comes back.
const FAR_BACK: u64 = 16 << 20;

/// What something happened to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A claim.
    Claim,
    /// An issue.
    Issue,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Happened {
    /// Where to go on after it.
    pub cursor: String,
    /// What it happened to.
    pub kind: Kind,
    /// The event, as the log has it.
    pub event: Value,
}

/// The stream.
pub struct Feed {
    sys: Sys,
    directory: PathBuf,
    /// Claims that all clones share are in no file of ours that could be followed.
    shares_claims: bool,
    style: keys::Events,
    /// The logs of worktrees, by their names.
    tails: BTreeMap<String, Tail>,
    at: Cursor,
}

impl Feed {
    /// The stream from here on.
    ///
    /// # Errors
    /// When what is there cannot be read.
    pub fn open(session: &Session) -> Result<Self> {
        let mut feed = Self {
            sys: session.sys().clone(),
            directory: session.control().join("events"),
            shares_claims: session.claims().shared.is_some(),
            style: session.config().events.clone(),
            tails: BTreeMap::new(),
            at: Cursor::default(),
        };
        feed.poll(session)?;
        Ok(feed)
    }

    /// Where it is.
    #[must_use]
    pub fn cursor(&self) -> String {
        self.at.to_string()
    }

    /// What happened since it was asked last.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn poll(&mut self, session: &Session) -> Result<Vec<Happened>> {
        let mut found = Vec::new();
        for name in self.names()? {
            if name == CLAIMS && self.shares_claims {
                continue;
            }
            let (path, aside) = (self.path(&name), self.last_aside(&name)?);
            let tail = self.tails.entry(name.clone()).or_default();
            // What was written before the log was put aside comes first.
            let rest = aside.map_or(Ok(Vec::new()), |aside| tail.rest(&self.sys, &path, &aside))?;
            for line in rest.into_iter().chain(tail.read(&self.sys, &path)?) {
                found.extend(self.at.pass(&name, line));
            }
        }
        if self.shares_claims {
            found.extend(self.shared(session)?);
        }
        Ok(found)
    }

    /// What happened after a cursor and up to where this stream is; none if that cannot be told any more.
    ///
    /// # Errors
    /// When a log cannot be read.
    pub fn since(&self, session: &Session, cursor: &str) -> Result<Option<Vec<Happened>>> {
        let Some(mut at) = Cursor::parse(cursor) else { return Ok(None) };
        if !at.is_within(&self.at) {
            return Ok(None);
        }
        let mut found = Vec::new();
        for (name, tail) in &self.tails {
            let Some(lines) = self.lines_after(name, tail, &at)? else { return Ok(None) };
            for line in lines {
                found.extend(at.pass(name, line));
            }
        }
        if self.shares_claims {
            let mut again = Self { at, tails: BTreeMap::new(), ..self.clone_empty() };
            found.extend(again.shared(session)?);
        }
        Ok(Some(found))
    }

    fn clone_empty(&self) -> Self {
        Self {
            sys: self.sys.clone(),
            directory: self.directory.clone(),
            shares_claims: self.shares_claims,
            style: self.style.clone(),
            tails: BTreeMap::new(),
            at: Cursor::default(),
        }
    }

    /// The lines of a log behind a cursor; none if the line that it stands at is not found.
    fn lines_after(&self, name: &str, tail: &Tail, at: &Cursor) -> Result<Option<Vec<Line>>> {
        if at.get(name) == self.at.get(name) {
            return Ok(Some(Vec::new()));
        }
        let mut lines = tail.before(&self.sys, &self.path(name), FAR_BACK)?;
        let Some(mark) = at.get(name) else { return Ok(tail.is_whole(FAR_BACK).then_some(lines)) };
        if let Some(after) = after(&mut lines, mark) {
            return Ok(Some(after));
        }
        // The log may have been put aside since.
        let Some(aside) = self.last_aside(name)? else { return Ok(None) };
        let bytes = durable::read(&self.sys, &aside, usize::try_from(FAR_BACK).unwrap_or(usize::MAX))?;
        let mut old = tail::lines(&bytes.unwrap_or_default());
        old.append(&mut lines);
        Ok(after(&mut old, mark))
    }

    /// The log of a worktree that was put aside last.
    fn last_aside(&self, name: &str) -> Result<Option<PathBuf>> {
        let is_aside = |file: &String| {
            let middle = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
            middle.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
        };
        Ok(listed(&self.sys, &self.directory)?.into_iter().rfind(is_aside).map(|name| self.path(&name)))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.jsonl"))
    }

    /// The logs that are written to: those that were put aside have a number behind their names.
    fn names(&self) -> Result<Vec<String>> {
        let mut names = listed(&self.sys, &self.directory)?;
        names.retain(|name| !name.contains('.'));
        Ok(names)
    }

    /// What happened to claims that all clones share.
    fn shared(&mut self, session: &Session) -> Result<Vec<Happened>> {
        let (mut found, mut odd) = (Vec::new(), None);
        let (at, style) = (&mut self.at, &self.style);
        session.claims().medium.history(&mut |record| {
            if at.number(CLAIMS).is_none_or(|last| record.sequence.get() > last) {
                let text = events::line(record, style);
                let mark = record.sequence.get().to_string();
                match serde_json::from_slice(&text) {
                    Ok(event) => found.extend(at.pass(CLAIMS, Line { mark, event })),
                    Err(error) => odd = Some(error),
                }
            }
        })?;
        match odd {
            None => Ok(found),
            Some(error) => Err(Error::Internal(format!("a record of a claim has no JSON form: {error}"))),
        }
    }
}

/// The lines behind the one with this mark, if it is there.
fn after(lines: &mut Vec<Line>, mark: &str) -> Option<Vec<Line>> {
    let at = lines.iter().rposition(|line| line.mark == mark)?;
    Some(lines.split_off(at + 1))
}

/// The names of the logs in a directory, without their endings, sorted.
fn listed(sys: &Sys, directory: &Path) -> Result<Vec<String>> {
    let names = match sys.files.list(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let name = |name: &std::ffi::OsString| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned());
    Ok(names.iter().filter_map(name).filter(|name| !name.starts_with('.')).collect())
}
