//! What a grant is made of: the term that its holder may have, and the fence that nobody had before.

use alloc::boxed::Box;

use crate::{Fence, Holder, Lease, Millis, Policy, Refusal, Request, Stamp, Term};

/// The term from now on, if this holder may have it.
pub(super) fn term(
    policy: &Policy,
    holder: &Holder,
    request: Request,
    has_reason: bool,
    now: &Stamp,
) -> Result<Term, Refusal> {
    let rule = policy.rule_for(holder);
    match request {
        Request::Finite(asked) if !rule.ttl.contains(asked) => {
            Err(Refusal::TtlOutOfRange { asked, range: rule.ttl.lawful() })
        }
        Request::Finite(ttl) if now.checked_plus(ttl).is_none() => Err(Refusal::DeadlineTooFar { ttl }),
        Request::Finite(ttl) => Ok(Term::Finite { ttl, from: *now }),
        Request::Indefinite if !rule.indefinite => Err(Refusal::IndefiniteForbidden),
        Request::Indefinite if !has_reason => Err(Refusal::ReasonRequired),
        Request::Indefinite => {
            // Without a moment of grace it would be stale as soon as it is granted.
            let stale_after = policy.stale_after.clamp(Millis::SHORTEST, Millis::LONGEST);
            Ok(Term::Indefinite { beat: *now, stale_after })
        }
    }
}

/// The position of a grant that comes after `before` other events. A counter that was set back would give
/// a number out twice, so it is compared with what is `near`, on all that overlaps the resource.
pub(super) fn fence(near: &[&Lease], next: Fence, before: usize) -> Result<Fence, Refusal> {
    if let Some(ahead) = near.iter().find(|lease| lease.fence >= next) {
        return Err(Refusal::CounterBehind { next, lease: Box::new((*ahead).clone()) });
    }
    next.plus(before as u64).ok_or(Refusal::FencesExhausted)
}
