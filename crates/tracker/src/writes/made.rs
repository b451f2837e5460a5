//! The event of an issue that is made. It has to be logged even if whoever makes the issue dies first, and to queue it
//! as others are would cost a flush. So an empty file lies in the directory that the issue is built in, whose name says
//! which event it is, when and by whom: both are seen, and both are durable, in one step. It goes once the event is in
//! the log. Whoever writes to an issue and finds such a mark logs the event; what else it says is in the issue's files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use holdfast_sys::{LockMode, Sys};
use serde_json::json;

use super::events::{Actor, Event, Happened, QueuedEvent, Witness};
use super::locks::Locks;
use super::members::{DEPS, LABELS};
use super::outbox::{self, Outbox, is_logged};
use crate::durable;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Issue, LONGEST, Set};
use crate::session::Session;

/// What the name of a mark begins with; git ignores it.
const PREFIX: &str = ".created.new-";

/// The longest name that every file system takes.
const LONGEST_NAME: usize = 255;

/// Which event of an issue is to be logged, when it happened and by whom.
#[derive(Debug)]
pub(super) struct Mark {
    id: String,
    at: String,
    actor: Actor,
}

impl Mark {
    pub(super) fn new(event: &QueuedEvent, at: &str, actor: &Actor) -> Self {
        Self { id: event.id.clone(), at: at.to_owned(), actor: actor.clone() }
    }

    /// The name that says so; none if it would be too long.
    pub(super) fn name(&self) -> Option<String> {
        let Self { id, at, actor } = self;
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let name = format!("{PREFIX}{id},{at},{},{}", text(&actor.worktree_id), text(&actor.agent_id));
        (name.len() <= LONGEST_NAME && Self::parse(&name).is_some()).then_some(name)
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split(',');
        let mut part = || parts.next().map(|part| Some(part.to_owned()).filter(|part| !part.is_empty()));
        let (id, at, worktree_id, agent_id) = (part()??, part()??, part()?, part()?);
        let actor = Actor { agent_id, worktree_id, lease_id: None };
        parts.next().is_none().then_some(Self { id, at, actor })
    }
}

/// What happens when an issue is made.
pub(super) fn created(issue: &Issue, labels: &[String], depends_on: &[String]) -> Event {
    let more = json!({
        "title": issue.title,
        "type": issue.kind,
        "state": issue.state,
        "priority": issue.priority,
        "labels": labels,
        "depends_on": depends_on,
        "gates": issue.gates,
    });
    let witness = Witness::is(format!("issues/{}/issue.json", issue.id), &issue.bytes());
    Event::about("issue.created", &issue.id, more, vec![witness])
}

impl Outbox<'_> {
    /// Logs that an issue was made, if whoever made it did not live to; says how many events that were. The caller holds
    /// the lock of the issue.
    pub(super) fn settle_made(&self, id: IssueId, repair: bool) -> Result<usize> {
        let mut logged = 0;
        let roots = self.homes()?;
        for home in roots.iter().map(|root| home(root, id)) {
            for (path, mark) in marks(self.sys(), &home)? {
                // What cannot be read says nothing; it is named to whoever reads it.
                let Some(event) = event(self.sys(), &home) else { continue };
                let is_new = !is_logged(&self.logs(&roots)?, &mark.id);
                logged += usize::from(is_new);
                if repair && is_new {
                    let Mark { id, at, actor } = mark;
                    self.append(&[Happened {
                        events: &[QueuedEvent { id, event }],
                        actor: &actor,
                        at: &at,
                    }])?;
                }
                if repair {
                    self.sys().files.remove_file(&path)?;
                }
            }
        }
        Ok(logged)
    }

    /// Where issues are made whose marks are seen from here.
    fn homes(&self) -> Result<Vec<PathBuf>> {
        Ok([self.session.data(), self.session.main_data()?].into_iter().flatten().collect())
    }
}

/// Finds events that a process which died did not log, and logs them if `repair`; says how many they are.
///
/// # Errors
/// When they cannot be read or logged.
pub fn pending_events(session: &Session, repair: bool) -> Result<usize> {
    let locks = Locks::open(session)?;
    let outbox = Outbox { session, locks: &locks };
    let mut found = outbox::pending(&outbox, repair)?;
    for id in marked(&outbox)? {
        // A look must not need what only writers may do. Where there is no lock, nobody is at it.
        let (mut guard, mode) = if repair {
            (Some(locks.issue(id)?), LockMode::Exclusive)
        } else {
            (locks.existing(id)?, LockMode::Shared)
        };
        let _section = guard.as_mut().map(|guard| guard.enter(session.sys(), mode)).transpose()?;
        found += outbox.settle_made(id, repair)?;
    }
    Ok(found)
}

/// The issues that have a mark.
fn marked(outbox: &Outbox<'_>) -> Result<BTreeSet<IssueId>> {
    let mut marked = BTreeSet::new();
    for root in outbox.homes()? {
        let names = names(outbox.sys(), &root.join("issues"))?;
        for id in names.iter().filter_map(|name| IssueId::parse(name.to_str()?)) {
            if !marks(outbox.sys(), &home(&root, id))?.is_empty() {
                marked.insert(id);
            }
        }
    }
    Ok(marked)
}

fn home(root: &Path, id: IssueId) -> PathBuf {
    root.join("issues").join(id.to_string())
}

/// The marks in the directory of an issue.
fn marks(sys: &Sys, home: &Path) -> Result<Vec<(PathBuf, Mark)>> {
    let mark = |name: &OsString| Some((home.join(name), Mark::parse(name.to_str()?)?));
    Ok(names(sys, home)?.iter().filter_map(mark).collect())
}

/// What is in a directory; nothing if there is none.
fn names(sys: &Sys, directory: &Path) -> Result<Vec<OsString>> {
    match sys.files.list(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        names => Ok(names?),
    }
}

/// What the files of an issue say about its being made; none if they cannot be read.
fn event(sys: &Sys, home: &Path) -> Option<Event> {
    let read = |name: &str| durable::read(sys, &home.join(name), LONGEST).ok();
    let members = |name: &str| -> Option<Vec<String>> {
        let set = Set::read(&read(name)?.unwrap_or_default()).ok()?;
        Some(set.members().map(ToOwned::to_owned).collect())
    };
    let issue: Issue = serde_json::from_slice(&read("issue.json")??).ok()?;
    Some(created(&issue, &members(LABELS)?, &members(DEPS)?))
}

#[cfg(test)]
mod tests {
    use super::{Actor, Mark};

    #[test]
    fn the_name_of_a_mark_says_everything() {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        for (worktree, agent) in [("wt:0123abcd", "human:jürgen"), ("", "agent:a.b+c@d"), ("", "")] {
            let actor = Actor { agent_id: text(agent), worktree_id: text(worktree), lease_id: None };
            let mark = Mark { id: "01K".into(), at: "2026-01-01T00:00:00.000Z".into(), actor };
            let name = mark.name().unwrap();
            assert_eq!(format!("{:?}", Mark::parse(&name)), format!("{:?}", Some(mark)), "{name}");
        }
    }

    #[test]
    fn what_no_name_can_say_has_none() {
        for agent in ["x".repeat(250), "a,b".to_owned()] {
            let actor = Actor { agent_id: Some(agent), ..Actor::default() };
            assert!(Mark { id: "01K".into(), at: "t".into(), actor }.name().is_none());
        }
        for name in [".created.new-", ".created.new-01K,t,w", ".created.new-,t,w,a", ".x.new-01K,t,w,a"] {
            assert!(Mark::parse(name).is_none(), "{name}");
        }
    }
}
