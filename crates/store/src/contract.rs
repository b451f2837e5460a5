//! What a medium relies on when the kernel has decided, checked in release builds too: a few comparisons. Nothing is
//! durable yet when one of them fails, so the worst that a bug of ours can do is to stop here.

use holdfast_kernel::{Acquire, Answer, Command, Decision, Event, Fence, Lease};

/// States what a medium relies on when the kernel has decided: a grant has the number of its own event, and the answer is
/// about what was asked for.
///
/// # Panics
/// If the kernel broke its word.
pub fn check_decision(command: &Command, next: Fence, decision: &Decision) {
    for (position, event) in (0..).zip(&decision.events) {
        if let Event::Granted { lease } | Event::Transferred { lease, .. } = event {
            assert_eq!(next.plus(position), Some(lease.fence), "a grant has the number of its event");
        }
    }
    match (command, &decision.answer) {
        (Command::Acquire(wanted), Answer::Granted(lease)) => {
            assert_eq!(lease.id, wanted.id, "the grant has the id that it was asked for with");
            check_lease(wanted, lease);
            let last = decision.events.last();
            assert!(
                matches!(last, Some(Event::Granted { lease: granted }) if granted == lease),
                "what is granted is recorded last"
            );
        }
        (Command::Acquire(wanted), Answer::AlreadyHeld(lease)) => {
            check_lease(wanted, lease);
            assert!(decision.events.is_empty(), "what is held already changes nothing");
        }
        (Command::Check(_), _) => assert!(decision.events.is_empty(), "a question changes nothing"),
        _ => {}
    }
}

fn check_lease(wanted: &Acquire, lease: &Lease) {
    assert_eq!(lease.resource, wanted.resource, "the lease is on what was asked for");
    assert!(lease.holder == wanted.holder, "the lease is of the one who asked");
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use holdfast_kernel::{Holder, LeaseId, Millis, Mode, Name, Request, Stamp, Tags, Term};

    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn lease() -> Lease {
        let granted = Stamp::new(1, None).unwrap();
        Lease {
            id: LeaseId::new(1),
            resource: name("sprint").into(),
            holder: Holder { agent: name("ann"), place: name("here") },
            mode: Mode::Exclusive,
            fence: Fence::new(7).unwrap(),
            granted,
            term: Term::Finite { ttl: Millis::new(1), from: granted },
            skew: Millis::ZERO,
            grace: Millis::ZERO,
            reason: None,
            tags: Tags::none(),
        }
    }

    fn acquire(lease: &Lease) -> Command {
        Command::Acquire(Acquire {
            id: lease.id,
            resource: lease.resource.clone(),
            holder: lease.holder.clone(),
            mode: lease.mode,
            request: Request::Indefinite,
            reason: None,
            tags: Tags::none(),
            dead: Vec::new(),
        })
    }

    fn granted(lease: &Lease) -> Decision {
        Decision {
            events: vec![Event::Granted { lease: lease.clone() }],
            answer: Answer::Granted(lease.clone()),
        }
    }

    #[test]
    fn a_decision_that_breaks_its_word_is_stopped() {
        let lease = lease();
        let command = acquire(&lease);
        check_decision(&command, lease.fence, &granted(&lease));
        let breaks = |next: Fence, decision: Decision| {
            catch_unwind(|| check_decision(&command, next, &decision)).is_err()
        };
        assert!(breaks(lease.fence.plus(1).unwrap(), granted(&lease)), "another number");
        let other = Lease { resource: name("another").into(), ..lease.clone() };
        assert!(breaks(lease.fence, granted(&other)), "another resource");
        let silent = Decision { events: Vec::new(), ..granted(&lease) };
        assert!(breaks(lease.fence, silent), "a grant that nothing records");
        let twice = Decision { answer: Answer::AlreadyHeld(lease.clone()), ..granted(&lease) };
        assert!(breaks(lease.fence, twice), "held already, and granted");
    }
}
