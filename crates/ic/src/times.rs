//! Lengths of time as they are typed and as they are shown.

use holdfast_kernel::Millis;

/// That something is no length of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadTime {
    /// After which flag it was typed.
    pub flag: &'static str,
    pub given: String,
}

/// A length of time that was typed after `flag`: `500ms`, `1s`, `0.5s`, `2m`, `1h`; a bare number is seconds.
///
/// # Errors
/// When it is none.
pub fn parse(flag: &'static str, text: &str) -> Result<Millis, BadTime> {
    const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let bad = || BadTime { flag, given: text.to_owned() };
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split).ok_or_else(bad)?;
    let unit = if unit.is_empty() { "s" } else { unit };
    let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(bad)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let thousandths: u64 =
        format!("{fraction:0<3}").get(..3).and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    let ms = whole.checked_mul(factor).and_then(|ms| ms.checked_add(thousandths * factor / 1_000));
    ms.map(Millis::new).filter(|span| *span <= Millis::LONGEST).ok_or_else(bad)
}

/// An age for people and scripts: whole seconds.
#[must_use]
pub fn age(span: Millis) -> String {
    format!("{}s", span.get() / 1_000)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_length_of_time_is_a_number_and_a_unit() {
        for (text, ms) in [
            ("0", 0),
            ("1", 1_000),
            ("1s", 1_000),
            ("500ms", 500),
            ("0.5s", 500),
            ("1.25s", 1_250),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse("--timeout", text).unwrap().get(), ms, "{text}");
        }
        for text in
            ["", "s", "-1", "1d", "1 s", "1.s.", ".", "1e3", "99999999999999999999", "9999999999h", "١s"]
        {
            assert!(parse("--timeout", text).is_err(), "{text}");
        }
    }
}
