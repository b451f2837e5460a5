//! Moving claims from one place to another, and beginning anew where a place was set back. Whatever cuts a move off, the
//! same command again goes on with it.

use holdfast_kernel::{Lease, LeaseId};
use holdfast_store::{CounterId, Error as StoreError, Trouble, View};
use schemars::JsonSchema;
use serde::Serialize;

use super::{claims_at, configure, init, places, shared, unconfigure};
use crate::approvals;
use crate::claims::chosen::{self, CLONES, Keeper, Place};
use crate::claims::lease::is_record;
use crate::config::{self, Engine, Scope};
use crate::error::{Error, Result};
use crate::session::Session;

/// Claims that have moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Migrated {
    /// How many claims went along.
    pub claims: usize,
    /// Whether anything was left to do.
    pub changed: bool,
}

/// Moves the claims of all clones: to a place that they share, or to the clones themselves, if no claim is in force.
///
/// # Errors
/// When claims are in force that cannot go along, the new place has claims already, or something failed. The same
/// question again goes on where this one was cut off.
pub fn migrate(session: &Session, to: Option<&Keeper>) -> Result<Migrated> {
    session.own_data()?;
    session.prepare()?;
    let from = session.claims().shared.as_ref().map(|shared| shared.place().cloned()).transpose()?;
    match (from, to) {
        (None, None) => Ok(Migrated { claims: 0, changed: false }),
        (None, Some(to)) => Ok(Migrated { claims: 0, changed: init(session, to)? }),
        (Some(from), None) => to_clones(session, &from),
        (Some(from), Some(to)) if from.keeper.is(to) => {
            let place = Place { keeper: to.clone(), counter: from.counter };
            configure(session, &place)?;
            chosen::choose(session.sys(), session.control(), &place, session.access()?.file())?;
            Ok(Migrated { claims: 0, changed: false })
        }
        (Some(from), Some(to)) => to_another(session, &from, to),
    }
}

/// Whoever is granted something on the way is granted it in one place: the old one is sealed before there is a new one.
fn to_another(session: &Session, from: &Place, to: &Keeper) -> Result<Migrated> {
    let place = Place { keeper: to.clone(), counter: from.counter };
    let new = claims_at(session, &place)?;
    if let Some(found) = new.counter()?.filter(|found| *found != from.counter) {
        let what = format!("{to} keeps claims already, numbered by {found}");
        return Err(Error::Store(Trouble::Moved.because(what)));
    }
    let old = shared(session)?.shared()?;
    let head = old.seal(&|_| Ok(()))?;
    new.make_from(&head)?;
    old.leave(&to.to_string())?;
    configure(session, &place)?;
    if from.keeper.engine() != to.engine() {
        forget_old(session, &from.keeper)?;
    }
    chosen::choose(session.sys(), session.control(), &place, session.access()?.file())?;
    Ok(Migrated { claims: head.entries.len(), changed: true })
}

/// Removes what the configuration says of a place that was left, and nothing of the new one.
fn forget_old(session: &Session, keeper: &Keeper) -> Result<()> {
    let keys = match keeper {
        Keeper::Git { .. } => ["coordination.remote", "coordination.ref"],
        Keeper::Etcd { .. } => ["coordination.endpoints", "coordination.namespace"],
    };
    for key in keys {
        config::reset(session.sys(), &places(session)?, Scope::Repository, key)?;
    }
    Ok(())
}

fn to_clones(session: &Session, from: &Place) -> Result<Migrated> {
    let old = shared(session)?.shared()?;
    let in_force = |view: &View| -> Vec<Lease> {
        let claims = view.table.iter().filter(|lease| !is_record(lease));
        claims.filter(|lease| !lease.standing(&view.now).is_over()).cloned().collect()
    };
    let allows = |view: &View| -> holdfast_store::Result<()> {
        match in_force(view).first() {
            None => Ok(()),
            Some(lease) => {
                Err(Trouble::Moved.because(format!("{} is held by {}", lease.resource, lease.holder)))
            }
        }
    };
    match old.seal(&allows) {
        Ok(_) => {}
        Err(StoreError::Shared { trouble: Trouble::Moved, .. }) => {
            return Err(Error::LocalClaims(in_force(&old.known(false)?.view)));
        }
        Err(error) => return Err(error.into()),
    }
    old.leave(CLONES)?;
    if session.config().coordination.engine != Engine::Local {
        unconfigure(session, &from.keeper)?;
    }
    chosen::unchoose(session.sys(), session.control())?;
    Ok(Migrated { claims: 0, changed: true })
}

/// A place that began anew.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Recovered {
    /// The counter that numbers claims from now on.
    pub counter: String,
    /// The counter before; none if there was nothing at the place. Fences of it no longer compare.
    pub before: Option<String>,
    /// What ended.
    pub ended: Vec<EndedClaim>,
}

/// A claim that ended because its place began anew.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EndedClaim {
    /// What was claimed.
    pub resource: String,
    /// Who held it.
    pub agent_id: String,
    /// Its fence, which no longer compares.
    pub fence: u64,
}

/// Ends all claims of a place that was set back, restored or lost, and goes on under another counter.
///
/// # Errors
/// When the claims are not shared, the place cannot be read or changed, or ending the claims of others needs approval.
pub fn recover(session: &Session, reason: &str) -> Result<Recovered> {
    session.own_data()?;
    session.prepare()?;
    let keeper = shared(session)?.place()?.keeper.clone();
    approvals::refuse_all_at_once(session)?;
    let counter = CounterId::new(LeaseId::new(session.sys().entropy.nonce()?));
    let place = Place { keeper, counter };
    let ended = claims_at(session, &place)?.begin_anew(reason)?;
    configure(session, &place)?;
    chosen::choose(session.sys(), session.control(), &place, session.access()?.file())?;
    let claim = |lease: &Lease| EndedClaim {
        resource: lease.resource.to_string(),
        agent_id: lease.holder.agent.to_string(),
        fence: lease.fence.get(),
    };
    Ok(Recovered {
        counter: counter.to_string(),
        before: ended.counter.map(|counter| counter.to_string()),
        ended: ended.leases.iter().map(claim).collect(),
    })
}
