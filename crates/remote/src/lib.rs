//! Leases that several machines share.
//!
//! A [`Register`] is a place that all of them reach and that can replace a value if it is still the one that was seen.
//! [`Shared`] is the one medium over any of them: it decides on the value that it saw, and the swap is the check. What
//! an answer of the register means, above all one that never came, is decided here and nowhere else; a register never
//! sees a lease. `spec/register-format.md` has the bytes and the rules.

pub mod etcd;
pub mod gitref;
pub mod head;
pub mod local;
pub mod register;
pub mod shared;
#[cfg(feature = "sim")]
pub mod simulated;
pub mod watch;

mod answers;

pub use head::{CloneId, Head, Note, OpId, State};
pub use register::{Along, Found, Register, Swap, Unreachable, Version};
pub use shared::{Settings, Shared};
