//! What is done when something takes too long or goes wrong, as `[[policy.escalate]]` says. A server and a pool watch; each
//! occurrence is put on record first, and whoever did that acts.
//!
//! What a death means: before the record nothing has happened, and the next one who looks acts. Behind it a note is put by
//! whoever looks next, under the same id, so it is there once. A command is not run again: it may have run.

mod command;
mod seen;

use std::collections::BTreeSet;

use holdfast_kernel::{Holder, Lease, Millis, Name, Stamp, Text};
use serde::Serialize;

use crate::caller::Caller;
use crate::claims::escalations::{Entry, is_done, says};
use crate::claims::lease::ISSUE_TAG;
use crate::config::{Act, Escalation, When};
use crate::error::{Error, Result};
use crate::feed::Traces;
use crate::ids::IssueId;
use crate::issues::Issues;
use crate::notes::{self, Note};
use crate::session::Session;
use crate::times::rfc3339;
use seen::Occurrence;

/// How often it is looked whether something has changed, and how often all is looked at whatever has.
const PACE: Millis = Millis::from_secs(1);
const SELDOM: Millis = Millis::from_secs(30);

/// How often it is looked for records that are about nothing any more.
const CLOSING: Millis = Millis::from_secs(3_600);

const NOTE: &str = "note";
const RUN: &str = "run";

/// What a command is told.
#[derive(Serialize)]
struct Told<'a> {
    schema_version: u32,
    /// The record of it in the log of claims.
    id: String,
    when: &'static str,
    after_secs: u64,
    issue_id: String,
    handle: String,
    title: Option<String>,
    /// Who holds the issue, waits for it or judged it.
    agent_id: Option<&'a str>,
    lease_id: Option<&'a str>,
    gate: Option<&'a str>,
    /// Since when, in milliseconds since 1970.
    since_ms: u64,
    what: &'a str,
    fired_by: String,
    fired_at: String,
}

/// Watches until whoever started it says that it is enough; `rest` waits, and says whether to go on. What fails is told,
/// and tried again.
pub fn watch(caller: &Caller, rest: &dyn Fn(Millis) -> bool, tell: &dyn Fn(&str)) {
    let mut watcher = Watcher::default();
    let mut last = String::new();
    loop {
        match watcher.tick(caller, tell) {
            Ok(()) => last.clear(),
            Err(error) => {
                let words = error.to_string();
                if words != last {
                    tell(&format!("escalations: {words}"));
                    last = words;
                }
            }
        }
        if !rest(PACE) {
            return;
        }
    }
}

/// Somebody who watches.
#[derive(Default)]
struct Watcher {
    traces: Option<Traces>,
    looked: Option<Stamp>,
    closed: Option<Stamp>,
    /// When something that is there will have taken too long.
    due_in: Option<Millis>,
    /// Whether nothing is configured, so that nothing has to be noticed soon.
    idle: bool,
}

impl Watcher {
    /// Looks, if that may show something that it did not show before.
    fn tick(&mut self, caller: &Caller, tell: &dyn Fn(&str)) -> Result<()> {
        let now = caller.sys.clock.now()?;
        let wait = self.due_in.unwrap_or(SELDOM).min(SELDOM);
        let is_due = self.looked.is_none_or(|looked| now.since(&looked).forward() >= wait);
        let is_same = |traces: &Traces| self.idle || traces.taken(&caller.sys) == *traces;
        if !is_due && self.traces.as_ref().is_some_and(is_same) {
            return Ok(());
        }
        let session = Session::open(caller)?;
        // What happens from here on changes them.
        let traces = Traces::of(&session).taken(&caller.sys);
        self.due_in = look(&session, tell)?;
        self.idle = session.config().escalations.is_empty();
        if self.closed.is_none_or(|closed| now.since(&closed).forward() >= CLOSING) {
            close(&session)?;
            self.closed = Some(now);
        }
        (self.looked, self.traces) = (Some(now), Some(traces));
        Ok(())
    }
}

/// Looks once, and acts. Gives how long it is until something that is there has taken too long.
fn look(session: &Session, tell: &dyn Fn(&str)) -> Result<Option<Millis>> {
    let rules = &session.config().escalations;
    finish_notes(session)?;
    if rules.is_empty() {
        return Ok(None);
    }
    let kinds: Vec<When> =
        When::ALL.into_iter().filter(|when| rules.iter().any(|rule| rule.when == *when)).collect();
    let now = session.sys().clock.now()?;
    let occurrences = seen::all(session, &kinds, &now)?;
    let mut due_in: Option<Millis> = None;
    let records: BTreeSet<String> =
        session.claims().escalations()?.iter().map(|record| record.resource.text().to_owned()).collect();
    for rule in rules {
        let after = Millis::from_secs(rule.after_secs);
        for one in occurrences.iter().filter(|one| one.when == rule.when) {
            if one.age < after {
                let left = Millis::new(after.get() - one.age.get());
                due_in = Some(due_in.map_or(left, |due| due.min(left)));
            } else if !records.contains(&format!("{}{}", crate::claims::lease::ESCALATION, name(rule, one))) {
                fire(session, rule, one, &now, tell)?;
            }
        }
    }
    Ok(due_in)
}

