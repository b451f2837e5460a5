//! Claims that nobody will come back for: the worktree that they were made in is gone.
//!
//! A worktree is gone when git does not know it any more. A path that is not there says nothing: a disk may not be
//! mounted, a directory may be about to be moved.

use holdfast_kernel::{Lease, Text};

use crate::claims::lease::is_record;
use crate::worktree::{self, Entry};

/// Whether the worktree of the holder of a lease is gone, by all `worktrees` that git knows. If they are not known,
/// nothing is.
#[must_use]
pub fn is_gone(lease: &Lease, worktrees: &[Entry]) -> bool {
    // What is only on record is held in no worktree.
    if is_record(lease) {
        return false;
    }
    let place = lease.holder.place.as_str();
    // Whether a worktree of another clone is there cannot be seen from here.
    let clone = worktree::split(place).1;
    if clone.is_some() && worktrees.iter().all(|entry| entry.clone.as_deref() != clone) {
        return false;
    }
    let branch = lease.tags.get("branch").map(Text::as_str);
    // One that does not tell its identity may be the one.
    let may_be = |entry: &Entry| match &entry.worktree_id {
        Some(_) => entry.is_place(place),
        None => entry.gone || entry.branch.as_deref() == branch,
    };
    !worktrees.is_empty() && !worktrees.iter().any(may_be)
}

#[cfg(test)]
mod tests {
    use holdfast_kernel::{Fence, Holder, LeaseId, Millis, Mode, Name, Stamp, Tags, Term};

    use super::*;

    fn lease() -> Lease {
        let now = Stamp::new(0, None).unwrap();
        Lease {
            id: LeaseId::new(1),
            resource: Name::new("issue").unwrap().into(),
            holder: Holder { agent: Name::new("agent:a").unwrap(), place: Name::new("wt:00000001").unwrap() },
            mode: Mode::Exclusive,
            fence: Fence::FIRST,
            granted: now,
            term: Term::Finite { ttl: Millis::from_secs(1), from: now },
            skew: Millis::ZERO,
            grace: Millis::ZERO,
            reason: None,
            tags: Tags::none().with("branch", Text::new("side").unwrap()).unwrap(),
        }
    }

    fn entry(id: Option<&str>, branch: &str, gone: bool) -> Entry {
        Entry {
            worktree_id: id.map(ToOwned::to_owned),
            agent: None,
            path: String::new(),
            root: "/".into(),
            branch: Some(branch.to_owned()),
            main: false,
            current: false,
            gone,
            unfinished: false,
            clone: None,
        }
    }

    #[test]
    fn a_worktree_is_gone_once_git_does_not_know_it() {
        let main = || entry(Some("wt:00000002"), "main", false);
        assert!(is_gone(&lease(), &[main()]));
        assert!(!is_gone(&lease(), &[]), "nobody could look");
        assert!(!is_gone(&lease(), &[main(), entry(Some("wt:00000001"), "side", false)]));
        assert!(is_gone(&lease(), &[main(), entry(None, "other", false)]), "one that was never used");
        assert!(!is_gone(&lease(), &[main(), entry(None, "other", true)]), "its path is not there");
        assert!(!is_gone(&lease(), &[main(), entry(None, "side", false)]), "its identity was removed");
    }

    #[test]
    fn a_worktree_of_another_clone_is_not_judged() {
        let of = |clone: &str| {
            let place = Name::new(&worktree::place_in("wt:00000001", clone)).unwrap();
            Lease { holder: Holder { place, ..lease().holder }, ..lease() }
        };
        let here = |id: &str| Entry { clone: Some("aaaa".into()), ..entry(Some(id), "main", false) };
        assert!(!is_gone(&of("bbbb"), &[here("wt:00000002")]));
        assert!(is_gone(&of("aaaa"), &[here("wt:00000002")]));
        assert!(!is_gone(&of("aaaa"), &[here("wt:00000001")]));
    }
}
