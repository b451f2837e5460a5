//! Dates as the log writes them: `2026-01-03T12:00:00.123Z`, always 24 characters, always UTC.
//!
//! A rebuild reads two of them a record and a million records a second, which is why this fixed form has
//! a reader of its own; the tests compare it with a full date library.

const MS_PER_DAY: u64 = 86_400_000;
const LENGTH: usize = 24;

/// Appends the date of a moment, given in milliseconds since 1970 and before the year 10000.
pub(crate) fn write(out: &mut Vec<u8>, wall_ms: u64) {
    let (year, month, day) = civil(wall_ms / MS_PER_DAY);
    let ms = wall_ms % MS_PER_DAY;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let parts = [
        (0, 4, year),
        (5, 2, month),
        (8, 2, day),
        (11, 2, ms / 3_600_000),
        (14, 2, ms / 60_000 % 60),
        (17, 2, ms / 1_000 % 60),
        (20, 3, ms % 1_000),
    ];
    for (from, width, value) in parts {
        digits(text.get_mut(from..from + width).unwrap_or_default(), value);
    }
    out.extend_from_slice(&text);
}

/// Milliseconds since 1970 of a date in exactly that form; none if it is anything else.
pub(crate) fn read(text: &[u8]) -> Option<u64> {
    let text: &[u8; LENGTH] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|(at, mark)| text.get(*at) != Some(mark)) {
        return None;
    }
    let (year, month, day) = (number(text, 0, 4)?, number(text, 5, 2)?, number(text, 8, 2)?);
    let (hour, minute) = (number(text, 11, 2)?, number(text, 14, 2)?);
    let (second, ms) = (number(text, 17, 2)?, number(text, 20, 3)?);
    if year < 1970 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day)?;
    Some(days * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + ms)
}

fn digits(text: &mut [u8], value: u64) {
    let mut rest = value;
    for digit in text.iter_mut().rev() {
        (*digit, rest) = (b'0' + u8::try_from(rest % 10).unwrap_or(0), rest / 10);
    }
}

fn number(text: &[u8], from: usize, width: usize) -> Option<u64> {
    text.get(from..from + width)?.iter().try_fold(0, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value * 10 + u64::from(digit))
    })
}

/// Days since 1970 of a date, none if there is no such day. Years are counted from March, so that the
/// leap day is the last one of a year, and the months before it follow a pattern of 153 days in five.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u64::from(leap),
        _ => return None,
    };
    if day == 0 || day > longest {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_TO_1970)
}

/// The days from the first of March of year 0 to the first of January 1970.
const DAYS_TO_1970: u64 = 719_468;

fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{MS_PER_DAY, read, write};

    fn written(ms: u64) -> String {
        let mut out = Vec::new();
        write(&mut out, ms);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_day_until_9999_reads_back_and_agrees_with_a_date_library() {
        for day in 0..2_932_896 {
            let ms = day * MS_PER_DAY + (day * 7_919_123) % MS_PER_DAY;
            let text = written(ms);
            assert_eq!(read(text.as_bytes()), Some(ms), "{text}");
            if day % 97 == 0 {
                let theirs = jiff::Timestamp::from_millisecond(ms.cast_signed()).unwrap();
                assert_eq!(text, format!("{theirs:.3}"));
            }
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2026-01-03T12:00:00Z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-00-01T00:00:00.000Z",
            "2026-04-31T00:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:60:00.000Z",
            "2026-01-01T00:00:60.000Z",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01T00:00:00.000z",
            "2026-01-0/T00:00:00.000Z",
            "2026-01-00T00:00:00.000Z",
            "٢٠٢٦-01-01T00:00:00.0Z",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
