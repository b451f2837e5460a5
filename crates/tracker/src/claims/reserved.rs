//! Reservations: leases on patterns of paths. One belongs to a claim, which it names, or stands alone. What belongs to a
//! claim is kept, handed over and given back together with it, in one step; and where the claim ended in another way, it
//! is over as well, whatever its own deadline says.

use holdfast_kernel::{
    Acquire, Command, Lease, LeaseId, Mode, Pattern, Request, Resource, Stamp, Standing, Table, Tags, Text,
    Transfer,
};

use super::{Claimant, Claims};
use crate::error::{Error, Result};

/// What says which claim a reservation belongs to: the id of its lease.
const CLAIM: &str = "claim";

/// From so many reservations on that are over, their end is recorded, so that they do not pile up.
const MANY_OVER: usize = 32;

/// Paths that are wanted.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// Whether others may hold them too.
    pub mode: Mode,
    /// For how long; as long as the claim that they belong to if not given.
    pub request: Option<Request>,
    /// The reason given.
    pub reason: Option<Text>,
}

/// The claim that a reservation belongs to; none if it stands alone, or is no reservation.
#[must_use]
pub fn claim_of(lease: &Lease) -> Option<LeaseId> {
    lease.resource.pattern()?;
    lease.tags.get(CLAIM)?.as_str().parse().ok()
}

/// The reservations that belong to a claim, in force or not.
pub fn belonging(table: &Table, claim: LeaseId) -> impl Iterator<Item = &Lease> {
    table.iter().filter(move |lease| claim_of(lease) == Some(claim))
}

/// The reservations that are in force.
pub fn in_force<'t>(table: &'t Table, now: &'t Stamp) -> impl Iterator<Item = &'t Lease> {
    let is_over = move |lease: &Lease| lease.standing(now).is_over();
    let has_claim = move |lease: &Lease| match claim_of(lease) {
        Some(claim) => table.get(claim).is_some_and(|claim| !is_over(claim)),
        None => true,
    };
    let reservations = table.iter().filter(|lease| lease.resource.pattern().is_some());
    reservations.filter(move |lease| !is_over(lease) && has_claim(lease))
}

/// Whether others may take over what a claim left behind: it was ended, or its own time to be taken over has come.
fn is_left_behind(table: &Table, lease: &Lease, now: &Stamp) -> bool {
    let Some(claim) = claim_of(lease) else { return false };
    table.get(claim).is_none_or(|claim| matches!(claim.standing(now), Standing::Open { .. }))
}

/// Whether what is done to a claim is done to what belongs to it.
pub(super) const fn is_followed(command: &Command) -> bool {
    match command {
        Command::Renew { .. }
        | Command::Beat { .. }
        | Command::Release { .. }
        | Command::Transfer(_)
        | Command::Evict { .. } => true,
        Command::Acquire(_) | Command::Sweep | Command::Check(_) => false,
    }
}

/// A command, and what it means for the reservations that belong to its lease.
pub(super) fn followed(
    command: &Command,
    table: &Table,
    now: &Stamp,
    fresh: &dyn Fn() -> holdfast_store::Result<LeaseId>,
) -> holdfast_store::Result<Vec<Command>> {
    let claim = match command {
        Command::Renew { lease, .. }
        | Command::Beat { lease, .. }
        | Command::Release { lease, .. }
        | Command::Evict { lease, .. } => *lease,
        Command::Transfer(wanted) => wanted.lease,
        Command::Acquire(_) | Command::Sweep | Command::Check(_) => return Ok(vec![command.clone()]),
    };
    let mut commands = vec![command.clone()];
    for reserved in belonging(table, claim) {
        let (lease, lives) = (reserved.id, !reserved.standing(now).is_over());
        match command {
            Command::Renew { holder, ttl, .. } if lives && reserved.holder == *holder => {
                commands.push(Command::Renew { lease, holder: holder.clone(), ttl: *ttl });
            }
            Command::Beat { holder, .. } if lives && reserved.holder == *holder => {
                commands.push(Command::Renew { lease, holder: holder.clone(), ttl: None });
            }
            Command::Release { holder, .. } if reserved.holder == *holder => {
                commands.push(Command::Release { lease, holder: holder.clone() });
            }
            Command::Evict { by, reason, .. } => {
                commands.push(Command::Evict { lease, by: by.clone(), reason: reason.clone() });
            }
            Command::Transfer(wanted) if reserved.holder == wanted.holder => {
                commands.push(handed_over(wanted, reserved, table, now, fresh)?);
            }
            _ => {}
        }
    }
    Ok(commands)
}

