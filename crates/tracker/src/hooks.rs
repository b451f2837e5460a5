//! What git is told before it commits, pushes or accepts a push: whether the one who asks may. The rules of
//! leases are the kernel's; here is only which change needs which lease, and what is said when it is not there.

pub mod commit;
pub mod install;
pub mod message;
pub mod push;

mod branch;
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
