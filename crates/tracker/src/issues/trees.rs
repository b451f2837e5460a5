//! What is remembered of the issues that a commit has: the name of each, and of its directory. Git's own list is compressed
//! and hashed as one piece, and reading it is a quarter of a question about ten thousand issues.
//!
//! A list is of one object of git, which never changes, so it is right for ever or was never made. It can be deleted at any
//! time; one that is not whole, or another's, is not used.

use std::path::PathBuf;

use holdfast_git::ObjectId;
use holdfast_kernel::LeaseId;

use super::recorder::{CACHES, Recorder};
use crate::durable;
use crate::ids::IssueId;
use crate::session::{Committed, Session};

/// What the file begins with: its name, and its version.
const MAGIC: &[u8; 8] = b"jittree1";

/// The length of the hash of everything behind it.
const HASH: usize = 32;

/// The length of an id.
const ID: usize = 16;

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
    read(&bytes, home)
}

/// Remembers the issues of a directory in git, which are in their order. Nobody waits for it, and nothing is said if it
/// cannot be done.
pub(super) fn remember(session: &Session, home: &ObjectId, issues: &[(IssueId, ObjectId)]) {
    // A tree that no git has made may have a name twice.
    if issues.len() < WORTH || !in_order(issues) {
        return;
    }
    let path = place(session, home);
    if let Some(recorder) = Recorder::begin(session, &path) {
        recorder.put(session, file(home, issues));
        tidy(session);
    }
}

fn place(session: &Session, home: &ObjectId) -> PathBuf {
    session.control().join(CACHES).join(format!("{NAMED}{home}"))
}

fn file(home: &ObjectId, issues: &[(IssueId, ObjectId)]) -> Option<Vec<u8>> {
    let width = home.as_bytes().len();
    let mut bytes = Vec::with_capacity(MAGIC.len() + HASH + (issues.len() + 1) * (ID + width));
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; HASH]);
    bytes.extend_from_slice(home.as_bytes());
    for (id, tree) in issues {
        bytes.extend_from_slice(&id.bits().to_le_bytes());
        bytes.extend_from_slice(tree.as_bytes());
    }
    let (head, rest) = bytes.split_at_mut_checked(MAGIC.len() + HASH)?;
    head.get_mut(MAGIC.len()..)?.copy_from_slice(blake3::hash(rest).as_bytes());
    Some(bytes)
}

/// What a file remembers of a directory in git; none if it is another's, or not whole.
fn read(bytes: &[u8], home: &ObjectId) -> Option<Committed> {
    let (hash, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(HASH)?;
    if blake3::hash(rest).as_bytes() != hash {
        return None;
    }
    let lines = rest.strip_prefix(home.as_bytes())?;
    let lines = lines.chunks(ID + home.as_bytes().len()).map(|line| {
        let (id, tree) = line.split_at_checked(ID)?;
        let id = u128::from_le_bytes(id.try_into().ok()?);
        Some((IssueId::new(LeaseId::new(id)), ObjectId::from_bytes(tree)?))
    });
    let issues: Committed = lines.collect::<Option<_>>()?;
    in_order(&issues).then_some(issues)
}

fn in_order(issues: &[(IssueId, ObjectId)]) -> bool {
    issues.is_sorted_by(|one, next| one.0 < next.0)
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

    use super::{HASH, MAGIC, file, read};
    use crate::ids::IssueId;

    fn name(byte: u8, width: usize) -> ObjectId {
        ObjectId::from_bytes(&vec![byte; width]).unwrap()
    }

    fn issues(width: usize) -> Vec<(IssueId, ObjectId)> {
        (1..=9).map(|n| (IssueId::new(LeaseId::new(u128::from(n) << 70)), name(n, width))).collect()
    }

    #[test]
    fn it_tells_what_was_written_down_of_that_tree_and_of_no_other() {
        for width in [20, 32] {
            let bytes = file(&name(7, width), &issues(width)).unwrap();
            assert_eq!(read(&bytes, &name(7, width)).unwrap().to_vec(), issues(width));
            assert_eq!(read(&bytes, &name(8, width)), None);
        }
        let bytes = file(&name(7, 20), &issues(20)).unwrap();
        assert_eq!(read(&bytes, &name(7, 32)), None);
    }

    #[test]
    fn names_that_are_out_of_order_are_not_believed() {
        let mut turned = issues(20);
        turned.swap(2, 5);
        assert_eq!(read(&file(&name(7, 20), &turned).unwrap(), &name(7, 20)), None);
        let doubled = [issues(20), issues(20)].concat();
        assert_eq!(read(&file(&name(7, 20), &doubled).unwrap(), &name(7, 20)), None);
    }

    proptest! {
        #[test]
        fn one_that_is_not_whole_is_not_used(at in 0_usize..1_000, flip in 1_u8.., cut: bool) {
            let whole = file(&name(7, 20), &issues(20)).unwrap();
            let at = at % whole.len();
            let mut bytes = whole.clone();
            if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
            prop_assert_eq!(read(&bytes, &name(7, 20)), None);
        }

        #[test]
        fn hostile_lines_behind_a_right_hash_do_no_harm(rest: Vec<u8>) {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(blake3::hash(&rest).as_bytes());
            bytes.extend_from_slice(&rest);
            let said = read(&bytes, &name(7, 20));
            prop_assert!(said.is_none_or(|issues| issues.len() * 36 + 20 == rest.len()));
            prop_assert_eq!(bytes.len(), MAGIC.len() + HASH + rest.len());
        }
    }
}
