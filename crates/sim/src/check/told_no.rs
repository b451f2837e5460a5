//! Nothing is held by somebody who was told no. A refusal, and the report that the files cannot be
//! understood, both promise that nothing has changed; the lease that was asked for must never be seen.

use std::collections::BTreeSet;

use holdfast_kernel::LeaseId;

use crate::history::{Call, History};
use crate::words;

/// A lease that nobody was granted, if there is one.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    let denied: BTreeSet<LeaseId> =
        history.calls().iter().filter(|call| call.was_denied()).filter_map(Call::makes).collect();
    history.calls().iter().find_map(|call| {
        let lease = call.shows().find(|lease| denied.contains(&lease.id))?;
        Some(format!(
            "its caller was told no, but {} is there: {}",
            words::lease(lease),
            history.describe(call)
        ))
    })
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Mode, Refusal};

    use super::find;
    use crate::check::handmade::{Book, SECOND};
    use crate::history::Told;

    #[test]
    fn a_refused_grant_that_is_seen_later_is_found() {
        let mut book = Book::new();
        let (a, b) = (book.actor("a"), book.actor("b"));
        let asked = book.acquire(a, 1, Mode::Exclusive, SECOND);
        book.call(a, asked, Told::Refused(Refusal::FencesExhausted));
        assert_eq!(find(book.history()), None);
        let ghost = Box::new(book.lease(a, 1, 1, Mode::Exclusive, SECOND));
        let asked = book.acquire(b, 2, Mode::Exclusive, SECOND);
        book.call(b, asked, Told::Refused(Refusal::Held { blocker: ghost, others: 0, retry_after: None }));
        assert!(find(book.history()).is_some());
    }
}
