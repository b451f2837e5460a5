//! What goes on that may be escalated. Every occurrence has a key that no other one has, before or after: a lease, a ticket,
//! a judgement, a note.

use holdfast_kernel::{Millis, Stamp};

use crate::claims::queue;
use crate::config::When;
use crate::error::{NotLanded, Result};
use crate::ids::IssueId;
use crate::issues::{FinishedNote, Glance, Issues, Standing};
use crate::notes::{self, Note};
use crate::queries::{Board, Claimed, Filter, Keep, Node, Which};
use crate::session::Session;
use crate::times::{millis, span};
use crate::writes::{Verdict, results_of};

/// Something that goes on.
pub(super) struct Occurrence {
    pub(super) when: When,
    pub(super) key: String,
    pub(super) issue: IssueId,
    /// For how long.
    pub(super) age: Millis,
    pub(super) agent: Option<String>,
    pub(super) lease: Option<String>,
    pub(super) gate: Option<String>,
    /// The same in words.
    pub(super) what: String,
}

/// What is kept of an issue besides what every board knows.
struct Kept {
    gates: std::collections::BTreeSet<String>,
    conflict: Option<String>,
}

/// Everything of these kinds that goes on.
pub(super) fn all(session: &Session, kinds: &[When], now: &Stamp) -> Result<Vec<Occurrence>> {
    let mut found = Vec::new();
    let claimed = Claimed::load(session)?;
    if kinds.contains(&When::HeldLonger) {
        held(&claimed, &mut found);
    }
    if kinds.contains(&When::WaitingLonger) {
        waiting(session, now, &mut found)?;
    }
    let of_issues = [When::Conflicts, When::GateFailed, When::NotLandedLonger];
    if !of_issues.iter().any(|when| kinds.contains(when)) {
        return Ok(found);
    }
    let issues = Issues::new(session);
    let keep = |issue: &Glance<'_>, _: &Claimed| Kept {
        gates: issue.gates.iter().map(ToString::to_string).collect(),
        conflict: issue.conflict.map(ToOwned::to_owned),
    };
    let board = Board::load(&issues, claimed, &Filter::default(), Keep::Glance(Which::All, &keep))?;
    let of_notes = kinds.contains(&When::Conflicts) || kinds.contains(&When::GateFailed);
    let noted = if of_notes { notes::all(session)? } else { std::collections::BTreeMap::new() };
    for node in &board.nodes {
        let looked = Looked { issues: &issues, node, now };
        if kinds.contains(&When::NotLandedLonger) {
            looked.not_landed(&mut found);
        }
        let notes = noted.get(&node.id).map_or(&[][..], Vec::as_slice);
        if kinds.contains(&When::Conflicts) {
            looked.conflicts(notes, &mut found);
        }
        if kinds.contains(&When::GateFailed) {
            looked.gates(notes, &mut found)?;
        }
    }
    Ok(found)
}

fn held(claimed: &Claimed, found: &mut Vec<Occurrence>) {
    for (issue, lease) in claimed.iter() {
        let (age, agent) = (claimed.now.since(&lease.granted).forward(), lease.holder.agent.to_string());
        found.push(Occurrence {
            when: When::HeldLonger,
            key: lease.id.to_string(),
            issue,
            age,
            what: format!("{agent} has held it for {}", span(age)),
            agent: Some(agent),
            lease: Some(lease.id.to_string()),
            gate: None,
        });
    }
}

fn waiting(session: &Session, now: &Stamp, found: &mut Vec<Occurrence>) -> Result<()> {
    for one in queue::waiting(session.sys(), session.control())? {
        // Lines for anything else than an issue have nothing that a note could be put on.
        let Some(issue) = IssueId::parse(&one.line) else { continue };
        let since = u64::try_from(one.since_ms).unwrap_or_default();
        let age = Millis::new(now.wall_ms().saturating_sub(since));
        found.push(Occurrence {
            when: When::WaitingLonger,
            key: format!("{issue}:{}:{since}", one.number),
            issue,
            age,
            what: format!("{} has waited for it for {}", one.who, span(age)),
            agent: Some(one.who),
            lease: None,
            gate: None,
        });
    }
    Ok(())
}

/// An issue that is looked at.
struct Looked<'a, 's> {
    issues: &'a Issues<'s>,
    node: &'a Node<Kept>,
    now: &'a Stamp,
}

impl Looked<'_, '_> {
    fn occurrence(&self, when: When, key: String, since: &str, what: String) -> Occurrence {
        let age = millis(since).map_or(0, |since| self.now.wall_ms().saturating_sub(since));
        let (issue, age) = (self.node.id, Millis::new(age));
        Occurrence { when, key, issue, age, agent: None, lease: None, gate: None, what }
    }

    fn not_landed(&self, found: &mut Vec<Occurrence>) {
        let node = self.node;
        if matches!(node.standing, Standing::Open | Standing::Landed) {
            return;
        }
        let Some(words) = node.standing.words() else { return };
        // What was finished elsewhere left no note here.
        let finished = FinishedNote::read(self.issues.session(), node.id);
        let grant = finished.map_or_else(String::new, |note| format!("{}:{}", note.fence_log, note.fence));
        let key = format!("{}:{grant}", node.id);
        found.push(self.occurrence(When::NotLandedLonger, key, node.updated_at(), words));
    }

    fn is_open(&self) -> bool {
        !matches!(self.node.standing, Standing::Landed) && !self.node.state.is_over()
    }

    fn conflicts(&self, notes: &[Note], found: &mut Vec<Occurrence>) {
        if let Some(field) = self.node.kept.as_ref().and_then(|kept| kept.conflict.as_ref()) {
            let key = format!("{}:{field}", self.node.id);
            let what = format!("a merge left a conflict in its {field}");
            found.push(self.occurrence(When::Conflicts, key, self.node.updated_at(), what));
        }
        let is_conflict = |note: &&Note| NotLanded::of(&note.text) == Some(NotLanded::Conflict);
        if let Some(note) = notes.iter().rfind(is_conflict).filter(|_| self.is_open()) {
            found.push(self.noted(When::Conflicts, note));
        }
    }

    fn noted(&self, when: When, note: &Note) -> Occurrence {
        let what =
            self.occurrence(when, format!("{}:{}", self.node.id, note.id), &note.at, note.text.clone());
        Occurrence { agent: note.agent_id.clone(), ..what }
    }

    fn gates(&self, notes: &[Note], found: &mut Vec<Occurrence>) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        let gates = self.node.kept.as_ref().map(|kept| kept.gates.clone()).unwrap_or_default();
        for (gate, result) in results_of(self.issues, self.node.id, &gates)?.0 {
            if result.status == Verdict::Failed {
                let key = format!("{}:{gate}:{}", self.node.id, result.at);
                let one =
                    self.occurrence(When::GateFailed, key, &result.at, format!("the gate '{gate}' failed"));
                found.push(Occurrence { agent: result.agent_id, gate: Some(gate), ..one });
            }
        }
        let is_gate = |note: &&Note| matches!(NotLanded::of(&note.text), Some(NotLanded::Gate));
        if let Some(note) = notes.iter().rfind(is_gate) {
            found.push(self.noted(When::GateFailed, note));
        }
        Ok(())
    }
}
