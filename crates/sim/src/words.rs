//! Calls and answers in few words, for traces that a person reads. Never parsed by anything.

use holdfast_kernel::{Answer, Command, Lease, LeaseId, Refusal, Request, Term};

use crate::history::{Asked, Told};

/// What was asked.
#[must_use]
pub fn asked(asked: &Asked) -> String {
    match asked {
        Asked::Command(command) => command_words(command),
        Asked::Write(claim) => {
            format!("write {} by {} fence {}", claim.resource, id(claim.lease), claim.fence)
        }
        Asked::View => "view".to_owned(),
    }
}

fn command_words(command: &Command) -> String {
    match command {
        Command::Acquire(wanted) => {
            let term = match wanted.request {
                Request::Finite(ttl) => ttl.to_string(),
                Request::Indefinite => "indefinitely".to_owned(),
            };
            format!("acquire {} {:?} {term} as {}", wanted.resource, wanted.mode, id(wanted.id))
        }
        Command::Renew { lease, .. } => format!("renew {}", id(*lease)),
        Command::Beat { lease, .. } => format!("beat {}", id(*lease)),
        Command::Release { lease, .. } => format!("release {}", id(*lease)),
        Command::Transfer(wanted) => {
            format!("transfer {} to {} as {}", id(wanted.lease), wanted.to, id(wanted.id))
        }
        Command::Evict { lease, .. } => format!("evict {}", id(*lease)),
        Command::Sweep => "sweep".to_owned(),
        Command::Check(claim) => format!("check {} fence {}", id(claim.lease), claim.fence),
    }
}

/// What was told.
#[must_use]
pub fn told(told: &Told) -> String {
    match told {
        Told::Nothing => "nothing (died)".to_owned(),
        Told::Answer(answer) => answer_words(answer),
        Told::Wrote => "written".to_owned(),
        Told::View(view) => {
            format!("next {}, [{}]", view.next, view.table.iter().map(lease).collect::<Vec<_>>().join("; "))
        }
        Told::Refused(refusal) => refusal_words(refusal),
        Told::Failed(why) => format!("failed: {why}"),
        Told::Unusable(why) => format!("unusable: {why}"),
    }
}

fn answer_words(answer: &Answer) -> String {
    let (word, about) = match answer {
        Answer::Granted(about) => ("granted", about),
        Answer::AlreadyHeld(about) => ("already held", about),
        Answer::Renewed(about) => ("renewed", about),
        Answer::Beaten(about) => ("beaten", about),
        Answer::Released(about) => ("released", about),
        Answer::Transferred(about) => ("transferred", about),
        Answer::Evicted(about) => ("evicted", about),
        Answer::Valid(about) => ("valid", about),
        Answer::Swept(ended) => {
            return format!("swept [{}]", ended.iter().map(lease).collect::<Vec<_>>().join("; "));
        }
    };
    format!("{word}: {}", lease(about))
}

fn refusal_words(refusal: &Refusal) -> String {
    if let Refusal::Held { blocker, .. } = refusal {
        return format!("refused: held by {}", lease(blocker));
    }
    format!("refused: {refusal}")
}

/// A lease in few words.
#[must_use]
pub fn lease(lease: &Lease) -> String {
    let term = match &lease.term {
        Term::Finite { ttl, .. } => format!("for {ttl}"),
        Term::Indefinite { .. } => "indefinitely".to_owned(),
    };
    format!(
        "{} {} {:?} by {} fence {} {term}",
        id(lease.id),
        lease.resource,
        lease.mode,
        lease.holder.agent,
        lease.fence
    )
}

/// An id as the processes of a run make them: the number of the process, and how many it made before.
#[must_use]
pub fn id(id: LeaseId) -> String {
    let (process, count) = (id.get() >> 80, id.get() & 0xffff);
    if process < 1_000 { format!("#{process}.{count}") } else { id.to_string() }
}
