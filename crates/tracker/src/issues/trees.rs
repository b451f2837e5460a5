//! What is remembered of the issues that a commit has: the name of each, and of its directory. Git's own list is compressed
//! and hashed as one piece, and reading it is a quarter of a question about ten thousand issues.
//!
//! A list is of one object of git, which never changes, so it is right for ever or was never made. It can be deleted at any
//! time; one that is not whole, or another's, is not used.

use std::path::PathBuf;

use holdfast_git::ObjectId;

use super::recorder::{CACHES, Recorder};
use crate::committed::Committed;
use crate::durable;
use crate::ids::IssueId;
use crate::session::Session;

/// What the file begins with: its name, and its version.
const MAGIC: &[u8; 8] = b"jittree1";

/// The length of the hash of everything behind it.
const HASH: usize = 32;

/// How many issues are worth it: fewer are read from git in less time than it takes to write them down.
const WORTH: usize = 256;

/// More than any number of issues needs.
const LONGEST: usize = 1 << 30;

/// How many lists are kept: of the commits of some worktrees, and of the target here and at the remote.
const MOST: usize = 8;

/// What the names of lists begin with.
const NAMED: &str = "tree-";

/// The issues of a directory in git, if they are remembered.
pub(super) fn recall(session: &Session, home: &ObjectId) -> Option<Committed> {
    let bytes = durable::read(session.sys(), &place(session, home), LONGEST).ok().flatten()?;
    read(bytes, home)
}

/// The issues of a directory in git, which are in their order, to be remembered if there are many. Nobody waits for that, and
/// nothing is said if it cannot be done. None if git has names of different lengths.
pub(super) fn remember(
    session: &Session,
    home: &ObjectId,
    issues: &[(IssueId, ObjectId)],
) -> Option<Committed> {
    let made = Committed::new(begin(home), home.as_bytes().len(), issues)?;
    // A tree that no git has made may have a name twice.
    let in_order = issues.is_sorted_by(|one, next| one.0 < next.0);
    if issues.len() >= WORTH && in_order {
        let path = place(session, home);
        if let Some(recorder) = Recorder::begin(session, &path) {
            recorder.put(session, file(home, &made));
            tidy(session);
        }
    }
    Some(made)
}

/// Where in the file the issues begin.
fn begin(home: &ObjectId) -> usize {
    MAGIC.len() + HASH + home.as_bytes().len()
}

fn place(session: &Session, home: &ObjectId) -> PathBuf {
    session.control().join(CACHES).join(format!("{NAMED}{home}"))
}

fn file(home: &ObjectId, issues: &Committed) -> Option<Vec<u8>> {
    let mut bytes = issues.bytes().to_vec();
    let (head, rest) = bytes.split_at_mut_checked(MAGIC.len() + HASH)?;
    rest.get_mut(..home.as_bytes().len())?.copy_from_slice(home.as_bytes());
    let (magic, hash) = head.split_at_mut_checked(MAGIC.len())?;
    magic.copy_from_slice(MAGIC);
    hash.copy_from_slice(blake3::hash(rest).as_bytes());
    Some(bytes)
}

/// What a file remembers of a directory in git; none if it is another's, or not whole.
fn read(bytes: Vec<u8>, home: &ObjectId) -> Option<Committed> {
    let (hash, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(HASH)?;
    let is_whole = blake3::hash(rest).as_bytes() == hash && rest.starts_with(home.as_bytes());
    is_whole.then(|| Committed::read(bytes, begin(home), home.as_bytes().len())).flatten()
}

/// Removes the lists that were made longest ago where there are too many.
fn tidy(session: &Session) {
    let (files, above) = (&session.sys().files, session.control().join(CACHES));
    let names = files.list(&above).unwrap_or_default();
    let names = names.iter().filter(|name| name.as_encoded_bytes().starts_with(NAMED.as_bytes()));
    let mut made: Vec<_> = names
        .map(|name| above.join(name))
        .filter_map(|path| Some((files.stat(&path).ok()?.times?.modified, path)))
        .collect();
    made.sort_unstable();
    for (_, path) in made.iter().take(made.len().saturating_sub(MOST)) {
        let _ = files.remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use holdfast_git::ObjectId;
    use holdfast_kernel::LeaseId;
    use proptest::prelude::*;

    use super::{Committed, HASH, MAGIC, begin, file, read};
    use crate::ids::IssueId;

    fn name(byte: u8, width: usize) -> ObjectId {
        ObjectId::from_bytes(&vec![byte; width]).unwrap()
    }

    fn issues(width: usize) -> Vec<(IssueId, ObjectId)> {
        (1..=9).map(|n| (IssueId::new(LeaseId::new(u128::from(n) << 70)), name(n, width))).collect()
    }

    /// The file of a directory that is called so.
    fn made(byte: u8, width: usize, issues: &[(IssueId, ObjectId)]) -> Vec<u8> {
        let home = name(byte, width);
        file(&home, &Committed::new(begin(&home), width, issues).unwrap()).unwrap()
    }

    fn told(bytes: Vec<u8>, home: &ObjectId) -> Option<Vec<(IssueId, ObjectId)>> {
        let read = read(bytes, home)?;
        let mut from = 0;
        Some(read.ids().map(|id| (id, read.tree(id, &mut from).unwrap())).collect())
    }

    #[test]
    fn it_tells_what_was_written_down_of_that_tree_and_of_no_other() {
        for width in [20, 32] {
            let bytes = made(7, width, &issues(width));
            assert_eq!(told(bytes.clone(), &name(7, width)), Some(issues(width)));
            assert_eq!(told(bytes, &name(8, width)), None);
        }
        assert_eq!(told(made(7, 20, &issues(20)), &name(7, 32)), None);
        assert!(Committed::new(0, 32, &issues(20)).is_none());
    }

    #[test]
    fn names_that_are_out_of_order_are_not_believed() {
        let mut turned = issues(20);
        turned.swap(2, 5);
        assert_eq!(told(made(7, 20, &turned), &name(7, 20)), None);
        let doubled = [issues(20), issues(20)].concat();
        assert_eq!(told(made(7, 20, &doubled), &name(7, 20)), None);
    }

    proptest! {
        #[test]
        fn one_that_is_not_whole_is_not_used(at in 0_usize..1_000, flip in 1_u8.., cut: bool) {
            let whole = made(7, 20, &issues(20));
            let at = at % whole.len();
            let mut bytes = whole.clone();
            if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
            prop_assert_eq!(told(bytes, &name(7, 20)), None);
        }

        #[test]
        fn hostile_lines_behind_a_right_hash_do_no_harm(lines: Vec<u8>) {
            let rest = [name(7, 20).as_bytes(), &lines].concat();
            let bytes = [&MAGIC[..], blake3::hash(&rest).as_bytes(), &rest].concat();
            let said = told(bytes.clone(), &name(7, 20));
            prop_assert!(said.is_none_or(|issues| issues.len() * 36 == lines.len()));
            prop_assert_eq!(bytes.len(), MAGIC.len() + HASH + rest.len());
        }
    }
}
