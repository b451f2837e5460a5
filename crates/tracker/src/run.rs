//! A command under a claim: the guardian that keeps the claim and ends the command with it, what the two processes say
//! to each other, where output goes, and what is known of runs that were cut off.
//!
//! `jit run` starts a guardian, a process in a session of its own. The guardian is the keeper of the claim and the
//! parent of the command. It adopts whatever the command leaves behind, so it knows when nothing is left, and only then
//! it ends: whoever takes the claim over because its keeper is gone finds nobody at work.

mod attempts;
mod guardian;
mod keeping;
mod log;
mod message;
pub mod place;
pub mod pool;
mod record;

pub use attempts::Attempts;
pub use guardian::guard;
pub use keeping::lost;
pub use log::{Bound, first_part, logs, prepare};
pub use message::{Ended, Input, Order, Start, Why, Word};
pub use record::{MARKER, Record, busy, sweep};

/// The label of issues that no pool takes, because commands failed on them too often.
pub const NEEDS_ATTENTION: &str = "needs:attention";
