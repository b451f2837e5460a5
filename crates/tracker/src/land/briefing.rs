//! What whoever begins an issue has to know, in one text that fits anywhere.

use schemars::JsonSchema;
use serde::Serialize;

use super::plumbing::Plumbing;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issue, Issues, Scope, Standing};
use crate::notes;
use crate::session::Session;
use crate::target::Target;
use crate::times::ago;
use crate::workspace::{self, DATA};
use crate::writes::results_of;

/// The longest one, in bytes.
const LONGEST: usize = 8 << 10;

/// How much of it is for notes.
const MOST_OF_NOTES: usize = 3 << 10;

/// How many commits are looked through for the one that a dependency landed as.
const FARTHEST: usize = 1_000;

/// How many characters of one note are shown.
const LONGEST_NOTE: usize = 500;

/// What whoever begins an issue has to know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Briefing(String);

impl Briefing {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn of(
        session: &Session,
        issues: &Issues<'_>,
        id: IssueId,
        before: &Issue,
        branch: Option<&str>,
    ) -> Result<Self> {
        let handle = issues.handle(id);
        let mut text = format!("{handle}  {}\n", before.title);
        text.push_str(&format!("{} · {}\n", before.priority, before.kind));
        if let Some(branch) = branch {
            text.push_str(&format!("branch: {branch}\n"));
        }
        let (labels, deps) = issues.see(id, Scope::All, |seen| {
            let texts = |set: &crate::issues::Set| set.members().map(ToOwned::to_owned).collect::<Vec<_>>();
            (texts(&seen.labels), texts(&seen.deps))
        })?;
        if !labels.is_empty() {
            text.push_str(&format!("labels: {}\n", labels.join(", ")));
        }
        if !before.gates.is_empty() {
            let results = results_of(issues, id, &before.gates)?;
            let gate = |key: &String| format!("{key}{}", if results.passed(key) { " (passed)" } else { "" });
            text.push_str(&format!(
                "gates: {}\n",
                before.gates.iter().map(gate).collect::<Vec<_>>().join(", ")
            ));
        }
        for dep in deps.iter().filter_map(|dep| IssueId::parse(dep)) {
            let seen = issues.see(dep, Scope::All, |seen| {
                (seen.issue.title.to_string(), seen.issue.state, seen.standing.clone())
            });
            let Ok((title, state, standing)) = seen else { continue };
            let place = where_landed(session, dep, &standing).unwrap_or_default();
            text.push_str(&format!("depends on: {}  {title} ({state}{place})\n", issues.handle(dep)));
        }
        for (path, document) in &before.documents {
            let label = document.label.as_deref().map(|label| format!("  {label}")).unwrap_or_default();
            text.push_str(&format!("document: {path}{label}\n"));
        }
        for line in earlier(session, &handle, branch)? {
            text.push_str(&line);
        }
        if let Some(description) = &before.description {
            text.push_str(&format!("\n{description}\n"));
        }
        let next = "\nwhen it is done: jit finish -a -m 'what was done'; to give it back: jit drop\n";
        Ok(Self(cut(text, &(noted(session, id)? + next))))
    }
}

/// Where a dependency landed, or what it waits for; nothing if there is nothing to say.
fn where_landed(session: &Session, id: IssueId, standing: &Standing) -> Option<String> {
    if !matches!(standing, Standing::Landed | Standing::NotPushed) {
        return standing.words().map(|words| format!(", {words}"));
    }
    let (branch, commit) = landed_as(session, id, standing)?;
    let short: String = commit.chars().take(10).collect();
    let more = standing.words().map(|words| format!(", {words}")).unwrap_or_default();
    Some(format!(", landed on {branch} as {short}{more}"))
}

