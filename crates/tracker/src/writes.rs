//! Changing issues. Every change of an issue goes through one [`Writer`], which finds out whether the caller
//! may, reads the newest copy once nobody else can write, and leaves a valid issue wherever it is cut off.
//! Nothing else writes into `issues/` or `gates/results/`.

mod brought;
mod change;
mod copy;
mod create;
mod deleted;
mod dependents;
mod draft;
mod events;
mod files;
mod graph;
mod locks;
mod made;
mod many;
mod members;
mod outbox;
mod permit;
mod redo;
mod reported;
mod results;
mod shared;
mod split;
mod state;
mod texts;
mod writer;

pub(crate) use brought::{hand_over, settle};
pub use copy::results_of;
pub use create::{Fresh, blank};
pub use dependents::Deleted;
pub use draft::{Draft, Finished};
pub use events::logs as event_logs;
pub use graph::cycle_through;
pub use locks::Locks;
pub use made::pending_events;
pub use members::{deps_of, labels_of};
pub use redo::complete_changes;
pub use results::{GateResult, Results, Verdict};
pub use split::Split;
pub use texts::{LONGEST_DESCRIPTION, assignee, description, key, label, title};
pub use writer::{Changed, Files, Writer};
