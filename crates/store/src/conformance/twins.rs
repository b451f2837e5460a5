//! What is asked for together, put to the test by the suite itself: a medium like every other, in which each lease has a
//! twin that is there with it or not at all.

use holdfast_kernel::{
    Acquire, Answer, Claim, Command, Holder, Lease, LeaseId, Name, Policy, Resource, Table, Transfer,
};

use crate::{Guarding, Held, JournaledMedium, Medium, Result, View};

/// A medium on which every lease is granted, kept and ended together with its twin. Whoever looks at it and sees one without
/// the other panics.
pub struct Twins<M>(pub M);

const TWIN: &str = "twin of ";

fn twin_of(resource: &Resource) -> Resource {
    Name::new(&format!("{TWIN}{resource}")).expect("a name").into()
}

fn is_twin(lease: &Lease) -> bool {
    lease.resource.text().starts_with(TWIN)
}

fn other(id: LeaseId) -> LeaseId {
    LeaseId::new(id.get() ^ (1 << 100))
}

fn together(table: &Table, command: &Command) -> Vec<Command> {
    let twin = |lease: &LeaseId, holder: &Holder| {
        let resource = table.get(*lease).map(|lease| twin_of(&lease.resource));
        let found = resource.and_then(|resource| table.held_by(&resource, holder));
        found.map_or(other(*lease), |lease| lease.id)
    };
    let second = match command.clone() {
        Command::Acquire(wanted) => Command::Acquire(Acquire {
            id: other(wanted.id),
            resource: twin_of(&wanted.resource),
            dead: wanted.dead.iter().map(|id| other(*id)).collect(),
            ..wanted
        }),
        Command::Renew { lease, holder, ttl } => Command::Renew { lease: twin(&lease, &holder), holder, ttl },
        Command::Beat { lease, holder } => Command::Beat { lease: twin(&lease, &holder), holder },
        Command::Release { lease, holder } => Command::Release { lease: twin(&lease, &holder), holder },
        Command::Transfer(wanted) => Command::Transfer(Transfer {
            lease: twin(&wanted.lease, &wanted.holder),
            id: other(wanted.id),
            ..wanted
        }),
        Command::Evict { lease, by, reason } => {
            let holder = table.get(lease).map_or_else(|| by.clone(), |lease| lease.holder.clone());
            Command::Evict { lease: twin(&lease, &holder), by, reason }
        }
        same @ (Command::Sweep | Command::Check(_)) => same,
    };
    vec![command.clone(), second]
}

impl<M: JournaledMedium> Medium for Twins<M> {
    fn transact(&self, policy: &Policy, command: &Command) -> Result<Answer> {
        let plan = |view: &View| Ok(together(&view.table, command));
        let answers = self.0.transact_together(policy, &plan)?;
        assert_eq!(answers.len(), 2, "an answer for each");
        let first = answers.into_iter().next().expect("an answer");
        Ok(match first {
            Answer::Swept(leases) => {
                Answer::Swept(leases.into_iter().filter(|lease| !is_twin(lease)).collect())
            }
            other => other,
        })
    }

    fn guarded(&self, claim: &Claim, act: &mut dyn FnMut(&Held<'_>)) -> Result<()> {
        self.0.guarded(claim, act)
    }

    fn guarding(&self) -> Guarding {
        self.0.guarding()
    }

    fn view(&self) -> Result<View> {
        let view = self.0.view()?;
        let twins = view.table.iter().filter(|lease| is_twin(lease)).count();
        assert_eq!(twins * 2, view.table.len(), "one without its twin: {:?}", view.table);
        let alone = view.table.iter().filter(|lease| !is_twin(lease)).cloned();
        Ok(View { table: Table::restore(alone).expect("a part of a table"), ..view })
    }
}
