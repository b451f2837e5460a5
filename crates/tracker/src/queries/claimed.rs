//! Who holds what at this moment.

use std::collections::BTreeMap;

use holdfast_kernel::{Lease, LeaseId, Stamp};

use crate::error::Result;
use crate::ids::IssueId;
use crate::notice::Notice;
use crate::session::Session;

/// The issues that are claimed, with their leases.
pub struct Claimed {
    /// When it was looked.
    pub now: Stamp,
    /// The log that grants the fences of this repository, if it has granted one.
    pub log: Option<String>,
    leases: BTreeMap<IssueId, Lease>,
    /// The leases on paths that are reserved, by their fences.
    reserved: Vec<Lease>,
}

impl Claimed {
    /// What is claimed in this repository, whatever the worktree. What is over is not.
    ///
    /// # Errors
    /// When the claims cannot be read.
    pub fn load(session: &Session) -> Result<Self> {
        let view = session.claims().view()?;
        let living = view.table.iter().filter(|lease| !lease.standing(&view.now).is_over());
        let (mut leases, mut reserved) = (BTreeMap::new(), Vec::new());
        for lease in living {
            if let Some(id) = IssueId::of(&lease.resource) {
                leases.insert(id, lease.clone());
            } else if lease.resource.pattern().is_some() {
                reserved.push(lease.clone());
            }
        }
        reserved.sort_by_key(|lease| lease.fence);
        let log = view.counter.map(|counter| counter.to_string());
        Ok(Self { leases, reserved, now: view.now, log })
    }

    /// What is claimed, for commands that only show it: where that cannot be told, they say so and go on.
    ///
    /// # Errors
    /// When there is no clock.
    pub fn or_none(session: &Session) -> Result<Self> {
        match Self::load(session) {
            Err(error) => {
                session.notice(&Notice::ClaimsUnknown(error.to_string()));
                Ok(Self {
                    now: session.sys().clock.now()?,
                    log: None,
                    leases: BTreeMap::new(),
                    reserved: Vec::new(),
                })
            }
            claimed => claimed,
        }
    }

    /// What is claimed but for these leases, which may be taken over.
    #[must_use]
    pub fn without(mut self, over: &[LeaseId]) -> Self {
        self.leases.retain(|_, lease| !over.contains(&lease.id));
        self
    }

    /// The lease on an issue.
    #[must_use]
    pub fn lease(&self, id: IssueId) -> Option<&Lease> {
        self.leases.get(&id)
    }

    /// Who holds an issue.
    #[must_use]
    pub fn holder(&self, id: IssueId) -> Option<&str> {
        self.leases.get(&id).map(|lease| lease.holder.agent.as_str())
    }

    /// The leases on paths that are reserved, by their fences.
    #[must_use]
    pub fn reserved(&self) -> &[Lease] {
        &self.reserved
    }

    /// All of them, by issue.
    pub fn iter(&self) -> impl Iterator<Item = (IssueId, &Lease)> {
        self.leases.iter().map(|(id, lease)| (*id, lease))
    }
}
