//! Changes of an issue that span its own file and its sets. Each file gets its content in one step, but a process can die
//! between two of them, and a label would be there without the title that was typed with it. So such a change is noted
//! in the control plane before it begins. Whoever comes next and finds a note whose writer is gone completes what was
//! begun; what was not begun, or was overtaken, is forgotten.

use std::path::{Path, PathBuf};

use holdfast_sys::{Guard, LockMode, Open, Sys};
use serde::{Deserialize, Serialize};

use super::copy::{Local, results_in};
use super::draft::Draft;
use super::files::{Content, Place};
use super::locks::Locks;
use super::members::{DEPS, LABELS, Members, union};
use super::writer::Writer;
use crate::durable;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issue, Issues};
use crate::json;
use crate::session::Session;

/// Where the notes are, in the control plane.
const NOTES: &str = "redo";

/// Longer than the files of an issue can be.
const LONGEST: usize = 64 << 20;

/// A change that was about to be made.
#[derive(Serialize, Deserialize)]
struct Note {
    /// The `.jit/` that it was made in.
    data: PathBuf,
    /// Whether it was handed over as well.
    is_linked: bool,
    before: Issue,
    after: Issue,
    /// The lines that it adds to its sets.
    labels: String,
    deps: String,
}

/// How a note is put in its place.
type Put = fn(&Sys, &Path, &[u8], u32) -> holdfast_sys::Result<()>;

/// A note of a change that is being made.
pub(super) struct Noted<'a> {
    sys: &'a Sys,
    path: PathBuf,
}

impl Noted<'_> {
    /// Makes it durable, if it was not when it was made.
    pub(super) fn flush(&self) -> Result<()> {
        self.sys.files.open(&self.path, Open::Write)?.sync()?;
        Ok(self.sys.files.sync_dir(self.path.parent().unwrap_or(&self.path))?)
    }

    /// The change was made.
    pub(super) fn done(&self) {
        // One that stays is found out by what is there.
        let _ = self.sys.files.remove_file(&self.path);
    }
}

fn path(session: &Session, id: IssueId) -> PathBuf {
    session.control().join(NOTES).join(format!("{id}.json"))
}

impl Writer<'_> {
    /// Notes a change that spans several files, durably; none if it does not. Runs under the lock of the issue.
    pub(super) fn note_change(&self, draft: &Draft, data: &Path) -> Result<Option<Noted<'_>>> {
        self.note(draft, data, durable::replace)
    }

    /// As [`Writer::note_change`], for whoever makes many notes durable at once before the changes are made.
    pub(super) fn note_unflushed(&self, draft: &Draft, data: &Path) -> Result<Option<Noted<'_>>> {
        self.note(draft, data, durable::put)
    }

    fn note(&self, draft: &Draft, data: &Path, put: Put) -> Result<Option<Noted<'_>>> {
        let spans =
            draft.issue_before() != draft.issue() && (draft.labels.is_changed() || draft.deps.is_changed());
        let text = |members: &Members| String::from_utf8(members.fresh_lines().to_vec()).ok();
        let (true, Some(labels), Some(deps), Some(_)) =
            (spans, text(&draft.labels), text(&draft.deps), data.to_str())
        else {
            return Ok(None);
        };
        let note = Note {
            data: data.to_path_buf(),
            is_linked: self.session.is_linked(),
            before: draft.issue_before().clone(),
            after: draft.issue().clone(),
            labels,
            deps,
        };
        let (sys, path) = (self.session.sys(), path(self.session, draft.id()));
        let (directory, file) = self.locks.access().places();
        durable::make_dirs(sys, path.parent().unwrap_or(&path), directory)?;
        put(sys, &path, &json::file(&note), file)?;
        Ok(Some(Noted { sys, path }))
    }

    /// Completes what somebody left half done of an issue. Runs under its lock.
    pub(super) fn complete(&self, id: IssueId) -> Result<()> {
        complete(self.session, &self.locks, id)
    }
}

/// Completes whatever changes were cut off between two files of an issue. What somebody is at right now is waited for;
/// what may not be written here is left to those who may.
///
/// # Errors
/// When it cannot be told what is left.
pub fn complete_changes(session: &Session) -> Result<()> {
    let names = match session.sys().files.list(&session.control().join(NOTES)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        names => names?,
    };
    let id = |name: &std::ffi::OsString| IssueId::parse(name.to_str()?.strip_suffix(".json")?);
    for id in names.iter().filter_map(id) {
        match locked(session, id) {
            Err(Error::Sys(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
            done => done?,
        }
    }
    Ok(())
}

fn locked(session: &Session, id: IssueId) -> Result<()> {
    let locks = Locks::open(session)?;
    let mut lock: Guard = locks.issue(id)?;
    let _section = lock.enter(session.sys(), LockMode::Exclusive)?;
    complete(session, &locks, id)
}

fn complete(session: &Session, locks: &Locks, id: IssueId) -> Result<()> {
    let (sys, path) = (session.sys(), path(session, id));
    let Some(bytes) = durable::read(sys, &path, LONGEST)? else { return Ok(()) };
    let note = serde_json::from_slice::<Note>(&bytes).ok().filter(|note| note.after.id == id.to_string());
    if let Some(note) = note
        && is_half_done(session, id, &note)?
        && durable::is_dir(sys, &note.data)?
    {
        if note.is_linked
            && let Some(shared) = session.shared_data()
        {
            put(sys, &Place::shared(sys, shared, id, locks.access()), shared, id, &note)?;
        }
        put(sys, &Place::new(sys, &note.data, id), &note.data, id, &note)?;
    }
    Ok(sys.files.remove_file(&path)?)
}

/// Whether something of a change is there and something is not, and nothing later is.
fn is_half_done(session: &Session, id: IssueId, note: &Note) -> Result<bool> {
    let issues = Issues::new(session);
    let newest = match issues.base(id) {
        Err(Error::NoIssue(_)) => return Ok(false),
        newest => newest?,
    };
    let (mut has_some, mut has_all) = (false, true);
    for (name, lines) in [(LABELS, &note.labels), (DEPS, &note.deps)] {
        let there = Members::read(&issues, id, name)?.bytes;
        let has = |line: &str| there.split(|byte| *byte == b'\n').any(|known| known == line.as_bytes());
        let (new, known): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| !has(line));
        has_some |= !known.is_empty();
        has_all &= new.is_empty();
    }
    Ok(if newest == note.after { !has_all } else { newest == note.before && has_some })
}

/// Puts a change into one place, beside whatever lines are there.
fn put(sys: &Sys, place: &Place<'_>, data: &Path, id: IssueId, note: &Note) -> Result<()> {
    let home = data.join("issues").join(id.to_string());
    let read = |name: &str| durable::read(sys, &home.join(name), LONGEST);
    let (labels, deps) = (read(LABELS)?.unwrap_or_default(), read(DEPS)?.unwrap_or_default());
    let content = Content {
        issue: Some(note.after.bytes()),
        labels: union(labels.clone(), note.labels.as_bytes()),
        deps: union(deps.clone(), note.deps.as_bytes()),
        results: results_in(sys, data, id)?,
    };
    let local = Local { labels, deps, results: content.results.clone(), ..Local::default() };
    place.write(&content, &local)
}
