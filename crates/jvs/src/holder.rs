//! Who holds a lock, as others may know it. The credentials of a holder are secret; this is the part of it that
//! is told in refusals, shown by `lock status` and written to the audit.

use holdfast_kernel::Lease;

/// The tag of a lease that says who holds it: `host:user:pid:start_time`.
pub const HOLDER_ID: &str = "holder_id";

/// Who holds a lease, as others may know it.
#[must_use]
pub fn holder_of(lease: &Lease) -> String {
    lease.tags.get(HOLDER_ID).map_or_else(|| "an unknown holder".to_owned(), ToString::to_string)
}
