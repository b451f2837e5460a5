//! The sequential specification: what a medium may answer if its calls came one after the other. It is the
//! kernel itself on a table in memory, so a medium is held to exactly the rules that it claims to follow.

use std::collections::BTreeMap;

use holdfast_kernel::{
    Answer, Command, Decision, Event, Fence, Lease, LeaseId, Millis, Name, Policy, Refusal, Stamp, Table,
    Term, apply, decide,
};
use holdfast_store::View;

use crate::history::{Asked, Call, Told};

/// The state of the specification.
#[derive(Clone, Debug, Default)]
pub struct Model {
    table: Table,
    /// The largest fence that was granted.
    last: u64,
}

/// What tells two states apart, in a form that can be put in order.
pub type Key = (u64, Vec<(LeaseId, Fence, Stamp, Stamp, Option<Millis>)>);

/// What is known beside the calls themselves.
pub struct Known<'a> {
    /// The rules in force.
    pub policy: &'a Policy,
    /// What this partition of the history is about; everything if there is none.
    pub resource: Option<&'a Name>,
    /// Every lease that anybody ever saw, as it was first seen.
    pub seen: &'a BTreeMap<LeaseId, &'a Lease>,
}

impl Model {
    /// What tells this state from others.
    #[must_use]
    pub fn key(&self) -> Key {
        let part = |lease: &Lease| {
            let ttl = match &lease.term {
                Term::Finite { ttl, .. } => Some(*ttl),
                Term::Indefinite { .. } => None,
            };
            (lease.id, lease.fence, lease.granted, *lease.last_sign(), ttl)
        };
        (self.last, self.table.iter().map(part).collect())
    }

    /// Every state that this call may lead to, given what its caller was told.
    #[must_use]
    pub fn after(&self, call: &Call, known: &Known<'_>) -> Vec<Self> {
        match (&call.asked, &call.told) {
            (Asked::View, Told::View(view)) => self.unchanged_if(self.shows(view, known)),
            (Asked::Command(command), _) => self.after_command(command, call, known),
            (Asked::Write(claim), _) => self.after_command(&Command::Check(claim.clone()), call, known),
            (Asked::View, _) => Vec::new(),
        }
    }

    fn unchanged_if(&self, lawful: bool) -> Vec<Self> {
        if lawful { vec![self.clone()] } else { Vec::new() }
    }

    fn shows(&self, view: &View, known: &Known<'_>) -> bool {
        let shown = view.table.iter().filter(|lease| known.is_about(lease));
        view.next.get() > self.last && shown.eq(self.table.iter())
    }

    fn after_command(&self, command: &Command, call: &Call, known: &Known<'_>) -> Vec<Self> {
        let mut states: Vec<Self> = Vec::new();
        for now in &call.readings {
            let decided = self.decide(command, call, now, known);
            states.extend(match (decided, &call.told) {
                (Ok(decision), Told::Nothing | Told::Failed(_)) => self.prefixes(&decision),
                (Ok(decision), told) if known.agrees(&decision.answer, told) => self.with(&decision.events),
                (Err(refusal), Told::Refused(told)) if refusal == *told => vec![self.clone()],
                _ => Vec::new(),
            });
        }
        states
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

    fn with(&self, events: &[Event]) -> Vec<Self> {
        let mut state = self.clone();
        for event in events {
            if apply(&mut state.table, event).is_err() {
                return Vec::new();
            }
            if let Event::Granted { lease } | Event::Transferred { lease, .. } = event {
                state.last = state.last.max(lease.fence.get());
            }
        }
        vec![state]
    }

    /// A medium may be cut off anywhere in the events of one decision.
    fn prefixes(&self, decision: &Decision) -> Vec<Self> {
        let cuts = (1..=decision.events.len()).filter_map(|cut| decision.events.get(..cut));
        cuts.flat_map(|events| self.with(events)).collect()
    }
}

fn granted(decision: &Decision) -> Option<&Lease> {
    decision.events.iter().find_map(|event| match event {
        Event::Granted { lease } | Event::Transferred { lease, .. } => Some(lease),
        _ => None,
    })
}

impl Known<'_> {
    fn is_about(&self, lease: &Lease) -> bool {
        self.resource.is_none_or(|resource| lease.resource == *resource)
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
