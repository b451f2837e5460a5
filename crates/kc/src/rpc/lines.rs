//! One request a line in, one reply a line out, in order. A line that never ends is bounded and refused, and
//! the next one is served all the same.

use std::io::{self, BufRead, Write};

use holdfast_door::Clean;

use super::{Reply, answer};
use crate::error::Error;
use crate::medium::Database;

/// The longest line that is read: several times what the largest request needs.
pub const LONGEST_LINE: usize = 64 * 1_024;

/// Serves requests until the input ends.
///
/// # Errors
/// When the input cannot be read or the output not be written.
pub fn serve(conn: &mut Database, mut input: impl BufRead, mut out: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while let Some(whole) = next(&mut input, &mut line)? {
        let reply = if whole { answer(conn, &line) } else { too_long() };
        writeln!(out, "{}", Clean::json(&reply))?;
        out.flush()?;
    }
    Ok(())
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
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        whole = whole && line.len() + piece.len() <= LONGEST_LINE;
        if whole {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
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
