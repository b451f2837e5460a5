//! The short way: start, finish, drop, land and sync.

use std::path::Path;

use holdfast_tracker::Session;
use holdfast_tracker::claims::lease::{Shown, left};
use holdfast_tracker::claims::wait;
use holdfast_tracker::error::{Error, LandError, Result};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::{Glance, Issue, Issues, Scope, Standing, State};
use holdfast_tracker::land::{self, Apart, Asked, Begun, Branch, Briefing, How, Outcome, Wanted};
use holdfast_tracker::notice::Notice;
use holdfast_tracker::reserve;
use holdfast_tracker::take::Patience;
use holdfast_tracker::writes::results_of;
use schemars::JsonSchema;
use serde::Serialize;

use crate::background;
use crate::cli;
use crate::commands::claim;
use crate::commands::whoami::overridden;
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::output::Report;
use crate::output::leases::Called;

/// Work that was begun, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct StartOutput {
    /// The issue.
    pub issue: Started,
    /// The claim on it.
    pub lease: Shown,
    /// What there is to know.
    pub briefing: Briefing,
    /// The branch to work on; none outside of git.
    pub branch: Option<String>,
    /// Whether it was held already.
    pub already_held: bool,
    /// The paths that are reserved for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<String>,
    /// The worktree that was made for it, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// An issue with what it is called.
#[derive(Serialize, JsonSchema)]
pub struct Started {
    /// What it is called where people read and type.
    pub handle: String,
    /// The issue itself.
    #[serde(flatten)]
    pub issue: Issue,
}

/// Begins work.
pub fn start(context: &Context, typed: &cli::Start) -> Result<Report> {
    let limit = typed.wait.as_deref().map(wait::limit).transpose()?;
    let session = context.session()?;
    let mut terms = claim::terms(context, &session, &typed.terms)?;
    if !typed.reserve.is_empty() {
        terms.reserve = Some(reserve::paths(&typed.reserve, false, None, terms.reason.clone())?);
    }
    let issue = typed.issue.as_deref().map(|typed| Issues::new(&session).resolve(typed)).transpose()?;
    let filter = typed.filters.parse()?;
    let on = if typed.here { Branch::Here } else { Branch::Own };
    let wanted = Wanted { issue, filter: &filter, another: typed.another, on };
    let waits;
    let patience = match limit {
        None => None,
        Some(limit) => {
            waits = Interrupt::listen()?;
            Some(Patience { limit, waits: &waits })
        }
    };
    let (session, begun, made) = if typed.worktree {
        let Apart { root, session, begun } = land::start_apart(&session, &wanted, &terms, patience.as_ref())?;
        (session, begun, Some(root))
    } else {
        let begun = land::start(&session, &wanted, &terms, patience.as_ref())?;
        (session, begun, None)
    };
    if let Some(words) = overridden(session.agent()?) {
        context.printer.warn(&words);
    }
    background::start(context, &session)?;
    Ok(begun_report(&session, begun, made.as_deref()))
}

fn begun_report(session: &Session, begun: Begun, root: Option<&Path>) -> Report {
    let reserved = reserve::patterns_of(session, begun.taken.lease.id).unwrap_or_else(|error| {
        session.notice(&Notice::ClaimsUnknown(error.to_string()));
        Vec::new()
    });
    let Begun { taken, issue, handle, branch, briefing } = begun;
    let verb = if taken.already_held { "going on with" } else { "started" };
    let time = left(&taken.lease, &taken.now);
    let place = root.map(|root| format!(" in {}", root.display())).unwrap_or_default();
    let agent = &taken.lease.holder.agent;
    let mut text = format!("{verb} {handle} as {agent}{place}: {time}\n");
    if !reserved.is_empty() {
        text.push_str(&format!("reserved {}\n", reserved.join(", ")));
    }
    text.push_str(&format!("\n{}", briefing.as_str()));
    let brief = issue.id.clone();
    let called = Called { handle: handle.clone(), title: Some(issue.title.clone()) };
    let document = StartOutput {
        lease: called.shown(session, &taken.lease, &taken.now),
        issue: Started { handle, issue },
        briefing,
        branch,
        already_held: taken.already_held,
        reserved,
        worktree: root.map(|root| root.display().to_string()),
    };
    Report::new(text, &document).brief(brief)
}

/// What became of issues that were finished, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct FinishOutput {
    /// What became of it.
    pub finished: Ended,
}

/// What became of several, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct LandOutput {
    /// What landed, or still waits.
    pub landed: Vec<Ended>,
    /// How many.
    pub count: usize,
}

