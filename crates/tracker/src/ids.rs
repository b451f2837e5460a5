//! Ids that are typed. Any beginning of at least four characters will do; it is completed here, once, and
//! nothing deeper ever sees a short one.

use std::collections::BTreeSet;
use std::fmt;

use holdfast_kernel::LeaseId;

use crate::error::{Error, Result};

/// The fewest characters that an id can be typed with.
const FEWEST: usize = 4;

/// How many candidates are listed.
const MOST_SHOWN: usize = 20;

/// The id of an issue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct IssueId(LeaseId);

impl IssueId {
    /// The id with the bits of a fresh lease id.
    #[must_use]
    pub const fn new(id: LeaseId) -> Self {
        Self(id)
    }

    /// The id that a complete text is.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// How many characters tell each of `ids`, which are sorted, from all others; at least eight.
#[must_use]
pub fn telling(ids: &[IssueId]) -> usize {
    let shared = |pair: &[IssueId]| match pair {
        // An id has 26 characters of 5 bits for its 128 bits: two bits of the first are always zero.
        [a, b] => ((a.0.get() ^ b.0.get()).leading_zeros() + 2) / 5,
        _ => 0,
    };
    let most = ids.windows(2).map(shared).max().unwrap_or(0);
    usize::try_from(most).unwrap_or(0).saturating_add(1).clamp(8, 26)
}

impl IssueId {
    /// Its first characters.
    #[must_use]
    pub fn short(self, length: usize) -> String {
        let mut text = self.to_string();
        text.truncate(length);
        text
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What was typed in the place of an id: complete or a beginning, in capitals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typed(String);

impl Typed {
    /// What was typed, if it can be the beginning of an id.
    ///
    /// # Errors
    /// When it is too short, too long or no id at all.
    pub fn new(text: &str) -> Result<Self> {
        let capital = text.trim().to_ascii_uppercase();
        let plain = capital.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let long_enough = (FEWEST..=26).contains(&capital.len());
        if plain && long_enough { Ok(Self(capital)) } else { Err(Error::BadId(text.to_owned())) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The complete id, if it is one.
    #[must_use]
    pub fn complete(&self) -> Option<LeaseId> {
        self.0.parse().ok()
    }

    /// The only one of `ids` that begins like this; none if none does.
    ///
    /// # Errors
    /// When several do.
    pub fn only<T: Copy + Ord + fmt::Display>(&self, ids: impl IntoIterator<Item = T>) -> Result<Option<T>> {
        let found: BTreeSet<T> =
            ids.into_iter().filter(|id| id.to_string().starts_with(self.as_str())).collect();
        match found.len() {
            0 | 1 => Ok(found.first().copied()),
            _ => Err(Error::Ambiguous {
                prefix: self.0.clone(),
                candidates: found.iter().take(MOST_SHOWN).map(ToString::to_string).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IssueId, Typed, telling};
    use crate::error::Error;

    const A: &str = "01K8ZZZZZZ0000000000000001";
    const B: &str = "01K8ZZZZZZ0000000000000002";

    #[test]
    fn a_beginning_is_completed_or_its_candidates_are_listed() {
        let ids = [A, B].map(|id| IssueId::parse(id).unwrap());
        assert_eq!(Typed::new(&A.to_lowercase()).unwrap().only(ids).unwrap(), Some(ids[0]));
        assert_eq!(Typed::new("01K9").unwrap().only(ids).unwrap(), None);
        let Err(Error::Ambiguous { candidates, .. }) = Typed::new("01k8").unwrap().only(ids) else {
            panic!("two ids begin like this");
        };
        assert_eq!(candidates, [A, B]);
    }

    #[test]
    fn so_many_characters_tell_ids_apart() {
        let ids = |texts: &[&str]| texts.iter().map(|id| IssueId::parse(id).unwrap()).collect::<Vec<_>>();
        assert_eq!(telling(&ids(&[A, B])), 26);
        assert_eq!(telling(&ids(&[])), 8);
        for (a, b, length) in [
            ("01K8ZZZZZZ0000000000000001", "01K8ZZZZZZ0100000000000001", 12),
            ("01K8ZZZZZZ0000000000000001", "01K9ZZZZZZ0100000000000001", 8),
            ("01K8ZZZZZ00000000000000001", "01K8ZZZZZ10100000000000001", 10),
        ] {
            let ids = ids(&[a, b]);
            assert_eq!(telling(&ids), length);
            assert_ne!(ids[0].short(length), ids[1].short(length));
        }
    }

    #[test]
    fn what_cannot_be_the_beginning_of_an_id_is_refused() {
        for text in ["", "01K", "01K8/..", "../../x", "01K8ZZZZZZ00000000000000011", "01K8 ZZ", "01K8\n\n"] {
            assert!(Typed::new(text).is_err() || text.ends_with('\n'), "{text:?}");
        }
    }
}
