//! All issues at once, as far as one has to know of each to say what others wait for. What an issue waits for
//! is worked out from its dependencies and their states, never stored.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Claimed, Filter, Item};
use crate::config::Satisfied;
use crate::error::{Error, Result};
use crate::ids::{Handles, IssueId};
use crate::issues::{Glance, Issues, Priority, Scope, Seen, Sets, Standing, State, Whose};
use crate::writes::{Results, results_of};

/// What a board knows of an issue.
pub struct Node<K = ()> {
    /// Its id.
    pub id: IssueId,
    /// Where it stands.
    pub state: State,
    /// How much it matters.
    pub priority: Priority,
    /// Its texts; most issues of a project of some years are over, and need none here.
    texts: Option<Box<Said>>,
    /// What it depends on.
    pub deps: Box<[IssueId]>,
    /// The gates that keep it from being done, if that is where it stands.
    pub gates: Box<[String]>,
    /// Whether its state lets it be worked on.
    pub workable: bool,
    /// How its work stands, if that is finished.
    pub standing: Standing,
    /// Whether it may depend on more than can be read.
    pub unsure: bool,
    /// Whether it is wanted.
    pub wanted: bool,
    /// What is kept of it besides.
    pub kept: Option<K>,
}

/// The texts of an issue, one behind the other: of thousands of issues, that is thousands of pieces of memory less.
struct Said {
    all: Box<str>,
    /// Where its title ends, then its labels, and when it was last changed; behind that is who is meant to do it.
    ends: [usize; 3],
    is_assigned: bool,
}

impl Said {
    fn new(issue: &Glance<'_>) -> Self {
        let texts = [issue.title, issue.updated_at, issue.assignee.unwrap_or_default()];
        let length = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
        let blanks = issue.labels.len().saturating_sub(1);
        // As much as it takes: giving back what is too much costs as much as asking for it.
        let mut all = String::with_capacity(length(&texts) + length(&issue.labels) + blanks);
        all.push_str(issue.title);
        let title = all.len();
        for (number, label) in issue.labels.iter().enumerate() {
            all.push_str(if number > 0 { " " } else { "" });
            all.push_str(label);
        }
        let labels = all.len();
        all.push_str(issue.updated_at);
        let ends = [title, labels, all.len()];
        all.push_str(issue.assignee.unwrap_or_default());
        Self { all: all.into(), ends, is_assigned: issue.assignee.is_some() }
    }

    fn title(&self) -> &str {
        self.all.get(..self.ends[0]).unwrap_or_default()
    }

    fn labels(&self) -> &str {
        self.all.get(self.ends[0]..self.ends[1]).unwrap_or_default()
    }

    fn updated_at(&self) -> &str {
        self.all.get(self.ends[1]..self.ends[2]).unwrap_or_default()
    }

    fn assignee(&self) -> Option<&str> {
        self.all.get(self.ends[2]..).filter(|_| self.is_assigned)
    }
}

/// Something that an issue waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// An issue that is not over.
    Dependency {
        /// Its id.
        id: String,
        /// What it is called.
        handle: String,
        /// What it is about.
        title: String,
        /// Where it stands.
        state: State,
        /// How its work stands, if that is finished.
        standing: Standing,
        /// Who holds it.
        #[serde(skip_serializing_if = "Option::is_none")]
        claimed_by: Option<String>,
    },
    /// An issue of which not one copy can be read.
    Unreadable {
        /// Its id.
        id: String,
    },
    /// What it depends on cannot be read.
    Dependencies,
    /// A gate that must be passed.
    Gate {
        /// Its key.
        key: String,
    },
}

/// What to keep of issues that are wanted, and of which. Only who wants whole issues has every file read.
#[derive(Clone, Copy)]
pub enum Keep<'a, K> {
    /// Nothing more.
    Nothing,
    /// What can be told at a glance.
    Glance(Which, &'a (dyn Fn(&Glance<'_>, &Claimed) -> K + Sync)),
    /// What takes the whole issue, such as its JSON.
    Whole(Which, &'a (dyn Fn(&Item<'_>) -> K + Sync)),
}

/// Which issues something is kept of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// Those that are not over.
    Open,
    /// All.
    All,
}

impl Which {
    fn takes<K>(self, node: &Node<K>) -> bool {
        node.wanted && (self == Self::All || !node.state.is_over())
    }
}

/// All issues at once.
pub struct Board<K = ()> {
    /// The issues that can be read, by id.
    pub nodes: Vec<Node<K>>,
    /// The ids of all.
    pub ids: Vec<IssueId>,
    /// What they are called.
    pub handles: Handles,
    /// When an issue is out of the way of those that depend on it.
    satisfied: Satisfied,
    /// Who holds what.
    pub claimed: Claimed,
    /// What cannot be read.
    pub problems: Vec<String>,
}

