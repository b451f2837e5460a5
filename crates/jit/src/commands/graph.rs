//! `jit graph`: what depends on what.

use std::collections::BTreeSet;

use holdfast_door::Clean;

use crate::cli::{Graph as Command, GraphFormat};
use crate::context::Context;
use crate::output::draw::{Tree, dot, mermaid};
use crate::output::rows::Rows;
use crate::output::{Form, Report};
use holdfast_tracker::error::Result;
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::queries::graph::{Edges, Graph, GraphOutput, Way, roots};
use holdfast_tracker::queries::{Board, Claimed, Filter, Keep};

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    match command {
        Command::Show { id, show_claims } => tree(context, &issues, id, Way::Down, *show_claims),
        Command::Downstream { id, show_claims } => tree(context, &issues, id, Way::Up, *show_claims),
        Command::Roots => beginnings(context, &board(&issues)?),
        Command::Export { format } => Ok(export(context, &board(&issues)?, *format)),
    }
}

fn board(issues: &Issues<'_>) -> Result<Board> {
    let claimed = Claimed::or_none(issues.session())?;
    let board = Board::load(issues, claimed, &Filter::default(), Keep::Nothing)?;
    issues.warn(&board.problems);
    Ok(board)
}

fn tree(context: &Context, issues: &Issues<'_>, id: &str, way: Way, claims: bool) -> Result<Report> {
    let root = issues.resolve(id)?;
    let board = board(issues)?;
    let edges = Edges::new(&board, way);
    let tree = Tree { board: &board, edges: &edges, paint: context.printer.paint(), claims };
    let reached = edges.reached(root);
    let mut graph = Graph::new(&board, Some(root), &reached);
    if !claims {
        graph.nodes.iter_mut().for_each(|node| node.claimed_by = None);
    }
    Ok(Report::new(tree.draw(root), &GraphOutput { graph }).brief(lines(reached)))
}

fn beginnings(context: &Context, board: &Board) -> Result<Report> {
    let nodes = roots(board);
    let ids: BTreeSet<IssueId> = nodes.iter().map(|node| node.id).collect();
    let rows = Rows { claimed: &board.claimed, handles: &board.handles, paint: context.printer.paint() };
    let text = if nodes.is_empty() {
        "no open issues; make one: jit issue create --title '…'\n".into()
    } else {
        rows.table(nodes.into_iter().map(Into::into))
    };
    let graph = Graph::new(board, None, &ids);
    Ok(Report::new(text, &GraphOutput { graph }).brief(lines(ids)))
}

/// The whole graph. With `--json` the answer is JSON whatever the format, because one document is asked for.
fn export(context: &Context, board: &Board, format: GraphFormat) -> Report {
    let graph = Graph::whole(board);
    let text = match format {
        GraphFormat::Dot => dot(&graph).into(),
        GraphFormat::Mermaid => mermaid(&graph).into(),
        GraphFormat::Json => Clean::json(&GraphOutput { graph }),
    };
    match (format, context.printer.form()) {
        (GraphFormat::Dot | GraphFormat::Mermaid, Form::Json) => {
            Report::new("", &GraphOutput { graph: Graph::whole(board) })
        }
        (_, Form::Json) => Report::new("", &serde_json::Value::Null).pieces(vec![text]),
        (_, Form::Text | Form::Brief) => Report::new(text.clone(), &serde_json::Value::Null).brief(text),
    }
}

fn lines(ids: BTreeSet<IssueId>) -> String {
    ids.into_iter().map(|id| format!("{id}\n")).collect()
}
