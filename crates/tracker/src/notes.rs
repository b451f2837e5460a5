//! Notes on issues: what somebody leaves for whoever works on one next. Anybody may add one without a claim, so each
//! is a file of its own that is never changed: `issues/<ID>/notes/<ULID>.json`.
//!
//! A note is first put into the control plane, where all worktrees see it at once. It goes from there once the target
//! has it; it comes there with the work of whoever finishes the issue, or from the main worktree.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_git::objects::Mode;
use holdfast_git::{ObjectId, Objects};
use holdfast_kernel::LeaseId;
use holdfast_sys::Sys;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::EnforceLeases;
use crate::durable;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::json;
use crate::notice::Notice;
use crate::session::Session;
use crate::target::Target;
use crate::times::rfc3339;
use crate::workspace::{self, DATA};

/// The longest note, in bytes.
pub const LONGEST_NOTE: usize = 64 << 10;

/// More than the file of a note can be.
const LONGEST: usize = 8 * LONGEST_NOTE;

/// The directory of an issue's notes, beside its file; in the control plane that of all issues' notes.
const NOTES: &str = "notes";

/// A note on an issue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Its id, which sorts by when it was made.
    pub id: String,
    /// The issue that it is on.
    pub issue_id: String,
    /// When it was made.
    pub at: String,
    /// Who made it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it says.
    pub text: String,
}

/// Files of notes by the names that they have.
type Files = BTreeMap<String, Vec<u8>>;

/// Adds a note to an issue that is there. No claim is needed.
///
/// # Errors
/// When there is no text, nobody says who asks though that has to be known, or it cannot be written.
pub fn add(session: &Session, issue: IssueId, text: &str) -> Result<Note> {
    let text = checked(text)?;
    let agent_id = match session.agent() {
        Err(Error::NoAgent) if session.config().worktree.enforce_leases != EnforceLeases::Strict => None,
        agent => Some(agent?.id.to_string()),
    };
    let sys = session.sys();
    let now = sys.clock.now()?;
    let id = sys.entropy.lease_id(&now)?.to_string();
    let note = Note { id, issue_id: issue.to_string(), at: rfc3339(&now), agent_id, text };
    keep(session, issue, &format!("{}.json", note.id), &json::file(&note))?;
    forget_landed(session, issue);
    session.used_unseen();
    Ok(note)
}

fn keep(session: &Session, issue: IssueId, name: &str, bytes: &[u8]) -> Result<()> {
    let (sys, access) = (session.sys(), session.prepare()?);
    if let Some(kept) = kept(session, issue) {
        let (directory, file) = access.places();
        durable::make_dirs(sys, &kept, directory)?;
        durable::create(sys, &kept.join(name), bytes, file)?;
    }
    // In a linked worktree it would be in the way when that goes to another branch.
    if !session.is_linked()
        && let Some(data) = session.data()
    {
        place(sys, &data, issue, name, bytes)?;
    }
    Ok(())
}

fn checked(text: &str) -> Result<String> {
    let bad = |why: &str| Error::BadValue {
        what: "the note",
        given: text.chars().take(40).collect(),
        why: why.to_owned(),
    };
    let text = text.trim();
    match text.len() {
        0 => Err(bad("must not be empty")),
        length if length > LONGEST_NOTE => Err(bad("longer than the maximum of 65536 bytes")),
        _ => Ok(text.to_owned()),
    }
}

/// The notes on an issue that can be seen, the oldest first. What cannot be read is named. Writes nothing.
///
/// # Errors
/// When git stands in the way.
pub fn of(session: &Session, issue: IssueId) -> Result<Vec<Note>> {
    let mut files = Files::new();
    let own = [session.data(), session.main_data()?];
    for data in own.into_iter().flatten() {
        collect(session, &folder(&data, issue), &mut files);
    }
    if let Some(kept) = kept(session, issue) {
        collect(session, &kept, &mut files);
    }
    committed(session, issue, &mut files)?;
    Ok(parsed(session, issue, files))
}

/// The notes that files are; those that are none are named.
fn parsed(session: &Session, issue: IssueId, files: Files) -> Vec<Note> {
    let mut notes = Vec::new();
    for (name, bytes) in files {
        match serde_json::from_slice::<Note>(&bytes) {
            Ok(note) if note.issue_id == issue.to_string() && name == format!("{}.json", note.id) => {
                notes.push(note);
            }
            _ => session.notice(&Notice::Unusable(format!(
                "{DATA}/issues/{issue}/{NOTES}/{name} cannot be used: it is no note on this issue"
            ))),
        }
    }
    notes
}