/// What became of an issue.
#[derive(Serialize, JsonSchema)]
pub struct Ended {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// landed, landed-here (and not pushed), done, gated or waiting
    pub outcome: &'static str,
    /// The branch that it landed on, or that has it.
    pub branch: Option<String>,
    /// The commit that it landed with.
    pub commit: Option<String>,
    /// The gates that are open.
    pub open_gates: Vec<String>,
    /// Why it has not landed, or only here.
    pub reason: Option<String>,
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        let mut ended = Self {
            id: outcome.issue.to_string(),
            handle: outcome.handle.clone(),
            title: outcome.title.clone(),
            outcome: "done",
            branch: None,
            commit: None,
            open_gates: Vec::new(),
            reason: None,
        };
        match &outcome.how {
            How::Landed { target, commit } => {
                (ended.outcome, ended.branch) = ("landed", Some(target.clone()));
                ended.commit = Some(commit.clone());
            }
            How::NotPushed { target, commit, .. } => {
                (ended.outcome, ended.branch) = ("landed-here", Some(target.clone()));
                (ended.commit, ended.reason) = (Some(commit.clone()), Some("it is not pushed".to_owned()));
            }
            How::Done => {}
            How::Gated(open) => (ended.outcome, ended.open_gates) = ("gated", open.clone()),
            How::Waiting { branch, why } => {
                (ended.outcome, ended.branch) = ("waiting", Some(branch.clone()));
                ended.reason = Some(why.clone());
            }
        }
        ended
    }
}

fn line(outcome: &Outcome) -> String {
    let Outcome { handle, title, how, .. } = outcome;
    match how {
        How::Landed { target, commit } => {
            let short: String = commit.chars().take(10).collect();
            format!("landed {handle} on {target} ({short}): {title}\n")
        }
        How::NotPushed { target, commit, is_held } => {
            let short: String = commit.chars().take(10).collect();
            let claim = if *is_held { ", and still claimed" } else { "" };
            format!("landed {handle} here on {target} ({short}), not pushed{claim}: {title}\n")
        }
        How::Done => format!("done {handle}: {title}\n"),
        How::Gated(open) => format!("gated {handle}: {} open\n", open.join(", ")),
        How::Waiting { branch, why } => format!("done {handle} on {branch}, not landed: {why}\n"),
    }
}

/// Finishes work.
pub fn finish(context: &Context, typed: &cli::Finish) -> Result<Report> {
    let session = context.session()?;
    let id = land::meant(&session, typed.issue.as_deref())?;
    let issues = Issues::new(&session);
    let asked = Asked {
        message: typed.message.clone(),
        all: typed.all,
        leave: typed.leave,
        empty: typed.empty,
        no_land: typed.no_land,
        with: typed.with.iter().map(|typed| issues.resolve(typed)).collect::<Result<_>>()?,
    };
    let outcome = land::finish(&session, id, &asked)?;
    let document = FinishOutput { finished: Ended::from(&outcome) };
    Ok(Report::new(line(&outcome), &document).brief(outcome.issue.to_string()))
}

/// An issue that was given back, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct DropOutput {
    /// What was given back.
    pub dropped: GivenBack,
}

/// An issue that was given back.
#[derive(Serialize, JsonSchema)]
pub struct GivenBack {
    /// Its id.
    pub id: String,
    /// What it is called where people read and type.
    pub handle: String,
    /// What it is about.
    pub title: String,
    /// Where it stands now.
    pub state: State,
}

/// Gives work back.
pub fn give_back(context: &Context, typed: &cli::Drop) -> Result<Report> {
    let session = context.session()?;
    let id = land::meant(&session, typed.issue.as_deref())?;
    let land::Dropped { handle, title, state, .. } = land::give_back(&session, id, typed.reason.as_deref())?;
    let text = format!("dropped {handle}: {title} ({state})\n");
    let dropped = GivenBack { id: id.to_string(), handle, title, state };
    Ok(Report::new(text, &DropOutput { dropped }).brief(id.to_string()))
}

/// Lands what others finished.
///
/// # Errors
/// What went wrong with an issue that was named; of all, those that cannot be landed are named, and the others are.
pub fn land(context: &Context, typed: &cli::Land) -> Result<Report> {
    let session = context.session()?;
    let issues = Issues::new(&session);
    let with = typed.with.iter().map(|typed| issues.resolve(typed)).collect::<Result<Vec<_>>>()?;
    let outcomes = if typed.all {
        land_all(context, &session, &with)?
    } else {
        let land = |typed: &String| land::land(&session, issues.resolve(typed)?, &with);
        typed.issues.iter().map(land).collect::<Result<_>>()?
    };
    let text: String = outcomes.iter().map(line).collect();
    let text = if text.is_empty() { "nothing waits to be landed\n".to_owned() } else { text };
    let brief: Vec<String> = outcomes.iter().map(|outcome| outcome.issue.to_string()).collect();
    let landed: Vec<Ended> = outcomes.iter().map(Ended::from).collect();
    let document = LandOutput { count: landed.len(), landed };
    Ok(Report::new(text, &document).brief(brief.join("\n")))
}

