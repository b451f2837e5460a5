//! What can be wrong when something needs approval.

use holdfast_kernel::Lease;
use serde_json::{Value, json};

use super::refusal::shown;
use crate::code::Code;

/// What can be wrong when something needs approval.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// A claim does not end before others have approved it.
    #[error(
        "ending the claim of {} on {} needs approval: {given} of {needed} so far; {asked_by} asked for it",
        lease.holder.agent, lease.resource
    )]
    Needed {
        /// The claim.
        lease: Box<Lease>,
        /// Who asked for its end.
        asked_by: String,
        /// Who approved.
        approved_by: Vec<String>,
        /// Who may.
        approvers: Vec<String>,
        /// How many approvals count.
        given: u32,
        /// How many are needed.
        needed: u32,
    },
    /// Nobody asked for it.
    #[error("nobody asked to end the claim of {} on {}", lease.holder.agent, lease.resource)]
    NoRequest {
        /// The claim.
        lease: Box<Lease>,
    },
    /// Somebody wants to approve what it asked for.
    #[error("{agent} asked for it, and nobody approves what it asked for itself")]
    Own {
        /// Who.
        agent: String,
    },
    /// Somebody wants to approve who may not.
    #[error("{agent} may not approve this: policy.approvers are {}", approvers.join(", "))]
    NotApprover {
        /// Who.
        agent: String,
        /// Who may.
        approvers: Vec<String>,
    },
    /// A program wants to approve in the name of a person.
    #[error("{agent} is a person, and nobody is at a terminal to approve this")]
    NotThere {
        /// Who.
        agent: String,
    },
    /// All claims would end at once.
    #[error("all claims would end without approval{}", of(holders))]
    AllAtOnce {
        /// Whose claims are known to be in force.
        holders: Vec<String>,
    },
}

fn of(holders: &[String]) -> String {
    if holders.is_empty() { String::new() } else { format!(": those of {}", holders.join(", ")) }
}

impl ApprovalError {
    /// What kind of error it is.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Needed { .. } | Self::AllAtOnce { .. } => Code::ApprovalNeeded,
            Self::NoRequest { .. } => Code::NoRequest,
            Self::Own { .. } | Self::NotApprover { .. } | Self::NotThere { .. } => Code::NotApprover,
        }
    }

    /// What to type next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Needed { lease, approvers, asked_by, .. } => format!(
                "jit claim approve {}, by one of {} other than {asked_by}",
                lease.resource,
                approvers.join(", ")
            ),
            Self::NoRequest { lease } => {
                format!("jit claim force-evict {} --reason '…' asks for it", lease.resource)
            }
            Self::Own { .. } | Self::NotApprover { .. } => {
                "jit claim requests shows what waits for approval; jit config get policy.approvers who may".into()
            }
            Self::NotThere { .. } => "run it in a terminal, or approve it on the dashboard".into(),
            Self::AllAtOnce { .. } => {
                "wait until they are over, or jit claim force-evict each; policy.force_evict on the target says so"
                    .into()
            }
        }
    }

    /// What a program can go on with.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::Needed { lease, asked_by, approved_by, approvers, given, needed } => json!({
                "lease": shown(lease),
                "asked_by": asked_by,
                "approved_by": approved_by,
                "approvers": approvers,
                "given": given,
                "needed": needed,
            }),
            Self::NoRequest { lease } => json!({ "lease": shown(lease) }),
            Self::Own { agent } | Self::NotThere { agent } => json!({ "agent_id": agent }),
            Self::NotApprover { agent, approvers } => json!({ "agent_id": agent, "approvers": approvers }),
            Self::AllAtOnce { holders } => json!({ "holders": holders }),
        }
    }
}
