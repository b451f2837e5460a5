//! The writer lock of a worktree: one lease on the record medium. Every rule about it is the kernel's; here
//! are the files, the session that asks, and the audit that hears of it first.

pub mod codec;
pub mod keeper;
pub mod session;
pub mod take;
mod witness;

use std::io::ErrorKind;
use std::sync::Arc;

use holdfast_kernel::{
    Acquire, Answer, Command, Fence, Holder, Lease, Millis, Mode, Name, Request, Standing, Tags, Text,
};
use holdfast_store::record::{Paths, Record, Settings};
use holdfast_store::{CounterId, Held, Medium, View};

use crate::audit::Audit;
use crate::error::{Class, Error, Result};
use crate::holder::{HOLDER_ID, holder_of};
use crate::repo::Repo;
use crate::snapshot;
use crate::worktree::{Isolation, Worktree};
use codec::{LockCodec, RENEW_INTERVAL};
use session::Session;
use witness::AuditWitness;

/// The writer lock of a worktree.
pub struct Lock {
    repo: Repo,
    worktree: Worktree,
    resource: Name,
    record: Record,
}

/// A lock that was granted.
pub struct Granted {
    /// The lease.
    pub lease: Lease,
    /// The counter that its token was drawn from.
    pub counter: CounterId,
    /// Whether the session had it already.
    pub already_held: bool,
}

impl Lock {
    /// The lock of a worktree. Nothing is written yet.
    ///
    /// # Errors
    /// When what was published cannot be read, which the first token has to be larger than.
    pub fn of(repo: &Repo, worktree: &Worktree) -> Result<Self> {
        Self::above(repo, worktree, None)
    }

    /// The lock of a worktree for whoever wants to take it: its next token is larger than any that the audit has heard
    /// of, also if whoever was to have that one died before it had it.
    ///
    /// # Errors
    /// As [`Lock::of`], and when the audit cannot be read.
    pub fn to_take(repo: &Repo, worktree: &Worktree) -> Result<Self> {
        let heard = Audit::of(repo).last_grant(&worktree.worktree_id)?;
        Self::above(repo, worktree, heard.and_then(|token| Fence::new(token).ok()))
    }

    fn above(repo: &Repo, worktree: &Worktree, heard: Option<Fence>) -> Result<Self> {
        let resource = resource(worktree)?;
        let paths = Paths::new(&repo.control("locks"), &worktree.worktree_id);
        let settings = Settings {
            codec: Arc::new(LockCodec),
            witness: Some(Arc::new(AuditWitness::new(repo, worktree))),
            floor: floor(repo, worktree, &paths)?.max(heard),
            mode: 0o600,
        };
        let record = Record::new(repo.sys.clone(), paths, resource.clone(), settings);
        Ok(Self { repo: repo.clone(), worktree: worktree.clone(), resource, record })
    }

    /// The medium that the lock is on.
    #[must_use]
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Takes the lock for a session, from whoever had it for too long if need be.
    ///
    /// # Errors
    /// When somebody else has it, or the worktree is shared.
    pub fn acquire(&self, session: &Session, lease_ms: Option<u64>) -> Result<Granted> {
        if self.worktree.isolation == Isolation::Shared {
            let said = format!("the worktree '{}' is shared: it has no writer lock", self.worktree.name);
            return Err(Error::new(Class::ConsistencyUnavailable, said)
                .hint("make another one with `jvs worktree create <name> --isolation exclusive`"));
        }
        let policy = &self.repo.config.policy;
        let ms = lease_ms.unwrap_or(policy.lease_duration_ms);
        let wanted = Acquire {
            id: session.lock_id,
            resource: self.resource.clone().into(),
            holder: session.holder()?,
            mode: Mode::Exclusive,
            request: Request::Finite(Millis::new(ms)),
            reason: None,
            tags: tags(&session.holder_id, policy.renew_interval(ms))?,
            dead: Vec::new(),
        };
        let answer = self.transact(&Command::Acquire(wanted))?;
        let (lease, already_held) = match answer {
            Answer::Granted(lease) => (lease, false),
            Answer::AlreadyHeld(lease) => (lease, true),
            other => return Err(unexpected(&other)),
        };
        let counter = self.view()?.counter.ok_or_else(|| Error::new(Class::Io, "the lock has no counter"))?;
        Ok(Granted { lease, counter, already_held })
    }