/// Lands everything that waits, again as long as something has landed: others may wait for that.
fn land_all(context: &Context, session: &Session, with: &[IssueId]) -> Result<Vec<Outcome>> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    loop {
        let issues = Issues::new(session);
        let on_branch = |issue: &Glance<'_>| {
            matches!(issue.standing, Standing::OnBranch { .. }).then_some((issue.id, issue.state))
        };
        let (mut landed, mut stayed) = (Vec::new(), Vec::new());
        let mut warnings = Vec::new();
        for (id, state) in issues.glance(Scope::All, on_branch)?.found {
            if state == State::Gated && !is_passed(&issues, id)? {
                continue;
            }
            // It may have landed with one of those before it.
            match land::land(session, id, with) {
                Ok(outcome) if matches!(outcome.how, How::Landed { .. }) => landed.push(outcome),
                Ok(outcome) => stayed.push(outcome),
                Err(Error::Land(LandError::NothingToLand(_))) if !landed.is_empty() => {}
                Err(error @ (Error::Land(_) | Error::Refused(_))) => {
                    warnings.push(format!("{} stays where it is: {error}", issues.handle(id)));
                }
                Err(error) => return Err(error),
            }
        }
        let is_over = landed.is_empty();
        outcomes.extend(landed);
        if is_over {
            warnings.iter().for_each(|warning| context.printer.warn(warning));
            outcomes.extend(stayed);
            return Ok(outcomes);
        }
    }
}

/// Whether every gate of an issue is passed.
fn is_passed(issues: &Issues<'_>, id: IssueId) -> Result<bool> {
    let gates = issues.read(id)?.gates;
    let results = results_of(issues, id, &gates)?;
    Ok(gates.iter().all(|key| results.passed(key)))
}

/// What a sync has done, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct SyncOutput {
    /// Whether the remote was asked and answered; none if there is none.
    pub fetched: Option<bool>,
    /// The branches that moved.
    pub moved: Vec<Moved>,
}

/// A branch that moved.
#[derive(Serialize, JsonSchema)]
pub struct Moved {
    /// The branch.
    pub branch: String,
    /// Where it is now.
    pub commit: String,
}

/// Fetches, follows the target, and does what landings that were cut off left to do.
pub fn sync(context: &Context) -> Result<Report> {
    let session = context.session()?;
    let land::Synced { fetched, moved } = land::sync(&session)?;
    let mut text = match fetched {
        None => String::new(),
        Some(true) => "fetched\n".to_owned(),
        Some(false) => "the remote cannot be reached; what is here is what was last fetched\n".to_owned(),
    };
    for (branch, commit) in &moved {
        let short: String = commit.chars().take(10).collect();
        text.push_str(&format!("{branch} is at {short}\n"));
    }
    if moved.is_empty() {
        text.push_str("nothing had to move\n");
    }
    let moved = moved.into_iter().map(|(branch, commit)| Moved { branch, commit }).collect();
    Ok(Report::new(text, &SyncOutput { fetched, moved }))
}

/// A branch that was pushed, as one JSON object.
#[derive(Serialize, JsonSchema)]
pub struct PushOutput {
    /// The branch.
    pub branch: String,
    /// The commit that it is on.
    pub commit: String,
    /// What the issues are called whose claims were in force.
    pub issues: Vec<String>,
    /// Whether the server would have refused it without them.
    pub fenced: bool,
    /// Whether it was not there already.
    pub changed: bool,
}

/// Pushes this branch under the claims that are held here.
pub fn push(context: &Context) -> Result<Report> {
    let land::Pushed { branch, commit, issues, fenced, changed } = land::push(&context.session()?)?;
    let short: String = commit.chars().take(10).collect();
    let under = match (fenced, issues.is_empty()) {
        (true, _) => format!("under the claim on {}", issues.join(", ")),
        (false, true) => "nothing is claimed here: a plain push".to_owned(),
        (false, false) => "a plain push: the server does not keep the claims".to_owned(),
    };
    let text = match changed {
        true => format!("pushed {branch} ({short}), {under}\n"),
        false => format!("{branch} ({short}) is there already\n"),
    };
    let brief = commit.clone();
    Ok(Report::new(text, &PushOutput { branch, commit, issues, fenced, changed }).brief(brief))
}
