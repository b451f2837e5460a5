//! Moments and spans as people and programs read them.

use holdfast_kernel::{Millis, Stamp};
pub use holdfast_store::rfc3339;

/// A span in the two units that matter.
#[must_use]
pub fn span(span: Millis) -> String {
    let secs = span.get() / 1_000;
    match secs {
        0 if span > Millis::ZERO => format!("{}ms", span.get()),
        0..60 => format!("{secs}s"),
        60..3_600 => format!("{}m {:02}s", secs / 60, secs % 60),
        3_600..86_400 => format!("{}h {:02}m", secs / 3_600, secs % 3_600 / 60),
        _ => format!("{}d {:02}h", secs / 86_400, secs % 86_400 / 3_600),
    }
}

/// The moment `now`, or the first one after `before` where a clock was ahead once: of two copies the later one counts,
/// so what replaces one must be later.
#[must_use]
pub fn after(before: &str, now: &str) -> String {
    let moment = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let next = moment(before).and_then(|before| before.as_millisecond().checked_add(1));
    let ahead = next.filter(|next| moment(now).is_some_and(|now| now.as_millisecond() < *next));
    match ahead.and_then(|next| Stamp::new(next, None).ok()) {
        Some(next) => rfc3339(&next),
        None => now.to_owned(),
    }
}

/// A moment in milliseconds since 1970, if the text is one.
#[must_use]
pub fn millis(moment: &str) -> Option<u64> {
    u64::try_from(moment.parse::<jiff::Timestamp>().ok()?.as_millisecond()).ok()
}

/// How long ago a moment was, in the one unit that matters; the text itself if it is no moment.
#[must_use]
pub fn ago(moment: &str, now: &Stamp) -> String {
    let Ok(then) = moment.parse::<jiff::Timestamp>() else { return moment.to_owned() };
    let now = i64::try_from(now.wall_ms()).unwrap_or(i64::MAX);
    let secs = now.saturating_sub(then.as_millisecond()) / 1_000;
    match secs {
        ..-60 => "in the future".to_owned(),
        -60..60 => "just now".to_owned(),
        60..3_600 => format!("{}m ago", secs / 60),
        3_600..86_400 => format!("{}h ago", secs / 3_600),
        86_400..5_184_000 => format!("{}d ago", secs / 86_400),
        5_184_000..63_072_000 => format!("{}mo ago", secs / 2_592_000),
        _ => format!("{}y ago", secs / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{after, ago, rfc3339, span};
    use holdfast_kernel::{Millis, Stamp};

    #[test]
    fn what_was_is_told_in_one_unit() {
        let now = Stamp::new(1_800_000_000_000, None).unwrap();
        let texts = [-70_000, 0, 59_000, 61_000, 7_200_000, 172_800_000, 7_776_000_000, 94_608_000_000]
            .map(|ms| ago(&rfc3339(&Stamp::new(1_800_000_000_000 - ms, None).unwrap()), &now));
        assert_eq!(
            texts,
            ["in the future", "just now", "just now", "1m ago", "2h ago", "2d ago", "3mo ago", "3y ago"]
        );
        assert_eq!(ago("yesterday", &now), "yesterday");
    }

    #[test]
    fn what_replaces_something_is_later() {
        let now = "2026-01-01T00:00:00.000Z";
        for (before, then) in [
            ("2025-12-31T23:59:59.999Z", now),
            (now, "2026-01-01T00:00:00.001Z"),
            ("2031-05-05T05:05:05.005Z", "2031-05-05T05:05:05.006Z"),
            ("9999-12-31T23:59:59.999Z", now),
            ("yesterday", now),
        ] {
            assert_eq!(after(before, now), then, "{before}");
        }
    }

    #[test]
    fn spans_have_at_most_two_units() {
        let texts = [0, 7, 59_999, 61_000, 3_660_000, 90_000_000].map(|ms| span(Millis::new(ms)));
        assert_eq!(texts, ["0s", "7ms", "59s", "1m 01s", "1h 01m", "1d 01h"]);
    }

    #[test]
    fn the_first_and_the_last_moment_can_be_written() {
        assert_eq!(rfc3339(&Stamp::new(0, None).unwrap()), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(&Stamp::new(253_402_300_799_999, None).unwrap()), "9999-12-31T23:59:59.999Z");
    }
}