/// The notes on all issues that can be seen, by issue, the oldest first. Commits are read once for all of them.
///
/// # Errors
/// When git stands in the way.
pub fn all(session: &Session) -> Result<BTreeMap<IssueId, Vec<Note>>> {
    let mut files: BTreeMap<IssueId, Files> = BTreeMap::new();
    let own = [session.data(), session.main_data()?].into_iter().flatten().map(|data| data.join("issues"));
    let kept = session.shared_data().map(|shared| shared.join(NOTES));
    for (place, below) in own.map(|place| (place, Some(NOTES))).chain(kept.map(|place| (place, None))) {
        for name in listed(session.sys(), &place)? {
            let Some(issue) = name.to_str().and_then(IssueId::parse) else { continue };
            let folder = below.map_or_else(|| place.join(&name), |below| place.join(&name).join(below));
            collect(session, &folder, files.entry(issue).or_default());
        }
    }
    for (objects, commit) in &looked_at(session)? {
        let tree = objects.commit(commit)?.tree;
        let home = format!("{DATA}/issues");
        for file in objects.files_below(&tree, home.as_bytes())?.iter().filter(|file| is_note(&file.path)) {
            let path = String::from_utf8_lossy(&file.path).into_owned();
            let mut parts = path.rsplit('/');
            let (name, issue) = (parts.next(), parts.nth(1).and_then(IssueId::parse));
            if let (Some(name), Some(issue)) = (name, issue)
                && let Ok(bytes) = objects.blob(&file.id, LONGEST)
            {
                files.entry(issue).or_default().entry(name.to_owned()).or_insert(bytes);
            }
        }
    }
    let notes = files.into_iter().map(|(issue, files)| (issue, parsed(session, issue, files)));
    Ok(notes.filter(|(_, notes)| !notes.is_empty()).collect())
}

/// Puts a note that was made elsewhere on an issue that is there; one that is there already stays as it is.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn put(session: &Session, issue: IssueId, note: &Note) -> Result<()> {
    keep(session, issue, &format!("{}.json", note.id), &json::file(note))
}

/// Checks that a note from elsewhere is one on this issue.
///
/// # Errors
/// Why it is not.
pub(crate) fn check(issue: IssueId, note: &Note) -> std::result::Result<(), String> {
    if !is_name(&format!("{}.json", note.id)) || note.issue_id != issue.to_string() {
        return Err(format!("'{}' is no note on it", note.id.chars().take(40).collect::<String>()));
    }
    checked(&note.text).map(drop).map_err(|error| error.to_string())
}

/// The notes that the control plane keeps, for whoever puts the issue's files into a commit: their names from `.jit/`
/// on, and what they hold.
///
/// # Errors
/// When they cannot be read.
pub(crate) fn to_commit(session: &Session, issue: IssueId) -> Result<Vec<(String, Vec<u8>)>> {
    let Some(kept) = kept(session, issue) else { return Ok(Vec::new()) };
    let files = read_all(session.sys(), &kept)?;
    Ok(files.into_iter().map(|(name, bytes)| (format!("issues/{issue}/{NOTES}/{name}"), bytes)).collect())
}

/// Brings the notes that the control plane keeps into this worktree, to be committed with the issue.
///
/// # Errors
/// When they cannot be read or written.
pub(crate) fn bring(session: &Session, issue: IssueId) -> Result<()> {
    let (Some(kept), data) = (kept(session, issue), session.own_data()?) else { return Ok(()) };
    read_all(session.sys(), &kept)?
        .into_iter()
        .try_for_each(|(name, bytes)| place(session.sys(), &data, issue, &name, &bytes))
}

/// Lets go of notes in the control plane that the target has. What cannot be told stays, and harms nobody.
pub(crate) fn forget_landed(session: &Session, issue: IssueId) {
    let (Some(kept), Some(repository)) = (kept(session, issue), session.repository()) else { return };
    let sys = session.sys();
    let Ok(files) = read_all(sys, &kept) else { return };
    if files.is_empty() {
        return;
    }
    let Ok(Some(target)) = Target::find(&session.caller, repository, session.config()) else { return };
    let (Some(tip), Ok(objects)) = (target.onto(), workspace::objects(&session.caller, repository)) else {
        return;
    };
    let Ok(landed) = in_commit(&objects, &tip, issue) else { return };
    for (name, bytes) in &files {
        if landed.get(name) == Some(bytes) {
            let _ = sys.files.remove_file(&kept.join(name));
        }
    }
    let _ = sys.files.remove_dir(&kept);
}

/// Lets go of everything that the control plane keeps of an issue that is gone.
pub(crate) fn forget(session: &Session, issue: IssueId) {
    let Some(kept) = kept(session, issue) else { return };
    for name in session.sys().files.list(&kept).unwrap_or_default() {
        let _ = session.sys().files.remove_file(&kept.join(name));
    }
    let _ = session.sys().files.remove_dir(&kept);
}

/// Where the control plane keeps the notes on an issue; none where that is the worktree itself.
fn kept(session: &Session, issue: IssueId) -> Option<PathBuf> {
    session.shared_data().map(|shared| shared.join(NOTES).join(issue.to_string()))
}

fn folder(data: &Path, issue: IssueId) -> PathBuf {
    data.join("issues").join(issue.to_string()).join(NOTES)
}

