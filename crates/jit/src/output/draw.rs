//! Graphs as pictures: a tree for terminals, and the languages of two programs that draw. What is drawn was
//! written by anybody, so labels are escaped, circles end, and a chain has a greatest depth.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use holdfast_door::{Clean, Colour, Paint, clean};

use super::colours::state_colour;

use holdfast_tracker::ids::IssueId;
use holdfast_tracker::queries::graph::{Edges, Graph, GraphNode};
use holdfast_tracker::queries::{Board, Node};

/// A terminal shows no deeper tree; a chain of a hundred thousand would fill it with blanks.
const DEEPEST: usize = 40;

/// How a tree is drawn.
pub struct Tree<'a> {
    /// The issues.
    pub board: &'a Board,
    /// What comes below what.
    pub edges: &'a Edges,
    /// The colours.
    pub paint: Paint,
    /// Whether to say who holds what.
    pub claims: bool,
}

/// A line that is still to be drawn.
struct Branch {
    id: IssueId,
    /// What stands before its own sign.
    before: String,
    /// Its own sign.
    sign: &'static str,
    depth: usize,
}

impl Tree<'_> {
    /// The tree below an issue. What was drawn before is drawn again without what is below it.
    #[must_use]
    pub fn draw(&self, root: IssueId) -> Clean {
        let mut text = Clean::default();
        let mut drawn = BTreeSet::new();
        let mut open = vec![Branch { id: root, before: String::new(), sign: "", depth: 0 }];
        while let Some(branch) = open.pop() {
            let below = self.edges.after(branch.id);
            let note = match (drawn.insert(branch.id), below.is_empty()) {
                (_, true) => "",
                (false, false) => " (see above)",
                (true, false) if branch.depth >= DEEPEST => " (and more below)",
                (true, false) => {
                    open.extend(branches(&branch, below));
                    ""
                }
            };
            text += Clean::from(&branch.before) + branch.sign + self.line(branch.id) + note + "\n";
        }
        text
    }

    /// An issue in one line.
    #[must_use]
    pub fn line(&self, id: IssueId) -> Clean {
        let short = Clean::from(self.board.handles.of(id)) + " ";
        let Some(node) = self.board.find(id) else {
            let why =
                if self.board.ids.binary_search(&id).is_ok() { "cannot be read" } else { "is not there" };
            return short + self.paint.paint(Colour::Red, format!("({why})"));
        };
        let state = self.paint.paint(state_colour(node.state), node.state.word());
        let title = self.paint.show(Colour::Plain, node.title());
        short + title + " [" + state + "]" + self.claim(node)
    }

    fn claim(&self, node: &Node) -> Clean {
        match self.board.claimed.holder(node.id) {
            _ if !self.claims => Clean::default(),
            Some(holder) => {
                Clean::from(" (") + self.paint.show(Colour::Cyan, &format!("claimed by {holder}")) + ")"
            }
            None => " (unclaimed)".into(),
        }
    }
}

/// What is below a branch, the last one first.
fn branches(above: &Branch, below: &[IssueId]) -> Vec<Branch> {
    let before = match above.sign {
        "" => String::new(),
        "└─ " => format!("{}   ", above.before),
        _ => format!("{}│  ", above.before),
    };
    let last = below.len().saturating_sub(1);
    let branch = |(index, id): (usize, &IssueId)| Branch {
        id: *id,
        before: before.clone(),
        sign: if index == last { "└─ " } else { "├─ " },
        depth: above.depth + 1,
    };
    below.iter().enumerate().map(branch).rev().collect()
}

/// The graph in the language of Graphviz.
#[must_use]
pub fn dot(graph: &Graph) -> String {
    let mut text = String::from("digraph issues {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in &graph.nodes {
        let label = label(node).replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "  \"{}\" [label=\"{label}\"];", node.id);
    }
    for edge in &graph.edges {
        let _ = writeln!(text, "  \"{}\" -> \"{}\";", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

/// The graph in the language of Mermaid.
#[must_use]
pub fn mermaid(graph: &Graph) -> String {
    let mut text = String::from("graph LR\n");
    for node in &graph.nodes {
        let _ = writeln!(text, "  {}[\"{}\"]", node.id, entities(&label(node)));
    }
    for edge in &graph.edges {
        let _ = writeln!(text, "  {} --> {}", edge.from, edge.to);
    }
    text
}

fn label(node: &GraphNode) -> String {
    let title = node.title.as_deref().map_or_else(|| node.id.clone(), clean);
    let state = node.state.map(|state| format!(" [{state}]")).unwrap_or_default();
    let holder = node.claimed_by.as_ref().map(|holder| format!(" ({holder})")).unwrap_or_default();
    format!("{title}{state}{holder}").replace('\n', " ")
}

/// A text in which nothing but letters, digits and what is harmless in a label stands for itself.
fn entities(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || " .,:-_+/()[]".contains(c) {
            safe.push(c);
        } else {
            let _ = write!(safe, "#{};", u32::from(c));
        }
    }
    safe
}
