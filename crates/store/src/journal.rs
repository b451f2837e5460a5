//! What a medium offers that remembers every transition: its history, its repair, and several commands in one section.

use std::path::PathBuf;

use holdfast_kernel::{
    Answer, Command, Event, Fence, Holder, Lease, LeaseId, Policy, Refusal, Resource, Table,
};

use crate::{CounterId, Medium, Result, View};

/// One transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its number; the fence, if it is a grant.
    pub sequence: Fence,
    /// What happened.
    pub event: Event,
    /// The lease that it happened to, as it stood before; for a grant the one that began.
    pub lease: Lease,
}

impl Record {
    /// The record of an event on the table before it; none if it cannot have happened to that table.
    #[must_use]
    pub fn of(sequence: Fence, event: &Event, table: &Table) -> Option<Self> {
        let lease = match event {
            Event::Granted { lease } => lease,
            Event::Transferred { from: lease, .. }
            | Event::Renewed { lease, .. }
            | Event::Beaten { lease, .. }
            | Event::Released { lease, .. }
            | Event::Evicted { lease, .. } => table.get(*lease)?,
        };
        Some(Self { sequence, event: event.clone(), lease: lease.clone() })
    }
}

/// What a complete check went through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// How many segments.
    pub segments: u64,
    /// How many records.
    pub records: u64,
    /// How many bytes behind the last record were never acknowledged.
    pub torn_bytes: u64,
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// Bytes behind the last record that were never acknowledged.
    TornTail {
        /// How many.
        bytes: u64,
    },
    /// The index is missing, behind, or of no use.
    Index,
    /// Records are lost.
    Damage {
        /// What was found.
        what: String,
        /// How many leases could be carried over.
        leases: usize,
    },
    /// Records of which nobody tells any more.
    Missing {
        /// How many.
        records: u64,
    },
    /// A lease that was in force and could not be carried over.
    Lost(Lost),
    /// An archived segment that does not belong to the log.
    Segment {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Something else in the place of a file.
    Odd {
        /// The file.
        path: PathBuf,
        /// What is there.
        what: String,
    },
    /// A file that an interrupted operation left behind.
    Leftover {
        /// The file.
        path: PathBuf,
    },
}

/// A lease that was in force and could not be carried over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The lease that is lost.
    pub lease: LeaseId,
    /// What it was on and who held it, if anything still says so.
    pub resource: Option<(Resource, Holder)>,
}

impl From<&Lease> for Lost {
    fn from(lease: &Lease) -> Self {
        Self { lease: lease.id, resource: Some((lease.resource.clone(), lease.holder.clone())) }
    }
}

/// What somebody else kept of a journal, for a repair that has lost its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Projected {
    /// The counter that numbered it, if that is known.
    pub counter: Option<CounterId>,
    /// What happened, with its numbers.
    pub events: Vec<(Fence, Event)>,
}

/// What was wrong, and whether it has been put right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// What was wrong.
    pub findings: Vec<Finding>,
    /// Whether it has been put right.
    pub repaired: bool,
    /// Where the damaged log is kept.
    pub kept: Option<PathBuf>,
}

/// Says which commands are decided together, seeing the leases as they are in the section; none, and nothing is done.
/// What others write under leases of this medium through handles on the same files stays as it is while a plan looks at
/// it. It may be asked more than once, and must not ask the medium anything.
pub type Plan<'a> = dyn Fn(&View) -> Result<Vec<Command>> + 'a;

/// A medium that keeps a journal of every transition, and can decide several commands in one section.
pub trait JournaledMedium: Medium {
    /// Decides commands one after the other until one is not refused in a way that `passes` to the next one, all in
    /// one section. Gives that one's place and answer; none if all were passed over.
    ///
    /// # Errors
    /// The refusal that does not pass; otherwise what failed.
    fn transact_first(
        &self,
        policy: &Policy,
        commands: &[Command],
        passes: &dyn Fn(&Refusal) -> bool,
    ) -> Result<Option<(usize, Answer)>>;

    /// Decides the commands of a plan one after the other in one section, and makes all of them durable or none: whatever
    /// is cut off in between has not happened. Gives an answer for each.
    ///
    /// # Errors
    /// The plan's own, or the refusal of the first that is refused, and nothing has changed; otherwise what failed.
    fn transact_together(&self, policy: &Policy, plan: &Plan<'_>) -> Result<Vec<Answer>>;

    /// Shows everything that ever happened to `visit`, as far as it is still kept, and checks it.
    ///
    /// # Errors
    /// When it cannot be read, or does not fit together.
    fn history(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked>;

    /// Looks for what is wrong, and puts it right if `repair`; what somebody else kept of the journal helps.
    ///
    /// # Errors
    /// When the system fails, or nothing can be read at all.
    fn recover(&self, policy: &Policy, elsewhere: &Projected, repair: bool) -> Result<Recovery>;

    /// This medium without its journal.
    fn as_medium(&self) -> &dyn Medium;
}
