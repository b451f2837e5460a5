//! Who is connected: so many and no more. Where there are too many, the oldest that has not shown the token makes room, so that
//! somebody who only connects keeps nobody out who knows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// How many connections there are at once.
const MOST: usize = 512;

/// A connection, as the others know it.
pub(crate) struct Guest {
    number: u64,
    /// Tells it to end.
    pub(crate) leave: Notify,
}

/// The connections that there are.
#[derive(Default)]
pub(crate) struct Guests(Mutex<Crowd>);

#[derive(Default)]
struct Crowd {
    next: u64,
    /// Those who have not shown the token.
    strangers: BTreeMap<u64, Arc<Guest>>,
    /// Those who have.
    known: BTreeSet<u64>,
}

impl Guests {
    /// Lets somebody in, in the place of the oldest stranger if need be; none if everybody is known.
    pub(crate) fn come(&self) -> Option<Arc<Guest>> {
        let mut crowd = self.crowd();
        if crowd.known.len() + crowd.strangers.len() >= MOST {
            let (_, oldest) = crowd.strangers.pop_first()?;
            oldest.leave.notify_one();
        }
        crowd.next += 1;
        let guest = Arc::new(Guest { number: crowd.next, leave: Notify::new() });
        crowd.strangers.insert(guest.number, Arc::clone(&guest));
        Some(guest)
    }

    /// Somebody has shown the token. It may have been told to leave a moment ago, and is on its way.
    pub(crate) fn know(&self, guest: &Guest) {
        let mut crowd = self.crowd();
        if crowd.strangers.remove(&guest.number).is_some() {
            crowd.known.insert(guest.number);
        }
    }

    /// Somebody goes.
    pub(crate) fn go(&self, guest: &Guest) {
        let mut crowd = self.crowd();
        crowd.known.remove(&guest.number);
        crowd.strangers.remove(&guest.number);
    }

    fn crowd(&self) -> std::sync::MutexGuard<'_, Crowd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Guests, MOST};

    /// Whoever is told to leave and shows the token in that moment is counted nowhere, so that its going makes no room that
    /// is not there.
    #[test]
    fn there_are_never_more_than_may_be() {
        let guests = Guests::default();
        let first = guests.come().unwrap();
        let others: Vec<_> = (1..MOST).map(|_| guests.come().unwrap()).collect();
        others.iter().for_each(|guest| guests.know(guest));
        let last = guests.come().expect("the stranger makes room");
        guests.know(&first);
        guests.know(&last);
        assert!(guests.come().is_none(), "everybody is known");
        guests.go(&first);
        assert!(guests.come().is_none(), "it had left already");
        guests.go(&last);
        assert!(guests.come().is_some());
    }
}
