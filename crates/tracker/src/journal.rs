//! What happened, from everything that tells of it: the events of issues, the claims, the notes, and the history of an
//! issue in git, put together by when it happened. Nothing here writes a byte.

use std::path::PathBuf;

use holdfast_git::Git;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::claims::events::Envelope;
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::notes;
use crate::notice::Notice;
use crate::session::Session;
use crate::workspace::DATA;
use crate::writes::event_logs;

/// More than one log of events holds before it is put aside.
const LONGEST: usize = 64 << 20;

/// Who tells of something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The log of claims.
    Claims,
    /// The events of a worktree.
    Events,
    /// A note.
    Notes,
    /// A commit.
    Git,
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// When.
    pub at: String,
    /// Who tells of it.
    pub source: Source,
    /// What it was, in a word.
    pub kind: String,
    /// By whom, if that is known.
    pub by: Option<String>,
    /// The issue that it is about, if it is about one.
    pub issue_id: Option<String>,
    /// What there is to say about it.
    pub text: String,
}

/// What happened to an issue, or to all, the oldest first.
///
/// # Errors
/// When something that tells of it cannot be read.
pub fn read(session: &Session, issue: Option<IssueId>) -> Result<Vec<Entry>> {
    let mut entries = claims(session)?;
    events(session, &mut entries)?;
    if let Some(id) = issue {
        let id = id.to_string();
        entries.retain(|entry| entry.issue_id.as_deref() == Some(&id));
    }
    let noted = match issue {
        Some(id) => vec![id],
        None => Issues::new(session).ids()?,
    };
    for id in noted {
        entries.extend(notes::of(session, id)?.into_iter().map(|note| Entry {
            at: note.at,
            source: Source::Notes,
            kind: "noted".to_owned(),
            by: note.agent_id,
            issue_id: Some(note.issue_id),
            text: note.text,
        }));
    }
    if let Some(id) = issue {
        commits(session, id, &mut entries)?;
    }
    put_in_order(&mut entries);
    Ok(entries)
}

/// By when it happened. Within a millisecond a claim is given back behind what was done under it.
fn put_in_order(entries: &mut [Entry]) {
    let ends = |entry: &Entry| entry.source == Source::Claims && entry.kind == "claim.released";
    entries.sort_by(|a, b| (&a.at, ends(a), a).cmp(&(&b.at, ends(b), b)));
}

fn claims(session: &Session) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    session.claims().medium.history(&mut |record| {
        let [_, at, kind, issue, by, text] = Envelope::of(record).row();
        entries.push(Entry { at, source: Source::Claims, kind, by: Some(by), issue_id: Some(issue), text });
    })?;
    Ok(entries)
}

fn events(session: &Session, entries: &mut Vec<Entry>) -> Result<()> {
    let data: Vec<PathBuf> = session.data().into_iter().chain(session.main_data()?).collect();
    for path in event_logs(session.sys(), session.control(), &data)? {
        let bytes = match durable::read(session.sys(), &path, LONGEST) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                session.notice(&Notice::Unusable(format!("{error}: {}", error.source)));
                continue;
            }
        };
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        entries.extend(lines.filter_map(|line| told(&serde_json::from_slice::<Value>(line).ok()?)));
    }
    entries.dedup();
    Ok(())
}

/// What an event of a log tells, in either of its forms; none if it is no event.
#[must_use]
pub fn told(value: &Value) -> Option<Entry> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let payload = value.get("payload").unwrap_or(value);
    let kind = text(value.get("event_type").or_else(|| value.get("op"))?)?;
    let at = text(value.get("timestamp").or_else(|| value.get("at"))?)?;
    let by = value.get("actor").and_then(|actor| actor.get("agent_id")).or_else(|| value.get("by"));
    Some(Entry {
        at,
        source: Source::Events,
        kind,
        by: by.and_then(text),
        issue_id: payload.get("issue_id").and_then(text),
        text: words(payload),
    })
}

/// What an event says, in words.
fn words(payload: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut words = Vec::new();
    for (key, value) in payload.get("changes").and_then(Value::as_object).into_iter().flatten() {
        match (value.get("from"), value.get("to")) {
            (Some(from), Some(to)) if !from.is_null() => {
                words.push(format!("{key}: {} -> {}", shown(from), shown(to)));
            }
            (_, Some(to)) => words.push(format!("{key}: {}", shown(to))),
            _ => words.push(format!("{key}: {value}")),
        }
    }
    for key in ["title", "gate", "status", "path", "depends_on", "cause", "reason"] {
        match payload.get(key) {
            Some(Value::Null) | None => {}
            Some(Value::Array(all)) if all.is_empty() => {}
            Some(value) => words.push(format!("{key}: {}", shown(value))),
        }
    }
    words.join("; ")
}

/// The commits that changed the files of an issue.
fn commits(session: &Session, id: IssueId, entries: &mut Vec<Entry>) -> Result<()> {
    let Some(root) = session.root().filter(|_| session.repository().is_some()) else { return Ok(()) };
    let path = format!("{DATA}/issues/{id}");
    let args = [
        "log",
        "--all",
        "--date=format-local:%Y-%m-%dT%H:%M:%S.000Z",
        "--format=%cd%x09%h%x09%an%x09%s",
        "--",
        &path,
    ];
    let said = Git::in_dir(root).env("TZ", Some("UTC".into())).ask(&args, &[])?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    for line in said.lines() {
        let mut parts = line.splitn(4, '\t').map(ToOwned::to_owned);
        if let (Some(at), Some(hash), Some(author), Some(subject)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        {
            entries.push(Entry {
                at,
                source: Source::Git,
                kind: "committed".to_owned(),
                by: Some(author),
                issue_id: Some(id.to_string()),
                text: format!("{hash} {subject}"),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Entry, Source, put_in_order};

    #[test]
    fn a_claim_is_given_back_behind_what_was_done_under_it() {
        let entry = |source, kind: &str| Entry {
            at: "2026-01-01T00:00:00.000Z".into(),
            source,
            kind: kind.into(),
            by: None,
            issue_id: None,
            text: String::new(),
        };
        let right = [
            entry(Source::Claims, "claim.acquired"),
            entry(Source::Events, "issue.updated"),
            entry(Source::Claims, "claim.released"),
        ];
        let mut entries = [right[2].clone(), right[1].clone(), right[0].clone()];
        put_in_order(&mut entries);
        assert_eq!(entries, right);
    }
}
