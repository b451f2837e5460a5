//! Where a lease is kept, and how one transaction on it is made exclusive, atomic and durable.
//!
//! A [`Medium`] never decides anything: inside its own exclusive section it reads its state, asks the
//! kernel, makes the events durable and only then answers. What differs between media is the bytes.

pub mod log;

mod error;
mod medium;

pub use error::{Damage, Error, Result};
pub use medium::{CounterId, Held, Medium, View};
