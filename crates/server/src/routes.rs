//! Every path that asks the tracker: what it takes, what it gives, and which question it is. The description of the server is
//! made from the same table, so neither has what the other lacks.

mod asked;
mod changed;

use std::path::PathBuf;
use std::sync::Arc;

use holdfast_kernel::Stamp;
use holdfast_tracker::Caller;
use holdfast_tracker::answers::approvals::{ClaimApproveOutput, ClaimRequestsOutput};
use holdfast_tracker::answers::board::{AgentsOutput, BoardOutput, Card};
use holdfast_tracker::answers::claims::ClaimHistoryOutput;
use holdfast_tracker::answers::create::{CreateOutput, NewIssue};
use holdfast_tracker::answers::gates::{GateOutput, GateStatusOutput};
use holdfast_tracker::answers::notes::NoteOutput;
use holdfast_tracker::answers::pools::StatusOutput;
use holdfast_tracker::answers::show::ShowOutput;
use holdfast_tracker::answers::update::{Change, UpdateOutput};
use holdfast_tracker::answers::worktrees::WorktreeListOutput;
use holdfast_tracker::claims::lease::{
    ClaimEvictOutput, ClaimListOutput, ClaimOutput, ClaimReleaseOutput, ClaimRenewOutput, ClaimTransferOutput,
};
use holdfast_tracker::queries::graph::GraphOutput;
use holdfast_tracker::queries::item::IssueListOutput;
use hyper::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::body::Made;
use crate::gatekeeper::Entry;
use crate::locks::LocksOutput;
use crate::problem::{Own, Problem};
use crate::query::Query;
use crate::watch::Watch;

/// How a path is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Get,
    Post,
}

impl Verb {
    /// As HTTP has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// The form of a document.
pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// A name that may stand behind the question mark, and what it means.
pub(crate) type Parameter = (&'static str, &'static str);

/// A path that asks the tracker.
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// With `{name}` for a part that is anything.
    pub(crate) path: &'static str,
    /// The command that gives the same.
    pub(crate) summary: &'static str,
    pub(crate) query: &'static [Parameter],
    pub(crate) takes: Option<Shape>,
    pub(crate) gives: Shape,
    pub(crate) act: fn(&Ask) -> Result<Made, Problem>,
}

impl Route {
    /// The names that may stand behind the question mark.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.query.iter().map(|(name, _)| *name).collect()
    }
}

/// A question.
pub(crate) struct Ask {
    pub(crate) caller: Caller,
    pub(crate) watch: Arc<Watch>,
    /// When it was asked.
    pub(crate) asked: Stamp,
    /// Where locks of other doors are looked for.
    pub(crate) also: Arc<[PathBuf]>,
    /// How whoever asks got in.
    pub(crate) entry: Entry,
    /// What stands in the path where it can be anything.
    pub(crate) parts: Vec<String>,
    pub(crate) query: Query,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    /// A part of the path.
    fn part(&self, number: usize) -> &str {
        self.parts.get(number).map(String::as_str).unwrap_or_default()
    }
}

const LIST: &[Parameter] = &[
    ("state", "Only in these states, separated by commas"),
    ("priority", "Only with these priorities"),
    ("label", "Only with all of these labels"),
    ("type", "Only of these types"),
    ("assignee", "Only meant for this one"),
    ("since", "Only changed since then: a moment, or a time such as 30m, 12h or 7d"),
    ("sort", "By created, updated, priority or title"),
    ("limit", "At most so many"),
];

const CLAIMS: &[Parameter] = &[
    ("issue", "Only on this issue"),
    ("agent", "Only of this agent"),
    ("kind", "What they are on: issue, branch, paths, approval, escalation or all"),
];

