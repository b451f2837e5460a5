//! Replaying the records gives exactly the state: what a medium shows is what its records say, whatever
//! is derived and kept beside them.

use crate::history::{History, Told};
use crate::words;

/// A state that its records do not lead to, if there is one.
#[must_use]
pub fn find(history: &History) -> Option<String> {
    let different = history.replays().iter().find(|at| {
        (&at.shown.table, at.shown.counter, at.shown.next)
            != (&at.replayed.table, at.replayed.counter, at.replayed.next)
    })?;
    let (shown, replayed) = (Told::View(different.shown.clone()), Told::View(different.replayed.clone()));
    Some(format!("the medium shows {}, but its records say {}", words::told(&shown), words::told(&replayed)))
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Event, Fence, LeaseId, Mode, Table, apply};
    use holdfast_store::{CounterId, View};

    use super::find;
    use crate::check::handmade::{Book, SECOND, stamp};
    use crate::history::Replayed;

    #[test]
    fn a_state_without_its_record_is_found() {
        let mut book = Book::new();
        let a = book.actor("a");
        let lease = book.lease(a, 1, 1, Mode::Exclusive, SECOND);
        let counter = Some(CounterId::new(LeaseId::new(1)));
        let empty = View { table: Table::new(), counter, next: Fence::new(2).unwrap(), now: stamp(0) };
        let mut full = empty.clone();
        apply(&mut full.table, &Event::Granted { lease }).unwrap();
        book.history_mut().replay(Replayed { shown: full.clone(), replayed: full.clone() });
        assert_eq!(find(book.history()), None);
        book.history_mut().replay(Replayed { shown: full, replayed: empty });
        assert!(find(book.history()).is_some());
    }
}
