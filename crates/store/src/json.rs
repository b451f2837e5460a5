//! Events and leases as JSON: the one form that all files of this crate have in common. A log keeps events, an
//! index and the files of the other media keep leases as they stand.

pub(crate) mod moment;
pub(crate) mod read;
pub(crate) mod write;

mod fields;
mod words;

pub use words::Words;

/// A moment as all files have it: RFC 3339 in UTC, to the millisecond.
#[must_use]
pub fn rfc3339(at: &holdfast_kernel::Stamp) -> String {
    let mut out = Vec::new();
    moment::write(&mut out, at.wall_ms());
    String::from_utf8_lossy(&out).into_owned()
}

/// Milliseconds since 1970 of a moment in exactly the form of [`rfc3339`]; none if it is anything else.
#[must_use]
pub fn wall_ms(text: &str) -> Option<u64> {
    moment::read(text.as_bytes())
}
