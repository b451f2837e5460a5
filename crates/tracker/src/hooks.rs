//! What git is told before it commits, pushes or accepts a push: whether the one who asks may. The rules of
//! leases are the kernel's; here is only which change needs which lease, and what is said when it is not there.

pub mod adopt;
pub mod commit;
pub mod install;
pub mod message;
pub mod push;
pub mod reserved;

mod branch;
mod brought;
mod claim_logs;
mod claimed;
mod commits;
mod files;
mod findings;
mod past;
mod script;
mod site;
mod trailers;

pub use script::quoted;

use holdfast_git::trailers::Style;
use holdfast_kernel::Lease;

/// The lease on an issue that a message names, if it does.
pub(crate) fn lease_on(message: &[u8], issue: crate::ids::IssueId) -> Option<String> {
    let named = trailers::read(message, &Style::default());
    named.into_iter().find(|named| named.issue == issue.to_string()).map(|named| named.lease)
}

/// A message that names a lease besides those that it names for other issues.
pub(crate) fn naming(message: &[u8], lease: &Lease) -> Vec<u8> {
    let style = Style::default();
    let mut named = trailers::read(message, &style);
    named.retain(|named| named.issue != lease.resource.text());
    named.push(trailers::Named::of(lease));
    named.sort_by(|a, b| a.issue.cmp(&b.issue));
    trailers::replace(message, &style, &named)
}
