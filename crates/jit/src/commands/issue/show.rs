//! `jit issue show`: one issue with everything that is known of it.

use std::collections::BTreeSet;

use holdfast_door::{Cell, Clean, Colour, Paint, grid};

use crate::context::Context;
use crate::output::Report;
use crate::output::colours::{priority_colour, state_cell, state_colour};
use holdfast_tracker::Session;
use holdfast_tracker::answers::show::{Dep, Looked, Whole, look};
use holdfast_tracker::claims::lease::left;
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Issues, Layer, OnBranch, Scope, Standing};
use holdfast_tracker::land::ONTO;
use holdfast_tracker::notes::Note;
use holdfast_tracker::queries::Claimed;
use holdfast_tracker::times::ago;

/// Shows the issue that was meant.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn run(context: &Context, session: &Session, id: &str) -> Result<Report> {
    let issues = Issues::new(session);
    let id = issues.resolve(id)?;
    let Looked { document, deps, claimed } = look(&issues, id)?;
    let whole = &document.issue;
    let text = Text {
        whole,
        notes: &document.notes,
        branches: &document.branches,
        related: (phrases(&issues, &whole.issue.relates), phrases(&issues, &whole.issue.duplicates)),
        parent: phrases(&issues, &whole.issue.parent.iter().cloned().collect()).pop(),
        deps: &deps,
        layer: document.layer,
        standing: &document.standing,
        claimed: &claimed,
        paint: context.printer.paint(),
    };
    let text = text.all(id);
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

/// An issue for people.
struct Text<'a> {
    whole: &'a Whole,
    notes: &'a [Note],
    branches: &'a [OnBranch],
    /// What it has to do with, and what is about the same.
    related: (Vec<String>, Vec<String>),
    /// What it is a part of.
    parent: Option<String>,
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
        if let Some(what) = &issue.conflict {
            let words = format!("two versions of the {what}: jit edit {handle} resolves it");
            text += self.paint.paint(Colour::Yellow, words) + "\n";
        }
        if let Some(phrase) = &self.parent {
            text += format!("part of: {phrase}\n");
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
        for (heading, is_part) in [("PARTS", true), ("DEPENDS ON", false)] {
            let rows: Vec<_> = self.deps.iter().filter(|dep| dep.is_part == is_part).map(row).collect();
            if !rows.is_empty() {
                *text += "\n";
                *text += grid(self.paint, [heading, "STATE", "TITLE"], rows);
            }
        }
    }
}
