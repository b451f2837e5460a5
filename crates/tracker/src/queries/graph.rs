//! What depends on what. The data may have been written by anybody, so there may be circles and chains of any
//! length: nothing here recurses, and nothing is visited twice.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Board, Node};
use crate::ids::IssueId;
use crate::issues::{Priority, State};

/// Which way edges are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From an issue to what it depends on.
    Down,
    /// From an issue to what depends on it.
    Up,
}

/// The edges of a board, to be followed one way.
pub struct Edges {
    next: BTreeMap<IssueId, Vec<IssueId>>,
}

impl Edges {
    /// The edges of all issues on a board.
    #[must_use]
    pub fn new(board: &Board, way: Way) -> Self {
        let mut next: BTreeMap<IssueId, Vec<IssueId>> = BTreeMap::new();
        for node in board.nodes.iter().filter(|node| !node.deps.is_empty()) {
            for dep in &node.deps {
                let (from, to) = if way == Way::Down { (node.id, *dep) } else { (*dep, node.id) };
                next.entry(from).or_default().push(to);
            }
        }
        Self { next }
    }

    /// What comes after an issue.
    #[must_use]
    pub fn after(&self, id: IssueId) -> &[IssueId] {
        self.next.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    /// An issue and all that can be reached from it.
    #[must_use]
    pub fn reached(&self, from: IssueId) -> BTreeSet<IssueId> {
        let mut reached = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            open.extend(self.after(id).iter().copied().filter(|next| reached.insert(*next)));
        }
        reached
    }
}

/// The open issues that no open issue depends on.
#[must_use]
pub fn roots(board: &Board) -> Vec<&Node> {
    let open = || board.nodes.iter().filter(|node| !node.state.is_over());
    let needed: BTreeSet<IssueId> = open().flat_map(|node| node.deps.iter().copied()).collect();
    open().filter(|node| !needed.contains(&node.id)).collect()
}

/// A graph as programs read it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Graph {
    /// The issue that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The issues.
    pub nodes: Vec<GraphNode>,
    /// Which depends on which.
    pub edges: Vec<Edge>,
}

/// An issue in a graph.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GraphNode {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about; none if it cannot be read or is not there.
    pub title: Option<String>,
    /// Where it stands.
    pub state: Option<State>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// Who holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
}

/// One issue depends on another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Edge {
    /// The issue that waits.
    pub from: String,
    /// What it waits for.
    pub to: String,
}

/// A graph, as one JSON object.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GraphOutput {
    /// The graph.
    pub graph: Graph,
}

impl Graph {
    /// The part of a board that these issues make, with the edges between them.
    #[must_use]
    pub fn new(board: &Board, root: Option<IssueId>, ids: &BTreeSet<IssueId>) -> Self {
        let nodes = ids.iter().map(|id| GraphNode::new(board, *id)).collect();
        let mut edges = Vec::new();
        for node in ids.iter().filter_map(|id| board.find(*id)) {
            let to = node.deps.iter().filter(|dep| ids.contains(dep));
            edges.extend(to.map(|to| Edge { from: node.id.to_string(), to: to.to_string() }));
        }
        Self { root: root.map(|id| id.to_string()), nodes, edges }
    }

    /// The whole board, with whatever is depended on.
    #[must_use]
    pub fn whole(board: &Board) -> Self {
        let named = board.nodes.iter().flat_map(|node| node.deps.iter().copied());
        Self::new(board, None, &board.ids.iter().copied().chain(named).collect())
    }
}

impl GraphNode {
    fn new(board: &Board, id: IssueId) -> Self {
        let node = board.find(id);
        Self {
            id: id.to_string(),
            handle: board.handles.of(id),
            title: node.map(|node| node.title().to_owned()),
            state: node.map(|node| node.state),
            priority: node.map(|node| node.priority),
            claimed_by: board.claimed.holder(id).map(ToOwned::to_owned),
        }
    }
}
