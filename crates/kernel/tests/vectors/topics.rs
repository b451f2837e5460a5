//! The cases, a file a topic. Times are milliseconds since 1970 by a clock that starts at [`T`].

mod again;
mod apply;
mod browser;
mod evict;
mod exclusive;
mod expiry;
mod fence;
mod guard;
mod indefinite;
mod keep;
mod limits;
mod overlap;
mod shared;
mod takeover;
mod terms;
mod time;
mod transfer;

use crate::case::Topic;
use crate::support::make::{boot, wall};
use holdfast_kernel::Stamp;

/// 2026-01-01T00:00:00Z.
pub(crate) const T: u64 = 1_767_225_600_000;

/// The holders that cases speak of. The first two differ in their place only.
pub(crate) const A: &str = "agent:a@wt-1";
pub(crate) const A2: &str = "agent:a@wt-2";
pub(crate) const B: &str = "agent:b@wt-3";
pub(crate) const C: &str = "human:c@wt-4";

/// So many milliseconds after the start, by the wall clock only.
pub(crate) fn t(ms: u64) -> Stamp {
    wall(T + ms)
}

/// So many milliseconds after the start, on a machine that has been up for 1,000,000 ms then.
pub(crate) fn up(ms: u64) -> Stamp {
    boot(T + ms, 0xb001, 1_000_000 + ms)
}

/// All topics in the order of their names.
pub(crate) fn all() -> Vec<Topic> {
    vec![
        again::topic(),
        apply::topic(),
        browser::topic(),
        evict::topic(),
        exclusive::topic(),
        expiry::topic(),
        fence::topic(),
        guard::topic(),
        indefinite::topic(),
        keep::topic(),
        limits::topic(),
        overlap::topic(),
        shared::topic(),
        takeover::topic(),
        terms::topic(),
        time::topic(),
        transfer::topic(),
    ]
}
