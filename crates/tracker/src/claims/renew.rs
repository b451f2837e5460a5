//! Renewal on use: whoever works under a claim keeps it by working. An agent whose every command has a shell of its own
//! has no process that could beat for it, and none that has to.

use holdfast_kernel::{Answer, Command, Holder, Lease, Stamp, Standing, Term};
use holdfast_store::View;

use super::Claims;
use super::lease::percent_left;
use super::reserved::claim_of;
use crate::error::{Error, Result};

/// A lease is renewed once less than this part of it is left, in percent: so seldom that most commands write nothing
/// for it, and so early that whoever pauses for a moment loses nothing.
const RENEW_BELOW: u64 = 50;

/// The same where a renewal is a way through the network.
const RENEW_SHARED_BELOW: u64 = 34;

/// What goes along with a renewal through the network, in percent that are left: it costs nothing more.
const GOES_ALONG_BELOW: u64 = 67;

/// How much is left of a lease until it is over, or stale, in percent; none if it is not in force.
fn left(lease: &Lease, now: &Stamp) -> Option<u64> {
    match (&lease.term, lease.standing(now)) {
        (Term::Indefinite { beat, stale_after }, Standing::Beating) => {
            let silent = now.since(beat).forward().get();
            Some(100_u64.saturating_sub(silent.saturating_mul(100) / stale_after.get().max(1)))
        }
        _ => percent_left(lease, now).map(|(percent, _)| percent),
    }
}

/// The sign of life that a lease takes.
#[must_use]
pub fn sign_of_life(lease: &Lease) -> Command {
    let (id, holder) = (lease.id, lease.holder.clone());
    match lease.term {
        Term::Finite { .. } => Command::Renew { lease: id, holder, ttl: None },
        Term::Indefinite { .. } => Command::Beat { lease: id, holder },
    }
}

impl Claims {
    /// The leases of a holder that need a sign of life: those of which less than `below` percent are left, and those that
    /// `must` have one. Where that is a way through the network, nobody goes before little is left of one, and then all
    /// go along that need one soon.
    pub fn due<'v>(
        &self,
        view: &'v View,
        holder: &Holder,
        below: u64,
        must: &dyn Fn(&Lease) -> bool,
    ) -> Vec<&'v Lease> {
        let in_force = |lease: &&Lease| {
            lease.holder == *holder
                && matches!(lease.standing(&view.now), Standing::Live { .. } | Standing::Beating)
        };
        let is_low =
            |lease: &Lease, most: u64| left(lease, &view.now).is_some_and(|left| left < most) || must(lease);
        let mine = || view.table.iter().filter(in_force);
        if self.shared.is_none() {
            return mine().filter(|lease| is_low(lease, below)).collect();
        }
        if !mine().any(|lease| is_low(lease, below.min(RENEW_SHARED_BELOW))) {
            return Vec::new();
        }
        mine().filter(|lease| is_low(lease, GOES_ALONG_BELOW)).collect()
    }

    /// Renews the leases of `holder` of which little is left, gives a sign of life for those that have lost their
    /// keepers, and says whether it did either. What is over stays over.
    ///
    /// # Errors
    /// What failed. A lease that ended meanwhile is no failure.
    pub fn renew_used(&self, holder: &Holder, view: &View) -> Result<bool> {
        let lost_keeper = |lease: &Lease| self.keepers.needs_sign(lease, &view.now);
        let due = self.due(view, holder, RENEW_BELOW, &lost_keeper);
        let is_wanted = |lease: &&&Lease| !lease.is_indefinite() || lost_keeper(lease);
        // What belongs to a claim is renewed with it.
        let goes_along =
            |lease: &&&Lease| claim_of(lease).is_some_and(|claim| due.iter().any(|due| due.id == claim));
        let renew = |lease: &&Lease| Command::Renew { lease: lease.id, holder: holder.clone(), ttl: None };
        let wanted = due.iter().filter(is_wanted).filter(|lease| !goes_along(lease));
        let commands: Vec<Command> = wanted.map(renew).collect();
        let mut renewed = false;
        for answer in self.commands(&commands)? {
            match answer {
                Ok(Answer::Renewed(_) | Answer::Beaten(_)) => renewed = true,
                Ok(other) => return Err(Error::unexpected("renew a lease", &other)),
                // Its holder is warned of its end as before.
                Err(Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(renewed)
    }
}
