//! The sequential specification: what a medium may answer if its calls came one after the other. It is the
//! kernel itself on a table in memory, so a medium is held to exactly the rules that it claims to follow.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_kernel::{
    Answer, Command, Decision, Event, Fence, Lease, LeaseId, Millis, Policy, Refusal, Resource, Stamp, Table,
    Term, apply, decide,
};
use holdfast_store::View;

use crate::history::{Asked, Call, Told};
use crate::words;

/// The state of the specification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    now: Leases,
    /// The states before it that a power loss may bring back: nobody was promised what came after them.
    undoable: Vec<Leases>,
}

/// What is held.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Leases {
    table: Table,
    /// The largest fence that was granted.
    last: u64,
}

/// What tells two states apart, in a form that can be put in order.
pub type Key = Vec<LeasesKey>;

type LeasesKey = (u64, Vec<(LeaseId, Fence, Moments, Moments, Option<Millis>)>);

/// A stamp in a form that can be put in some order, whatever it means.
type Moments = (u64, Option<(u128, u64)>);

/// What is known beside the calls themselves.
pub struct Known<'a> {
    /// The rules in force.
    pub policy: &'a Policy,
    /// What this partition of the history is about; everything if there is none.
    pub resources: Option<&'a BTreeSet<&'a Resource>>,
    /// Every lease that anybody ever saw, as it was first seen.
    pub seen: &'a BTreeMap<LeaseId, &'a Lease>,
}

impl Model {
    /// What tells this state from others.
    #[must_use]
    pub fn key(&self) -> Key {
        std::iter::once(&self.now).chain(&self.undoable).map(Leases::key).collect()
    }

    /// What is held, in few words.
    #[must_use]
    pub fn words(&self) -> String {
        let held: Vec<String> = self.now.table.iter().map(words::lease).collect();
        format!("[{}] after fence {}", held.join("; "), self.now.last)
    }

    /// Every state that the power may leave: what nobody was promised may be lost, the latest first.
    #[must_use]
    pub fn after_power_loss(&self) -> Vec<Self> {
        let left = std::iter::once(&self.now).chain(&self.undoable);
        left.map(|leases| Self { now: leases.clone(), undoable: Vec::new() }).collect()
    }

    /// Every state that this call may lead to, given what its caller was told.
    #[must_use]
    pub fn after(&self, call: &Call, known: &Known<'_>) -> Vec<Self> {
        match (&call.asked, &call.told) {
            (Asked::View, Told::View(view)) if self.now.shows(view, known) => vec![self.clone()],
            (Asked::View, _) => Vec::new(),
            (Asked::Command(command), _) => self.after_command(command, call, known),
            (Asked::Write(claim), _) => self.after_command(&Command::Check(claim.clone()), call, known),
        }
    }

    fn after_command(&self, command: &Command, call: &Call, known: &Known<'_>) -> Vec<Self> {
        let mut states: Vec<Self> = Vec::new();
        for (_, now) in &call.readings {
            match (self.now.decide(command, call, now, known), &call.told) {
                (Ok(decision), Told::Nothing | Told::Failed(_)) => states.extend(self.unheard(&decision)),
                (Ok(decision), told) if known.agrees(&decision.answer, told) => {
                    states.extend(self.told(&decision));
                }
                (Err(refusal), Told::Refused(told)) if refusal == *told => states.push(self.clone()),
                _ => {}
            }
        }
        states
    }

    /// A caller was told yes: no power loss takes back what that rests on. That there was nothing to sweep
    /// rests on nothing.
    fn told(&self, decision: &Decision) -> Option<Self> {
        match decision.answer {
            Answer::Swept(_) if decision.events.is_empty() => Some(self.clone()),
            _ => self.now.with(&decision.events).map(|now| Self { now, undoable: Vec::new() }),
        }
    }

