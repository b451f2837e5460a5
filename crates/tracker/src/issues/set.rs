//! A set that two branches can change at once: a file of lines, each of which adds a member or takes back
//! earlier lines. Lines may come in any order and any number of times, so a union of two files is always a
//! set again, and everybody reads the same one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::json;

/// A line of such a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Its own id, which no other line has.
    pub id: String,
    /// What it does.
    #[serde(flatten)]
    pub change: Change,
    /// When it was written.
    pub at: String,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// What a line does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Change {
    /// Adds a member.
    Add {
        /// The member.
        value: String,
    },
    /// Takes back the lines that added a member, as far as they were known.
    Remove {
        /// The member.
        value: String,
        /// The ids of those lines.
        lines: BTreeSet<String>,
    },
}

/// A set: its members, each with the lines that add it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Set(BTreeMap<String, BTreeSet<String>>);

/// A line that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {number}: {why}")]
pub struct BadLine {
    /// Which, from 1 on.
    pub number: usize,
    /// What is wrong with it.
    pub why: String,
}

/// The lines of several files, put together.
#[derive(Clone, Debug, Default)]
pub struct Union {
    added: BTreeMap<String, BTreeSet<String>>,
    gone: BTreeSet<String>,
}

/// A line as far as it counts, borrowed from its file.
#[derive(Deserialize)]
struct Counted<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    op: Op,
    #[serde(borrow)]
    value: Cow<'a, str>,
    lines: Option<Vec<String>>,
    #[serde(rename = "at")]
    _at: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    Add,
    Remove,
}

impl<'a> Counted<'a> {
    fn read(text: &'a [u8]) -> serde_json::Result<Self> {
        let line: Self = serde_json::from_slice(text)?;
        match (&line.op, &line.lines) {
            (Op::Remove, None) => Err(serde::de::Error::missing_field("lines")),
            _ => Ok(line),
        }
    }
}

impl Union {
    /// Adds the lines of a file: all of them, or none if one cannot be read.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), BadLine> {
        let mut lines = Vec::new();
        for (index, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if text.trim_ascii().is_empty() {
                continue;
            }
            let bad = |error: serde_json::Error| BadLine { number: index + 1, why: error.to_string() };
            lines.push(Counted::read(text).map_err(bad)?);
        }
        for line in lines {
            match line.op {
                Op::Add => {
                    let ids = self.added.entry(line.value.into_owned()).or_default();
                    ids.insert(line.id.into_owned());
                }
                Op::Remove => self.gone.extend(line.lines.unwrap_or_default()),
            }
        }
        Ok(())
    }

    /// The set that they make.
    #[must_use]
    pub fn set(mut self) -> Set {
        if !self.gone.is_empty() {
            for lines in self.added.values_mut() {
                lines.retain(|line| !self.gone.contains(line));
            }
            self.added.retain(|_, lines| !lines.is_empty());
        }
        Set(self.added)
    }
}

impl Set {
    /// The set that the lines of a file make.
    ///
    /// # Errors
    /// The first line that is none.
    pub fn read(bytes: &[u8]) -> Result<Self, BadLine> {
        let mut union = Union::default();
        union.add(bytes)?;
        Ok(union.set())
    }

    /// Puts one more line behind all that it was read from.
    pub fn apply(&mut self, line: &Line) {
        match &line.change {
            Change::Add { value } => {
                self.0.entry(value.clone()).or_default().insert(line.id.clone());
            }
            // A line adds one member, so only that member loses it.
            Change::Remove { value, lines: gone } => {
                if let Some(lines) = self.0.get_mut(value) {
                    lines.retain(|line| !gone.contains(line));
                    if lines.is_empty() {
                        self.0.remove(value);
                    }
                }
            }
        }
    }

    /// The members, in their order.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether it has this member.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        self.0.contains_key(value)
    }

    /// The change that adds a member; none if it is there.
    #[must_use]
    pub fn adding(&self, value: &str) -> Option<Change> {
        (!self.contains(value)).then(|| Change::Add { value: value.to_owned() })
    }

    /// The change that removes a member; none if it is not there.
    #[must_use]
    pub fn removing(&self, value: &str) -> Option<Change> {
        let lines = self.0.get(value)?.clone();
        Some(Change::Remove { value: value.to_owned(), lines })
    }
}

impl Line {
    /// Its bytes, with the line's end.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        json::line(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Change, Line, Set};

    fn line(id: &str, change: Change) -> Vec<u8> {
        Line { id: id.into(), change, at: "2026-01-01T00:00:00.000Z".into(), agent_id: None }.bytes()
    }

    #[test]
    fn a_removal_takes_back_only_what_it_knew() {
        let add = line("1", Change::Add { value: "ui".into() });
        let known = Set::read(&add).unwrap();
        let remove = line("2", known.removing("ui").unwrap());
        let elsewhere = line("3", Change::Add { value: "ui".into() });

        let removed = Set::read(&[add.clone(), remove.clone()].concat()).unwrap();
        let merged = Set::read(&[add, elsewhere, remove].concat()).unwrap();
        assert_eq!((removed.contains("ui"), merged.contains("ui")), (false, true));
    }

    #[test]
    fn what_is_there_is_not_added_and_what_is_not_is_not_removed() {
        let set = Set::read(&line("1", Change::Add { value: "a".into() })).unwrap();
        assert_eq!((set.adding("a"), set.removing("b")), (None, None));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let text = [line("1", Change::Add { value: "a".into() }), b"<<<<<<< ours\n".to_vec()].concat();
        assert_eq!(Set::read(&text).unwrap_err().number, 2);
    }

    proptest! {
        /// A set that grows line by line is the one that its whole file makes.
        #[test]
        fn one_line_more_is_the_same_as_reading_all(
            steps in proptest::collection::vec((any::<bool>(), 0u8..4), 1..40),
        ) {
            let (mut set, mut bytes) = (Set::default(), Vec::new());
            for (number, (adds, value)) in steps.into_iter().enumerate() {
                let value = format!("v{value}");
                let change = if adds { set.adding(&value) } else { set.removing(&value) };
                let Some(change) = change else { continue };
                let at = "2026-01-01T00:00:00.000Z".to_owned();
                let line = Line { id: number.to_string(), change, at, agent_id: None };
                bytes.extend(line.bytes());
                set.apply(&line);
                prop_assert_eq!(&Set::read(&bytes).unwrap(), &set);
            }
        }

        /// Two files that grew from one, merged by union in either order and with doubled lines.
        #[test]
        fn a_union_reads_the_same_in_any_order(
            lines in proptest::collection::vec((0u8..6, any::<bool>(), 0u8..3), 1..30),
            order in any::<u64>(),
        ) {
            let mut texts: Vec<Vec<u8>> = Vec::new();
            for (number, (target, adds, value)) in lines.into_iter().enumerate() {
                let value = format!("v{value}");
                let change = if adds {
                    Change::Add { value }
                } else {
                    Change::Remove { value, lines: [target.to_string()].into() }
                };
                texts.push(line(&number.to_string(), change));
            }
            let set = Set::read(&texts.concat()).unwrap();
            let mut mixed = texts.clone();
            let length = mixed.len();
            mixed.rotate_left(usize::try_from(order % length as u64).unwrap());
            mixed.extend(texts.iter().rev().cloned());
            prop_assert_eq!(Set::read(&mixed.concat()).unwrap(), set);
        }
    }
}
