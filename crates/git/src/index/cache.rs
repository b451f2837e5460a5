//! The trees that the index remembers: of every directory in which nothing changed since its tree was
//! written. Before a commit git brings them up to date, so one comparison says that a directory is as it was.

use std::collections::BTreeMap;

use super::is_below;
use crate::ObjectId;

/// Directories on the way down that still have some to come.
struct Open {
    path: Vec<u8>,
    left: usize,
}

/// The trees of `prefix` and of what is below it; none if these bytes are no such list.
pub(super) fn parse(mut bytes: &[u8], prefix: &[u8]) -> Option<BTreeMap<Vec<u8>, ObjectId>> {
    let mut trees = BTreeMap::new();
    let mut open: Vec<Open> = Vec::new();
    while !bytes.is_empty() {
        let name = until(&mut bytes, 0)?;
        let count = until(&mut bytes, b' ')?;
        let below: usize = text(until(&mut bytes, b'\n')?)?;
        let path = match open.last_mut() {
            Some(Open { path, left }) => {
                *left = left.checked_sub(1)?;
                if path.is_empty() { name.to_vec() } else { [&path[..], b"/", name].concat() }
            }
            None => name.to_vec(),
        };
        // A negative count marks a directory in which something changed.
        if text::<i64>(count)? >= 0 {
            let (id, rest) = bytes.split_at_checked(20)?;
            bytes = rest;
            if is_below(&path, prefix) {
                trees.insert(path.clone(), ObjectId::from_bytes(id)?);
            }
        }
        open.push(Open { path, left: below });
        while open.last().is_some_and(|open| open.left == 0) {
            open.pop();
        }
    }
    Some(trees)
}

fn until<'a>(bytes: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = bytes.iter().position(|byte| *byte == end)?;
    let (taken, rest) = (bytes.get(..at)?, bytes.get(at + 1..)?);
    *bytes = rest;
    Some(taken)
}

fn text<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