/// All of them.
pub(crate) const ROUTES: &[Route] = &[
    get(
        "/api/board",
        "All issues, who works on what, and what needs a person",
        &[],
        shape::<BoardOutput<Card<'static>>>,
        asked::board,
    ),
    get("/api/issues", "As `jit issue list --json`", LIST, shape::<IssueListOutput<'static>>, asked::issues),
    get("/api/issues/{issue}", "As `jit issue show --json`", &[], shape::<ShowOutput>, asked::issue),
    get(
        "/api/issues/{issue}/gates",
        "As `jit gate status --json`",
        &[],
        shape::<GateStatusOutput>,
        asked::gates,
    ),
    get("/api/graph", "As `jit graph export --json`", &[], shape::<GraphOutput>, asked::graph),
    get("/api/agents", "Who works on what, and who waits", &[], shape::<AgentsOutput>, asked::agents),
    get(
        "/api/locks",
        "Claims, worktree locks of `jvs`, named locks of `ic` and turns of `kc` vaults, and what happened to them",
        &[],
        shape::<LocksOutput>,
        asked::locks,
    ),
    get("/api/runs", "As `jit dispatch status --json`", &[], shape::<StatusOutput>, asked::runs),
    get(
        "/api/claims/status",
        "As `jit claim status --json`",
        CLAIMS,
        shape::<ClaimListOutput>,
        asked::claims,
    ),
    get(
        "/api/claims/history",
        "As `jit claim history --json`",
        &[("issue_id", "Only on this issue")],
        shape::<ClaimHistoryOutput>,
        asked::history,
    ),
    get(
        "/api/approvals",
        "As `jit claim requests --json`",
        &[],
        shape::<ClaimRequestsOutput>,
        asked::requests,
    ),
    get(
        "/api/worktrees",
        "As `jit worktree list --json`",
        &[],
        shape::<WorktreeListOutput>,
        asked::worktrees,
    ),
    post(
        "/api/claims",
        "As `jit claim acquire --json`",
        shape::<changed::Acquire>,
        shape::<ClaimOutput>,
        changed::acquire,
    ),
    post(
        "/api/claims/{lease}/renew",
        "As `jit claim renew --json`",
        shape::<changed::Renew>,
        shape::<ClaimRenewOutput>,
        changed::renew,
    ),
    post(
        "/api/claims/{lease}/release",
        "As `jit claim release --json`",
        shape::<changed::Release>,
        shape::<ClaimReleaseOutput>,
        changed::release,
    ),
    post(
        "/api/claims/{lease}/transfer",
        "As `jit claim transfer --json`",
        shape::<changed::Transfer>,
        shape::<ClaimTransferOutput>,
        changed::transfer,
    ),
    post(
        "/api/claims/{lease}/force-evict",
        "As `jit claim force-evict --json`",
        shape::<changed::Evict>,
        shape::<ClaimEvictOutput>,
        changed::evict,
    ),
    post(
        "/api/approvals/{lease}",
        "As `jit claim approve --json`; as a person only with a browser's cookie",
        shape::<changed::Approve>,
        shape::<ClaimApproveOutput>,
        changed::approve,
    ),
    post(
        "/api/issues",
        "As `jit issue create --json`",
        shape::<NewIssue>,
        shape::<CreateOutput>,
        changed::create,
    ),
    post(
        "/api/issues/{issue}",
        "As `jit issue update --json`",
        shape::<Change>,
        shape::<UpdateOutput>,
        changed::update,
    ),
    post(
        "/api/issues/{issue}/notes",
        "As `jit note --json`",
        shape::<changed::Note>,
        shape::<NoteOutput>,
        changed::note,
    ),
    post(
        "/api/issues/{issue}/gates/{key}",
        "As `jit gate pass --json` or `jit gate fail --json`",
        shape::<changed::Judge>,
        shape::<GateOutput>,
        changed::judge,
    ),
];

const fn get(
    path: &'static str,
    summary: &'static str,
    query: &'static [Parameter],
    gives: Shape,
    act: fn(&Ask) -> Result<Made, Problem>,
) -> Route {
    Route { verb: Verb::Get, path, summary, query, takes: None, gives, act }
}

const fn post(
    path: &'static str,
    summary: &'static str,
    takes: Shape,
    gives: Shape,
    act: fn(&Ask) -> Result<Made, Problem>,
) -> Route {
    Route { verb: Verb::Post, path, summary, query: &[], takes: Some(takes), gives, act }
}

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// A route that was found, with what stands in its parts.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) route: &'static Route,
    pub(crate) parts: Vec<&'a str>,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.verb.name(), self.path)
    }
}

/// The route of a path. A part of a path is plain: what would have to be encoded is no id and no key.
///
/// # Errors
/// When there is none, or it is asked in another way.
pub(crate) fn find<'a>(method: &Method, path: &'a str) -> Result<Found<'a>, Problem> {
    let matching = ROUTES.iter().filter_map(|route| Some(Found { parts: parts(route.path, path)?, route }));
    let mut other = None;
    for found in matching {
        if found.route.verb.name() == method.as_str() {
            return Ok(found);
        }
        other = Some(found.route.verb.name());
    }
    Err(other.map_or_else(|| Problem::plain(Own::NoRoute), Problem::Method))
}

fn parts<'a>(pattern: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut parts = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(parts),
            (Some(wanted), Some(given)) if wanted.starts_with('{') => {
                let fits = !given.is_empty() && given.len() <= 128 && given.chars().all(plain);
                if !fits || given.starts_with('.') {
                    return None;
                }
                parts.push(given);
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_their_routes() {
        let found = find(&Method::POST, "/api/issues/7k2f/gates/tests").unwrap();
        assert_eq!(
            (found.route.path, found.parts),
            ("/api/issues/{issue}/gates/{key}", vec!["7k2f", "tests"])
        );
        assert_eq!(find(&Method::GET, "/api/issues").unwrap().route.path, "/api/issues");
    }

    #[test]
    fn tricks_lead_nowhere() {
        for path in [
            "",
            "/",
            "//api/board",
            "/api//board",
            "/api/board/",
            "/api/./board",
            "/api/issues/..",
            "/api/issues/.",
            "/api/issues/%2e%2e",
            "/api/issues/a%2fb",
            "/api/issues/a\\b",
            "/api/issues/",
            "/API/board",
            "/api/issues/a;b",
            "/api/issues/a b",
            "/../etc/passwd",
            "/api/issues/../claims/status",
        ] {
            assert!(matches!(find(&Method::GET, path), Err(Problem::Own(Own::NoRoute, _))), "{path}");
        }
        assert!(find(&Method::GET, &format!("/api/issues/{}", "a".repeat(129))).is_err());
    }

    #[test]
    fn another_method_is_told() {
        for (method, path) in
            [(Method::DELETE, "/api/board"), (Method::OPTIONS, "/api/issues"), (Method::GET, "/api/claims")]
        {
            assert!(matches!(find(&method, path), Err(Problem::Method(_))), "{method} {path}");
        }
    }
}