/// What becomes of a reservation whose claim is handed over. Whoever has those paths already keeps them.
fn handed_over(
    wanted: &Transfer,
    reserved: &Lease,
    table: &Table,
    now: &Stamp,
    fresh: &dyn Fn() -> holdfast_store::Result<LeaseId>,
) -> holdfast_store::Result<Command> {
    let has_it = |lease: &Lease| !lease.standing(now).is_over();
    let is_theirs = table.held_by(&reserved.resource, &wanted.to).is_some_and(has_it);
    let tags = tagged(wanted.tags.clone(), wanted.id).ok();
    Ok(match tags.filter(|_| !is_theirs && has_it(reserved)) {
        Some(tags) => {
            Command::Transfer(Transfer { lease: reserved.id, id: fresh()?, tags, ..wanted.clone() })
        }
        None => Command::Release { lease: reserved.id, holder: wanted.holder.clone() },
    })
}

/// These tags, and the claim that a reservation belongs to.
pub(super) fn tagged(tags: Tags, claim: LeaseId) -> Result<Tags> {
    let unfit = |_| Error::Internal("a lease cannot name the claim that it belongs to".to_owned());
    let text =
        Text::new(&claim.to_string()).map_err(|_| Error::Internal("a lease's id is no text".to_owned()))?;
    tags.with(CLAIM, text).map_err(unfit)
}

/// Paths that are asked for under fresh ids, which have to be had before anything is decided.
pub(super) struct Asking<'a> {
    paths: &'a Paths,
    who: &'a Claimant,
    ids: Vec<LeaseId>,
    dead: &'a [LeaseId],
}

impl Claims {
    /// What asks for paths.
    pub(super) fn asking<'a>(
        &self,
        paths: &'a Paths,
        who: &'a Claimant,
        dead: &'a [LeaseId],
    ) -> Result<Asking<'a>> {
        let ids = paths.patterns.iter().map(|_| self.fresh_id()).collect::<Result<_>>()?;
        Ok(Asking { paths, who, ids, dead })
    }

    /// The commands that ask for paths, for a claim or alone, on a table as it is. `length` is the claim's, if nobody
    /// asked for another one.
    pub(super) fn reserving(
        &self,
        asking: &Asking<'_>,
        claim: Option<LeaseId>,
        length: Request,
        table: &Table,
        now: &Stamp,
    ) -> Result<Vec<Command>> {
        let Asking { paths, who, ids, dead } = asking;
        let range = self.policy.rule_for(&who.holder).ttl.lawful();
        // A reservation always has a deadline: that of a claim without one is renewed with its beats, and ends with it.
        let request = match paths.request.unwrap_or(length) {
            Request::Finite(ttl) => Request::Finite(ttl),
            Request::Indefinite => Request::Finite(range.max),
        };
        let tags = match claim {
            Some(claim) => tagged(who.tags.clone(), claim)?,
            None => who.tags.clone(),
        };
        let mut commands = Vec::new();
        let over = table.iter().filter(|lease| lease.resource.pattern().is_some());
        let over = over.filter(|lease| matches!(lease.standing(now), Standing::Open { .. })).count();
        if over >= MANY_OVER {
            commands.push(Command::Sweep);
        }
        for (pattern, id) in paths.patterns.iter().zip(ids) {
            let resource = Resource::from(pattern.clone());
            let left = table.overlapping(&resource).filter(|lease| is_left_behind(table, lease, now));
            let dead = dead.iter().copied().chain(left.map(|lease| lease.id)).collect();
            commands.push(Command::Acquire(Acquire {
                id: *id,
                resource,
                holder: who.holder.clone(),
                mode: paths.mode,
                request,
                reason: paths.reason.clone(),
                tags: tags.clone(),
                dead,
            }));
        }
        Ok(commands)
    }
}
