//! Keeping the claims of a run: they are renewed while its guardian is there, and what cannot be renewed is given up in
//! time, so that nothing works under a claim that others may take.

use holdfast_kernel::{Cause, Command, Event, Holder, Lease, LeaseId, Millis, Stamp, Standing, Term};
use holdfast_store::{View, liveness};
use holdfast_sys::ProcessId;

use crate::claims::lease::percent_left;
use crate::claims::renew::sign_of_life;
use crate::error::{Error, Result};
use crate::session::Session;

/// A lease is renewed once less than this part of it is left, in percent.
const RENEW_BELOW: u64 = 50;

/// A lease that cannot be renewed is given up when so much of it is left, in percent, or this span if that is less.
const GIVE_UP_BELOW: u64 = 20;
const GIVE_UP_BEFORE: Millis = Millis::from_secs(15);

const SHORTEST: u64 = 20;
const LONGEST: u64 = 1_000;

/// The claims of a run.
pub(super) struct Keeping {
    session: Session,
    holder: Holder,
    me: ProcessId,
    lease: Lease,
    looked: Option<Stamp>,
    failure: Option<String>,
}

/// How a claim stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    /// It is held.
    Held,
    /// Its holder gave it back.
    Released,
    /// It ended without its holder's doing, or is about to; so long may its end take that nobody else comes in
    /// between.
    Lost {
        /// How.
        why: String,
        /// How long the command may have to end.
        within: Millis,
    },
}

impl Keeping {
    pub(super) fn new(session: Session, lease: &str) -> Result<Self> {
        let lease = session.claims_to_change()?.resolve(lease)?;
        let (holder, me) = (session.holder()?.clone(), session.sys().processes.me()?);
        Ok(Self { session, holder, me, lease, looked: None, failure: None })
    }

    /// How often to look.
    pub(super) fn pace(&self) -> Millis {
        let ttl = match self.lease.term {
            Term::Finite { ttl, .. } => ttl.get(),
            Term::Indefinite { stale_after, .. } => stale_after.get(),
        };
        Millis::new((ttl / 20).clamp(SHORTEST, LONGEST))
    }

    /// Looks after the claims, and says how they stand; nothing if it is not time to.
    pub(super) fn tend(&mut self, now: &Stamp) -> Option<Kept> {
        let is_due = self.looked.is_none_or(|last| now.since(&last).forward() >= self.pace());
        if !is_due {
            return None;
        }
        self.looked = Some(*now);
        Some(match self.look() {
            Ok(kept) => kept,
            // A disk that fails now may work the next time; what is known of the claim has to do until then.
            Err(error) => {
                self.failure = Some(error.to_string());
                self.judge(now)
            }
        })
    }

    fn look(&mut self) -> Result<Kept> {
        let view = self.session.claims().view()?;
        let Some(lease) = view.table.get(self.lease.id).cloned() else {
            let lost = lost(&self.session, self.lease.id)?;
            return Ok(lost.map_or(Kept::Released, |why| Kept::Lost { why, within: Millis::ZERO }));
        };
        self.lease = lease;
        if self.lease.holder != self.holder {
            return Ok(Kept::Lost {
                why: format!("it is {}'s now", self.lease.holder),
                within: Millis::ZERO,
            });
        }
        self.renew(&view)?;
        Ok(self.judge(&view.now))
    }

    /// Renews what this process is the keeper of: also what the command has claimed by itself.
    fn renew(&mut self, view: &View) -> Result<()> {
        let is_kept = |lease: &&Lease| {
            lease.id == self.lease.id
                || (lease.holder == self.holder && liveness::process(lease).as_ref() == Some(&self.me))
        };
        self.failure = None;
        let due = view.table.iter().filter(is_kept).filter(|lease| is_due(lease, &view.now));
        let commands: Vec<Command> = due.map(sign_of_life).collect();
        for answer in self.session.claims().commands(&commands)? {
            match answer {
                Ok(_) => {}
                Err(error @ Error::Refused(_)) => self.failure = Some(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        if let Some(lease) = self.session.claims().view()?.table.get(self.lease.id) {
            self.lease = lease.clone();
        }
        Ok(())
    }

    /// What is to be made of the lease as it is known.
    fn judge(&self, now: &Stamp) -> Kept {
        let lost = |why: &str, within| {
            let because = self.failure.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            Kept::Lost { why: format!("{why}{because}"), within }
        };
        match self.lease.standing(now) {
            Standing::Live { left } => {
                let ttl = match self.lease.term {
                    Term::Finite { ttl, .. } => ttl.get(),
                    Term::Indefinite { .. } => return Kept::Held,
                };
                let enough = (ttl * GIVE_UP_BELOW / 100).min(GIVE_UP_BEFORE.get());
                if left.get() > enough {
                    Kept::Held
                } else {
                    lost("it cannot be renewed", Millis::new(left.get() / 2))
                }
            }
            Standing::Beating => Kept::Held,
            Standing::Stale { .. } => lost("it is stale", Millis::ZERO),
            Standing::Lapsed { .. } | Standing::Open { .. } => lost("it ran out", Millis::ZERO),
        }
    }
}

/// Why a claim that is not there any more ended without its holder's doing; none if its holder gave it back.
///
/// # Errors
/// When the log cannot be read.
pub fn lost(session: &Session, lease: LeaseId) -> Result<Option<String>> {
    let mut last = None;
    session.claims().medium.history(&mut |record| {
        if record.lease.id == lease {
            last = Some(record.event.clone());
        }
    })?;
    Ok(match last {
        Some(Event::Released { .. }) => None,
        Some(Event::Evicted { cause, .. }) => Some(match cause {
            Cause::Expired => "it ran out".to_owned(),
            Cause::Dead => "its keeper was taken for dead".to_owned(),
            Cause::Forced { by, reason } => format!("{by} took it away: {reason}"),
        }),
        _ => Some("it was handed over".to_owned()),
    })
}

fn is_due(lease: &Lease, now: &Stamp) -> bool {
    match &lease.term {
        Term::Finite { .. } => percent_left(lease, now).is_some_and(|(percent, _)| percent < RENEW_BELOW),
        Term::Indefinite { beat, stale_after } => now.since(beat).forward().get() >= stale_after.get() / 3,
    }
}
