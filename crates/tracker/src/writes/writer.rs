//! The one way to change an issue.
//!
//! A change holds the issue's own lock, so that no other process writes to it, and makes its write inside the
//! section of the claims' log, so that nobody can take the issue over between the check and the write. The
//! lease is checked after the lock was waited for: one that ran out meanwhile is refused, and the files are as
//! they were.

use std::collections::BTreeMap;

use holdfast_kernel::{Claim, Holder, LeaseId};
use holdfast_store::Held;
use holdfast_sys::LockMode;
use serde_json::Value;

use super::copy::Copy;
use super::draft::Draft;
use super::events::{Actor, Event, Witness};
use super::locks::{Locks, SCOPE};
use super::members::{DEPS, LABELS};
use super::outbox::{Change, Outbox};
use super::permit::{self, Permit};
use super::results;
use super::shared::FEW;
use crate::config::EnforceLeases;
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{FinishedNote, Issues};
use crate::notes;
use crate::notice::Notice;
use crate::session::Session;
use crate::times::rfc3339;
use crate::workspace::DATA;

/// Somebody who changes issues.
pub struct Writer<'a> {
    pub(super) session: &'a Session,
    pub(super) locks: Locks,
    /// Whether it is known who asks.
    pub(super) is_known: bool,
    /// What is done about a write without a lease.
    pub(super) mode: EnforceLeases,
    /// The issues as they are seen from here.
    pub issues: Issues<'a>,
}

/// An issue after a change.
pub struct Changed<T> {
    /// What the change had to say.
    pub value: T,
    /// The issue as it is now.
    pub draft: Draft,
    /// Whether anything was written.
    pub written: bool,
}

/// Files, named from the root on, and what they hold; those without content are to be taken away.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

impl<'a> Writer<'a> {
    /// Whoever asks, in this workspace.
    ///
    /// # Errors
    /// When nobody says who asks and leases are insisted on.
    pub fn open(session: &'a Session) -> Result<Self> {
        Self::insisting(session, session.config().worktree.enforce_leases)
    }

    /// Whoever asks, and who insists on leases for this change whatever is configured.
    ///
    /// # Errors
    /// When nobody says who asks.
    pub fn strict(session: &'a Session) -> Result<Self> {
        Self::insisting(session, EnforceLeases::Strict)
    }

    fn insisting(session: &'a Session, mode: EnforceLeases) -> Result<Self> {
        session.own_data()?;
        let is_known = permit::is_known(session, mode)?;
        let locks = Locks::open(session)?;
        Ok(Self { session, locks, is_known, mode, issues: Issues::new(session) })
    }

    /// Says beforehand whether `what` would be refused for want of a lease, so that nothing is begun in vain.
    /// The change itself is checked again.
    ///
    /// # Errors
    /// When it would be.
    pub fn may(&self, id: IssueId, what: &'static str) -> Result<()> {
        let Permit::Under(grant) = permit::find(self, id, what)? else { return Ok(()) };
        let checked = self.session.claims().medium.guarded(&grant.claim(), &mut |_| {});
        if self.mode == EnforceLeases::Strict { Ok(checked?) } else { Ok(()) }
    }

    /// Changes an issue: `act` gets the newest copy, and what it makes of it is written. If it fails, or
    /// nothing differs, nothing is written.
    ///
    /// # Errors
    /// When the caller may not, when `act` fails, or when it cannot be written.
    pub fn change<T>(
        &self,
        id: IssueId,
        what: &'static str,
        mut act: impl FnMut(&mut Draft) -> Result<T>,
    ) -> Result<Changed<T>> {
        let changed = self.alone(id, what, &mut act)?;
        if changed.written {
            self.tidy_shared(1);
        }
        Ok(changed)
    }

    /// As [`Writer::change`], by whoever begins to work on an issue and does not tidy up first.
    ///
    /// # Errors
    /// As [`Writer::change`].
    pub fn begin(&self, id: IssueId, mut act: impl FnMut(&mut Draft) -> Result<()>) -> Result<Changed<()>> {
        let changed = self.alone(id, "starting", &mut act)?;
        if changed.written {
            self.tidy_shared(FEW);
        }
        Ok(changed)
    }

    /// What a change would make of an issue's files, for whoever puts them somewhere else than into this worktree: their
    /// names from the root on, and what they hold. It is judged and stamped as if it were made here.
    ///
    /// # Errors
    /// As [`Writer::change`].
    pub fn compose(
        &self,
        id: IssueId,
        what: &'static str,
        mut act: impl FnMut(&mut Draft) -> Result<()>,
    ) -> Result<(Draft, Files)> {
        self.guarded(id, what, &mut |held| {
            let sys = self.session.sys();
            let now = rfc3339(&sys.clock.now()?);
            let copy = Copy::newest(&self.issues, id)?;
            let mut draft =
                Draft::new(sys, id, self.agent(), now, copy.issue, copy.labels, copy.deps, copy.results);
            act(&mut draft)?;
            self.settle(&mut draft)?;
            draft.stamp(held.map(|held| (held.lease().fence, held.counter())));
            let mut files = composed(&draft);
            let notes = notes::to_commit(self.session, id)?.into_iter();
            files.extend(notes.map(|(name, bytes)| (format!("{DATA}/{name}"), Some(bytes))));
            Ok((draft, files))
        })
    }

    /// Does something that only the holder of an issue may do, and of whatever else is claimed, while nobody can take
    /// any of it over.
    ///
    /// # Errors
    /// When the caller may not, or what `act` fails with.
    pub fn while_held<T>(
        &self,
        id: IssueId,
        what: &'static str,
        others: &[Claim],
        mut act: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        self.guarded_too(id, what, others, &mut |_| act())
    }