impl<K: Send> Board<K> {
    /// Puts all issues on a board.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn load(issues: &Issues<'_>, claimed: Claimed, filter: &Filter, keep: Keep<'_, K>) -> Result<Self> {
        Self::to_be_done(issues, claimed, filter, keep, Sets::ALL)
    }

    /// As [`Board::load`], for whoever asks what is to be done and needs only some labels and dependencies. Of an issue that
    /// is over, has landed and is held by nobody it has no texts, unless all labels are needed. What the filter asks
    /// for is looked at where dependencies are.
    ///
    /// # Errors
    /// When git stands in the way.
    pub fn to_be_done(
        issues: &Issues<'_>,
        claimed: Claimed,
        filter: &Filter,
        keep: Keep<'_, K>,
        mut sets: Sets,
    ) -> Result<Self> {
        if sets.labels == Whose::Nobody && filter.asks_for_labels() {
            sets.labels = sets.deps;
        }
        let texts = if sets.labels == Whose::All { Texts::All } else { Texts::OfOthers };
        let node = |glance: &Glance<'_>| Node::new(glance, &claimed, filter, texts);
        let mut scan = match keep {
            Keep::Nothing => issues.glance_with(Scope::All, sets, |glance| Some(node(glance)))?,
            Keep::Glance(which, keep) => issues.glance_with(Scope::All, sets, |glance| {
                let mut node = node(glance);
                node.kept = which.takes(&node).then(|| keep(glance, &claimed));
                Some(node)
            })?,
            Keep::Whole(which, keep) => issues.scan_with(Scope::All, sets, |seen| {
                let mut node = node(&seen.glance());
                node.kept = which.takes(&node).then(|| keep(&Item::new(issues, seen, &claimed)));
                Some(node)
            })?,
        };
        for node in scan.found.iter_mut().filter(|node| !node.gates.is_empty()) {
            let gates = node.gates.iter().cloned().collect();
            // A judgement that cannot be read leaves its gate open.
            let results = results_of(issues, node.id, &gates).unwrap_or_else(|error| {
                scan.problems.push(error.to_string());
                Results::default()
            });
            node.gates = node.gates.iter().filter(|key| !results.passed(key)).cloned().collect();
        }
        let handles = issues.handles().clone();
        let satisfied = issues.session().config().landing.dependencies;
        Ok(Self { nodes: scan.found, ids: scan.ids, handles, satisfied, claimed, problems: scan.problems })
    }

    /// An issue.
    #[must_use]
    pub fn find(&self, id: IssueId) -> Option<&Node<K>> {
        // Where all can be read, the ids say where a node is, and they take less room to look through.
        let at = match self.ids.len() == self.nodes.len() {
            true => self.ids.binary_search(&id),
            false => self.nodes.binary_search_by(|node| node.id.cmp(&id)),
        };
        self.nodes.get(at.ok()?)
    }

    /// Whether an issue waits for something. One that is not there blocks nobody: whoever deleted it meant to.
    #[must_use]
    pub fn is_blocked(&self, node: &Node<K>) -> bool {
        node.unsure || node.deps.iter().any(|dep| self.blocks(*dep))
    }

    fn blocks(&self, dep: IssueId) -> bool {
        match self.find(dep) {
            Some(node) => !node.state.is_over() || !node.standing.satisfies(self.satisfied),
            None => self.ids.binary_search(&dep).is_ok(),
        }
    }

    /// What an issue waits for.
    #[must_use]
    pub fn reasons(&self, node: &Node<K>) -> Vec<Reason> {
        let deps = node.deps.iter().filter(|dep| self.blocks(**dep));
        let mut reasons: Vec<Reason> = deps.map(|dep| self.reason(*dep)).collect();
        reasons.extend(node.unsure.then_some(Reason::Dependencies));
        reasons.extend(node.gates.iter().map(|key| Reason::Gate { key: key.clone() }));
        reasons
    }

    fn reason(&self, dep: IssueId) -> Reason {
        match self.find(dep) {
            Some(node) => Reason::Dependency {
                id: dep.to_string(),
                handle: self.handles.of(dep),
                title: node.title().to_owned(),
                state: node.state,
                standing: node.standing.clone(),
                claimed_by: self.claimed.holder(dep).map(ToOwned::to_owned),
            },
            None => Reason::Unreadable { id: dep.to_string() },
        }
    }

    /// The issues that can be worked on and are wanted, the most important and oldest first. What somebody
    /// holds is not among them, whoever asks.
    #[must_use]
    pub fn available(&self) -> Vec<&Node<K>> {
        let free = |node: &&Node<K>| {
            node.workable && node.wanted && self.claimed.lease(node.id).is_none() && !self.is_blocked(node)
        };
        let mut nodes: Vec<&Node<K>> = self.nodes.iter().filter(free).collect();
        nodes.sort_by_key(|node| (node.priority, node.id));
        nodes
    }

    /// How many issues wait for something and are wanted.
    #[must_use]
    pub fn count_blocked(&self) -> usize {
        let open = self.nodes.iter().filter(|node| node.wanted && !node.state.is_over());
        open.filter(|node| self.is_blocked(node) || !node.gates.is_empty()).count()
    }

    /// The issues that wait for something and are wanted, with what they wait for.
    #[must_use]
    pub fn blocked(&self) -> Vec<(&Node<K>, Vec<Reason>)> {
        let open = self.nodes.iter().filter(|node| node.wanted && !node.state.is_over());
        open.map(|node| (node, self.reasons(node))).filter(|(_, reasons)| !reasons.is_empty()).collect()
    }
}

