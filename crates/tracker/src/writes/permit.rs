//! Whether somebody may write to an issue. Who holds what is asked of the claims' log, and the kernel judges
//! the lease once more inside the section that the write happens in; nothing here decides about a lease.

use holdfast_kernel::{Claim, Lease};
use holdfast_store::{CounterId, View};

use super::writer::Writer;
use crate::claims::resource;
use crate::config::EnforceLeases;
use crate::error::WriteError;
use crate::error::{Error, Result};
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::session::Session;

/// On which ground a write is made.
pub(super) enum Permit {
    /// Under a lease, which has to be in force when the write is made.
    Under(Box<Grant>),
    /// Without one, because the configuration does not insist on it.
    Free,
}

/// A lease that whoever asks has on an issue.
pub(super) struct Grant {
    pub(super) lease: Lease,
    /// The counter that its fence was drawn from.
    pub(super) counter: CounterId,
    /// Whether it was in force when it was looked at. That it is when the write is made has to be asked again.
    pub(super) was_in_force: bool,
}

impl Grant {
    pub(super) fn claim(&self) -> Claim {
        self.lease.claim()
    }
}

/// Whether it is known who asks. Nobody can write without saying so where leases are insisted on.
pub(super) fn is_known(session: &Session, mode: EnforceLeases) -> Result<bool> {
    match session.agent() {
        Err(Error::NoAgent) if mode != EnforceLeases::Strict => Ok(false),
        agent => agent.map(|_| true),
    }
}

/// The lease that whoever asks has on an issue, be it over or not, and all there are.
pub(super) fn lease(session: &Session, id: IssueId) -> Result<(Option<Lease>, View)> {
    let view = session.claims_to_change()?.view()?;
    let (issue, holder) = (resource(id)?, session.holder()?);
    let mine = view.table.on(&issue).find(|lease| lease.holder == *holder).cloned();
    Ok((mine, view))
}

/// Finds out on which ground `what` may be done to an issue.
pub(super) fn find(writer: &Writer<'_>, id: IssueId, what: &'static str) -> Result<Permit> {
    if !writer.is_known {
        return Ok(unclaimed(writer, id, what));
    }
    let (mine, view) = lease(writer.session, id)?;
    writer.session.used(&view);
    if let Some((lease, counter)) = mine.zip(view.counter) {
        let was_in_force = holdfast_kernel::check(&view.table, &lease.claim(), &view.now).is_ok();
        writer.issues.know(view);
        return Ok(Permit::Under(Box::new(Grant { lease, counter, was_in_force })));
    }
    if writer.mode != EnforceLeases::Strict {
        return Ok(unclaimed(writer, id, what));
    }
    let issue = resource(id)?;
    let held = view.table.on(&issue).find(|lease| !lease.standing(&view.now).is_over()).cloned();
    Err(WriteError::LeaseRequired { what, issue: id.to_string(), held: held.map(Box::new) }.into())
}

/// A write without a claim, where that is not refused.
pub(super) fn unclaimed(writer: &Writer<'_>, id: IssueId, what: &'static str) -> Permit {
    if writer.mode == EnforceLeases::Warn {
        writer.notice(&Notice::Unclaimed { what, issue: id.to_string() });
    }
    Permit::Free
}
