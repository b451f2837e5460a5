//! In which order locks are taken. Two owners that take the same two locks in opposite orders will sooner or
//! later wait for each other for ever; so every order is remembered, and the first one who turns it round is
//! told, with both chains, before anybody hangs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use holdfast_kernel::LeaseId;
use holdfast_sys::Sys;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::inversion::{Inversion, Seen};
use crate::names::LockName;
use crate::patience::Limit;
use crate::side_files::{SideFiles, written};

const HELD: &str = "held";
const SEEN: &str = "seen";
/// How many orders are remembered; of more than that the oldest are forgotten.
const MOST: usize = 4_096;

/// A lock that an owner has taken, by the grant that it was taken with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The lock.
    pub lock: String,
    /// The lease.
    pub lease: String,
}

/// The record of lock order under one root.
pub struct Order {
    files: SideFiles,
}

impl Order {
    /// The record under `root`. Nothing is read or written yet.
    #[must_use]
    pub(crate) fn new(sys: &Sys, root: &Path, limit: &Limit) -> Self {
        Self { files: SideFiles::new(sys, root, limit) }
    }

    /// What an owner has taken and not given back, the first one first, as far as the record knows.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn chain(&self, owner: &str) -> Result<Vec<Entry>> {
        self.entries(&file_of(owner))
    }

    /// Every order that was seen, the oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn seen(&self) -> Result<Vec<Seen>> {
        Ok(parsed(self.files.read(SEEN)?))
    }

    /// Whether taking `lock` while `held` is held turns an order round that was seen before.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn inversion(&self, owner: &str, held: &[String], lock: &LockName) -> Result<Option<Inversion>> {
        let lock = lock.to_string();
        // Taking what one holds already is no order; it is refused for what it is.
        if held.is_empty() || held.contains(&lock) {
            return Ok(None);
        }
        let earlier = path(&self.seen()?, &lock, held);
        let chain = held.iter().cloned().chain([lock]).collect();
        Ok(earlier.map(|earlier| Inversion { owner: owner.to_owned(), chain, earlier }))
    }

    /// Notes that `owner` took `lock` while `held` was held.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn taken(
        &self,
        owner: &str,
        lock: &LockName,
        lease: LeaseId,
        held: &[String],
        at_ms: u64,
    ) -> Result<()> {
        self.files.alone(|| {
            let mut entries = self.chain(owner)?;
            entries.retain(|entry| entry.lock != lock.to_string());
            entries.push(Entry { lock: lock.to_string(), lease: lease.to_string() });
            self.keep(owner, &entries)?;
            if held.is_empty() { Ok(()) } else { self.remember(owner, &lock.to_string(), held, at_ms) }
        })
    }

    /// Notes that `owner` gave `lock` back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn given_back(&self, owner: &str, lock: &LockName) -> Result<()> {
        self.files.alone(|| {
            let mut entries = self.chain(owner)?;
            entries.retain(|entry| entry.lock != lock.to_string());
            self.keep(owner, &entries)
        })
    }

    /// Forgets what is no longer held by anybody; `is_held` says what still is.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(crate) fn prune(
        &self,
        is_held: impl Fn(&Entry) -> bool,
        mut between: impl FnMut() -> holdfast_sys::Result<()>,
    ) -> Result<()> {
        for file in self.files.list(HELD)? {
            between()?;
            // One by one, so that nobody waits for all of them.
            self.files.alone(|| {
                if self.entries(&file)?.iter().any(&is_held) {
                    Ok(())
                } else {
                    self.files.remove(HELD, &file)
                }
            })?;
        }
        Ok(())
    }

    fn entries(&self, file: &str) -> Result<Vec<Entry>> {
        Ok(parsed(self.files.read(&format!("{HELD}/{file}"))?))
    }

    fn keep(&self, owner: &str, entries: &[Entry]) -> Result<()> {
        if entries.is_empty() {
            return self.files.remove(HELD, &file_of(owner));
        }
        self.files.write(HELD, &file_of(owner), &written(&entries))
    }

    fn remember(&self, owner: &str, lock: &str, held: &[String], at_ms: u64) -> Result<()> {
        let mut all = self.seen()?;
        let known: BTreeSet<(String, String)> =
            all.iter().map(|seen| (seen.first.clone(), seen.then.clone())).collect();
        let chain: Vec<String> = held.iter().cloned().chain([lock.to_owned()]).collect();
        let fresh = held.iter().filter(|first| !known.contains(&((*first).clone(), lock.to_owned())));
        let before = all.len();
        all.extend(fresh.map(|first| Seen {
            first: first.clone(),
            then: lock.to_owned(),
            owner: owner.to_owned(),
            chain: chain.clone(),
            at_ms,
        }));
        if all.len() == before {
            return Ok(());
        }
        let oldest = all.len().saturating_sub(MOST);
        self.files.write("", SEEN, &written(&all.split_off(oldest)))
    }
}

/// What a file of the record holds. One that is not there, or that a killed writer left half-written, holds nothing:
/// whoever loses the record loses only warnings.
fn parsed<T: DeserializeOwned>(bytes: Option<Vec<u8>>) -> Vec<T> {
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// What was seen that leads from `from` to one of `to`, in the fewest steps.
fn path(seen: &[Seen], from: &str, to: &[String]) -> Option<Vec<Seen>> {
    let mut reached: BTreeMap<&str, &Seen> = BTreeMap::new();
    let mut next = VecDeque::from([from]);
    while let Some(lock) = next.pop_front() {
        if to.iter().any(|goal| goal == lock) {
            return Some(back(&reached, from, lock));
        }
        for step in seen.iter().filter(|step| step.first == lock && step.then != from) {
            if !reached.contains_key(step.then.as_str()) {
                reached.insert(&step.then, step);
                next.push_back(&step.then);
            }
        }
    }
    None
}

fn back(reached: &BTreeMap<&str, &Seen>, from: &str, to: &str) -> Vec<Seen> {
    let (mut steps, mut at) = (Vec::new(), to);
    while at != from
        && let Some(step) = reached.get(at)
    {
        steps.push((*step).clone());
        at = &step.first;
    }
    steps.reverse();
    steps
}

/// The file for an owner: its name may be too long for one, or lead elsewhere.
fn file_of(owner: &str) -> String {
    blake3::hash(owner.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::{Seen, path};

    fn seen(first: &str, then: &str) -> Seen {
        let chain = vec![first.to_owned(), then.to_owned()];
        Seen { first: first.into(), then: then.into(), owner: "o".into(), chain, at_ms: 0 }
    }

    #[test]
    fn an_order_is_found_through_others_and_in_one_direction_only() {
        let all = [seen("a", "b"), seen("b", "c"), seen("c", "d"), seen("b", "a2")];
        let goal = |lock: &str| vec![lock.to_owned()];
        assert_eq!(path(&all, "a", &goal("d")).unwrap().len(), 3);
        assert_eq!(path(&all, "a", &goal("b")).unwrap(), [seen("a", "b")]);
        assert_eq!(path(&all, "d", &goal("a")), None);
        assert_eq!(path(&all, "x", &goal("a")), None);
    }

    #[test]
    fn orders_that_go_round_in_circles_end() {
        let all = [seen("a", "b"), seen("b", "a"), seen("b", "c")];
        assert_eq!(path(&all, "a", &["x".to_owned()]), None);
        assert_eq!(path(&all, "a", &["c".to_owned()]).unwrap().len(), 2);
    }
}
