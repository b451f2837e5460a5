//! Ids that are typed. Any beginning of at least four characters will do; it is completed here, once, and
//! nothing deeper ever sees a short one.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use holdfast_kernel::{LeaseId, Resource};

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

    /// The issue that a resource is; a pattern is none, whatever it looks like.
    #[must_use]
    pub fn of(resource: &Resource) -> Option<Self> {
        resource.name().and_then(|name| Self::parse(name.as_str()))
    }

    /// The id that a complete text is.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// How many characters of an id are random, and how many bits that are.
const RANDOM: (usize, u32) = (16, 80);

/// How long a handle is that tells an issue from a hundred thousand others, but for one case in ten million.
const AMONG_MANY: usize = 8;

impl IssueId {
    /// How long its text is.
    pub(crate) const LENGTH: usize = 26;

    /// Its bits, which are ordered as ids are.
    pub(crate) const fn bits(self) -> u128 {
        self.0.get()
    }

    /// This id, in the millisecond after that of another one unless it comes behind it anyway: what is made one after the
    /// other is offered in that order, however fast it is made.
    pub(crate) const fn after(self, other: Self) -> Self {
        if self.bits() > other.bits() {
            return self;
        }
        let next = ((other.bits() >> RANDOM.1) + 1) << RANDOM.1;
        Self(LeaseId::new(next | self.random()))
    }

    /// Adds its text to another one.
    pub(crate) fn push_to(self, text: &mut String) {
        // Writing to memory cannot fail.
        let _ = fmt::Write::write_fmt(text, format_args!("{self}"));
    }

    /// The random part of its bits.
    const fn random(self) -> u128 {
        self.0.get() & ((1 << RANDOM.1) - 1)
    }

    /// The first characters of its random part, as people type them.
    fn tail(self, length: usize) -> String {
        let (text, begin) = (self.to_string(), Self::LENGTH - RANDOM.0);
        text.get(begin..begin + length).unwrap_or(&text).to_ascii_lowercase()
    }

    /// What an issue is called where nobody has looked at all others.
    pub(crate) fn among_many(self) -> String {
        self.tail(AMONG_MANY)
    }
}

/// What issues are called where people read and type: the first characters of the random part of their ids, four or as
/// many as it takes to tell each from all others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Handles(Arc<Known>);

#[derive(PartialEq, Eq, Debug, Default)]
struct Known {
    /// The random parts of all ids, and the same sorted once somebody asks.
    given: Vec<u128>,
    sorted: OnceLock<Vec<u128>>,
}

impl Handles {
    /// The handles of these issues.
    #[must_use]
    pub fn new(ids: &[IssueId]) -> Self {
        let given = ids.iter().map(|id| id.random()).collect();
        Self(Arc::new(Known { given, sorted: OnceLock::new() }))
    }

    fn known(&self) -> &[u128] {
        self.0.sorted.get_or_init(|| {
            let mut known = self.0.given.clone();
            known.sort_unstable();
            known
        })
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn has(&self, id: IssueId) -> bool {
        self.known().binary_search(&id.random()).is_ok()
    }

    /// What an issue is called. One whose random part is another's too has only its id.
    #[must_use]
    pub fn of(&self, id: IssueId) -> String {
        let (own, known) = (id.random(), self.known());
        let begin = known.partition_point(|other| *other < own);
        let end = begin + known.iter().skip(begin).take_while(|other| **other == own).count();
        if end - begin > 1 {
            return id.to_string();
        }
        let before = begin.checked_sub(1).and_then(|at| known.get(at));
        let shared = |other: &u128| ((own ^ other).leading_zeros() - (u128::BITS - RANDOM.1)) / 5;
        let most = before.into_iter().chain(known.get(end)).map(shared).max().unwrap_or(0);
        id.tail(usize::try_from(most).unwrap_or(0).saturating_add(1).clamp(FEWEST, RANDOM.0))
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
        let long_enough = (FEWEST..=IssueId::LENGTH).contains(&capital.len());
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

impl Typed {
    /// Whether an issue's id begins like this, or its handle does.
    #[must_use]
    pub fn names(&self, id: IssueId) -> bool {
        id.to_string().starts_with(&self.0) || id.tail(RANDOM.0).starts_with(&self.0.to_lowercase())
    }

    /// The only one of `ids` that begins like this or has a handle that does; none if none does.
    ///
    /// # Errors
    /// When several do.
    pub fn issue(&self, ids: &[IssueId]) -> Result<Option<IssueId>> {
        let found: Vec<IssueId> = ids.iter().filter(|id| self.names(**id)).copied().collect();
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ => {
                let candidates = found.iter().take(MOST_SHOWN).map(ToString::to_string).collect();
                Err(Error::Ambiguous { prefix: self.0.clone(), candidates })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Handles, IssueId, Typed};
    use crate::error::Error;

    const A: &str = "01K8ZZZZZZ0000000000000001";
    const B: &str = "01K8ZZZZZZ0000000000000002";

    #[test]
    fn what_is_made_later_comes_later_also_within_a_millisecond() {
        let [a, b] = [A, B].map(|id| IssueId::parse(id).unwrap());
        assert_eq!(b.after(a), b);
        let later = a.after(b);
        assert!(later > b && later.random() == a.random(), "{later}");
        assert!(b.after(b) > b);
    }

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
    fn a_handle_is_as_long_as_it_takes() {
        let ids = |texts: &[&str]| texts.iter().map(|id| IssueId::parse(id).unwrap()).collect::<Vec<_>>();
        assert_eq!(Handles::new(&[]).of(ids(&[A])[0]), "0000");
        for (a, b, expected) in [
            (A, B, ["0000000000000001", "0000000000000002"]),
            ("01K8ZZZZZZ4W8G000000000001", "01K8ZZZZZZ4W8H000000000001", ["4w8g", "4w8h"]),
            ("01K8ZZZZZZ4W8GA00000000001", "01K9ZZZZZZ4W8GB00000000001", ["4w8ga", "4w8gb"]),
            (A, "01K9ZZZZZZ0000000000000001", [A, "01K9ZZZZZZ0000000000000001"]),
        ] {
            let ids = ids(&[a, b]);
            let handles = Handles::new(&ids);
            assert_eq!([handles.of(ids[0]), handles.of(ids[1])], expected);
            for (id, handle) in ids.iter().zip(expected) {
                assert_eq!(Typed::new(handle).unwrap().issue(&ids).unwrap(), Some(*id));
            }
        }
    }

    /// A text that is one issue's handle and the beginning of another's id names neither.
    #[test]
    fn a_handle_that_is_another_ones_beginning_is_ambiguous() {
        let ids = ["01K8ZZZZZZ4W8G000000000001", "01K9ZZZZZZ01K8000000000001"]
            .map(|id| IssueId::parse(id).unwrap());
        let Err(Error::Ambiguous { candidates, .. }) = Typed::new("01k8").unwrap().issue(&ids) else {
            panic!("both are meant");
        };
        assert_eq!(candidates, ["01K8ZZZZZZ4W8G000000000001", "01K9ZZZZZZ01K8000000000001"]);
        assert_eq!(Typed::new("01k9").unwrap().issue(&ids).unwrap(), Some(ids[1]));
    }

    #[test]
    fn what_cannot_be_the_beginning_of_an_id_is_refused() {
        for text in ["", "01K", "01K8/..", "../../x", "01K8ZZZZZZ00000000000000011", "01K8 ZZ", "01K8\n\n"] {
            assert!(Typed::new(text).is_err() || text.ends_with('\n'), "{text:?}");
        }
    }
}