/// Which issues a board has the texts of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    All,
    /// Those that are not over and out of everybody's way, which are most of a project of some years.
    OfOthers,
}

impl<K> Node<K> {
    /// What it is about.
    #[must_use]
    pub fn title(&self) -> &str {
        self.texts.as_ref().map(|texts| texts.title()).unwrap_or_default()
    }

    /// Its labels.
    #[must_use]
    pub fn labels(&self) -> &str {
        self.texts.as_ref().map(|texts| texts.labels()).unwrap_or_default()
    }

    /// When it was last changed.
    #[must_use]
    pub fn updated_at(&self) -> &str {
        self.texts.as_ref().map(|texts| texts.updated_at()).unwrap_or_default()
    }

    /// Who is meant to do it.
    #[must_use]
    pub fn assignee(&self) -> Option<&str> {
        self.texts.as_ref()?.assignee()
    }

    fn new(issue: &Glance<'_>, claimed: &Claimed, filter: &Filter, texts: Texts) -> Self {
        let gated = issue.state == State::Gated;
        let is_past = issue.state.is_over() && issue.standing == Standing::Landed;
        let is_shown = texts == Texts::All || !is_past || claimed.lease(issue.id).is_some();
        let texts = (is_shown || !issue.labels.is_empty()).then(|| Box::new(Said::new(issue)));
        Self {
            id: issue.id,
            state: issue.state,
            priority: issue.priority,
            texts,
            deps: issue.deps.iter().filter_map(|dep| IssueId::parse(dep)).collect(),
            gates: issue.gates.iter().filter(|_| gated).map(ToString::to_string).collect(),
            workable: is_workable(issue, claimed),
            standing: issue.standing.clone(),
            unsure: issue.unsure,
            wanted: filter.wants(issue),
            kept: None,
        }
    }
}

/// Whether the state of an issue lets it be worked on by whoever gets it: it is ready, or somebody has begun
/// under a lease of this repository. If nobody holds it any more, that work was left behind by an agent that
/// is gone, and without this it would be offered to nobody ever again.
fn is_workable(issue: &Glance<'_>, claimed: &Claimed) -> bool {
    let begun = issue.fence.is_some() && issue.fence_log == claimed.log.as_deref();
    let lost = issue.standing == Standing::Lost;
    issue.state == State::Ready || lost || (issue.state == State::InProgress && begun)
}

/// Whether an issue can be worked on by whoever holds it, looked at anew: what was so when somebody began to
/// ask may be done by the time that the claim is granted.
///
/// # Errors
/// When that cannot be told.
pub fn can_be_worked_on(issues: &Issues<'_>, claimed: &Claimed, id: IssueId) -> Result<bool> {
    let look = |seen: &Seen<'_>| (is_workable(&seen.glance(), claimed), seen.unsure, deps(seen));
    let (workable, unsure, deps) = match issues.see(id, Scope::All, look) {
        Err(Error::NoIssue(_)) => return Ok(false),
        seen => seen?,
    };
    for dep in deps {
        match issues.is_satisfied(dep) {
            Ok(false) => return Ok(false),
            Ok(true) | Err(Error::NoIssue(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(workable && !unsure)
}

/// What an issue waits for, in words: what it depends on and what has not landed, and its parts.
///
/// # Errors
/// When that cannot be told.
pub fn missing(issues: &Issues<'_>, id: IssueId) -> Result<Vec<String>> {
    let (unsure, deps) = issues.see(id, Scope::All, |seen| (seen.unsure, deps(seen)))?;
    let mut missing = Vec::new();
    for dep in deps {
        match issues.is_satisfied(dep) {
            Ok(true) | Err(Error::NoIssue(_)) => {}
            Ok(false) => {
                let title = issues.see(dep, Scope::All, |seen| seen.issue.title.to_string());
                missing.push(format!("{} ({})", issues.handle(dep), title.unwrap_or_default()));
            }
            Err(error) => return Err(error),
        }
    }
    missing.extend(unsure.then(|| "dependencies that cannot be read".to_owned()));
    Ok(missing)
}

fn deps(seen: &Seen<'_>) -> Vec<IssueId> {
    seen.deps.members().filter_map(IssueId::parse).collect()
}
