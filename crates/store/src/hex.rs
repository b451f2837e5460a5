//! Numbers as 32 lower-case hex digits, as hashes and ids of boots are written. There are some hundred of them in each index.

/// How many digits a number has.
pub(crate) const DIGITS: usize = 32;

/// The digits of a number.
pub(crate) fn digits(number: u128) -> [u8; DIGITS] {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    let mut digits = [0; DIGITS];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(number.to_be_bytes()) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
    }
    digits
}

/// The number that such digits stand for; none if they are anything else.
pub(crate) fn number(text: &[u8]) -> Option<u128> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    // In two halves, because arithmetic on all of it takes twice as long.
    let half = |digits: &[u8]| {
        digits.iter().try_fold(0_u64, |number, digit| Some(number << 4 | u64::from(value(*digit)?)))
    };
    let text: &[u8; DIGITS] = text.try_into().ok()?;
    let (high, low) = text.split_at(DIGITS / 2);
    Some(u128::from(half(high)?) << 64 | u128::from(half(low)?))
}

#[cfg(test)]
mod tests {
    use super::{DIGITS, digits, number};

    #[test]
    fn what_was_written_is_what_everybody_else_writes_and_reads_back() {
        for known in [0, 9, 0xa, 0xf0, u128::MAX, 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210] {
            let text = format!("{known:032x}");
            assert_eq!(digits(known), *text.as_bytes());
            assert_eq!(number(text.as_bytes()), Some(known));
        }
    }

    #[test]
    fn anything_but_exactly_32_digits_is_no_number() {
        for text in ["", "0", &"0".repeat(DIGITS - 1), &"0".repeat(DIGITS + 1), &format!("+{:031}", 1)] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        for byte in 0..=u8::MAX {
            let is_digit = b"0123456789abcdef".contains(&byte);
            for at in [0, DIGITS / 2 - 1, DIGITS / 2, DIGITS - 1] {
                let mut text = [b'0'; DIGITS];
                text[at] = byte;
                assert_eq!(number(&text).is_some(), is_digit, "{byte} at {at}");
            }
        }
    }
}
