//! Which copy of an issue counts, and what all copies say together. A copy that cannot be read is named and
//! the others are used; nothing is ever dropped without a word.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::Issue;
use super::layer::Layer;
use super::layers::Copy;
use super::outline::Outline;
use super::raw::{DEPS, ISSUE, LABELS, Part, Raw};
use super::set::{Set, Union};
use super::standing::{Finish, Landing, Standing, Tips};
use super::state::State;
use crate::ids::IssueId;

/// Which labels and dependencies an answer rests on. Others are neither looked at nor told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sets {
    /// Whose labels.
    pub labels: Whose,
    /// Whose dependencies.
    pub deps: Whose,
}

/// Of which issues something is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Of none.
    Nobody,
    /// Of those whose state lets them be worked on: who asks what to begin needs no others.
    Workable,
    /// Of those that are not over: who asks what is to be done needs no others.
    Open,
    /// Of every issue.
    All,
}

impl Sets {
    /// All labels and all dependencies.
    pub const ALL: Self = Self { labels: Whose::All, deps: Whose::All };
    /// Those of issues that are not over.
    pub const OPEN: Self = Self { labels: Whose::Open, deps: Whose::Open };
    /// Those of issues whose state lets them be worked on.
    pub const WORKABLE: Self = Self { labels: Whose::Workable, deps: Whose::Workable };
}

impl Whose {
    /// Whether it is needed of an issue of this state.
    pub(super) const fn has(self, state: State) -> bool {
        match self {
            Self::Nobody => false,
            Self::Workable => matches!(state, State::Ready | State::InProgress),
            Self::Open => !state.is_over(),
            Self::All => true,
        }
    }
}

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
    /// How its work stands, if that is finished.
    pub standing: Standing,
    bytes: &'a [u8],
}

impl Seen<'_> {
    /// The whole issue, with what this program does not know.
    ///
    /// # Errors
    /// Never, where the outline could be read.
    pub fn whole(&self) -> serde_json::Result<Issue> {
        let mut issue: Issue = serde_json::from_slice(self.bytes)?;
        issue.state = self.issue.state;
        Ok(issue)
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
    /// How finished work stands.
    pub(super) landing: Option<&'j Landing<'j>>,
}

impl Judge<'_> {
    /// The issue that the copies make; none if not one of them can be read.
    pub(super) fn see<'a>(
        &self,
        id: IssueId,
        copies: &[Copy<'a>],
        sets: Sets,
        problems: &mut Vec<String>,
    ) -> Option<Seen<'a>> {
        if copies.is_empty() {
            return None;
        }
        let known = problems.len();
        let (layer, bytes, mut issue, standing) = self.newest(id, copies, problems)?;
        if standing == Standing::Lost {
            issue.state = State::InProgress;
        }
        let (mut labels, mut deps) = (Set::default(), Set::default());
        if sets.labels.has(issue.state) {
            labels = self.union(id, copies, LABELS, |raw| &raw.labels, problems);
        }
        let before = problems.len();
        if sets.deps.has(issue.state) {
            deps = self.union(id, copies, DEPS, |raw| &raw.deps, problems);
        }
        let unsure = problems.len() > before;
        once(problems, known);
        Some(Seen { id, issue, layer, labels, deps, unsure, standing, bytes })
    }

    fn newest<'a>(
        &self,
        id: IssueId,
        copies: &[Copy<'a>],
        problems: &mut Vec<String>,
    ) -> Option<(Layer, &'a [u8], Outline<'a>, Standing)> {
        let known = problems.len();
        let mut sound = Vec::with_capacity(copies.len());
        for Copy { layer, raw, tips } in copies {
            problems.extend(raw.issue.problem.clone());
            let Some(bytes) = raw.issue.content() else { continue };
            match parse(id, bytes) {
                Ok(issue) => sound.push((*layer, bytes, issue, *tips)),
                Err(why) => {
                    problems.push(format!("{} cannot be used: {why}", (self.name)(*layer, id, ISSUE)))
                }
            }
        }
        if sound.is_empty() && problems.len() == known {
            let layer = copies.first().map_or(Layer::Local, |copy| copy.layer);
            problems.push(format!("{} is missing", (self.name)(layer, id, ISSUE)));
        }
        once(problems, known);
        if sound.len() > 1 {
            let log = (self.log)();
            sound.sort_by_cached_key(|(layer, _, issue, _)| Reverse(rank(issue, *layer, log.as_deref())));
        }
        if let Some(at) = landed_elsewhere(&sound) {
            sound.swap(0, at);
        }
        let (_, _, best, same) = sound.first()?;
        let has_it = |issue: &Outline<'_>| {
            issue.state == best.state && (is_at_least(issue, best) || is_unknown_to(best, issue))
        };
        let landed = sound.iter().filter(|(_, _, issue, _)| has_it(issue)).map(|(.., tips)| *tips);
        let (landed, same) = (landed.fold(Tips::default(), Tips::and), *same);
        let (layer, bytes, issue, _) = sound.into_iter().next()?;
        let standing = match self.landing {
            Some(landing) => landing.of(id, Finish::of(&issue), layer, landed, same),
            None => Standing::alone(issue.state),
        };
        Some((layer, bytes, issue, standing))
    }

    /// What all copies of a set say: lines are only ever added, so all of them together are the newest.
    fn union(
        &self,
        id: IssueId,
        copies: &[Copy<'_>],
        file: &str,
        part: impl Fn(&Raw) -> &Part,
        problems: &mut Vec<String>,
    ) -> Set {
        let mut union = Union::default();
        for Copy { layer, raw, .. } in copies {
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

/// Whether a copy was written under the fence of another or a later one; where fences cannot be compared, not before it.
fn is_at_least(issue: &Outline<'_>, other: &Outline<'_>) -> bool {
    if issue.fence_log == other.fence_log && issue.fence != other.fence {
        return issue.fence >= other.fence;
    }
    issue.fence_log == other.fence_log || *issue.updated_at >= *other.updated_at
}

/// The copy of a tip of the target that counts more than the first one, although fences of two logs cannot be compared:
/// what a clone with claims of its own has landed is over, and what was taken back there is open again.
fn landed_elsewhere(copies: &[(Layer, &[u8], Outline<'_>, Tips)]) -> Option<usize> {
    let (_, _, best, _) = copies.first()?;
    copies.iter().position(|(_, _, issue, tips)| {
        let has_ended = issue.state.is_over() && !best.state.is_over() && is_unknown_to(best, issue);
        let was_reopened = !issue.state.is_over() && best.state.is_over() && knows_of(issue, best);
        tips.any() && is_of_another_log(best, issue) && (has_ended || was_reopened)
    })
}

fn is_of_another_log(issue: &Outline<'_>, other: &Outline<'_>) -> bool {
    other.fence_log.is_some() && issue.fence_log != other.fence_log
}

/// Whether an issue was taken back from a copy that said it was over.
fn knows_of(issue: &Outline<'_>, over: &Outline<'_>) -> bool {
    issue.reopened.contains(&*over.updated_at)
}

/// Whether a copy that says it is over was written by a clone with other claims, and nobody took it back from that.
fn is_unknown_to(issue: &Outline<'_>, over: &Outline<'_>) -> bool {
    is_of_another_log(issue, over) && over.state.is_over() && !knows_of(issue, over)
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
