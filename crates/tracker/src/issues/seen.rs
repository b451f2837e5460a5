//! Which copy of an issue counts, and what all copies say together. A copy that cannot be read is named and
//! the others are used; nothing is ever dropped without a word.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::Issue;
use super::layer::Layer;
use super::outline::Outline;
use super::raw::{DEPS, ISSUE, LABELS, Part, Raw};
use super::set::{Set, Union};
use crate::ids::IssueId;

/// An issue as it is seen from a worktree.
pub struct Seen<'a> {
    /// Its id.
    pub id: IssueId,
    /// The copy that counts.
    pub issue: Outline<'a>,
    /// Where that copy is.
    pub layer: Layer,
    /// Its labels, from all copies.
    pub labels: Set,
    /// What it depends on, from all copies.
    pub deps: Set,
    /// Whether a copy of what it depends on cannot be read: there may be more.
    pub unsure: bool,
    bytes: &'a [u8],
}

impl Seen<'_> {
    /// The whole issue, with what this program does not know.
    ///
    /// # Errors
    /// Never, where the outline could be read.
    pub fn whole(&self) -> serde_json::Result<Issue> {
        serde_json::from_slice(self.bytes)
    }
}

/// How much a copy counts: by the fence of this repository's log, then by its age, then by where it is.
type Rank = (Option<u64>, Option<Timestamp>, Reverse<Layer>);

/// Judges the copies of one issue.
pub(super) struct Judge<'j> {
    /// What a file of an issue is called in a message.
    pub(super) name: &'j (dyn Fn(Layer, IssueId, &str) -> String + Sync),
    /// The id of this repository's log; asked for only where copies differ.
    pub(super) log: &'j (dyn Fn() -> Option<String> + Sync),
}

impl Judge<'_> {
    /// The issue that the copies make; none if not one of them can be read.
    pub(super) fn see<'a>(
        &self,
        id: IssueId,
        copies: &[(Layer, &'a Raw)],
        problems: &mut Vec<String>,
    ) -> Option<Seen<'a>> {
        if copies.is_empty() {
            return None;
        }
        let known = problems.len();
        let (layer, bytes, issue) = self.newest(id, copies, problems)?;
        let labels = self.union(id, copies, LABELS, |raw| &raw.labels, problems);
        let before = problems.len();
        let deps = self.union(id, copies, DEPS, |raw| &raw.deps, problems);
        let unsure = problems.len() > before;
        once(problems, known);
        Some(Seen { id, issue, layer, labels, deps, unsure, bytes })
    }

    fn newest<'a>(
        &self,
        id: IssueId,
        copies: &[(Layer, &'a Raw)],
        problems: &mut Vec<String>,
    ) -> Option<(Layer, &'a [u8], Outline<'a>)> {
        let known = problems.len();
        let mut sound = Vec::with_capacity(copies.len());
        for (layer, raw) in copies {
            problems.extend(raw.issue.problem.clone());
            let Some(bytes) = raw.issue.content() else { continue };
            match parse(id, bytes) {
                Ok(issue) => sound.push((*layer, bytes, issue)),
                Err(why) => {
                    problems.push(format!("{} cannot be used: {why}", (self.name)(*layer, id, ISSUE)))
                }
            }
        }
        if sound.is_empty() && problems.len() == known {
            let layer = copies.first().map_or(Layer::Local, |(layer, _)| *layer);
            problems.push(format!("{} is missing", (self.name)(layer, id, ISSUE)));
        }
        once(problems, known);
        if sound.len() > 1 {
            let log = (self.log)();
            sound.sort_by_cached_key(|(layer, _, issue)| Reverse(rank(issue, *layer, log.as_deref())));
        }
        sound.into_iter().next()
    }

    /// What all copies of a set say: lines are only ever added, so all of them together are the newest.
    fn union(
        &self,
        id: IssueId,
        copies: &[(Layer, &Raw)],
        file: &str,
        part: impl Fn(&Raw) -> &Part,
        problems: &mut Vec<String>,
    ) -> Set {
        let mut union = Union::default();
        for (layer, raw) in copies {
            problems.extend(part(raw).problem.clone());
            if let Err(why) = union.add(&part(raw).bytes) {
                problems.push(format!("{} cannot be used: {why}", (self.name)(*layer, id, file)));
            }
        }
        union.set()
    }
}

fn parse(id: IssueId, bytes: &[u8]) -> Result<Outline<'_>, String> {
    let issue: Outline<'_> =
        serde_json::from_slice(bytes).map_err(|error| format!("it is no issue: {error}"))?;
    if IssueId::parse(&issue.id) == Some(id) {
        return Ok(issue);
    }
    let claimed: String = issue.id.chars().take(40).collect();
    Err(format!("it says that its id is {claimed}"))
}

fn rank(issue: &Outline<'_>, layer: Layer, log: Option<&str>) -> Rank {
    let ours = log.is_some() && issue.fence_log.as_deref() == log;
    let fence = issue.fence.filter(|_| ours);
    (fence, issue.updated_at.parse().ok(), Reverse(layer))
}

/// Says each thing once: a directory that cannot be entered spoils all its files alike.
fn once(problems: &mut Vec<String>, from: usize) {
    let mut said: Vec<String> = Vec::new();
    for problem in problems.drain(from..) {
        if !said.contains(&problem) {
            said.push(problem);
        }
    }
    problems.append(&mut said);
}
