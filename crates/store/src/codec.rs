//! A lease as the bytes of a file, for media that keep one lease per file. The bytes are a parameter, because
//! doors promise their users a format of their own.

mod event;
mod json;
pub(crate) mod wire;

pub use event::{read_event, read_lease, write_event, write_lease};
pub use json::Json;

use holdfast_kernel::Lease;

use crate::CounterId;

/// What the bytes say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The lease.
    pub lease: Lease,
    /// The counter that its fence was drawn from, if the format has room for it.
    pub counter: Option<CounterId>,
}

/// Why bytes cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// They cannot have been written by this program; this is what is wrong with them.
    Damaged(String),
    /// They were written by a later version.
    Newer(u64),
}

/// A format for a lease.
///
/// A medium writes only what reads back as the same lease, so a format that cannot carry every lease
/// refuses those instead of changing them. Reading is strict: what is unknown, missing, doubled or of the
/// wrong type is an error, because a reader that guesses would hand out somebody's lease twice.
pub trait Codec: Send + Sync {
    /// The bytes for a lease whose fence was drawn from `counter`.
    fn write(&self, lease: &Lease, counter: CounterId) -> Vec<u8>;

    /// What the bytes say.
    ///
    /// # Errors
    /// When they say nothing that [`Codec::write`] could have written.
    fn read(&self, bytes: &[u8]) -> Result<Stored, Unreadable>;
}

/// The bytes for a lease, if they are not too many and read back as all of it.
pub(crate) fn encode(codec: &dyn Codec, stored: &Stored) -> Option<Vec<u8>> {
    let bytes = codec.write(&stored.lease, stored.counter?);
    let back = codec.read(&bytes).ok()?;
    let same = back.lease == stored.lease && (back.counter.is_none() || back.counter == stored.counter);
    (same && bytes.len() <= crate::whole::LONGEST).then_some(bytes)
}
