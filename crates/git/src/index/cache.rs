//! The trees that the index remembers: of every directory in which nothing changed since its tree was
//! written. Before a commit git brings them up to date, so one comparison says that a directory is as it was.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::is_below;
use crate::ObjectId;

/// A directory on the way down: how long its path is, and how many directories in it are still to come.
struct Open {
    len: usize,
    left: usize,
}

/// The trees of `prefix` and of what is below it; none if these bytes are no such list.
pub(super) fn parse(bytes: &[u8], prefix: &[u8]) -> Option<BTreeMap<Vec<u8>, ObjectId>> {
    let mut trees = BTreeMap::new();
    walk(bytes, |path, id| {
        if is_below(path, prefix) {
            trees.insert(path.to_vec(), id);
        }
        ControlFlow::Continue(())
    })?;
    Some(trees)
}

/// The tree of the directory `prefix`, if nothing in it changed.
pub(super) fn find(bytes: &[u8], prefix: &[u8]) -> Option<ObjectId> {
    let mut found = None;
    walk(bytes, |path, id| {
        if path != prefix {
            return ControlFlow::Continue(());
        }
        found = Some(id);
        ControlFlow::Break(())
    })?;
    found
}

/// Shows every directory whose tree is known; none if these bytes are no such list.
fn walk(mut bytes: &[u8], mut show: impl FnMut(&[u8], ObjectId) -> ControlFlow<()>) -> Option<()> {
    let mut path = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    while !bytes.is_empty() {
        let name = until(&mut bytes, 0)?;
        let count = until(&mut bytes, b' ')?;
        let below: usize = text(until(&mut bytes, b'\n')?)?;
        if let Some(Open { len, left }) = open.last_mut() {
            *left = left.checked_sub(1)?;
            path.truncate(*len);
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name);
        // A negative count marks a directory in which something changed.
        if text::<i64>(count)? >= 0 {
            let (id, rest) = bytes.split_at_checked(20)?;
            bytes = rest;
            if show(&path, ObjectId::from_bytes(id)?).is_break() {
                return Some(());
            }
        }
        open.push(Open { len: path.len(), left: below });
        while open.last().is_some_and(|open| open.left == 0) {
            open.pop();
        }
    }
    Some(())
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
