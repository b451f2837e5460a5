//! Renewal on use: whoever works under a claim keeps it by working. An agent whose every command has a shell of its own
//! has no process that could beat for it, and none that has to.

use holdfast_kernel::{Answer, Command, Holder, Lease, Standing};
use holdfast_store::View;

use super::Claims;
use super::lease::percent_left;
use super::reserved::claim_of;
use crate::error::{Error, Result};

/// A lease is renewed once less than this part of it is left, in percent: so seldom that most commands write nothing
/// for it, and so early that whoever pauses for a moment loses nothing.
const RENEW_BELOW: u64 = 50;

impl Claims {
    /// Renews the leases of `holder` with a deadline of which less than half is left, gives a sign of life for those
    /// that have lost their keepers, and says whether it did either. What is over stays over.
    ///
    /// # Errors
    /// What failed. A lease that ended meanwhile is no failure.
    pub fn renew_used(&self, holder: &Holder, view: &View) -> Result<bool> {
        let is_low =
            |lease: &Lease| percent_left(lease, &view.now).is_some_and(|(percent, _)| percent < RENEW_BELOW);
        let is_due = |lease: &&Lease| {
            let is_in_force = matches!(lease.standing(&view.now), Standing::Live { .. } | Standing::Beating);
            lease.holder == *holder
                && is_in_force
                && (is_low(lease) || self.keepers.needs_sign(lease, &view.now))
        };
        let mut renewed = false;
        let due: Vec<&Lease> = view.table.iter().filter(is_due).collect();
        // What belongs to a claim is renewed with it.
        let goes_along =
            |lease: &&&Lease| claim_of(lease).is_some_and(|claim| due.iter().any(|due| due.id == claim));
        for lease in due.iter().filter(|lease| !goes_along(lease)) {
            match self.command(&Command::Renew { lease: lease.id, holder: holder.clone(), ttl: None }) {
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
