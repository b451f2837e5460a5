//! How many issues an agent may claim at once, by its kind. It is decided inside the grant, where nobody else can claim
//! meanwhile; requests, approvals and reservations of the agent do not count.

use holdfast_kernel::{Command, Holder, Lease, LimitKind, Refusal};
use holdfast_store::View;

use super::Claims;
use super::lease::Kind;
use crate::ids::IssueId;

impl Claims {
    /// How many issues the agent of this holder may claim, if that is limited.
    pub(crate) fn most_of(&self, holder: &Holder) -> Option<u32> {
        holder.kind().and_then(|kind| self.most.get(kind)).copied()
    }

    /// Whether a command has to be counted before it is granted.
    pub(super) fn is_counted(&self, command: &Command) -> bool {
        receiver(command).is_some_and(|holder| self.most_of(holder).is_some())
    }

    /// Refuses commands that would give an agent more claims than its kind may have.
    pub(super) fn within_limit(&self, view: &View, commands: &[Command]) -> holdfast_store::Result<()> {
        for holder in commands.iter().filter_map(receiver) {
            let Some(limit) = self.most_of(holder) else { continue };
            let is_own = |lease: &&Lease| {
                lease.holder.agent == holder.agent
                    && Kind::Issue.has(lease)
                    && !lease.standing(&view.now).is_over()
                    && !commands.iter().any(|command| ends(command, lease))
            };
            let gained = |command: &&Command| {
                receiver(command).is_some_and(|to| to.agent == holder.agent) && is_more(command, view)
            };
            let (own, gained) =
                (view.table.iter().filter(is_own).count(), commands.iter().filter(gained).count());
            if gained > 0 && own + gained > limit as usize {
                return Err(Refusal::LimitReached { kind: LimitKind::LeasesPerAgent, limit }.into());
            }
        }
        Ok(())
    }
}

/// Who holds something by a command that did not hold it before.
const fn receiver(command: &Command) -> Option<&Holder> {
    match command {
        Command::Acquire(wanted) => Some(&wanted.holder),
        Command::Transfer(transfer) => Some(&transfer.to),
        Command::Renew { .. }
        | Command::Beat { .. }
        | Command::Release { .. }
        | Command::Evict { .. }
        | Command::Sweep
        | Command::Check(_) => None,
    }
}

/// Whether a command ends this lease of whoever it gives another one.
fn ends(command: &Command, lease: &Lease) -> bool {
    match command {
        Command::Acquire(wanted) => wanted.resource == lease.resource && wanted.dead.contains(&lease.id),
        Command::Transfer(transfer) => transfer.lease == lease.id,
        Command::Renew { .. }
        | Command::Beat { .. }
        | Command::Release { .. }
        | Command::Evict { .. }
        | Command::Sweep
        | Command::Check(_) => false,
    }
}

/// Whether a command gives a claim on an issue that its receiver does not have yet.
fn is_more(command: &Command, view: &View) -> bool {
    match command {
        Command::Acquire(wanted) => {
            let is_kept = |lease: &Lease| !lease.standing(&view.now).is_over() && !ends(command, lease);
            IssueId::of(&wanted.resource).is_some()
                && !view.table.held_by(&wanted.resource, &wanted.holder).is_some_and(is_kept)
        }
        Command::Transfer(transfer) => {
            view.table.get(transfer.lease).is_some_and(|lease| Kind::Issue.has(lease))
        }
        Command::Renew { .. }
        | Command::Beat { .. }
        | Command::Release { .. }
        | Command::Evict { .. }
        | Command::Sweep
        | Command::Check(_) => false,
    }
}
