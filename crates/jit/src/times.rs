//! Moments and spans as people and programs read them.

use holdfast_kernel::Millis;
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

#[cfg(test)]
mod tests {
    use super::{rfc3339, span};
    use holdfast_kernel::{Millis, Stamp};

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