    /// Nobody was told, and the medium may have been cut off anywhere in the events; a power loss may still
    /// do so.
    fn unheard(&self, decision: &Decision) -> Vec<Self> {
        let reached = |events: Vec<Event>| {
            let shorter = (1..events.len()).rev().filter_map(|cut| events.get(..cut));
            let on_the_way: Option<Vec<Leases>> = shorter.map(|events| self.now.with(events)).collect();
            let before = std::iter::once(&self.now).chain(&self.undoable).cloned();
            let undoable = on_the_way?.into_iter().chain(before).collect();
            Some(Self { now: self.now.with(&events)?, undoable })
        };
        cut_off(decision).into_iter().filter_map(reached).collect()
    }
}

/// Most leases whose ends are tried in every combination.
const MOST_SWEPT: usize = 6;

/// What may be left of a decision: some events from the first one on. The ends that a sweep records have
/// nothing to do with each other, so any of them may be there.
fn cut_off(decision: &Decision) -> Vec<Vec<Event>> {
    let events = &decision.events;
    if matches!(decision.answer, Answer::Swept(_)) && events.len() <= MOST_SWEPT {
        let chosen = |set: u32| move |(index, _): &(usize, &Event)| set >> index & 1 == 1;
        let subset =
            |set| events.iter().enumerate().filter(chosen(set)).map(|(_, event)| event.clone()).collect();
        return (1..1_u32 << events.len()).map(subset).collect();
    }
    (1..=events.len()).filter_map(|cut| events.get(..cut)).map(<[Event]>::to_vec).collect()
}

impl Leases {
    fn key(&self) -> LeasesKey {
        let part = |lease: &Lease| {
            let ttl = match &lease.term {
                Term::Finite { ttl, .. } => Some(*ttl),
                Term::Indefinite { .. } => None,
            };
            (lease.id, lease.fence, moments(&lease.granted), moments(lease.last_sign()), ttl)
        };
        (self.last, self.table.iter().map(part).collect())
    }

    fn shows(&self, view: &View, known: &Known<'_>) -> bool {
        let shown = view.table.iter().filter(|lease| known.is_about(lease));
        view.next.get() > self.last && shown.eq(self.table.iter())
    }

    /// What the kernel says, with the fence that the medium drew: which numbers a counter skips is the
    /// medium's business, as long as they rise.
    fn decide(
        &self,
        command: &Command,
        call: &Call,
        now: &Stamp,
        known: &Known<'_>,
    ) -> Result<Decision, Refusal> {
        let least = Fence::new(self.last + 1).map_err(|_| Refusal::FencesExhausted)?;
        let decision = decide(&self.table, known.policy, command, now, least)?;
        let drawn = call.granted().or_else(|| call.makes().and_then(|id| known.seen.get(&id).copied()));
        let (Some(drawn), Some(given)) = (drawn, granted(&decision)) else { return Ok(decision) };
        let next = (drawn.fence.get() + least.get()).checked_sub(given.fence.get());
        match next.and_then(|next| Fence::new(next).ok()) {
            Some(next) if drawn.fence.get() > self.last => {
                decide(&self.table, known.policy, command, now, next)
            }
            _ => Err(Refusal::FencesExhausted),
        }
    }

    fn with(&self, events: &[Event]) -> Option<Self> {
        let mut after = self.clone();
        for event in events {
            apply(&mut after.table, event).ok()?;
            if let Event::Granted { lease } | Event::Transferred { lease, .. } = event {
                after.last = after.last.max(lease.fence.get());
            }
        }
        Some(after)
    }
}

fn moments(stamp: &Stamp) -> Moments {
    (stamp.wall_ms(), stamp.boot().map(|boot| (boot.id.get(), boot.ms)))
}

fn granted(decision: &Decision) -> Option<&Lease> {
    decision.events.iter().find_map(|event| match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => Some(lease),
        _ => None,
    })
}

impl Known<'_> {
    fn is_about(&self, lease: &Lease) -> bool {
        self.resources.is_none_or(|resources| resources.contains(&lease.resource))
    }

    fn agrees(&self, answer: &Answer, told: &Told) -> bool {
        match (answer, told) {
            (Answer::Valid(_), Told::Wrote) => true,
            (Answer::Swept(ended), Told::Answer(Answer::Swept(told))) => {
                ended.iter().eq(told.iter().filter(|lease| self.is_about(lease)))
            }
            (answer, Told::Answer(told)) => answer == told,
            _ => false,
        }
    }
}
