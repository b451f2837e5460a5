//! `jit watch`: what happens, as it happens, a line each.

use std::io::ErrorKind;

use holdfast_door::{Clean, deliver};
use holdfast_kernel::{Millis, Stamp};
use holdfast_sys::os::is_unread;
use holdfast_tracker::Session;
use holdfast_tracker::error::{Error, Result};
use holdfast_tracker::feed::{Feed, Happened, Kind, Traces};
use holdfast_tracker::ids::IssueId;
use holdfast_tracker::issues::Issues;
use holdfast_tracker::journal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cli;
use crate::context::Context;
use crate::output::Report;

/// How often it is looked.
const PAUSE: Millis = Millis::new(200);
/// After how many looks the repository is looked at anew: it may have other worktrees.
const ANEW: u32 = 25;
/// The cursor before everything.
const START: &str = "1~";

/// Something that happened: one line of what is printed.
#[derive(Serialize, JsonSchema)]
pub struct WatchOutput {
    /// Where to go on after it.
    pub cursor: String,
    /// What it happened to.
    pub kind: What,
    /// What the issue is called where people read and type.
    pub handle: Option<String>,
    /// The event, as the log has it.
    pub event: Value,
}

/// What something happened to.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A claim.
    Claim,
    /// An issue.
    Issue,
}

/// Follows what happens until as much of it was told as is wanted.
///
/// # Errors
/// When there is no such issue, a cursor leads nowhere, or what happens cannot be read.
pub fn run(context: &Context, typed: &cli::Watch) -> Result<Report> {
    let session = context.session()?;
    session.claims().view()?;
    let issue = typed.id.as_deref().map(|id| Issues::new(&session).resolve(id)).transpose()?;
    let begun = session.sys().clock.now()?;
    let mut traces = Traces::of(&session);
    let mut seen = traces.taken(session.sys());
    let mut feed = Feed::open(&session)?;
    let mut teller = Teller { context, issue, left: typed.count };
    let mut happened = since(&feed, &session, typed.since.as_deref())?;
    if !context.printer.is_json() {
        // Each log tells its own part; cursors go by logs, people by the clock.
        happened.sort_by_key(|one| journal::told(&one.event).map(|told| told.at));
    }
    let mut looks = 0;
    loop {
        let session = context.session()?;
        // Whoever listened may have heard enough, also where nothing happens.
        if !teller.tell(&session, &happened)? || is_unread() || is_over(typed.secs, &begun, &session)? {
            // Everything was printed line by line.
            return Ok(Report::default().pieces(vec![Clean::default()]));
        }
        happened = loop {
            session.sys().clock.sleep(PAUSE);
            looks += 1;
            if looks >= ANEW {
                looks = 0;
                traces = Traces::of(&context.session()?);
            }
            let now = traces.taken(session.sys());
            if now != seen {
                seen = now;
                let session = context.session()?;
                // Where the log of claims is damaged, nobody shall go on as if nothing happened.
                session.claims().view()?;
                break feed.poll(&session)?;
            }
            if is_unread() || is_over(typed.secs, &begun, &session)? {
                break Vec::new();
            }
        };
    }
}

/// What was there already.
fn since(feed: &Feed, session: &Session, cursor: Option<&str>) -> Result<Vec<Happened>> {
    let Some(cursor) = cursor else { return Ok(Vec::new()) };
    let from = if cursor == "start" { START } else { cursor };
    feed.since(session, from)?.ok_or_else(|| {
        Error::Usage(format!(
            "nothing can be told since '{cursor}': it is no cursor of this repository, or too old; `jit log` has \
             everything"
        ))
    })
}

fn is_over(secs: Option<u64>, begun: &Stamp, session: &Session) -> Result<bool> {
    let Some(secs) = secs else { return Ok(false) };
    Ok(session.sys().clock.now()?.since(begun).forward() >= Millis::from_secs(secs))
}

/// Whoever prints it.
struct Teller<'a> {
    context: &'a Context,
    issue: Option<IssueId>,
    left: Option<u64>,
}

impl Teller<'_> {
    /// Prints what is wanted of it; says whether more is wanted.
    fn tell(&mut self, session: &Session, happened: &[Happened]) -> Result<bool> {
        let issues = Issues::new(session);
        for one in happened {
            let payload = one.event.get("payload").unwrap_or(&one.event);
            let about = payload.get("issue_id").and_then(Value::as_str).and_then(IssueId::parse);
            if self.issue.is_some() && about != self.issue {
                continue;
            }
            let handle = about.map(|id| issues.handle(id));
            match deliver(&[self.line(one, handle)]) {
                Ok(()) => {}
                // Whoever listened has heard enough.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(false),
                Err(error) => {
                    return Err(
                        holdfast_sys::Error::new("write to", "standard output".as_ref(), error).into()
                    );
                }
            }
            self.left = self.left.map(|left| left.saturating_sub(1));
            if self.left == Some(0) {
                return Ok(false);
            }
        }
        Ok(self.left != Some(0))
    }

    fn line(&self, one: &Happened, handle: Option<String>) -> Clean {
        if self.context.printer.is_json() {
            let kind = if one.kind == Kind::Claim { What::Claim } else { What::Issue };
            let (cursor, event) = (one.cursor.clone(), one.event.clone());
            return Clean::json(&WatchOutput { cursor, kind, handle, event });
        }
        let Some(told) = journal::told(&one.event) else { return Clean::default() };
        let payload = one.event.get("payload").unwrap_or(&one.event);
        // Paths and branches can be held, too.
        let other = || ["pattern", "resource"].iter().find_map(|name| payload.get(name)?.as_str());
        let about = handle.or_else(|| told.issue_id.clone()).or_else(|| other().map(ToOwned::to_owned));
        let about = about.as_deref().unwrap_or("-");
        let by = told.by.unwrap_or_default();
        let at = told.at.get(..19).unwrap_or(&told.at);
        let text = told.text.lines().next().unwrap_or_default();
        Clean::line(format!("{at}  {about}  {}  {by}  {text}", told.kind).trim_end()) + "\n"
    }
}