    /// Brings the newest copy of an issue into this worktree, so that there is something to work on.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn bring(&self, id: IssueId) -> Result<bool> {
        let mut bring = |draft: &mut Draft| {
            draft.bring = true;
            Ok(())
        };
        let changed = self.alone(id, "copying", &mut bring)?;
        Ok(changed.written)
    }

    /// Runs `act` alone with the issue, under the lease if there has to be one.
    pub(super) fn guarded<T>(
        &self,
        id: IssueId,
        what: &'static str,
        act: &mut dyn FnMut(Option<&Held<'_>>) -> Result<T>,
    ) -> Result<T> {
        self.guarded_too(id, what, &[], act)
    }

    /// The same, under other claims as well.
    fn guarded_too<T>(
        &self,
        id: IssueId,
        what: &'static str,
        others: &[Claim],
        act: &mut dyn FnMut(Option<&Held<'_>>) -> Result<T>,
    ) -> Result<T> {
        let mut lock = self.locks.issue(id)?;
        let _section = lock.enter(self.session.sys(), LockMode::Exclusive)?;
        self.catch_up(id)?;
        if let Permit::Under(grant) = permit::find(self, id, what)? {
            let claim = grant.claim();
            match self.session.claims().medium.as_medium().write_under(&claim, others, |held| act(Some(held)))
            {
                // The claim ran out, and the configuration does not insist on one.
                Err(holdfast_store::Error::Refused(_)) if self.mode != EnforceLeases::Strict => {
                    permit::unclaimed(self, id, what);
                }
                done => return done?,
            }
        }
        act(None)
    }

    /// Notes that an issue is finished under a lease, before it says so: what no commit has counts only while that
    /// lease lives, or if it was given back.
    pub(super) fn note_finished(&self, draft: &Draft, held: &Held<'_>) -> Result<()> {
        if draft.finished().is_none() || self.session.repository().is_none() {
            return Ok(());
        }
        let (fence, fence_log) = (held.lease().fence.get(), held.counter().to_string());
        // Whoever judges what another one finished adds no work to it.
        let before = FinishedNote::read(self.session, draft.id());
        let judged = draft.finished_before().filter(|earlier| *earlier != fence);
        let earlier = before.as_ref().filter(|note| note.fence_log == fence_log);
        let given_back = earlier.and_then(|note| match note.released && note.fence != fence {
            true => Some(note.fence),
            false => note.given_back,
        });
        let work = match before {
            Some(note) if judged == Some(note.fence) => note.work.or(judged),
            Some(note) if note.fence == fence => note.work,
            _ => judged,
        };
        FinishedNote { fence, fence_log, released: false, work, given_back }.write(self.session, draft.id())
    }

    /// Makes a change under a lock that is held, and logs its events.
    pub(super) fn logged<T>(
        &self,
        lock: &str,
        events: Vec<Event>,
        lease: Option<LeaseId>,
        at: &str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.outbox().log(Change { lock, events, actor: self.actor(lease), at }, make)
    }

    pub(super) const fn outbox(&self) -> Outbox<'_> {
        Outbox { session: self.session, locks: &self.locks }
    }

    pub(super) fn actor(&self, lease: Option<LeaseId>) -> Actor {
        Actor {
            agent_id: self.agent(),
            worktree_id: self.holder().map(|holder| holder.place.to_string()),
            lease_id: lease.map(|lease| lease.to_string()),
        }
    }

    pub(super) fn agent(&self) -> Option<String> {
        self.session.known_agent().filter(|_| self.is_known).map(ToString::to_string)
    }

    /// Who holds what whoever asks has claimed, if that is known.
    pub(super) fn holder(&self) -> Option<&Holder> {
        // Where it matters it was asked for before, and then it is there.
        self.is_known.then(|| self.session.holder().ok()).flatten()
    }

    /// The locks of the data plane.
    #[must_use]
    pub const fn locks(&self) -> &Locks {
        &self.locks
    }

    /// Makes a change of what concerns everybody, and logs it: afterwards `file`, below `.jit/`, holds
    /// `content`. Only under the lock of the scope.
    ///
    /// # Errors
    /// When it cannot be made or logged.
    pub fn announce(
        &self,
        kind: &'static str,
        payload: Value,
        (file, content): (&str, &[u8]),
        make: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.session.used_unseen();
        let now = rfc3339(&self.session.sys().clock.now()?);
        let event = Event::new(kind, payload, vec![Witness::is(file, content)]);
        self.logged(SCOPE, vec![event], None, &now, make)
    }

    /// Lets whoever asks know something besides the answer.
    pub fn notice(&self, notice: &Notice) {
        self.session.notice(notice);
    }
}

/// The files of an issue, named from the root on.
fn composed(draft: &Draft) -> Files {
    let id = draft.id();
    let home = format!("{DATA}/issues/{id}");
    let mut files = BTreeMap::from([(format!("{home}/issue.json"), Some(draft.issue().bytes()))]);
    for (name, bytes) in [(LABELS, &draft.labels.bytes), (DEPS, &draft.deps.bytes)] {
        if !bytes.is_empty() {
            files.insert(format!("{home}/{name}"), Some(bytes.clone()));
        }
    }
    for (key, bytes) in draft.results().files(id) {
        files.insert(format!("{DATA}/{}", results::file(id, &key)), Some(bytes));
    }
    files
}
