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
pub(super) fn boot_ms() -> Option<u64> {
    u64::try_from(millis(clock_gettime(ClockId::Boottime))).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn boot_ms() -> Option<u64> {
    None
}

/// The id of this boot, for readings of its clock. In a time namespace the boot-time clock is shifted, so its
/// readings are comparable only within that namespace: the shift becomes part of the id.
fn boot_id() -> Option<BootId> {
    kernel_boot_id().map(|id| BootId::new(id.get() ^ u128::from(time_namespace_shift())))
}

/// The kernel's id of this boot, the same in every namespace.
pub(super) fn kernel_boot_id() -> Option<BootId> {
    parse_boot_id(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)
}

fn parse_boot_id(text: &str) -> Option<BootId> {
    u128::from_str_radix(&text.trim().replace('-', ""), 16).ok().map(BootId::new)
}

/// How far the boot-time clock of this time namespace is shifted, in nanoseconds; 0 outside of any.
pub(super) fn time_namespace_shift() -> u64 {
    parse_shift(&std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default())
}

fn parse_shift(offsets: &str) -> u64 {
    let Some(line) = offsets.lines().find(|line| line.starts_with("boottime")) else { return 0 };
    let numbers: Vec<i64> = line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [secs, nanos] => secs.wrapping_mul(1_000_000_000).wrapping_add(*nanos).cast_unsigned(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_id_is_read_as_the_kernel_writes_it() {
        let id = parse_boot_id("6f1b2a3c-0000-4000-8000-0123456789ab\n");
        assert_eq!(id, Some(BootId::new(0x6f1b_2a3c_0000_4000_8000_0123_4567_89ab)));
        for text in ["", "\n", "not a boot id", "6f1b2a3c-0000-4000-8000-0123456789ab-00"] {
            assert_eq!(parse_boot_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_shifted_boot_clock_is_another_clock() {
        let shift = |secs: i64, nanos: i64| parse_shift(&format!("monotonic 5 6\nboottime {secs} {nanos}\n"));
        assert_eq!(shift(0, 0), 0);
        assert_eq!(shift(2, 3), 2_000_000_003);
        assert_ne!(shift(-2, 0), shift(2, 0));
        assert_ne!(shift(-1, 0), 0);
    }

    #[test]
    fn no_offsets_or_strange_ones_are_no_shift() {
        for text in ["", "monotonic 1 2", "boottime", "boottime x y", "boottime 1", "boottime 1 2 3"] {
            assert_eq!(parse_shift(text), 0, "{text:?}");
        }
    }

    #[test]
    fn the_boot_clock_goes_on_and_never_back() {
        let clock = OsClock::new();
        let (first, second) = (clock.now().unwrap(), clock.now().unwrap());
        assert!(second.since(&first).backward() == Millis::ZERO);
        assert_eq!(second.boot().map(|boot| boot.id), first.boot().map(|boot| boot.id));
    }
}
