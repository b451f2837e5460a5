//! Who is connected: so many and no more. Where there are too many, the oldest that has not shown the token makes room, so that
//! somebody who only connects keeps nobody out who knows it.

use std::collections::BTreeMap;
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
    /// How many have.
    known: usize,
}

impl Guests {
    /// Lets somebody in, in the place of the oldest stranger if need be; none if everybody is known.
    pub(crate) fn come(&self) -> Option<Arc<Guest>> {
        let mut crowd = self.crowd();
        if crowd.known + crowd.strangers.len() >= MOST {
            let (_, oldest) = crowd.strangers.pop_first()?;
            oldest.leave.notify_one();
        }
        crowd.next += 1;
        let guest = Arc::new(Guest { number: crowd.next, leave: Notify::new() });
        crowd.strangers.insert(guest.number, Arc::clone(&guest));
        Some(guest)
    }

    /// Somebody has shown the token.
    pub(crate) fn know(&self, guest: &Guest) {
        let mut crowd = self.crowd();
        if crowd.strangers.remove(&guest.number).is_some() {
            crowd.known += 1;
        }
    }

    /// Somebody goes. Whoever was told to leave is not among the strangers any more, and was never known.
    pub(crate) fn go(&self, guest: &Guest, was_known: bool) {
        let mut crowd = self.crowd();
        if was_known {
            crowd.known = crowd.known.saturating_sub(1);
        } else {
            crowd.strangers.remove(&guest.number);
        }
    }

    fn crowd(&self) -> std::sync::MutexGuard<'_, Crowd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