fn name(rule: &Escalation, one: &Occurrence) -> String {
    format!("{}:{}:{}", rule.when.as_str(), rule.mark(), one.key)
}

/// Puts an occurrence on record and acts, unless somebody else has.
fn fire(
    session: &Session,
    rule: &Escalation,
    one: &Occurrence,
    now: &Stamp,
    tell: &dyn Fn(&str),
) -> Result<()> {
    let claims = session.claims_to_change()?;
    let agent = session.agent()?.id.name().clone();
    let (act, text) = match &rule.act {
        Act::Note(note) => (NOTE, format!("{note} ({})", one.what)),
        // The command itself may name what is nobody else's business.
        Act::Run(_) => (RUN, format!("a command was run: {}", one.what)),
    };
    let entry = Entry { name: name(rule, one), issue: one.issue, act, text: short(&text)?, seen: now };
    let clone = session.clone_name()?;
    let Some(record) = claims.escalate(entry, &agent, clone.as_deref())? else { return Ok(()) };
    match &rule.act {
        Act::Note(_) => put_note(session, &record)?,
        Act::Run(line) => {
            let told = told(session, rule, one, &record);
            if let Err(why) = command::run(session.sys(), session.control(), line, &told) {
                // It is on record that it was tried, and nobody tries again.
                tell(&format!("escalation {}: '{line}' {why}", record.id));
                return Ok(());
            }
        }
    }
    claims.escalated(&record)
}

fn told(session: &Session, rule: &Escalation, one: &Occurrence, record: &Lease) -> Vec<u8> {
    let issues = Issues::new(session);
    crate::json::line(&Told {
        schema_version: 1,
        id: record.id.to_string(),
        when: rule.when.as_str(),
        after_secs: rule.after_secs,
        issue_id: one.issue.to_string(),
        handle: issues.handle(one.issue),
        title: issues.read(one.issue).ok().map(|issue| issue.title),
        agent_id: one.agent.as_deref(),
        lease_id: one.lease.as_deref(),
        gate: one.gate.as_deref(),
        since_ms: record.granted.wall_ms().saturating_sub(one.age.get()),
        what: &one.what,
        fired_by: record.holder.agent.to_string(),
        fired_at: rfc3339(&record.granted),
    })
}

/// Puts the notes that are on record and that nobody came to put.
fn finish_notes(session: &Session) -> Result<()> {
    let records = session.claims().escalations()?;
    for record in records.iter().filter(|record| says(record, NOTE) && !is_done(record)) {
        put_note(session, record)?;
        session.claims_to_change()?.escalated(record)?;
    }
    Ok(())
}

/// Puts the note that a record says, under the record's id: however often that is done, it is one.
fn put_note(session: &Session, record: &Lease) -> Result<()> {
    let issue = record.tags.get(ISSUE_TAG).and_then(|issue| IssueId::parse(issue.as_str()));
    let Some(issue) = issue else { return Ok(()) };
    // A note without its issue would be in the way.
    if Issues::new(session).read(issue).is_err() {
        return Ok(());
    }
    let note = Note {
        id: record.id.to_string(),
        issue_id: issue.to_string(),
        at: rfc3339(&record.granted),
        agent_id: Some(record.holder.agent.to_string()),
        text: record.reason.as_ref().map(ToString::to_string).unwrap_or_else(|| "escalated".to_owned()),
    };
    notes::put(session, issue, &note)
}

/// Closes old records that are about nothing that still goes on.
fn close(session: &Session) -> Result<()> {
    if session.claims().old_escalations()?.is_empty() {
        return Ok(());
    }
    let now = session.sys().clock.now()?;
    let going_on = seen::all(session, &When::ALL, &now)?;
    let going_on = going_on.iter().map(|one| format!("{}:{}", one.when.as_str(), one.key)).collect();
    let agent = session.agent()?.id.name().clone();
    let place = Name::new("escalations").map_err(|_| Error::Internal("no place".to_owned()))?;
    session.claims_to_change()?.close_escalations(&Holder { agent, place }, &going_on)
}

/// A text that the log can keep.
fn short(text: &str) -> Result<Text> {
    let mut cut = String::new();
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if cut.len() + c.len_utf8() > 1_000 {
            break;
        }
        cut.push(c);
    }
    Text::new(cut.trim()).map_err(|_| Error::Internal("an escalation says nothing".to_owned()))
}
