//! How far the local time is from UTC, as the C library that git is built on tells it. Where it is not plain which rules
//! it goes by, nothing is said.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use holdfast_sys::Files;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::{Environment, paths};

/// The rules where nobody names others.
const LOCAL: &str = "/etc/localtime";

/// Where those are that have names.
const NAMED: &str = "/usr/share/zoneinfo";

/// More than the rules of any place.
const LONGEST: usize = 1 << 20;

/// How many minutes the local time is ahead of UTC at a moment in seconds since 1970; none if only git can tell.
pub(crate) fn offset(files: &dyn Files, env: &Environment, seconds: i64) -> Option<i32> {
    let rules = match env.time_zone.as_ref().map(|name| name.as_bytes()) {
        None => paths::read_if_there(files, Path::new(LOCAL), LONGEST).ok()?,
        Some(b"" | b"UTC" | b"UTC0") => None,
        Some(name) if is_plain(name) && env.time_zones.is_none() => {
            let path = Path::new(NAMED).join(paths::from_bytes(name));
            Some(paths::read(files, &path, LONGEST).ok()?)
        }
        Some(_) => return None,
    };
    // Without rules it is UTC.
    let Some(rules) = rules else { return Some(0) };
    let zone = TimeZone::tzif("local", &rules).ok()?;
    Some(zone.to_offset(Timestamp::from_second(seconds).ok()?).seconds() / 60)
}

/// Whether this is the name of a place, `Europe/Berlin`, and neither a path nor a rule.
fn is_plain(name: &[u8]) -> bool {
    let is_part = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic)
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
    };
    name.contains(&b'/') && name.split(|byte| *byte == b'/').all(is_part)
}