/// Puts a note beside its issue, if that is there: a directory without the issue would be half of one.
fn place(sys: &Sys, data: &Path, issue: IssueId, name: &str, bytes: &[u8]) -> Result<()> {
    let folder = folder(data, issue);
    if !durable::is_file(sys, &folder.with_file_name("issue.json"))? {
        return Ok(());
    }
    durable::make_dirs(sys, &folder, 0o755)?;
    durable::create(sys, &folder.join(name), bytes, 0o644)?;
    Ok(())
}

/// Whether a file of this name can be a note.
fn is_name(name: &str) -> bool {
    let id = name.strip_suffix(".json").and_then(|id| Some((id, id.parse::<LeaseId>().ok()?)));
    id.is_some_and(|(text, id)| id.to_string() == text)
}

/// Whether a path from the root of a worktree is that of a note.
#[must_use]
pub fn is_note(path: &[u8]) -> bool {
    let parts: Option<Vec<&str>> = std::str::from_utf8(path).ok().map(|path| path.split('/').collect());
    matches!(parts.as_deref(), Some([DATA, "issues", id, NOTES, name])
        if is_name(name) && IssueId::parse(id).is_some_and(|parsed| parsed.to_string() == *id))
}

/// Adds the notes in a directory; those that cannot be read are named.
fn collect(session: &Session, folder: &Path, files: &mut Files) {
    match read_all(session.sys(), folder) {
        Ok(found) => files.extend(found),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            session.notice(&Notice::Unusable(format!("{error}{}", cause.unwrap_or_default())));
        }
    }
}

/// What is in a directory; nothing if there is none.
fn listed(sys: &Sys, folder: &Path) -> Result<Vec<OsString>> {
    match sys.files.list(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        names => Ok(names?),
    }
}

fn read_all(sys: &Sys, folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    for name in listed(sys, folder)?.iter().filter_map(|name| name.to_str()).filter(|name| is_name(name)) {
        if let Some(bytes) = durable::read(sys, &folder.join(name), LONGEST)? {
            files.insert(name.to_owned(), bytes);
        }
    }
    Ok(files)
}

/// Adds the notes in the commits that are looked at: the one that this worktree is on, and the tips of the target.
fn committed(session: &Session, issue: IssueId, files: &mut Files) -> Result<()> {
    for (objects, commit) in looked_at(session)? {
        match in_commit(&objects, &commit, issue) {
            Ok(found) => found.into_iter().for_each(|(name, bytes)| {
                files.entry(name).or_insert(bytes);
            }),
            Err(error) => session.notice(&Notice::Unusable(format!("the notes of {commit}: {error}"))),
        }
    }
    Ok(())
}

/// The commits that are looked at.
fn looked_at(session: &Session) -> Result<Vec<(Objects<'_>, ObjectId)>> {
    let Some(repository) = session.repository() else { return Ok(Vec::new()) };
    let head = workspace::head_commit(&session.caller, repository)?;
    let target = Target::find(&session.caller, repository, session.config())?;
    let mut commits: Vec<ObjectId> = head.into_iter().collect();
    commits.extend(target.iter().flat_map(Target::tips));
    commits.dedup();
    // Where no commit can be read, that is said of its issues already.
    let with = |commit| Some((workspace::objects(&session.caller, repository).ok()?, commit));
    Ok(commits.into_iter().filter_map(with).collect())
}

fn in_commit(objects: &Objects<'_>, commit: &ObjectId, issue: IssueId) -> Result<Files> {
    let tree = objects.commit(commit)?.tree;
    let path = format!("{DATA}/issues/{issue}/{NOTES}");
    let Some(entry) = objects.entry(&tree, path.as_bytes())? else { return Ok(Files::new()) };
    let mut files = Files::new();
    if entry.mode != Mode::Tree {
        return Ok(files);
    }
    for entry in objects.tree(&entry.id)? {
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        if matches!(entry.mode, Mode::File | Mode::Executable) && is_name(&name) {
            files.insert(name, objects.blob(&entry.id, LONGEST)?);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::is_note;

    #[test]
    fn a_note_is_known_by_its_path() {
        let id = "01K8ZZZZZZ0000000000000001";
        assert!(is_note(format!(".jit/issues/{id}/notes/{id}.json").as_bytes()));
        let lower = id.to_lowercase();
        for path in [
            format!(".jit/issues/{id}/issue.json"),
            format!(".jit/issues/{id}/notes/x.json"),
            format!(".jit/issues/{id}/notes/{lower}.json"),
            format!(".jit/issues/{lower}/notes/{id}.json"),
            format!(".jit/issues/{id}/notes/{id}.json/x"),
            format!("src/.jit/issues/{id}/notes/{id}.json"),
            format!(".jit/issues/{id}/notes/{id}"),
        ] {
            assert!(!is_note(path.as_bytes()), "{path}");
        }
    }
}
