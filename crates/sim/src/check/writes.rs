//! No guarded write of a displaced holder succeeds: once somebody was told that a lease is ended, or that
//! its resource is another's, nothing is written under it. What a holder believes does not matter here.

use holdfast_kernel::{Claim, Lease};

use crate::history::{Asked, Call, History, Moment};
use crate::words;

/// A write that came too late, if there is one.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    history.calls().iter().find_map(|write| {
        let (Asked::Write(claim), Some((began, ended))) = (&write.asked, write.acted) else { return None };
        let done = ended.unwrap_or(began);
        let displacing = history.calls().iter().find(|call| displaces(history, call, claim, done))?;
        Some(format!(
            "the write at {} ms under {} fence {} went ahead after this was acknowledged: {}",
            done.true_ms,
            words::id(claim.lease),
            claim.fence,
            history.describe(displacing)
        ))
    })
}

/// Whether `call` was acknowledged before `at` and left nothing of the claim.
fn displaces(history: &History, call: &Call, claim: &Claim, at: Moment) -> bool {
    if call.is_open() || call.was_denied() || !call.ended_before(at) {
        return false;
    }
    let ended = call.ends() == Some(claim.lease);
    let taken = call.granted().is_some_and(|grant| excludes(history, grant, claim));
    ended || taken
}

/// Whether a grant can only have been made after the claim's lease had ended.
fn excludes(history: &History, grant: &Lease, claim: &Claim) -> bool {
    let both_shared = mode_of(history, claim).is_some_and(|mode| mode.admits(grant.mode));
    grant.resource == claim.resource
        && grant.fence > claim.fence
        && (!both_shared || grant.holder == claim.holder)
}

fn mode_of(history: &History, claim: &Claim) -> Option<holdfast_kernel::Mode> {
    let mut shown = history.calls().iter().flat_map(Call::shows);
    shown.find(|lease| lease.id == claim.lease).map(|lease| lease.mode)
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::check::handmade::{Book, SECOND};

    #[test]
    fn a_write_after_an_acknowledged_eviction_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 1, 10 * SECOND);
        book.write(a, &lease);
        assert_eq!(find(book.history()), None);
        book.evict(b, &lease);
        book.write(a, &lease);
        assert!(find(book.history()).unwrap().contains("evict"));
    }

    #[test]
    fn a_write_after_an_acknowledged_takeover_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant(a, 1, 1, 10 * SECOND);
        book.at(11 * SECOND);
        book.grant(b, 2, 3, 10 * SECOND);
        book.write(a, &lease);
        assert!(find(book.history()).unwrap().contains("granted"));
    }

    #[test]
    fn two_readers_write_beside_each_other() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let lease = book.grant_shared(a, 1, 1);
        book.grant_shared(b, 2, 2);
        book.write(a, &lease);
        assert_eq!(find(book.history()), None);
    }
}
