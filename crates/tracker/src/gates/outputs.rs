//! What the commands of gates wrote: the end of the last run of each, kept in the control plane, where all worktrees see
//! it. It belongs to nobody's history: the versioned result only says how it ended.

use std::path::PathBuf;

use super::Outcome;
use crate::durable;
use crate::ids::IssueId;
use crate::session::Session;

/// Where they are kept, in the control plane.
const OUTPUTS: &str = "outputs";

/// More than is kept of one.
const LONGEST: usize = 1 << 20;

fn file(session: &Session, issue: IssueId, gate: &str) -> PathBuf {
    session.control().join(OUTPUTS).join(issue.to_string()).join(format!("{gate}.txt"))
}

/// Keeps what a command wrote. That it cannot be kept is no reason to fail: it was shown to whoever had it run.
pub fn keep(session: &Session, issue: IssueId, gate: &str, outcome: &Outcome) {
    let path = file(session, issue, gate);
    let put = || -> crate::error::Result<()> {
        let (directory, mode) = session.prepare()?.places();
        durable::make_dirs(session.sys(), path.parent().unwrap_or(&path), directory)?;
        Ok(durable::replace(session.sys(), &path, outcome.output.as_bytes(), mode)?)
    };
    let _ = put();
}

/// What the command of a gate wrote last; none if that is not known.
#[must_use]
pub fn last(session: &Session, issue: IssueId, gate: &str) -> Option<String> {
    let bytes = durable::read(session.sys(), &file(session, issue, gate), LONGEST).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty())
}
