//! Changing issues. Every change of an issue goes through one [`Writer`], which finds out whether the caller
//! may, reads the newest copy once nobody else can write, and leaves a valid issue wherever it is cut off.
//! Nothing else writes into `issues/` or `gates/results/`.

mod copy;
mod create;
mod deleted;
mod dependents;
mod draft;
mod events;
mod files;
mod graph;
mod locks;
mod members;
mod permit;
mod results;
mod shared;
mod texts;
mod untold;
mod writer;

pub use copy::results_of;
pub use create::{Fresh, blank};
pub use deleted::is_marked;
pub use dependents::Deleted;
pub use draft::{Draft, Finished};
pub use graph::{cycle_through, open_dependencies};
pub use locks::Locks;
pub use members::{deps_of, labels_of};
pub use results::{GateResult, Results, Verdict};
pub use texts::{assignee, description, key, label, title};
pub use untold::untold;
pub use writer::{Changed, Writer};
