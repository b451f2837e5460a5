//! Questions that change nothing.

use std::convert::Infallible;
use std::ops::ControlFlow;

use holdfast_tracker::answers::board::agents as all_agents;
use holdfast_tracker::answers::claims::{self as claims_answer, Wanted};
use holdfast_tracker::answers::list::{self, Order};
use holdfast_tracker::answers::{
    approvals, gates as gates_answer, pools, session, show, worktrees as all_worktrees,
};
use holdfast_tracker::claims::lease::Kind;
use holdfast_tracker::issues::{Issues, Scope, Seen};
use holdfast_tracker::queries::graph::{Graph, GraphOutput};
use holdfast_tracker::queries::{Board, Claimed, Filter, Item, Keep};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Ask;
use crate::body::Made;
use crate::locks;
use crate::problem::{Own, Problem};

/// A document as text.
pub(super) fn made(document: &impl Serialize) -> Result<Made, Problem> {
    let bug = |error| Problem::Own(Own::ServerInternal, format!("an answer has no JSON form: {error}"));
    Ok(Made { text: serde_json::to_vec(document).map_err(bug)?.into(), tag: None })
}

pub(super) fn board(ask: &Ask) -> Result<Made, Problem> {
    ask.watch.board(&ask.caller, &ask.asked)
}

/// As [`holdfast_tracker::queries::item::IssueListOutput`], of issues that are text already.
#[derive(Serialize)]
struct Issue {
    issues: Vec<Box<RawValue>>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
}

pub(super) fn issues(ask: &Ask) -> Result<Made, Problem> {
    let query = &ask.query;
    let session = session(&ask.caller)?;
    let mut filter = Filter::parse(
        &query.all("state"),
        &query.all("priority"),
        query.one("assignee")?,
        &query.all("label"),
    )?
    .of_types(&query.all("type"));
    if let Some(since) = query.one("since")? {
        filter = filter.since(since, &session.sys().clock.now()?)?;
    }
    let number = |text: &str| text.parse().map_err(|_| Problem::bad("limit is not a number"));
    let wanted = list::Wanted {
        filter,
        whose: None,
        order: query.one("sort")?.map(Order::parse).transpose()?,
        most: query.one("limit")?.map(number).transpose()?,
    };
    let issues = Issues::new(&session);
    let claimed = Claimed::or_none(&session)?;
    let keep = |seen: &Seen<'_>| to_raw_value(&Item::new(&issues, seen, &claimed));
    let mut found = Vec::new();
    let ControlFlow::<Infallible, _>::Continue(more) =
        list::walk(&issues, &claimed, Scope::All, &wanted, keep, |issue| {
            found.push(issue);
            ControlFlow::Continue(())
        })?;
    let bug = |error| Problem::Own(Own::ServerInternal, format!("an issue has no JSON form: {error}"));
    let found = found.into_iter().collect::<Result<Vec<_>, _>>().map_err(bug)?;
    made(&Issue { count: found.len(), issues: found, more: Some(more).filter(|more| *more > 0) })
}

pub(super) fn issue(ask: &Ask) -> Result<Made, Problem> {
    let session = session(&ask.caller)?;
    let issues = Issues::new(&session);
    made(&show::look(&issues, issues.resolve(ask.part(0))?)?.document)
}

pub(super) fn gates(ask: &Ask) -> Result<Made, Problem> {
    let session = session(&ask.caller)?;
    let issues = Issues::new(&session);
    made(&gates_answer::status(&issues, issues.resolve(ask.part(0))?)?)
}

pub(super) fn graph(ask: &Ask) -> Result<Made, Problem> {
    let session = session(&ask.caller)?;
    let issues = Issues::new(&session);
    let board: Board = Board::load(&issues, Claimed::or_none(&session)?, &Filter::default(), Keep::Nothing)?;
    issues.warn(&board.problems);
    made(&GraphOutput { graph: Graph::whole(&board) })
}

pub(super) fn agents(ask: &Ask) -> Result<Made, Problem> {
    made(&all_agents(&session(&ask.caller)?, Some(&ask.watch.renewals()))?)
}

pub(super) fn locks(ask: &Ask) -> Result<Made, Problem> {
    made(&locks::all(&ask.caller, &ask.also)?)
}

pub(super) fn runs(ask: &Ask) -> Result<Made, Problem> {
    made(&pools::list(&session(&ask.caller)?)?)
}

pub(super) fn claims(ask: &Ask) -> Result<Made, Problem> {
    let kind = match ask.query.one("kind")? {
        None | Some("issue") => Kind::Issue,
        Some("branch") => Kind::Branch,
        Some("paths") => Kind::Paths,
        Some("approval") => Kind::Approval,
        Some("escalation") => Kind::Escalation,
        Some("all") => Kind::All,
        Some(_) => return Err(Problem::bad("kind is issue, branch, paths, approval, escalation or all")),
    };
    let wanted = Wanted { issue: ask.query.one("issue")?, agent: ask.query.one("agent")?, kind };
    made(&claims_answer::status(&session(&ask.caller)?, &wanted)?.document)
}

pub(super) fn history(ask: &Ask) -> Result<Made, Problem> {
    made(&claims_answer::history(&session(&ask.caller)?, ask.query.one("issue_id")?)?)
}

pub(super) fn requests(ask: &Ask) -> Result<Made, Problem> {
    made(&approvals::requests(&session(&ask.caller)?)?)
}

pub(super) fn worktrees(ask: &Ask) -> Result<Made, Problem> {
    made(&all_worktrees::list(&session(&ask.caller)?)?)
}
