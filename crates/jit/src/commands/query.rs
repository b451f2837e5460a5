//! `jit query`: which issues there are, which can be worked on, which wait and for what.

use holdfast_door::{Cell, Clean, Colour, grid};

use crate::cli::{self, Query as Command};
use crate::commands::issue::list;
use crate::context::Context;
use crate::output::colours::{priority_cell, state_cell};
use crate::output::pieces::{listed, with_member};
use crate::output::rows::Rows;
use crate::output::{Form, Report};
use holdfast_tracker::Session;
use holdfast_tracker::answers::list::rank;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::issues::{Issues, Scope, Sets};
use holdfast_tracker::queries::{Board, Claimed, Filter, Item, Keep, Node, Reason, Which};

pub fn run(context: &Context, command: &Command) -> Result<Report> {
    let session = context.session()?;
    match command {
        Command::All(filters) => {
            let is_open = filters.parse(&session)?.is_open() && !filters.mine;
            let scope = if is_open { Scope::Local } else { Scope::All };
            list::run(context, session, scope, filters)
        }
        Command::Available(filters) => {
            let board = board(context, &session, &filters.parse(&session)?, Sets::WORKABLE)?;
            let mut nodes = board.available();
            if let Some(agent) = filters.whose(&session)? {
                nodes.retain(|node| node.assignee() == Some(&*agent));
            }
            if filters.sort.is_some() {
                let key = |node: &&Node<Clean>| {
                    let id = node.id.to_string();
                    rank(filters.sort.map(Into::into), node.priority, &id, node.updated_at(), node.title())
                };
                nodes.sort_by_cached_key(key);
            }
            Ok(available(context, &board, nodes, filters.most(context).unwrap_or(usize::MAX)))
        }
        Command::Blocked(filters) => {
            blocked(context, &board(context, &session, &filters.parse()?, Sets::OPEN)?)
        }
    }
}

fn board(context: &Context, session: &Session, filter: &Filter, sets: Sets) -> Result<Board<Clean>> {
    let issues = Issues::new(session);
    let claimed = Claimed::load(session)?;
    let keep = |item: &Item<'_>| Clean::json(item);
    let keep = if context.printer.is_json() { Keep::Whole(Which::Open, &keep) } else { Keep::Nothing };
    let board = Board::to_be_done(&issues, claimed, filter, keep, sets)?;
    issues.warn(&board.problems);
    Ok(board)
}

/// Shows the first issue that can be worked on.
///
/// # Errors
/// When there is none, or what went wrong.
pub fn next(context: &Context, filters: &cli::Filters) -> Result<Report> {
    let session = context.session()?;
    let board = board(context, &session, &filters.parse()?, Sets::WORKABLE)?;
    let nodes: Vec<_> = board.available().into_iter().take(1).collect();
    if nodes.is_empty() { Err(Error::NothingAvailable) } else { Ok(available(context, &board, nodes, 1)) }
}

fn available(context: &Context, board: &Board<Clean>, mut nodes: Vec<&Node<Clean>>, most: usize) -> Report {
    let more = nodes.len().saturating_sub(most);
    nodes.truncate(most);
    let form = context.printer.form();
    let rows = Rows { claimed: &board.claimed, handles: &board.handles, paint: context.printer.paint() };
    let text = || match nodes.is_empty() {
        true => "no available issues; see jit query blocked and jit claim list\n".into(),
        false => rows.table(nodes.iter().map(|node| (*node).into())) + list::more_words(more),
    };
    let report = Report::of(form, text, || ids(nodes.iter().copied()));
    let objects = || nodes.iter().filter_map(|node| node.kept.clone()).collect();
    if form == Form::Json { report.pieces(listed("issues", objects(), more)) } else { report }
}

fn blocked(context: &Context, board: &Board<Clean>) -> Result<Report> {
    let nodes = board.blocked();
    let form = context.printer.form();
    let row = |(node, reasons): &(&Node<Clean>, Vec<Reason>)| {
        let why: Vec<String> = reasons.iter().map(words).collect();
        [
            Cell::plain(&board.handles.of(node.id)),
            state_cell(node.state),
            priority_cell(node.priority),
            Cell::plain(node.title()),
            Cell::new(&why.join("; "), Colour::Yellow),
        ]
    };
    let text = || match nodes.is_empty() {
        true => "no blocked issues; jit query available lists what can be worked on\n".into(),
        false => {
            let heading = ["ISSUE", "STATE", "PRIORITY", "TITLE", "WAITS FOR"];
            grid(context.printer.paint(), heading, nodes.iter().map(row).collect())
        }
    };
    let report = Report::of(form, text, || ids(nodes.iter().map(|(node, _)| *node)));
    let object = |(node, reasons): &(&Node<Clean>, Vec<Reason>)| {
        node.kept.as_ref().map(|json| with_member(json, "blocked_by", reasons))
    };
    let objects = || nodes.iter().filter_map(object).collect();
    Ok(if form == Form::Json { report.pieces(listed("issues", objects(), 0)) } else { report })
}

/// A reason in a few words.
fn words(reason: &Reason) -> String {
    match reason {
        Reason::Dependency { handle, state, standing, claimed_by, .. } => {
            let more = [standing.words(), claimed_by.clone()].into_iter().flatten();
            let more: Vec<String> = std::iter::once(state.to_string()).chain(more).collect();
            format!("{handle} ({})", more.join(", "))
        }
        Reason::Unreadable { id } => format!("{id} (cannot be read)"),
        Reason::Dependencies => "what it depends on cannot be read".into(),
        Reason::Gate { key } => format!("the gate {key}"),
    }
}

fn ids<'a>(nodes: impl Iterator<Item = &'a Node<Clean>>) -> Clean {
    nodes.map(|node| format!("{}\n", node.id)).collect::<String>().into()
}
