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

/// The machine, the number and the start time of the process that took a lease, if its holder names one.
#[must_use]
pub fn process_of(lease: &Lease) -> Option<(String, u32, u64)> {
    let holder = lease.tags.get(HOLDER_ID)?.as_str();
    let mut parts = holder.split(':');
    let (host, _user, pid, start) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(())?;
    Some((host.to_owned(), pid.parse().ok()?, start.parse().ok()?))
}
