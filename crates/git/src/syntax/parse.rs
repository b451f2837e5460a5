//! The syntax of a git configuration file: sections, keys, values, quotes, continuations and comments.
//! It knows no file and no meaning; a file that it refuses is one that git refuses.

/// One assignment.
pub(crate) struct Assignment {
    /// `section.name` or `section.subsection.name`: the section and the name in lower case, the subsection
    /// as written.
    pub(crate) key: Vec<u8>,
    /// None for a name without `=`, which means true.
    pub(crate) value: Option<Vec<u8>>,
    /// The line it stands in.
    pub(crate) line: u32,
}

/// The line at which a file stops being a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BadLine(pub(crate) u32);

/// The assignments in `bytes`, in their order.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Assignment>, BadLine> {
    let mut text = Text { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), line: 1 };
    let mut section = Vec::new();
    let mut found = Vec::new();
    loop {
        let line = text.line;
        match text.next() {
            None => return Ok(found),
            Some(b'\n' | b' ' | b'\t' | b'\r') => {}
            Some(b'#' | b';') => text.skip_line(),
            Some(b'[') => section = text.section().ok_or(BadLine(line))?,
            Some(byte) if byte.is_ascii_alphabetic() => {
                let mut key = section.clone();
                key.push(byte.to_ascii_lowercase());
                let value = text.assignment(&mut key).ok_or(BadLine(line))?;
                found.push(Assignment { key, value, line });
            }
            Some(_) => return Err(BadLine(line)),
        }
    }
}

struct Text<'a> {
    rest: &'a [u8],
    line: u32,
}

impl Text<'_> {
    /// The next byte; the end of a DOS line counts as the end of a line.
    fn next(&mut self) -> Option<u8> {
        if let [b'\r', b'\n', ..] = self.rest {
            self.rest = self.rest.get(1..)?;
        }
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.line = self.line.saturating_add(u32::from(*byte == b'\n'));
        Some(*byte)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// The rest of `[section]` or `[section "subsection"]`, with the dot that follows it.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        loop {
            match self.next()? {
                b']' => break,
                b' ' | b'\t' | b'\r' => {
                    self.subsection(&mut key)?;
                    break;
                }
                byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                    key.push(byte.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        if key.is_empty() {
            return None;
        }
        key.push(b'.');
        Some(key)
    }

    fn subsection(&mut self, key: &mut Vec<u8>) -> Option<()> {
        let mut byte = self.next()?;
        while matches!(byte, b' ' | b'\t' | b'\r') {
            byte = self.next()?;
        }
        if byte != b'"' {
            return None;
        }
        key.push(b'.');
        loop {
            let byte = match self.next()? {
                b'"' => break,
                b'\\' => self.next()?,
                byte => byte,
            };
            if byte == b'\n' {
                return None;
            }
            key.push(byte);
        }
        (self.next()? == b']').then_some(())
    }

    /// The rest of a name, and the value if one is given.
    fn assignment(&mut self, key: &mut Vec<u8>) -> Option<Option<Vec<u8>>> {
        let mut byte = self.next().unwrap_or(b'\n');
        while byte.is_ascii_alphanumeric() || byte == b'-' {
            key.push(byte.to_ascii_lowercase());
            byte = self.next().unwrap_or(b'\n');
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next().unwrap_or(b'\n');
        }
        match byte {
            b'\n' => Some(None),
            b'=' => self.value().map(Some),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut quoted = false;
        // Where the value ends if only white space and a comment follow.
        let mut end = 0;
        loop {
            match self.next().unwrap_or(b'\n') {
                b'\n' if quoted => return None,
                b'\n' => break,
                b' ' | b'\t' | b'\r' if !quoted && value.is_empty() => continue,
                byte @ (b' ' | b'\t' | b'\r') if !quoted => {
                    value.push(byte);
                    continue;
                }
                b'#' | b';' if !quoted => {
                    self.skip_line();
                    break;
                }
                b'"' => quoted = !quoted,
                b'\\' => value.extend(escaped(self.next().unwrap_or(b'\n'))?),
                byte => value.push(byte),
            }
            end = value.len();
        }
        value.truncate(end);
        Some(value)
    }
}

/// What a backslash and this byte stand for: nothing for the end of a line, which it continues.
fn escaped(byte: u8) -> Option<Option<u8>> {
    match byte {
        b'\n' => Some(None),
        b't' => Some(Some(b'\t')),
        b'b' => Some(Some(0x08)),
        b'n' => Some(Some(b'\n')),
        b'\\' | b'"' => Some(Some(byte)),
        _ => None,
    }
}
