//! What was claimed through a server is kept alive by it: it is named as the keeper of those claims, so that others may
//! take them over soon after it is gone, and it renews them while it is there.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use holdfast_kernel::Term;
use holdfast_tracker::claims::keeper;
use holdfast_tracker::claims::lease::percent_left;
use holdfast_tracker::error::Result;
use holdfast_tracker::{Caller, Session, keep};

use super::lock::locked;

/// A claim is renewed once less than this part of it is left, in percent.
const RENEW_BELOW: u64 = 50;

/// A claim whose named keeper is gone is renewed after this time, which is less than the grace that others wait.
const SILENT_MS: u64 = 20_000;

/// How long it sleeps at most, in milliseconds.
const LONGEST_SLEEP: u64 = 5_000;
const SHORTEST_SLEEP: u64 = 50;

/// What was claimed through a server.
#[derive(Default)]
pub(super) struct Keeper {
    claims: Arc<(Mutex<Claims>, Condvar)>,
}

#[derive(Default)]
struct Claims {
    kept: Vec<Kept>,
    runs: bool,
}

/// A claim and who holds it.
struct Kept {
    caller: Caller,
    lease: String,
}

impl Keeper {
    /// Keeps a claim alive from now on.
    pub(super) fn keep(&self, caller: &Caller, lease: &str) {
        let mut claims = locked(&self.claims.0);
        if claims.kept.iter().all(|kept| kept.lease != lease) {
            claims.kept.push(Kept { caller: caller.clone(), lease: lease.to_owned() });
        }
        if !claims.runs {
            claims.runs = true;
            let shared = Arc::clone(&self.claims);
            std::thread::spawn(move || run(&shared));
        }
        drop(claims);
        self.claims.1.notify_all();
    }
}

fn run((claims, woken): &(Mutex<Claims>, Condvar)) {
    let mut kept = locked(claims);
    loop {
        let mut sleep = LONGEST_SLEEP;
        let mut held = std::mem::take(&mut kept.kept);
        drop(kept);
        // A disk that fails now may work the next time; a claim that is lost is not kept any more.
        held.retain(|one| match renew(one) {
            Ok(Some(pause)) => {
                sleep = sleep.min(pause);
                true
            }
            Ok(None) => false,
            Err(_) => true,
        });
        kept = locked(claims);
        kept.kept.append(&mut held);
        let sleep = Duration::from_millis(sleep.max(SHORTEST_SLEEP));
        kept = match woken.wait_timeout(kept, sleep) {
            Ok((kept, _)) => kept,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}

/// Renews a claim if it is time; says when to look again, or that it is over.
fn renew(kept: &Kept) -> Result<Option<u64>> {
    let session = Session::open(&kept.caller)?;
    let view = session.claims().view()?;
    let found = view.table.iter().find(|lease| lease.id.to_string() == kept.lease);
    let Some(lease) = found.filter(|lease| !lease.standing(&view.now).is_over()) else { return Ok(None) };
    let (pause, is_short) = match (&lease.term, percent_left(lease, &view.now)) {
        (Term::Finite { ttl, .. }, Some((percent, _))) => (ttl.get() / 8, percent < RENEW_BELOW),
        _ => (LONGEST_SLEEP, false),
    };
    let silent = view.now.since(lease.last_sign()).forward().get();
    if silent >= SILENT_MS && (lease.is_indefinite() || keeper::is_gone(session.sys(), lease)) || is_short {
        match lease.is_indefinite() {
            true => keep::beat(&session, &kept.lease)?,
            false => keep::renew(&session, &kept.lease, None)?,
        };
    }
    Ok(Some(pause))
}