    /// Prolongs the lock of a session.
    ///
    /// # Errors
    /// When it is not the session's, or is over.
    pub fn renew(&self, session: &Session) -> Result<Lease> {
        let command = Command::Renew { lease: session.lock_id, holder: session.holder()?, ttl: None };
        match self.transact(&command)? {
            Answer::Renewed(lease) => Ok(lease),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives the lock of a session back.
    ///
    /// # Errors
    /// When it is not the session's.
    pub fn release(&self, session: &Session) -> Result<Lease> {
        let command = Command::Release { lease: session.lock_id, holder: session.holder()? };
        match self.transact(&command)? {
            Answer::Released(lease) => Ok(lease),
            other => Err(unexpected(&other)),
        }
    }

    /// Ends the lock, whoever has it; gives what was ended. The next grant has a larger token, so whoever had it
    /// is refused from now on.
    ///
    /// # Errors
    /// When nobody has it.
    pub fn break_open(&self, reason: &str) -> Result<Lease> {
        let wrong = |error: &dyn std::fmt::Display| Error::usage(format!("the reason: {error}"));
        let reason = Text::new(reason).map_err(|error| wrong(&error))?;
        let by = Name::new(&self.repo.actor.name).map_err(|error| wrong(&error))?;
        let place = Name::new("lock-break").map_err(|error| wrong(&error))?;
        let held = self.view()?.table.iter().next().map(|lease| lease.id);
        let lease = held.ok_or_else(|| {
            Error::new(Class::LockNotHeld, format!("nobody holds the lock of '{}'", self.worktree.name))
        })?;
        match self.transact(&Command::Evict { lease, by: Holder { agent: by, place }, reason })? {
            Answer::Evicted(lease) => Ok(lease),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs `act` while the token of the session is in force, and keeps everybody from taking the lock
    /// meanwhile.
    ///
    /// # Errors
    /// When the token is not in force, or what `act` fails with.
    pub fn write<T>(&self, session: &Session, act: impl FnOnce(&Held<'_>) -> Result<T>) -> Result<T> {
        let claim = session.claim(&self.resource)?;
        let medium: &dyn Medium = &self.record;
        self.repo.on_lock_only(&self.worktree.worktree_id, || medium.write(&claim, act)?)
    }

    /// What the lock answers. Its guard and that of the audit are entered at once, because the audit hears of
    /// every transition before it happens.
    fn transact(&self, command: &Command) -> Result<Answer> {
        let rules = self.repo.config.policy.rules();
        self.repo.on_lock_only(&self.worktree.worktree_id, || Ok(self.record.transact(&rules, command)?))
    }

    /// Whether the token of the session is in force at the moment. Long work asks before it begins.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, session: &Session) -> Result<()> {
        let claim = session.claim(&self.resource)?;
        let View { table, now, .. } = self.view()?;
        Ok(holdfast_kernel::check(&table, &claim, &now).map(drop)?)
    }

    /// What is there. Writes nothing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn view(&self) -> Result<View> {
        Ok(self.record.view()?)
    }

    /// That nobody has the lock, or had it so lately that it still counts.
    ///
    /// # Errors
    /// When somebody does.
    pub fn is_free(&self) -> Result<()> {
        let View { table, now, .. } = self.view()?;
        let held = table.iter().find(|lease| !matches!(lease.standing(&now), Standing::Open { .. }));
        let Some(lease) = held else { return Ok(()) };
        let said = format!("the worktree '{}' is locked by {}", self.worktree.name, holder_of(lease));
        Err(Error::new(Class::LockConflict, said)
            .hint("wait until the lock is released or over; `jvs lock status` shows it")
            .detail("fencing_token", lease.fence.get()))
    }
}

fn resource(worktree: &Worktree) -> Result<Name> {
    Name::new(&worktree.worktree_id).map_err(|error| Error::new(Class::NameInvalid, error.to_string()))
}

fn tags(holder_id: &str, renew_interval: u64) -> Result<Tags> {
    let wrong = |error: &dyn std::fmt::Display| Error::new(Class::NameInvalid, error.to_string());
    let text = |text: &str| Text::new(text).map_err(|error| wrong(&error));
    let tags = Tags::none().with(HOLDER_ID, text(holder_id)?).map_err(|error| wrong(&error))?;
    tags.with(RENEW_INTERVAL, text(&renew_interval.to_string())?).map_err(|error| wrong(&error))
}

/// The largest token that was published, where the counter's own file is missing: a lost file must not give
/// a token out twice.
fn floor(repo: &Repo, worktree: &Worktree, paths: &Paths) -> Result<Option<Fence>> {
    match repo.sys.files.stat(&paths.fence) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => return Ok(None),
    }
    let tokens = snapshot::all(repo)?.into_iter().filter_map(|snapshot| {
        let ours = snapshot.worktree_id == worktree.worktree_id;
        snapshot.fencing_token.filter(|_| ours)
    });
    Ok(tokens.max().and_then(|token| Fence::new(token).ok()))
}

fn unexpected(answer: &Answer) -> Error {
    Error::internal(format_args!("the lock answered {}", answer.name()))
}
