//! The loop that beats, renews, and knows when to stop.

use std::collections::BTreeSet;

use holdfast_kernel::{Command, Holder, Lease, LeaseId, Millis, Stamp, Term};
use holdfast_store::View;
use holdfast_sys::Watched;

use crate::caller::Caller;
use crate::claims::Claims;
use crate::claims::lease::percent_left;
use crate::claims::renew::sign_of_life;
use crate::error::{Error, Result};
use crate::notice::Notice;
use crate::session::Session;
use crate::wait::Waits;

/// A lease is renewed once less than this part of it is left, in percent.
const RENEW_BELOW: u64 = 20;

/// The same where all clones share the claims, and a renewal may have to be tried again.
const RENEW_SHARED_BELOW: u64 = 34;

/// How long the loop sleeps at most, so that it notices soon that it is no longer needed.
const LONGEST_SLEEP: u64 = 1_000;
const SHORTEST_SLEEP: u64 = 20;

/// Why the loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The process that it worked for is gone.
    Orphaned,
    /// All claims were given back or taken away.
    Finished,
    /// The last claims ran out.
    Lapsed,
}

/// The loop.
pub(super) struct Daemon<'a> {
    /// What it is asked with.
    pub session: &'a Session,
    /// The claims.
    pub claims: &'a Claims,
    /// Who holds them.
    pub holder: &'a Holder,
    /// How often to beat.
    pub interval: Millis,
    /// Whether to renew.
    pub renews: bool,
    /// The process that it works for.
    pub parent: &'a Parent<'a>,
}

/// The process that the loop works for, watched from the moment that it was found.
pub struct Parent<'a> {
    watched: Box<dyn Watched + 'a>,
}

impl Daemon<'_> {
    /// Runs until it is no longer needed.
    ///
    /// # Errors
    /// A signal, or what failed.
    pub(super) fn run(&self, patience: &dyn Waits) -> Result<End> {
        let mut beaten: Option<Stamp> = None;
        let mut known = BTreeSet::new();
        let mut warned = BTreeSet::new();
        loop {
            if self.parent.watched.is_gone() {
                return Ok(End::Orphaned);
            }
            let view = self.claims.view()?;
            let mine: Vec<&Lease> = self.in_force(&view).collect();
            if mine.is_empty() && !known.is_empty() {
                return Ok(self.end(&view, &known));
            }
            known.extend(mine.iter().map(|lease| lease.id));
            let due = beaten.is_none_or(|last| view.now.since(&last).forward() >= self.interval);
            if due {
                beaten = Some(view.now);
                self.beat(&mine);
            }
            self.renew_or_warn(&view, &mine, &mut warned);
            patience.wait(self.pause(&mine))?;
        }
    }

    fn in_force<'v>(&self, view: &'v View) -> impl Iterator<Item = &'v Lease> {
        let (holder, now) = (self.holder.clone(), view.now);
        view.table.iter().filter(move |lease| lease.holder == holder && !lease.standing(&now).is_over())
    }

    fn end(&self, view: &View, known: &BTreeSet<LeaseId>) -> End {
        let lapsed = known.iter().any(|id| view.table.get(*id).is_some());
        if lapsed { End::Lapsed } else { End::Finished }
    }

    /// Gives a sign of life for the agent and for every claim without a deadline. A disk that fails now may
    /// work at the next beat.
    fn beat(&self, mine: &[&Lease]) {
        let interval = self.interval.get() / 1_000;
        self.report(super::write(self.session, interval));
        if self.claims.shared.is_some() {
            return;
        }
        for lease in mine.iter().filter(|lease| lease.is_indefinite()) {
            self.report(self.claims.command(&sign_of_life(lease)).map(drop));
        }
    }

    /// Gives signs of life where all clones share the claims: seldom, and all in one step.
    fn keep_shared(&self, view: &View) {
        let due = self.claims.due(view, self.holder, RENEW_SHARED_BELOW, &|_| false);
        let due = due.into_iter().filter(|lease| self.renews || lease.is_indefinite());
        let commands: Vec<Command> = due.map(sign_of_life).collect();
        match self.claims.commands(&commands) {
            Ok(answers) => answers.into_iter().for_each(|answer| self.report(answer.map(drop))),
            Err(error) => self.report(Err(error)),
        }
    }

    fn renew_or_warn(&self, view: &View, mine: &[&Lease], warned: &mut BTreeSet<LeaseId>) {
        if self.claims.shared.is_some() {
            self.keep_shared(view);
        } else {
            let is_low =
                |lease: &Lease| percent_left(lease, &view.now).is_some_and(|(left, _)| left < RENEW_BELOW);
            for lease in mine.iter().filter(|lease| self.renews && is_low(lease)) {
                self.report(self.claims.command(&sign_of_life(lease)).map(drop));
            }
        }
        let threshold = self.session.config().coordination.lease_renewal_threshold_pct;
        let ending = mine.iter().any(|lease| {
            percent_left(lease, &view.now).is_some_and(|(percent, _)| percent < u64::from(threshold))
                && warned.insert(lease.id)
        });
        if ending && !self.renews {
            self.session.warn_of_ending(view);
        }
    }

    fn report(&self, done: Result<()>) {
        if let Err(error) = done {
            let causes = error.causes().into_iter().map(|cause| format!(": {cause}"));
            self.session.notice(&Notice::Failed(format!("{error}{}", causes.collect::<String>())));
        }
    }

    /// How long to sleep: so short that no lease gets from enough to nothing meanwhile.
    fn pause(&self, mine: &[&Lease]) -> Millis {
        let lengths = mine.iter().filter_map(|lease| match lease.term {
            Term::Finite { ttl, .. } => Some(ttl.get() / RENEW_BELOW),
            Term::Indefinite { .. } => None,
        });
        let shortest = lengths.min().unwrap_or(LONGEST_SLEEP).min(self.interval.get());
        Millis::new(shortest.clamp(SHORTEST_SLEEP, LONGEST_SLEEP))
    }
}

impl End {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Orphaned => "the process that it worked for is gone",
            Self::Finished => "no claim is left",
            Self::Lapsed => "the last claim ran out",
        }
    }
}

impl<'a> Parent<'a> {
    /// The process with this number, or else the one that started this.
    ///
    /// # Errors
    /// When there is no such process, or the one that started this has ended already.
    pub fn watch(caller: &'a Caller, given: Option<u32>) -> Result<Self> {
        let processes = &caller.sys.processes;
        let pid = given.map_or_else(|| processes.parent(), Ok)?;
        let watched = match processes.watch(pid) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            watched => Some(watched?),
        };
        let watched = match (watched, given) {
            (None, Some(_)) => {
                let why = "there is no such process".into();
                return Err(Error::BadValue { what: "--parent", given: pid.to_string(), why });
            }
            // Whoever has taken its place by now works for nobody who holds anything, and never ends.
            (_, None) if processes.parent()? != pid || processes.is_orphan()? => None,
            (watched, _) => watched,
        };
        watched.map(|watched| Self { watched }).ok_or(Error::NoParent)
    }
}
