//! Issues as a table for people.

use std::borrow::Cow;

use holdfast_door::{Cell, Clean, Colour, Paint, grid};

use super::colours::{priority_cell, standing_cell};
use holdfast_tracker::ids::{Handles, IssueId};
use holdfast_tracker::issues::{Glance, Priority, Standing, State};
use holdfast_tracker::queries::{Claimed, Node};
use holdfast_tracker::times::ago;

/// What a line of the table shows.
pub struct Row<'a> {
    id: IssueId,
    state: State,
    standing: Standing,
    priority: Priority,
    labels: Cow<'a, str>,
    updated_at: Cow<'a, str>,
    title: Cow<'a, str>,
}

impl Row<'static> {
    /// The line of an issue.
    #[must_use]
    pub fn new(issue: &Glance<'_>) -> Self {
        Self {
            id: issue.id,
            state: issue.state,
            standing: issue.standing.clone(),
            priority: issue.priority,
            labels: issue.labels.join(" ").into(),
            updated_at: issue.updated_at.to_owned().into(),
            title: issue.title.to_owned().into(),
        }
    }
}

impl<'a, K> From<&'a Node<K>> for Row<'a> {
    fn from(node: &'a Node<K>) -> Self {
        Self {
            id: node.id,
            state: node.state,
            standing: node.standing.clone(),
            priority: node.priority,
            labels: node.labels().into(),
            updated_at: node.updated_at().into(),
            title: node.title().into(),
        }
    }
}

/// How a table is made.
pub struct Rows<'a> {
    /// Who holds what.
    pub claimed: &'a Claimed,
    /// What issues are called.
    pub handles: &'a Handles,
    /// The colours.
    pub paint: Paint,
}

impl Rows<'_> {
    /// The table of these lines.
    #[must_use]
    pub fn table<'r>(&self, rows: impl Iterator<Item = Row<'r>>) -> Clean {
        let cells = |row: Row<'_>| {
            [
                Cell::plain(&self.handles.of(row.id)),
                standing_cell(row.state, &row.standing),
                priority_cell(row.priority),
                Cell::new(self.claimed.holder(row.id).unwrap_or_default(), Colour::Cyan),
                Cell::plain(&row.labels),
                Cell::new(&ago(&row.updated_at, &self.claimed.now), Colour::Dim),
                Cell::plain(&row.title),
            ]
        };
        let heading = ["ISSUE", "STATE", "PRIORITY", "CLAIMED BY", "LABELS", "UPDATED", "TITLE"];
        grid(self.paint, heading, rows.map(cells).collect())
    }
}
