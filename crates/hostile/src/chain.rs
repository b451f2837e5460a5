//! The hash chain of a log, written a second time from `spec/log-format.md`. Without it hardly any input
//! would get past the first hash; with it the fuzzer reaches what a hostile but diligent forger reaches.

const OPENING: &[u8] = b",\"hash\":\"";
const CLOSING: &[u8] = b"\"}";

/// How much of a line is put right before it is fed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Forgery {
    /// Nothing: the bytes are the file.
    None,
    /// The hashes.
    Sealed,
    /// The hashes and the sequence numbers.
    Numbered,
}

impl Forgery {
    /// The first byte of an input chooses; the rest is the file.
    #[must_use]
    pub(crate) fn chosen(input: &[u8]) -> (Self, &[u8]) {
        match input.split_first() {
            Some((b's', rest)) => (Self::Sealed, rest),
            Some((b'n', rest)) => (Self::Numbered, rest),
            Some((_, rest)) => (Self::None, rest),
            None => (Self::None, input),
        }
    }

    /// The file that is made of `bytes`.
    #[must_use]
    pub(crate) fn forge(self, bytes: &[u8]) -> Vec<u8> {
        if self == Self::None {
            return bytes.to_vec();
        }
        let mut file = Vec::with_capacity(bytes.len() + 256);
        let mut link = None;
        let mut number = None;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else {
                file.extend_from_slice(line);
                break;
            };
            let mut body = unsealed(line).to_vec();
            if self == Self::Numbered {
                number = renumber(&mut body, number);
            }
            let before = link.unwrap_or_else(|| previous(&body));
            link = Some(seal(&mut file, &body, before));
        }
        file
    }
}

/// The hash of a line is that of the hash before it and of its own body.
fn seal(file: &mut Vec<u8>, body: &[u8], before: [u8; 16]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before);
    hasher.update(body);
    let mut link = [0; 16];
    hasher.finalize_xof().fill(&mut link);
    file.extend_from_slice(body);
    file.extend_from_slice(OPENING);
    file.extend(link.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
    file.extend_from_slice(CLOSING);
    file.push(b'\n');
    link
}

/// The body of a line, without the hash that it may have and without its closing brace.
fn unsealed(line: &[u8]) -> &[u8] {
    let hash = line.len().checked_sub(OPENING.len() + 32 + CLOSING.len());
    match hash.and_then(|at| line.split_at_checked(at)) {
        Some((body, hash)) if hash.starts_with(OPENING) && hash.ends_with(CLOSING) => body,
        _ => line.strip_suffix(b"}").unwrap_or(line),
    }
}

/// What the first line says it follows.
fn previous(body: &[u8]) -> [u8; 16] {
    let digits = after(body, b"\"previous\":\"").and_then(|at| body.get(at..at + 32));
    let hex = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    hex.and_then(|hex| u128::from_str_radix(hex, 16).ok()).unwrap_or_default().to_be_bytes()
}

/// Gives a line the number after `last`; the first keeps its own. Says which number it has.
fn renumber(body: &mut Vec<u8>, last: Option<u64>) -> Option<u64> {
    let start = after(body, b"\"sequence\":")?;
    let digits = body.iter().skip(start).take_while(|byte| byte.is_ascii_digit()).count();
    let own = std::str::from_utf8(body.get(start..start + digits)?).ok()?.parse().ok();
    let number = last.map_or(own, |last: u64| last.checked_add(1))?;
    body.splice(start..start + digits, number.to_string().into_bytes());
    Some(number)
}

/// Where the bytes behind `key` begin.
fn after(body: &[u8], key: &[u8]) -> Option<usize> {
    body.windows(key.len()).position(|window| window == key).map(|at| at + key.len())
}
