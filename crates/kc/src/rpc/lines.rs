//! One request per line in, one reply per line out, in order. A line that never ends is bounded and refused, and
//! the next one is served all the same.

use std::io::{self, BufRead, Write};

use holdfast_door::Clean;
use serde::Deserialize as _;

use super::{Reply, answer};
use crate::error::Error;
use crate::medium::Database;
use crate::undelivered::give_back;
use crate::wire::Lease;

/// The longest line that is read: several times what the largest request needs.
pub const LONGEST_LINE: usize = 64 * 1_024;

/// Why requests are not served any more.
#[derive(Debug)]
pub struct Unserved {
    /// What failed.
    pub why: io::Error,
    /// What became of the lease whose token was in the reply that could not be written.
    pub lease: Option<String>,
}

impl From<io::Error> for Unserved {
    fn from(why: io::Error) -> Self {
        Self { why, lease: None }
    }
}

/// Serves requests until the input ends.
///
/// # Errors
/// When the input cannot be read or the output not be written. A lease that was to be answered then is given back.
pub fn serve(conn: &mut Database, mut input: impl BufRead, mut out: impl Write) -> Result<(), Unserved> {
    let mut line = Vec::new();
    while let Some(whole) = next(&mut input, &mut line)? {
        let reply = if whole { answer(conn, &line) } else { too_long() };
        if let Err(why) = writeln!(out, "{}", Clean::json(&reply)).and_then(|()| out.flush()) {
            return Err(Unserved { why, lease: undelivered(conn, &reply) });
        }
    }
    Ok(())
}

/// Gives the lease back that a reply has, if it has one; says what came of that.
fn undelivered(conn: &mut Database, reply: &Reply) -> Option<String> {
    let Reply::Data { data, .. } = reply else { return None };
    let lease = data.get("lease")?;
    Some(match Lease::deserialize(lease) {
        Ok(lease) => give_back(conn, &lease),
        Err(error) => format!("the lease could not be given back: {error}"),
    })
}

/// Reads the next line into `line`, without its end. Says whether it is whole, or too long and left out; none
/// at the end of the input.
fn next(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let (mut whole, mut any) = (true, false);
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(any.then_some(whole));
        }
        any = true;
        let piece = buffer.split(|byte| *byte == b'\n').next().unwrap_or(buffer);
        let ended = piece.len() < buffer.len();
        whole = whole && line.len() + piece.len() <= LONGEST_LINE;
        if whole {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(ended);
        input.consume(used);
        if ended {
            return Ok(Some(whole));
        }
    }
}

fn too_long() -> Reply {
    Reply::of(&Err(Error::Request(format!("the line is longer than {LONGEST_LINE} bytes"))))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{LONGEST_LINE, next};

    fn lines(input: &[u8], buffer: usize) -> Vec<(bool, usize)> {
        let mut input = BufReader::with_capacity(buffer, input);
        let (mut line, mut found) = (Vec::new(), Vec::new());
        while let Some(whole) = next(&mut input, &mut line).unwrap() {
            found.push((whole, line.len()));
        }
        found
    }

    #[test]
    fn lines_are_cut_at_their_ends_whatever_the_buffer() {
        for buffer in [1, 2, 3, 7, 8_192] {
            assert_eq!(lines(b"", buffer), []);
            assert_eq!(lines(b"\n", buffer), [(true, 0)]);
            assert_eq!(lines(b"abc\nde\n\nf", buffer), [(true, 3), (true, 2), (true, 0), (true, 1)]);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let mut input = vec![b'x'; LONGEST_LINE];
        input.extend(b"\n");
        input.extend(vec![b'x'; 3 * LONGEST_LINE]);
        input.extend(b"\nabc\n");
        for buffer in [100, 8_192, 1 << 20] {
            let found = lines(&input, buffer);
            assert_eq!((found[0], found[2]), ((true, LONGEST_LINE), (true, 3)));
            assert!(!found[1].0 && found[1].1 <= LONGEST_LINE);
        }
    }
}
