//! `jit issue show`: one issue with everything that is known of it.

use std::collections::BTreeSet;

use holdfast_door::{Cell, Clean, Colour, Paint, grid};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::output::Report;
use crate::output::colours::{priority_colour, state_cell, state_colour};
use crate::output::leases::shown;
use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::{Shown, left};
use holdfast_tracker::config::Satisfied;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issue, Issues, Layer, OnBranch, Scope, Standing, State, having};
use holdfast_tracker::land::{ONTO, landed_as};
use holdfast_tracker::notes::{self, Note};
use holdfast_tracker::queries::{Claimed, Reason};
use holdfast_tracker::times::ago;
use holdfast_tracker::writes::Draft;

/// The link to the commit that an issue landed with.
const COMMIT: &str = "commit";

/// An issue with what belongs to it, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct ShowOutput {
    /// The issue.
    pub issue: Whole,
    /// Who holds it.
    pub lease: Option<Shown>,
    /// What it waits for.
    pub blocked_by: Vec<Reason>,
    /// Where the copy that counts is.
    pub layer: Layer,
    /// How its work stands, if that is finished.
    pub standing: Standing,
    /// Every branch that has it finished and is not the target, the one that counts first.
    pub branches: Vec<OnBranch>,
    /// What was noted on it, the oldest first.
    pub notes: Vec<Note>,
}

/// An issue with its sets.
#[derive(Serialize, JsonSchema)]
pub struct Whole {
    /// What it is called where people read and type; not in an export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// The issue itself.
    #[serde(flatten)]
    pub issue: Issue,
    /// Its labels.
    pub labels: Vec<String>,
    /// The ids of the issues that it depends on.
    pub dependencies: Vec<String>,
}

impl Whole {
    /// An issue as it was written.
    #[must_use]
    pub fn new(issues: &Issues<'_>, draft: &Draft) -> Self {
        Self {
            handle: Some(issues.handle(draft.id())),
            issue: draft.issue().clone(),
            labels: draft.labels(),
            dependencies: draft.dependencies(),
        }
    }
}

/// A dependency, as far as it is shown.
struct Dep {
    id: String,
    handle: String,
    standing: Standing,
    known: Option<(State, String)>,
}

/// Shows the issue that was meant.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn run(context: &Context, session: &Session, id: &str) -> Result<Report> {
    let issues = Issues::new(session);
    let id = issues.resolve(id)?;
    let claimed = Claimed::or_none(session)?;
    let (whole, layer, unsure, standing) = issues.see(id, Scope::All, |seen| {
        let list = |set: &holdfast_tracker::issues::Set| set.members().map(ToOwned::to_owned).collect();
        let (labels, dependencies) = (list(&seen.labels), list(&seen.deps));
        let handle = Some(issues.handle(id));
        let whole = seen.whole().map(|issue| Whole { handle, issue, labels, dependencies });
        (whole, seen.layer, seen.unsure, seen.standing.clone())
    })?;
    let mut whole = whole
        .map_err(|error| Error::Unreadable { issue: id.to_string(), problems: vec![error.to_string()] })?;
    if let Some((_, commit)) = landed_as(session, id, &standing).filter(|_| whole.issue.state == State::Done)
    {
        whole.issue.links.entry(COMMIT.to_owned()).or_insert(commit);
    }
    let deps = dependencies(&issues, &whole.dependencies)?;
    let when = session.config().landing.dependencies;
    let blocked_by = blockers(&deps, when, unsure, &claimed);
    let notes = notes::of(session, id)?;
    // Those of a landed issue only have what the target has, too.
    let branches = match &standing {
        Standing::Landed | Standing::NotPushed => Vec::new(),
        _ => having(session, id),
    };
    let text = Text {
        whole: &whole,
        notes: &notes,
        branches: &branches,
        related: (phrases(&issues, &whole.issue.relates), phrases(&issues, &whole.issue.duplicates)),
        deps: &deps,
        layer,
        standing: &standing,
        claimed: &claimed,
        paint: context.printer.paint(),
    };
    let text = text.all(id);
    let lease = claimed.lease(id).map(|lease| shown(&issues, lease, &claimed.now));
    let document = ShowOutput { issue: whole, lease, blocked_by, layer, standing, branches, notes };
    Ok(Report::new(text, &document).brief(id.to_string()))
}

/// Issues by handle and title, as far as they are there.
fn phrases(issues: &Issues<'_>, ids: &BTreeSet<String>) -> Vec<String> {
    let phrase = |text: &String| {
        let Some(id) = IssueId::parse(text) else { return text.clone() };
        let title = issues.see(id, Scope::Nearest, |seen| seen.issue.title.to_string());
        title.map_or_else(|_| text.clone(), |title| format!("{}  {title}", issues.handle(id)))
    };
    ids.iter().map(phrase).collect()
}

/// What is known of the issues that one depends on.
fn dependencies(issues: &Issues<'_>, ids: &[String]) -> Result<Vec<Dep>> {
    let known = ids.iter().filter_map(|id| IssueId::parse(id)).collect::<Vec<_>>();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let scan = issues.some(known, |seen| {
        let about = (seen.issue.state, seen.issue.title.to_string());
        Some((seen.id.to_string(), about, seen.standing.clone()))
    })?;
    issues.warn(&scan.problems);
    let found = |id: &String| scan.found.iter().find(|(found, ..)| found == id);
    let dep = |id: &String| Dep {
        id: id.clone(),
        handle: IssueId::parse(id).map_or_else(|| id.clone(), |id| issues.handle(id)),
        known: found(id).map(|(_, about, _)| about.clone()),
        standing: found(id).map_or(Standing::Open, |(.., standing)| standing.clone()),
    };
    Ok(ids.iter().map(dep).collect())
}

