//! What the text of a configuration value means.

/// A truth value as git writes it; none if the text is not one. A key without a value is true.
pub(crate) fn parse_bool(text: Option<&[u8]>) -> Option<bool> {
    let Some(text) = text else { return Some(true) };
    let is = |word: &&str| text.eq_ignore_ascii_case(word.as_bytes());
    if ["true", "yes", "on"].iter().any(is) {
        return Some(true);
    }
    if ["", "false", "no", "off"].iter().any(is) {
        return Some(false);
    }
    parse_int(text).map(|number| number != 0)
}

/// A number as git writes it: decimal, octal or hexadecimal, with `k`, `m` or `g` for its multiples.
pub(crate) fn parse_int(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_start_matches([' ', '\t', '\n', '\r']);
    let (digits, factor) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (text.get(..text.len() - 1)?, 1 << 10),
        b'm' => (text.get(..text.len() - 1)?, 1 << 20),
        b'g' => (text.get(..text.len() - 1)?, 1 << 30),
        _ => (text, 1),
    };
    signed(digits)?.checked_mul(factor)
}

fn signed(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let number = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(hex), _) => i64::from_str_radix(hex, 16),
        (None, Some("")) => Ok(0),
        (None, Some(octal)) => i64::from_str_radix(octal, 8),
        (None, None) => lower.parse(),
    };
    number.ok()?.checked_mul(sign)
}

#[cfg(test)]
mod tests {
    use super::{parse_bool, parse_int};

    #[test]
    fn numbers() {
        let known = [
            ("0", 0),
            ("1", 1),
            ("-1", -1),
            ("+7", 7),
            ("010", 8),
            ("0x1F", 31),
            ("2k", 2048),
            ("1G", 1 << 30),
        ];
        for (text, number) in known {
            assert_eq!(parse_int(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["", "x", "1x", "k", "--1", "99999999999999999999", "0x", "1 "] {
            assert_eq!(parse_int(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn truth() {
        for text in ["true", "YES", "on", "1", "-1", "0x2"] {
            assert_eq!(parse_bool(Some(text.as_bytes())), Some(true), "{text}");
        }
        for text in ["", "false", "No", "OFF", "0"] {
            assert_eq!(parse_bool(Some(text.as_bytes())), Some(false), "{text}");
        }
        assert_eq!(parse_bool(None), Some(true));
        assert_eq!(parse_bool(Some(b"perhaps")), None);
    }
}
