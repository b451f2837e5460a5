//! Work that takes long under leases that do not: they are renewed for as long as it goes on in this process.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use holdfast_kernel::{Command, Lease, Millis, Term};

use crate::claims::Claims;
use crate::claims::renew::sign_of_life;

/// Does something long, and keeps these leases alive meanwhile. One that was lost stays lost: whoever relies on it is told
/// when it is shown.
pub(super) fn while_renewing<T>(claims: &Claims, leases: &[&Lease], work: impl FnOnce() -> T) -> T {
    let span = |lease: &&Lease| match &lease.term {
        Term::Finite { ttl, .. } => *ttl,
        Term::Indefinite { .. } => claims.policy.stale_after,
    };
    let Some(shortest) = leases.iter().map(span).min() else { return work() };
    let pause = Duration::from_millis((shortest.get() / 3).max(Millis::new(10).get()));
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let commands: Vec<Command> = leases.iter().map(|lease| sign_of_life(lease)).collect();
                let _ = claims.commands(&commands);
            }
        });
        let done = work();
        drop(stop);
        done
    })
}