fn blockers(deps: &[Dep], when: Satisfied, unsure: bool, claimed: &Claimed) -> Vec<Reason> {
    let open = |dep: &Dep| {
        let blocks = |state: &State| !state.is_over() || !dep.standing.satisfies(when);
        let (state, title) = dep.known.as_ref().filter(|(state, _)| blocks(state))?;
        let holder = IssueId::parse(&dep.id).and_then(|id| claimed.holder(id));
        Some(Reason::Dependency {
            id: dep.id.clone(),
            handle: dep.handle.clone(),
            title: title.clone(),
            state: *state,
            standing: dep.standing.clone(),
            claimed_by: holder.map(ToOwned::to_owned),
        })
    };
    deps.iter().filter_map(open).chain(unsure.then_some(Reason::Dependencies)).collect()
}

/// An issue for people.
struct Text<'a> {
    whole: &'a Whole,
    notes: &'a [Note],
    branches: &'a [OnBranch],
    /// What it has to do with, and what is about the same.
    related: (Vec<String>, Vec<String>),
    deps: &'a [Dep],
    layer: Layer,
    standing: &'a Standing,
    claimed: &'a Claimed,
    paint: Paint,
}

impl Text<'_> {
    fn all(&self, id: IssueId) -> Clean {
        let issue = &self.whole.issue;
        let handle = self.whole.handle.clone().unwrap_or_default();
        let mut text =
            Clean::from(format!("{handle}  ")) + self.paint.show(Colour::Bold, &issue.title) + "\n";
        let state = self.paint.paint(state_colour(issue.state), issue.state.word());
        let priority = self.paint.paint(priority_colour(issue.priority), issue.priority.word());
        if let Some(words) = self.standing.words() {
            text += self.paint.paint(Colour::Yellow, words) + "\n";
        }
        let counts =
            |one: &&OnBranch| matches!(self.standing, Standing::OnBranch { branch } if *branch == one.branch);
        for other in self.branches.iter().filter(|one| !counts(one)) {
            let fence = other.fence.map(|fence| format!(", fence {fence}")).unwrap_or_default();
            text += format!("also on {} ({}{fence})\n", other.branch, other.state);
        }
        text += state + " · " + priority + " · " + &issue.kind + self.people(id) + "\n";
        text += format!("id: {id}\n");
        for (name, values) in
            [("labels", &self.whole.labels), ("gates", &issue.gates.iter().cloned().collect())]
        {
            if !values.is_empty() {
                text += format!("{name}: {}\n", values.join(", "));
            }
        }
        for (name, ids) in [("relates to", &self.related.0), ("duplicates", &self.related.1)] {
            for phrase in ids {
                text += format!("{name}: {phrase}\n");
            }
        }
        for (what, place) in &issue.links {
            let what = if what == ONTO { "landed on top of" } else { what };
            text += format!("{what}: {place}\n");
        }
        let now = &self.claimed.now;
        text += format!("created {}, changed {}", ago(&issue.created_at, now), ago(&issue.updated_at, now));
        text += match self.layer {
            Layer::Local => "\n",
            Layer::Head => "; this is the copy of the last commit\n",
            Layer::Main => "; this is the copy of the main worktree\n",
            Layer::Shared => "; this was written in another worktree\n",
            Layer::Target => "; this is the copy of the branch that work lands on\n",
            Layer::Remote => "; this is the copy that was last fetched\n",
        };
        self.dependencies(&mut text);
        if let Some(description) = &issue.description {
            text += format!("\n{description}\n");
        }
        for (path, document) in &issue.documents {
            let label = document.label.as_deref().map(|label| format!("  {label}")).unwrap_or_default();
            text += format!("document: {path}{label}\n");
        }
        for note in self.notes {
            let who = note.agent_id.as_deref().unwrap_or("somebody");
            let by = format!("note by {who}, {}:", ago(&note.at, now));
            text += Clean::from("\n") + self.paint.show(Colour::Dim, &by) + "\n";
            text += note.text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        }
        text
    }

    fn people(&self, id: IssueId) -> Clean {
        let mut text = Clean::default();
        if let Some(lease) = self.claimed.lease(id) {
            let who = format!("claimed by {}", lease.holder);
            let left = left(lease, &self.claimed.now);
            text += Clean::from(" · ") + self.paint.show(Colour::Cyan, &who) + format!(" ({left})");
        }
        if let Some(assignee) = &self.whole.issue.assignee {
            text += Clean::from(" · meant for ") + self.paint.show(Colour::Plain, assignee);
        }
        text
    }

    fn dependencies(&self, text: &mut Clean) {
        if self.deps.is_empty() {
            return;
        }
        let row = |dep: &Dep| match &dep.known {
            Some((state, title)) => [Cell::plain(&dep.handle), state_cell(*state), Cell::plain(title)],
            None => [Cell::plain(&dep.handle), Cell::new("not there", Colour::Red), Cell::plain("")],
        };
        *text += "\n";
        *text += grid(self.paint, ["DEPENDS ON", "STATE", "TITLE"], self.deps.iter().map(row).collect());
    }
}
