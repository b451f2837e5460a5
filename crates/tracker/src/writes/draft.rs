//! An issue while it is changed. It knows what it was before, so that what differs can be told; it never
//! touches a file.

use std::collections::BTreeMap;

use holdfast_kernel::Fence;
use holdfast_store::CounterId;
use holdfast_sys::Sys;
use serde_json::{Map, Value, json};

use super::events::{Event, Witness};
use super::members::{DEPS, LABELS, Members};
use super::results::{self, GateResult, Results};
use crate::error::Result;
use crate::ids::IssueId;
use crate::issues::{Change, Document, Issue, Line, State};
use crate::times;

/// The longest value that an event repeats.
const LONGEST_LOGGED: usize = 1_000;

/// What has an event of its own, or is about the file and not the issue.
const NOT_LOGGED: [&str; 6] = ["updated_at", "reopened", "fence", "fence_log", "gates", "documents"];

/// An issue while it is changed.
pub struct Draft {
    sys: Sys,
    id: IssueId,
    agent: Option<String>,
    at: String,
    before: Issue,
    issue: Issue,
    pub(super) labels: Members,
    pub(super) deps: Members,
    results_before: Results,
    results: Results,
    pub(super) bring: bool,
    pub(super) strict: bool,
    pub(super) fresh: bool,
}

/// How an issue stands whose work is finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finished {
    /// Every gate is passed.
    Done,
    /// These are not.
    Gated(Vec<String>),
}

impl Draft {
    #[expect(clippy::too_many_arguments, reason = "it is made in one place, of everything there is")]
    pub(super) fn new(
        sys: &Sys,
        id: IssueId,
        agent: Option<String>,
        at: String,
        issue: Issue,
        labels: Members,
        deps: Members,
        results: Results,
    ) -> Self {
        Self {
            sys: sys.clone(),
            id,
            agent,
            at,
            before: issue.clone(),
            issue,
            labels,
            deps,
            results_before: results.clone(),
            results,
            bring: false,
            strict: false,
            fresh: false,
        }
    }

    /// The id of the issue.
    #[must_use]
    pub const fn id(&self) -> IssueId {
        self.id
    }

    /// The issue as it is by now.
    #[must_use]
    pub const fn issue(&self) -> &Issue {
        &self.issue
    }

    /// The issue as it was.
    pub(super) const fn issue_before(&self) -> &Issue {
        &self.before
    }

    /// The issue, to be changed; its sets and gates have methods of their own.
    pub const fn edit(&mut self) -> &mut Issue {
        &mut self.issue
    }

    /// Asks for a state. If `strict`, what would earn a warning is refused: beginning what waits for others, and
    /// finishing with open gates.
    pub const fn step(&mut self, state: State, strict: bool) {
        self.issue.state = state;
        self.strict = strict;
    }

    /// What came of its gates.
    #[must_use]
    pub const fn results(&self) -> &Results {
        &self.results
    }