/// The branch that an issue has landed on, and the commit there that says so. No commit can name itself, so this is
/// looked up instead of written; it is right also where a forge made that commit.
#[must_use]
pub fn landed_as(session: &Session, id: IssueId, standing: &Standing) -> Option<(String, String)> {
    if !matches!(standing, Standing::Landed | Standing::NotPushed) {
        return None;
    }
    let target = Target::find(&session.caller, session.repository()?, session.config()).ok().flatten()?;
    let tip = if *standing == Standing::NotPushed { target.local? } else { target.onto()? };
    let objects = workspace::objects(&session.caller, session.repository()?).ok()?;
    let path = format!("{DATA}/issues/{id}/issue.json");
    let commit = objects.last_change(&tip, path.as_bytes(), FARTHEST).ok().flatten()?;
    Some((target.branch, commit.to_string()))
}

/// What was noted on an issue: the last notes, as many as there is room for.
fn noted(session: &Session, id: IssueId) -> Result<String> {
    let notes = notes::of(session, id)?;
    let now = session.sys().clock.now()?;
    let mut shown = Vec::new();
    let mut room = MOST_OF_NOTES;
    for note in notes.iter().rev() {
        let who = note.agent_id.as_deref().unwrap_or("somebody");
        let mut said: String = note.text.chars().take(LONGEST_NOTE).collect();
        if said.len() < note.text.len() {
            said.push('…');
        }
        let text = format!("\nnote by {who}, {}:\n{said}\n", ago(&note.at, &now));
        let Some(left) = room.checked_sub(text.len()) else { break };
        room = left;
        shown.push(text);
    }
    let more = notes.len() - shown.len();
    if more > 0 {
        shown.push(format!("\n{more} more notes: jit show\n"));
    }
    shown.reverse();
    Ok(shown.concat())
}

/// What earlier holders left on branches of their own.
fn earlier(session: &Session, handle: &str, own: Option<&str>) -> Result<Vec<String>> {
    let (Some(repository), Some(root)) = (session.repository(), session.root()) else {
        return Ok(Vec::new());
    };
    let target = Target::find(&session.caller, repository, session.config())?;
    let Some(tip) = target.as_ref().and_then(Target::onto) else { return Ok(Vec::new()) };
    let plumbing = Plumbing::new(session, root);
    // Nearly always there is none, and that can be told without asking git.
    let (all, more) = (format!("jit/{handle}"), format!("jit/{handle}-"));
    let is_left = |name: &str| Some(name) != own && (name == all || name.starts_with(&more));
    let files = &*session.sys().files;
    if let Ok(known) = repository.refs_starting(files, &format!("refs/heads/{all}"))
        && !known.keys().any(|name| is_left(&name.to_string()))
    {
        return Ok(Vec::new());
    }
    let format = "--format=%(objectname) %(refname:short) %(committername) %(committerdate:relative)";
    let patterns = [format!("refs/heads/jit/{handle}"), format!("refs/heads/jit/{handle}-*")];
    let listed = plumbing.text(&["for-each-ref", format, &patterns[0], &patterns[1]])?;
    let mut lines = Vec::new();
    for line in listed.lines() {
        let Some((commit, rest)) = line.split_once(' ') else { continue };
        let Some((branch, who)) = rest.split_once(' ') else { continue };
        let Some(commit) = holdfast_git::ObjectId::from_hex(commit.as_bytes()) else { continue };
        if Some(branch) != own && !plumbing.commits(&tip, &commit)?.is_empty() {
            lines.push(format!("left by an earlier holder: branch {branch} ({who})\n"));
        }
    }
    Ok(lines)
}

/// The text, with its end left out if it is too long, and what comes after it.
fn cut(mut text: String, after: &str) -> String {
    const MORE: &str = "\n… (the rest: jit show)\n";
    if text.len() + after.len() <= LONGEST {
        return text + after;
    }
    let mut end = LONGEST - MORE.len() - after.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text + MORE + after
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, cut};

    #[test]
    fn a_long_briefing_is_cut_between_characters() {
        assert_eq!(cut("short".to_owned(), "!"), "short!");
        for word in ["ä", "x", "日本"] {
            let text = cut(word.repeat(LONGEST), "after");
            assert!(
                text.len() <= LONGEST && text.contains("the rest") && text.ends_with("after"),
                "{}",
                text.len()
            );
        }
    }
}
