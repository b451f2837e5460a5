//! Where a lease is kept, and how one transaction on it is made exclusive, atomic and durable.
//!
//! A [`Medium`] never decides anything: inside its own exclusive section it reads its state, asks the
//! kernel, makes the events durable and only then answers. What differs between media is the bytes.
#![warn(missing_docs)]

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod directory;
pub mod liveness;
pub mod log;
pub mod record;
pub mod whole;

mod codec;
mod contract;
mod counter;
mod error;
mod gate;
mod hex;
mod journal;
mod json;
mod medium;
mod witness;

pub use codec::{Codec, Json, Stored, Unreadable, read_event, read_lease, write_event, write_lease};
pub use contract::check_decision;
pub use error::{Damage, Error, Result, Trouble};
pub use gate::Patience;
pub use journal::{Checked, Finding, JournaledMedium, Lost, Plan, Projected, Record, Recovery};
pub use json::{rfc3339, wall_ms};
pub use medium::{CounterId, Guarding, Held, Medium, View};
pub use witness::Witness;
