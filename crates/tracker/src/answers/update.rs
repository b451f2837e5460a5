//! Changing issues. Everything is checked before the first one is changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::create::kind;
use super::show::Whole;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::{Issues, Priority, State, typed as word};
use crate::notice::Notice;
use crate::session::Session;
use crate::writes::{self, Changed, Draft, Writer};

/// After how many issues somebody who waits is told.
const AT_ONCE: usize = 256;

/// What became of a change, as one JSON object: one issue, or several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum UpdateOutput {
    /// One issue was named.
    One {
        /// The issue.
        issue: Box<Whole>,
        /// Whether anything was written.
        changed: bool,
        /// The gates that are not passed.
        open_gates: Vec<String>,
    },
    /// Several were named.
    Many {
        /// The issues.
        issues: Vec<Whole>,
        /// How many.
        count: usize,
    },
}

/// What of issues is changed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// What it is about.
    pub title: Option<String>,
    /// What there is to say about it; empty for nothing.
    pub description: Option<String>,
    /// `backlog`, `ready`, `in_progress`, `gated`, `done`, `rejected` or `archived`.
    pub state: Option<String>,
    /// `critical`, `high`, `normal` or `low`.
    pub priority: Option<String>,
    /// A type of the hierarchy.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Labels to add.
    pub labels: Vec<String>,
    /// Labels to remove.
    pub remove_labels: Vec<String>,
    /// Issues that it has to do with.
    pub relates: Vec<String>,
    /// Issues that are about the same.
    pub duplicates: Vec<String>,
    /// Issues that it has nothing to do with any more.
    pub unrelate: Vec<String>,
    /// Where its work is to be seen, `what=where`; nothing behind the `=` removes it.
    pub links: Vec<String>,
    /// Who is meant to do it.
    pub assignee: Option<String>,
    /// Nobody is meant to do it any more.
    pub unassign: bool,
    /// Refuse what would only warn or be done by half.
    pub strict: bool,
}

/// What is changed, as far as it can be told without the issue.
struct Update<'a> {
    typed: &'a Change,
    title: Option<String>,
    description: Option<String>,
    state: Option<State>,
    priority: Option<Priority>,
    kind: Option<String>,
    labels: Vec<String>,
    relates: Vec<IssueId>,
    duplicates: Vec<IssueId>,
    unrelate: Vec<String>,
    links: Vec<(String, String)>,
    assignee: Option<String>,
}

/// Issues that were changed.
pub struct Updated {
    /// What programs are told.
    pub document: UpdateOutput,
    /// Each of them.
    pub changed: Vec<Changed<()>>,
    /// The state that was asked for.
    pub state: Option<State>,
}

/// Changes issues; needs a claim on each.
///
/// # Errors
/// What went wrong.
pub fn update(session: &Session, ids: &[String], change: &Change) -> Result<Updated> {
    let update = Update::parse(session, change)?;
    let writer = if change.strict { Writer::strict(session)? } else { Writer::open(session)? };
    let ids = ids.iter().map(|id| writer.issues.resolve(id)).collect::<Result<Vec<_>>>()?;
    if ids.len() > 1 {
        ids.iter().try_for_each(|id| writer.may(*id, "updating"))?;
    }
    let mut changed: Vec<Changed<()>> = Vec::with_capacity(ids.len());
    // Whether one may have a state can depend on the one before it.
    let at_once = if update.state.is_some() { 1 } else { AT_ONCE };
    for some in ids.chunks(at_once) {
        changed.extend(writer.change_all(some, "updating", |draft| update.apply(draft))?);
        if changed.len().is_multiple_of(AT_ONCE) && changed.len() < ids.len() {
            writer.notice(&Notice::Progress { what: "updated", done: changed.len(), of: ids.len() });
        }
    }
    Ok(Updated { document: document(&writer.issues, &changed), changed, state: update.state })
}

impl<'a> Update<'a> {
    fn parse(session: &Session, typed: &'a Change) -> Result<Self> {
        if *typed == (Change { strict: typed.strict, ..Change::default() }) {
            return Err(Error::Usage("nothing to change was given".into()));
        }
        let issues = Issues::new(session);
        let resolved = |all: &[String]| all.iter().map(|id| issues.resolve(id)).collect::<Result<Vec<_>>>();
        // One that is gone can still be named by its id.
        let known =
            |typed: &String| issues.resolve(typed).map_or_else(|_| typed.clone(), |id| id.to_string());
        let kind = typed.kind.as_deref().map(|text| kind(session.config(), Some(text)));
        Ok(Self {
            typed,
            title: typed.title.as_deref().map(writes::title).transpose()?,
            description: typed.description.as_deref().map(writes::description).transpose()?,
            state: typed.state.as_deref().map(|text| word("--state", text)).transpose()?,
            priority: typed.priority.as_deref().map(|text| word("--priority", text)).transpose()?,
            kind: kind.transpose()?,
            labels: typed.labels.iter().map(|text| writes::label(text)).collect::<Result<_>>()?,
            relates: resolved(&typed.relates)?,
            duplicates: resolved(&typed.duplicates)?,
            unrelate: typed.unrelate.iter().map(known).collect(),
            links: typed.links.iter().map(|text| link(text)).collect::<Result<_>>()?,
            assignee: typed.assignee.as_deref().map(writes::assignee).transpose()?,
        })
    }

    fn apply(&self, draft: &mut Draft) -> Result<()> {
        for label in &self.typed.remove_labels {
            draft.label(label, false)?;
        }
        for label in &self.labels {
            draft.label(label, true)?;
        }
        if let Some(state) = self.state {
            draft.step(state, self.typed.strict);
        }
        let own = draft.id();
        let issue = draft.edit();
        for (set, ids) in [(&mut issue.relates, &self.relates), (&mut issue.duplicates, &self.duplicates)] {
            set.extend(ids.iter().filter(|id| **id != own).map(ToString::to_string));
            set.retain(|id| !self.unrelate.contains(id));
        }
        for (what, place) in &self.links {
            if place.is_empty() {
                issue.links.remove(what);
            } else {
                issue.links.insert(what.clone(), place.clone());
            }
        }
        if let Some(title) = &self.title {
            issue.title.clone_from(title);
        }
        if let Some(text) = &self.description {
            issue.describe(Some(text.clone()));
        }
        issue.priority = self.priority.unwrap_or(issue.priority);
        if let Some(kind) = &self.kind {
            issue.kind.clone_from(kind);
        }
        if self.assignee.is_some() || self.typed.unassign {
            issue.assignee.clone_from(&self.assignee);
        }
        Ok(())
    }
}

/// What a link is of, and where it leads.
fn link(text: &str) -> Result<(String, String)> {
    let bad = || Error::BadValue {
        what: "--link",
        given: text.to_owned(),
        why: "must be a word, = and an address on one line".to_owned(),
    };
    let (what, place) = text.split_once('=').ok_or_else(bad)?;
    let is_fit = place.len() <= 2_000 && !place.chars().any(|c| c.is_control() || c.is_whitespace());
    if writes::key(what).is_err() || !is_fit { Err(bad()) } else { Ok((what.to_owned(), place.to_owned())) }
}

fn document(issues: &Issues<'_>, changed: &[Changed<()>]) -> UpdateOutput {
    match changed {
        [one] => UpdateOutput::One {
            issue: Box::new(Whole::new(issues, &one.draft)),
            changed: one.written,
            open_gates: one.draft.open_gates(),
        },
        several => UpdateOutput::Many {
            issues: several.iter().map(|one| Whole::new(issues, &one.draft)).collect(),
            count: several.len(),
        },
    }
}
