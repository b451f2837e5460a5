//! The machine's wall clock, its boot-time clock, and the id of the boot.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use holdfast_kernel::{Boot, BootId, Millis, Stamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::{Clock, Error, Result};

/// The machine's clocks.
#[derive(Default)]
pub struct OsClock {
    boot: OnceLock<Option<BootId>>,
}

impl OsClock {
    /// The machine's clocks.
    #[must_use]
    pub const fn new() -> Self {
        Self { boot: OnceLock::new() }
    }
}

impl Clock for OsClock {
    fn now(&self) -> Result<Stamp> {
        let wall = millis(clock_gettime(ClockId::Realtime));
        let boot = self.boot.get_or_init(boot_id).and_then(|id| Some(Boot { id, ms: boot_ms()? }));
        Stamp::new(wall, boot).map_err(|error| Error::new("read", Path::new("the clock"), invalid(error)))
    }

    fn sleep(&self, span: Millis) {
        std::thread::sleep(Duration::from_millis(span.get()));
    }
}

fn invalid(error: holdfast_kernel::TimeError) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, error)
}

fn millis(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000)
}

#[cfg(target_os = "linux")]
fn boot_ms() -> Option<u64> {
    u64::try_from(millis(clock_gettime(ClockId::Boottime))).ok()
}

#[cfg(not(target_os = "linux"))]
fn boot_ms() -> Option<u64> {
    None
}

/// The kernel's id of this boot. In a time namespace the boot-time clock is shifted, so its readings are
/// comparable only within that namespace: the shift becomes part of the id.
pub(super) fn boot_id() -> Option<BootId> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let bits = u128::from_str_radix(&id.trim().replace('-', ""), 16).ok()?;
    Some(BootId::new(bits ^ u128::from(time_namespace_shift())))
}

fn time_namespace_shift() -> u64 {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    let Some(line) = offsets.lines().find(|line| line.starts_with("boottime")) else { return 0 };
    let numbers: Vec<i64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [secs, nanos] => secs.wrapping_mul(1_000_000_000).wrapping_add(*nanos).cast_unsigned(),
        _ => 0,
    }
}
