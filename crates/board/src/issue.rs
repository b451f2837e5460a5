//! One issue, as lines: the document that `jit show --json` prints.

use holdfast_door::Colour;
use holdfast_tracker::answers::show::ShowOutput;
use holdfast_tracker::error::{Error, Result};
use serde_json::Value;

use crate::lanes::{colour, word};
use crate::row::{Row, clean, wrap};
use crate::stand::reason;

/// The lines of an issue.
///
/// # Errors
/// When it has no JSON form, which would be a bug.
pub(crate) fn rows(shown: &ShowOutput, columns: usize) -> Result<Vec<Row>> {
    let bug = |error| Error::Internal(format!("an issue has no JSON form: {error}"));
    let issue = &shown.issue.issue;
    let handle = shown.issue.handle.as_deref().map(clean).unwrap_or_default();
    let mut rows = Vec::new();
    let title = format!("{handle} {}", clean(&issue.title));
    rows.extend(wrap(&title, columns).iter().map(|line| Row::default().then(Colour::Bold, line)));
    let facts = Row::default()
        .then(colour(issue.state), word(issue.state))
        .then(Colour::Plain, &format!(", {}, {}", issue.priority.word(), clean(&issue.kind)))
        .then(Colour::Dim, &format!("  {}", clean(&shown.issue.labels.join(" "))));
    rows.push(facts);
    if let Some(lease) = &shown.lease {
        let until = lease.expires_at.as_deref().map_or("without a deadline".to_owned(), |at| {
            format!("until {}", at.get(..19).unwrap_or(at).replace('T', " "))
        });
        let row = Row::default().then(Colour::Cyan, &format!("held by {}", clean(&lease.agent_id)));
        rows.push(row.then(Colour::Dim, &format!(" {until}, fence {}", lease.fence)));
    }
    for blocker in &shown.blocked_by {
        let blocker: Value = serde_json::to_value(blocker).map_err(bug)?;
        rows.push(Row::default().then(Colour::Yellow, "waits for ").then(Colour::Plain, &reason(&blocker)));
    }
    rows.push(Row::default());
    rows.extend(text(issue.description.as_deref().unwrap_or_default(), columns));
    if !shown.notes.is_empty() {
        rows.push(Row::default());
        rows.push(Row::default().then(Colour::Bold, "Notes"));
    }
    for note in &shown.notes {
        let at = note.at.get(..16).unwrap_or(&note.at).replace('T', " ");
        let by = note.agent_id.as_deref().map(clean).unwrap_or_default();
        rows.push(Row::default().then(Colour::Dim, &format!("{at} ")).then(Colour::Cyan, &by));
        rows.extend(text(&note.text, columns));
    }
    Ok(rows)
}

/// A text of several lines.
fn text(text: &str, columns: usize) -> Vec<Row> {
    let cleaned: Vec<String> = text.lines().map(clean).collect();
    wrap(&cleaned.join("\n"), columns).iter().map(|line| Row::plain(line)).collect()
}
