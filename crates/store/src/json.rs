//! Events and leases as JSON: the one form that all files of this crate have in common. A log keeps events, an
//! index and the files of the other media keep leases as they stand.

pub(crate) mod moment;
pub(crate) mod read;
pub(crate) mod write;

mod fields;
mod words;

pub use words::Words;
