//! Making issues. A fresh one has an id that nobody else has, so it needs no lease; but whoever makes it says
//! who that is, where leases are insisted on.

use std::path::{Path, PathBuf};

use holdfast_sys::{LockMode, Open, Sys};

use super::deleted;
use super::draft::Draft;
use super::events::{Event, Happened, QueuedEvent};
use super::files::{Content, Place};
use super::locks::{GRAPH, Locks};
use super::made::{self, Mark};
use super::members::Members;
use super::results::Results;
use super::writer::Writer;
use crate::error::WriteError;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::issues::Issue;
use crate::times::rfc3339;

/// An issue that is to be made.
pub struct Fresh {
    /// The issue.
    pub issue: Issue,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it depends on.
    pub dependencies: Vec<IssueId>,
    /// What came of its gates elsewhere.
    pub results: Results,
}

/// An issue that is not there yet, made at this moment.
///
/// # Errors
/// When there is no randomness.
pub fn blank(sys: &Sys, title: String) -> Result<Issue> {
    let now = sys.clock.now()?;
    let id = IssueId::new(sys.entropy.lease_id(&now)?);
    Ok(Issue::new(id.to_string(), title, rfc3339(&now)))
}

impl Writer<'_> {
    /// Makes an issue. What it depends on cannot be deleted meanwhile.
    ///
    /// # Errors
    /// When there is one of that id already, when what it depends on is not there, or when it cannot be
    /// written.
    pub fn create(&self, fresh: Fresh) -> Result<Draft> {
        let sys = self.session.sys();
        self.session.used_unseen();
        let waits = !fresh.dependencies.is_empty();
        let mut graph = waits.then(|| self.locks.graph()).transpose()?;
        let _section = graph.as_mut().map(|graph| graph.enter(sys, LockMode::Shared)).transpose()?;
        for on in &fresh.dependencies {
            self.issues.base(*on)?;
        }
        self.make(fresh)
    }

    /// As [`Writer::create`], for whoever has looked at the dependencies already.
    pub(crate) fn make(&self, fresh: Fresh) -> Result<Draft> {
        let sys = self.session.sys();
        let now = rfc3339(&sys.clock.now()?);
        let is_plain = self.is_plain(&fresh);
        let draft = self.draft(fresh, &now)?;
        let id = draft.id();
        let data = self.session.own_data()?;
        // Nobody else has this id; the lock is for whoever sees it before its event is logged.
        let mut lock = self.locks.issue(id)?;
        let _section = lock.enter(sys, LockMode::Exclusive)?;
        if is_plain && self.make_marked(&draft, &now)? {
            return Ok(draft);
        }
        self.logged(&Locks::of(id), vec![created(&draft)], None, &now, || {
            // What was deleted elsewhere may still lie here, where nobody sees it.
            if self.session.shared_data().is_some_and(|shared| deleted::is_marked(sys, shared, id)) {
                Place::new(sys, &data, id).remove()?;
            }
            if !Place::new(sys, &data, id).create(&content(&draft), None)? {
                return Err(WriteError::Exists(id.to_string()).into());
            }
            // Only now: what is handed over is seen, and whoever sees it may ask for it here.
            self.hand_over(&draft)?;
            deleted::unmark(sys, &data, id)?;
            self.session.shared_data().map_or(Ok(()), |shared| deleted::unmark(sys, shared, id))
        })?;
        Ok(draft)
    }

    /// Makes an issue that is nothing but its own files, with a mark that says what is to be logged of it; false if no
    /// name can say that.
    fn make_marked(&self, draft: &Draft, now: &str) -> Result<bool> {
        let (sys, data, id) = (self.session.sys(), self.session.own_data()?, draft.id());
        let (event, actor) = (QueuedEvent::new(sys, created(draft))?, self.actor(None));
        let Some(mark) = Mark::new(&event, now, &actor).name() else { return Ok(false) };
        if !Place::new(sys, &data, id).create(&content(draft), Some(&mark))? {
            return Err(WriteError::Exists(id.to_string()).into());
        }
        self.outbox().append(&[Happened { events: &[event], actor: &actor, at: now }])?;
        // One that stays is found out by its id, which the log has.
        let _ = sys.files.remove_file(&data.join("issues").join(id.to_string()).join(mark));
        Ok(true)
    }

    fn draft(&self, fresh: Fresh, now: &str) -> Result<Draft> {
        let sys = self.session.sys();
        let id = IssueId::parse(&fresh.issue.id).ok_or_else(|| Error::BadId(fresh.issue.id.clone()))?;
        let empty = Members::default;
        let mut draft =
            Draft::new(sys, id, self.agent(), now.to_owned(), fresh.issue, empty(), empty(), fresh.results);
        for label in &fresh.labels {
            draft.label(label, true)?;
        }
        for on in &fresh.dependencies {
            draft.depend(&on.to_string(), true)?;
        }
        draft.fresh = true;
        self.settle(&mut draft)?;
        content(&draft).check(id)?;
        Ok(draft)
    }

    /// Makes issues that do not depend on each other, with as many flushes for all as for one. Runs under the lock of the
    /// graph, beside which their events are queued.
    pub(crate) fn make_all(&self, all: Vec<Fresh>) -> Result<()> {
        let (many, single): (Vec<Fresh>, Vec<Fresh>) =
            all.into_iter().partition(|fresh| self.is_plain(fresh));
        single.into_iter().try_for_each(|fresh| self.make(fresh).map(drop))?;
        if many.is_empty() {
            return Ok(());
        }
        let now = rfc3339(&self.session.sys().clock.now()?);
        let drafts: Vec<Draft> =
            many.into_iter().map(|fresh| self.draft(fresh, &now)).collect::<Result<_>>()?;
        let events = drafts.iter().map(created).collect();
        self.logged(GRAPH, events, None, &now, || self.place_all(&drafts))
    }

    /// Logs what somebody who made issues and died has left queued. Runs under the lock of the graph.
    pub(crate) fn settle_made(&self) -> Result<()> {
        self.outbox().settle(GRAPH).map(drop)
    }

    /// Whether an issue is made of its own files alone. What was judged or deleted elsewhere takes more, and so does what
    /// a linked worktree has to hand over.
    fn is_plain(&self, fresh: &Fresh) -> bool {
        let (sys, data) = (self.session.sys(), self.session.own_data().ok());
        let is_marked = |id| {
            let places = data.iter().map(PathBuf::as_path).chain(self.session.shared_data());
            places.into_iter().any(|place| deleted::is_marked(sys, place, id))
        };
        let id = IssueId::parse(&fresh.issue.id);
        !self.session.is_linked() && fresh.results.0.is_empty() && id.is_some_and(|id| !is_marked(id))
    }

    fn place_all(&self, drafts: &[Draft]) -> Result<()> {
        let (sys, data) = (self.session.sys(), self.session.own_data()?);
        let mut built = Vec::new();
        let placed = drafts
            .iter()
            .try_for_each(|draft| {
                let place = Place::new(sys, &data, draft.id());
                let building = place.build_unseen(&content(draft))?;
                built.push((place, building));
                Ok(())
            })
            .and_then(|()| self.flush_all(&data, &built))
            .and_then(|()| built.iter().try_for_each(|(place, building)| place.reveal(building)))
            .and_then(|()| Ok(sys.files.sync_dir(&data.join("issues"))?));
        if placed.is_err() {
            built.iter().for_each(|(place, building)| place.discard(building));
        }
        placed
    }

    /// Makes everything durable that was built: at once, or where the system cannot, one after the other.
    fn flush_all(&self, data: &Path, built: &[(Place<'_>, PathBuf)]) -> Result<()> {
        let sys = self.session.sys();
        match sys.files.sync_all(data) {
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
            flushed => return Ok(flushed?),
        }
        for (_, building) in built {
            for name in sys.files.list(building)? {
                sys.files.open(&building.join(name), Open::Write)?.sync()?;
            }
            sys.files.sync_dir(building)?;
        }
        Ok(())
    }

    /// The issue that was meant, if it can be seen.
    ///
    /// # Errors
    /// When it cannot be told.
    pub(crate) fn exists(&self, id: IssueId) -> Result<bool> {
        match self.issues.base(id) {
            Ok(_) => Ok(true),
            Err(Error::NoIssue(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn content(draft: &Draft) -> Content {
    Content {
        issue: Some(draft.issue().bytes()),
        labels: draft.labels.bytes.clone(),
        deps: draft.deps.bytes.clone(),
        results: draft.results().files(draft.id()),
    }
}

fn created(draft: &Draft) -> Event {
    made::created(draft.issue(), &draft.labels(), &draft.dependencies())
}