    /// Its labels.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.labels.list()
    }

    /// The ids of the issues that it depends on.
    #[must_use]
    pub fn dependencies(&self) -> Vec<String> {
        self.deps.list()
    }

    /// Adds or removes a label; says whether that made a difference.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn label(&mut self, value: &str, there: bool) -> Result<bool> {
        let line = line(&self.sys, &self.at, self.agent.as_deref());
        if there { self.labels.add(value, line) } else { self.labels.remove(value, line) }
    }

    /// Adds or removes a dependency; says whether that made a difference.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn depend(&mut self, on: &str, there: bool) -> Result<bool> {
        let line = line(&self.sys, &self.at, self.agent.as_deref());
        if there { self.deps.add(on, line) } else { self.deps.remove(on, line) }
    }

    /// Adds a document, or changes what it is called.
    pub fn document(&mut self, path: &str, label: Option<String>) {
        let at = self.at.clone();
        let document = self
            .issue
            .documents
            .entry(path.to_owned())
            .or_insert_with(|| Document { added_at: at, ..Document::default() });
        if label.is_some() {
            document.label = label;
        }
    }

    /// Keeps a judgement of a gate.
    pub fn judge(&mut self, key: &str, result: GateResult) {
        self.results.0.insert(key.to_owned(), result);
    }

    /// A judgement by whoever asks, made here and at this moment.
    #[must_use]
    pub fn judgement(&self, status: super::Verdict, note: Option<String>) -> GateResult {
        GateResult {
            status,
            at: self.at.clone(),
            agent_id: self.agent.clone(),
            note,
            exit_code: None,
            timed_out: false,
            output: None,
            judged: None,
            rest: BTreeMap::new(),
        }
    }

    /// Removes a gate, with what came of it; says whether it was there.
    pub fn remove_gate(&mut self, key: &str) -> bool {
        self.results.0.remove(key);
        self.issue.gates.remove(key)
    }

    /// The gates that are not passed.
    #[must_use]
    pub fn open_gates(&self) -> Vec<String> {
        self.issue.gates.iter().filter(|key| !self.results.passed(key)).cloned().collect()
    }

    /// How the issue stands, if its work is finished.
    #[must_use]
    pub fn finished(&self) -> Option<Finished> {
        match self.issue.state {
            State::Done => Some(Finished::Done),
            State::Gated => Some(Finished::Gated(self.open_gates())),
            _ => None,
        }
    }

    /// The grant under which the work was finished before this, if it was.
    pub(super) fn finished_before(&self) -> Option<u64> {
        let is_finished = matches!(self.state_before(), Some(State::Gated | State::Done));
        self.before.fence.filter(|_| is_finished)
    }

    /// The state that it had; none if it is made by this.
    pub(super) const fn state_before(&self) -> Option<State> {
        if self.fresh { None } else { Some(self.before.state) }
    }

    /// Whether anything differs.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.issue != self.before
            || self.results != self.results_before
            || self.labels.is_changed()
            || self.deps.is_changed()
    }

    /// Notes when and under which lease it was changed. Sets say so line by line: if only they differ, the
    /// issue's own file stays as it is, so that two branches that label one issue merge without a conflict.
    pub(super) fn stamp(&mut self, grant: Option<(Fence, CounterId)>) {
        if self.issue == self.before && self.results == self.results_before {
            return;
        }
        if self.before.state.is_over() && !self.issue.state.is_over() {
            self.issue.reopened.insert(self.before.updated_at.clone());
        }
        self.issue.updated_at = times::after(&self.before.updated_at, &self.at);
        if let Some((fence, counter)) = grant {
            self.issue.fence = Some(fence.get());
            self.issue.fence_log = Some(counter.to_string());
        }
    }

    /// What happens to it. Each event is about one file, so that it is known to have happened or not even if
    /// only some of the files were written.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = self.events_of_issue();
        if self.labels.is_changed() {
            let labels = json!({ "added": self.labels.added, "removed": self.labels.removed });
            let more = json!({ "changes": { "labels": labels } });
            events.push(self.event("issue.updated", more, &self.in_set(LABELS, &self.labels)));
        }
        if self.deps.is_changed() {
            let deps = self.in_set(DEPS, &self.deps);
            let one = |kind, on: &String| self.event(kind, json!({ "depends_on": on }), &deps);
            events.extend(self.deps.added.iter().map(|on| one("dep.added", on)));
            events.extend(self.deps.removed.iter().map(|on| one("dep.removed", on)));
        }
        if self.results != self.results_before {
            let known = |key: &String| self.results_before.0.get(key);
            let judged = self.results.0.iter().filter(|(key, now)| known(key) != Some(*now));
            events.extend(judged.map(|(key, now)| {
                let witness = Witness::is(results::file(self.id, key), &now.bytes(self.id, key));
                let more = json!({ "gate": key, "status": now.status.word() });
                self.event("gate.completed", more, &witness)
            }));
        }
        events
    }

    /// What happens to `issue.json`.
    fn events_of_issue(&self) -> Vec<Event> {
        if self.issue == self.before {
            return Vec::new();
        }
        let witness = Witness::is(format!("issues/{}/issue.json", self.id), &self.issue.bytes());
        let one = |kind, more: Value| self.event(kind, more, &witness);
        let mut events = Vec::new();
        let changes = self.changes();
        if !changes.is_empty() {
            events.push(one("issue.updated", json!({ "changes": changes })));
        }
        let (old, new) = (&self.before.gates, &self.issue.gates);
        events.extend(new.difference(old).map(|key| one("gate.added", json!({ "gate": key }))));
        events.extend(old.difference(new).map(|key| one("gate.removed", json!({ "gate": key }))));
        let (old, new) = (&self.before.documents, &self.issue.documents);
        let added = new.keys().filter(|path| !old.contains_key(*path));
        events.extend(added.map(|path| one("doc.added", json!({ "path": path }))));
        let removed = old.keys().filter(|path| !new.contains_key(*path));
        events.extend(removed.map(|path| one("doc.removed", json!({ "path": path }))));
        events
    }

    fn event(&self, kind: &'static str, more: Value, witness: &Witness) -> Event {
        Event::about(kind, &self.id.to_string(), more, vec![witness.clone()])
    }

    fn in_set(&self, file: &str, members: &Members) -> Witness {
        Witness::is(format!("issues/{}/{file}", self.id), &members.bytes)
    }

    /// What differs, field by field.
    fn changes(&self) -> Map<String, Value> {
        let fields = |issue: &Issue| match serde_json::to_value(issue) {
            Ok(Value::Object(fields)) => fields,
            // An issue is an object with text keys.
            Ok(_) | Err(_) => Map::new(),
        };
        let (old, new) = (fields(&self.before), fields(&self.issue));
        let mut changes = Map::new();
        for key in old.keys().chain(new.keys()).filter(|key| !NOT_LOGGED.contains(&key.as_str())) {
            let (from, to) = (old.get(key), new.get(key));
            if from != to {
                changes.insert(key.clone(), json!({ "from": logged(from), "to": logged(to) }));
            }
        }
        changes
    }
}

/// A value as an event repeats it: of a long one only how long it is.
fn logged(value: Option<&Value>) -> Value {
    let Some(value) = value else { return Value::Null };
    let length = value.to_string().len();
    if length <= LONGEST_LOGGED { value.clone() } else { json!({ "bytes": length }) }
}

/// Makes lines of a set, each with an id of its own.
fn line<'a>(sys: &'a Sys, at: &'a str, agent: Option<&'a str>) -> impl FnOnce(Change) -> Result<Line> + 'a {
    move |change| {
        let id = sys.entropy.lease_id(&sys.clock.now()?)?.to_string();
        Ok(Line { id, change, at: at.to_owned(), agent_id: agent.map(ToOwned::to_owned) })
    }
}
