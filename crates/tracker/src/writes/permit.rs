//! Whether somebody may write to an issue. Who holds what is asked of the claims' log, and the kernel judges
//! the lease once more inside the section that the write happens in; nothing here decides about a lease.

use holdfast_kernel::{Claim, Holder, Lease};
use holdfast_store::View;

use super::error::Error as WriteError;
use crate::agent::AgentId;
use crate::claims::{Claimant, Claims, resource, warn};
use crate::config::{AgentFile, EnforceLeases};
use crate::context::{Context, Identity};
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::workspace::Workspace;

/// Somebody who writes.
pub(super) struct Who {
    pub(super) agent: AgentId,
    pub(super) file: AgentFile,
    pub(super) claimant: Claimant,
    pub(super) claims: Claims,
}

/// On which ground a write is made.
pub(super) enum Permit {
    /// Under a lease, which has to be in force when the write is made.
    Under(Claim),
    /// Without one, because the configuration does not insist on it.
    Free,
}

impl Who {
    /// Whoever asks. Nobody can write without saying who that is where leases are insisted on.
    pub(super) fn asks(context: &Context, workspace: &Workspace) -> Result<Option<Self>> {
        let Identity { agent, file } = match context.identity() {
            Err(Error::NoAgent) if workspace.config.worktree.enforce_leases != EnforceLeases::Strict => {
                return Ok(None);
            }
            identity => identity?,
        };
        let claims = Claims::to_write(context, workspace, &agent)?;
        let claimant = Claimant::here(context, workspace, &agent)?;
        Ok(Some(Self { agent, file, claimant, claims }))
    }

    pub(super) const fn holder(&self) -> &Holder {
        &self.claimant.holder
    }

    /// The lease that it has on an issue, be it over or not, and all there are.
    pub(super) fn lease(&self, id: IssueId) -> Result<(Option<Lease>, View)> {
        let view = self.claims.view()?;
        let issue = resource(id)?;
        let mine = view.table.on(&issue).find(|lease| lease.holder == *self.holder()).cloned();
        Ok((mine, view))
    }
}

/// Finds out on which ground `what` may be done to an issue.
pub(super) fn find(
    context: &Context,
    workspace: &Workspace,
    who: Option<&Who>,
    id: IssueId,
    what: &'static str,
) -> Result<Permit> {
    let mode = workspace.config.worktree.enforce_leases;
    let (mine, view) = match who {
        Some(who) => who.lease(id)?,
        None => return Ok(unclaimed(context, mode, id, what)),
    };
    if let Some(lease) = mine {
        if let Some(who) = who {
            let threshold = workspace.config.coordination.lease_renewal_threshold_pct;
            warn::ending(&*context.listener, &view, &who.agent, threshold);
        }
        return Ok(Permit::Under(presented(&lease)));
    }
    if mode != EnforceLeases::Strict {
        return Ok(unclaimed(context, mode, id, what));
    }
    let issue = resource(id)?;
    let held = view.table.on(&issue).find(|lease| !lease.standing(&view.now).is_over()).cloned();
    Err(WriteError::LeaseRequired { what, issue: id.to_string(), held: held.map(Box::new) }.into())
}

/// A write without a claim, where that is not refused.
pub(super) fn unclaimed(context: &Context, mode: EnforceLeases, id: IssueId, what: &'static str) -> Permit {
    if mode == EnforceLeases::Warn {
        context.notice(&Notice::Unclaimed { what, issue: id.to_string() });
    }
    Permit::Free
}

/// The lease as a write shows it.
fn presented(lease: &Lease) -> Claim {
    Claim {
        resource: lease.resource.clone(),
        lease: lease.id,
        holder: lease.holder.clone(),
        fence: lease.fence,
    }
}
